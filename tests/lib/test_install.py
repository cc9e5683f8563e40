#!/usr/bin/env python3
"""A C and a C++ program build and run against the installed library by pkg-config alone.

test_install.py BUILD_DIR SOURCE_ROOT MESON...
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT = sys.argv[1:3]
MESON = sys.argv[3:]

C_PROGRAM = """
#include <rwsem.h>
#include <rwsem-stats.h>
int main(void)
{
    static rwsem_t sem;
    { RWSEM_WRITE_SCOPE(&sem); }
    if (rwsem_down_read(&sem)) return 1;
    rwsem_up_read(&sem);
    return rwsem_destroy(&sem);
}
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("pkg-config"):
            raise unittest.SkipTest("pkg-config is not installed")
        cls.folder = tempfile.mkdtemp()
        done = subprocess.run(MESON + ["install", "-C", BUILD, "--no-rebuild", "--destdir",
                                       cls.folder], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout)
        found = glob.glob(cls.folder + "/**/librwsem.pc", recursive=True)
        cls.env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=cls.folder,
                       PKG_CONFIG_LIBDIR=os.path.dirname(found[0]))
        cls.libs = os.path.dirname(glob.glob(cls.folder + "/**/librwsem.so.0", recursive=True)[0])

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def build_and_run(self, compiler, source, *options):
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "librwsem"], env=self.env,
                               stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        program = os.path.join(self.folder, "program")
        subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", *options, "-o", program, source]
                       + flags, check=True)
        run = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=self.libs),
                             check=False)
        self.assertEqual(run.returncode, 0)

    def test_a_c_program(self):
        source = os.path.join(self.folder, "program.c")
        with open(source, "w", encoding="utf-8") as out:
            out.write(C_PROGRAM)
        for options in (["-O2", "-std=c11", "-pedantic"], ["-O2", "-std=c99", "-pedantic"],
                        ["-O0", "-std=gnu99"]):
            self.build_and_run(os.environ.get("CC", "cc"), source, *options)

    def test_a_cxx_program(self):
        if not shutil.which("c++"):
            self.skipTest("no C++ compiler is installed")
        for options in (["-O2", "-std=c++17"], ["-O0", "-std=c++20"]):
            self.build_and_run("c++", os.path.join(ROOT, "tests", "lib", "test_face.cpp"),
                               *options, "-pthread")

    def test_it_can_be_loaded_late(self):
        """The room that is left in every thread for libraries of dlopen() is small."""
        if not shutil.which("readelf"):
            self.skipTest("readelf is not installed")
        done = subprocess.run(["readelf", "-lW", self.libs + "/librwsem.so.0"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        size = [line.split()[5] for line in done.splitlines() if line.split()[:1] == ["TLS"]]
        self.assertLessEqual(int(size[0], 16), 64)

    def test_only_the_names_of_the_map_are_exported(self):
        done = subprocess.run(["nm", "-D", "--defined-only", self.libs + "/librwsem.so.0"],
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        names = {line.split()[-1].split("@")[0] for line in done.splitlines()}
        with open(os.path.join(ROOT, "lib", "librwsem.map"), encoding="utf-8") as text:
            wanted = {line.strip(" ;\n") for line in text if line.strip().startswith("rwsem")}
        self.assertEqual(names - {"RWSEM_0"}, wanted)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
