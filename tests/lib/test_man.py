#!/usr/bin/env python3
"""rwsem(3) and rwsem(7) tell of all that there is and of nothing else, and their code runs.

MAN_PAGES is the folder of the built pages, "" if none were; STATIC_LIBRARY the built library.

test_man.py SOURCE_ROOT
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = sys.argv[1]
PAGES = os.environ["MAN_PAGES"]
LIBRARY = os.environ["STATIC_LIBRARY"]

if not PAGES:
    raise unittest.SkipTest("the man pages were not built: scdoc is not here, or they are disabled")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as text:
        return text.read()


def prototypes(code):
    code = re.sub(r"/\*.*?\*/", " ", code, flags=re.S)
    found = re.findall(r"^(?:int|void|bool|uint32_t) rwsem_[a-z]\w*\([^{};]*\);", code, re.M)
    return {" ".join(one.split()) for one in found}


CORE, STATS = (read(ROOT, "include", name) for name in ("rwsem.h", "rwsem-stats.h"))
LIB = "".join(read(path) for path in sorted(glob.glob(os.path.join(ROOT, "lib", "*.[ch]"))))
SYMBOLS = set(re.findall(r"^\s*(rwsem_[a-z]\w*);", read(ROOT, "lib", "librwsem.map"), re.M))
TUNABLES = re.findall(r"^X\((\w+),", read(ROOT, "lib", "tunables.def"), re.M)
COUNTERS = (re.findall(r"X\((\w+), \"", STATS) +
            re.findall(r"uint64_t (\w+)\[RWSEM_BUCKETS\];", STATS))
SWITCHES = set(re.findall(r'"(RWSEM_[A-Z]+)"', LIB))
PROBES = re.findall(r"\bP\((\w+)\)", LIB.split("#define PROBE_LIST(P)")[1].split("\n")[0])


def code_of(section):
    """The literal text below that heading of rwsem(3), as its reader sees it."""
    part = read(ROOT, "docs", "man", "rwsem.3.scd").split("\n# %s\n" % section)[1]
    return re.sub(r"\\(.)", r"\1", re.search(r"```\n(.*?)```", part, re.S).group(1))


class Pages(unittest.TestCase):
    def setUp(self):
        # The pages as scdoc gets them, tables filled in; `_` is escaped in some places.
        self.calls, self.rest = (read(PAGES, "rwsem.%d.scd" % section).replace("\\_", "_")
                                 for section in (3, 7))

    def assert_described(self, names, page, form):
        self.assertTrue(names)
        missing = [name for name in names if not re.search(form % name, page, re.M)]
        self.assertEqual(missing, [])

    def test_the_synopsis_has_the_prototypes_of_the_headers(self):
        self.assertEqual(prototypes(code_of("SYNOPSIS")), prototypes(CORE) | prototypes(STATS))

    def test_the_headers_have_the_calls_of_the_map(self):
        declared = {re.search(r"(\w+)\(", one).group(1) for one in prototypes(CORE + STATS)}
        self.assertEqual(declared, SYMBOLS)

    def test_every_call_is_described(self):
        self.assert_described(SYMBOLS, self.calls, r"^(\*rwsem_\w+\*\(\), )*\*%s\*\(\)(, .*)?$")

    def test_every_flag_is_described(self):
        flags = re.findall(r"^    (RWSEM_\w+) = \d+,", CORE, re.M)
        self.assert_described(flags, self.calls, r"^\*%s\*$")

    def test_every_tunable_is_described(self):
        self.assert_described(["RWSEM_" + name.upper() for name in TUNABLES], self.rest,
                              r"^\*%s\* \(\w+; default \d+, \d+ to \d+\)\n\t\w")

    def test_every_switch_of_the_environment_is_described(self):
        self.assertEqual(LIB.count("getenv("), 1)  # that of rwsem__load_number()
        self.assert_described(SWITCHES, self.rest, r"^\*%s\*$")

    def test_every_counter_is_described(self):
        self.assert_described(COUNTERS, self.rest, r"^(\*\w+\*, )*\*%s\*(, \*\w+\*)*\n\t\w")

    def test_every_report_is_described(self):
        texts = re.findall(r"\[MISUSE_\w+\] =\s+\"([^:\"]+)", LIB)
        self.assert_described(texts, self.rest, r"^\*%s\*\n\t\S")

    def test_every_probe_is_described_with_its_arguments(self):
        section = self.rest.split("\n# PROBES\n")[1].split("\n# ")[0]
        listed = re.findall(r"^\*(\w+)\*\((.*)\)$", section, re.M)
        told = {name: len(arguments.split(",")) for name, arguments in listed}
        used = {name: int(count) for count, name in re.findall(r"\bPROBE([12])\((\w+), ", LIB)}
        used.pop("name")  # where the macro is defined
        self.assertEqual(sorted(told), sorted(PROBES))
        self.assertEqual(told, used)

    def test_there_is_all_that_is_told_of(self):
        known = set(re.findall(r"\w+", CORE + STATS)) | SWITCHES
        known |= {"RWSEM_" + name.upper() for name in TUNABLES}
        told = set(re.findall(r"\b(?:rwsem|RWSEM)_\w*[A-Za-z]", self.calls + self.rest))
        self.assertEqual(told - known, set())

    def test_every_call_has_a_page_and_no_other_name_has(self):
        # Not what lies in the folder: a build may be older than the last change of the map.
        installed = json.loads(read(PAGES, "..", "meson-info", "intro-installed.json"))
        found = {os.path.basename(path): path for path, place in installed.items()
                 if os.path.basename(os.path.dirname(place)) == "man3"}
        self.assertEqual(set(found), {name + ".3" for name in SYMBOLS | {"rwsem"}})
        for name in SYMBOLS:
            self.assertEqual(read(found[name + ".3"]), ".so man3/rwsem.3\n")


class Code(unittest.TestCase):
    def build(self, code, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "program.c")
        with open(path, "w", encoding="utf-8") as out:
            out.write(code)
        program = os.path.join(folder.name, "program")
        done = subprocess.run([os.environ.get("CC", "cc"), "-Wall", "-Wextra", "-Werror", "-I",
                               os.path.join(ROOT, "include"), "-o", program, path, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return program

    def test_the_synopsis_compiles(self):
        for optimize in ("-O0", "-O2"):
            self.build(code_of("SYNOPSIS"), optimize, "-c")

    def test_the_example_runs(self):
        program = self.build(code_of("EXAMPLE"), "-O2", LIBRARY, "-pthread")
        done = subprocess.run([program], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertEqual(done.stdout, "42\n" * 4)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
