#!/usr/bin/env python3
"""The library and its tests, built for aarch64 and run under qemu-user.

test_aarch64.py SOURCE_ROOT
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = sys.argv[1]
CC = "aarch64-linux-gnu-gcc"
QEMU = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]


class Aarch64(unittest.TestCase):
    def setUp(self):
        for tool in (CC, QEMU[0]):
            if not shutil.which(tool):
                self.skipTest(tool + " is not installed")
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, name):
        program = os.path.join(self.folder, name)
        sources = [s for s in glob.glob(ROOT + "/lib/*.c")
                   if not os.path.basename(s).startswith(("probes", "annotate"))]
        subprocess.run([CC, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wno-unused-parameter",
                        "-Werror", "-D_GNU_SOURCE", "-I" + ROOT + "/tests/cross",
                        "-I" + ROOT + "/include", "-I" + ROOT + "/lib", "-o", program,
                        ROOT + "/tests/lib/" + name + ".c"] + sources + ["-lpthread"], check=True)
        done = subprocess.run(QEMU + [program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=250, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        print("# %s under qemu: %d cases" % (name, done.stdout.count("ok ")), file=sys.stderr)

    def test_calls(self):
        self.run_program("test_calls")

    def test_stress(self):
        self.run_program("test_stress")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
