#!/usr/bin/env python3
"""What race checkers make of programs with our locks: nothing of right ones, and they find the
wrong ones. Helgrind, DRD, and ThreadSanitizer in a program whose librwsem is not built with it.

Each case is one of race_cases.c, by name.
"""
import os
import shutil
import subprocess
import tempfile
import unittest

CASES, CALLS = os.environ["RACE_CASES"], os.environ["LIB_CALLS"]
SOURCES, LIBRARY = os.environ["RACE_SOURCES"], os.environ["RWSEM_LIBRARY"]
HAS_VALGRIND_CALLS = os.environ["HAS_VALGRIND_CALLS"] == "yes"
FOUND = 9


def run(*command):
    """Exit status and all that was said."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RWSEM_")}
    done = subprocess.run(command, env=clean, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=280, check=False)
    return done.returncode, done.stdout


class Checker:
    """The cases that every checker has to tell apart."""

    def assert_clean(self, case):
        status, said = self.check(case)
        self.assertEqual(status, 0, said)

    def assert_found(self, case, text):
        status, said = self.check(case)
        self.assertEqual(status, FOUND, said)
        self.assertIn(text, said)

    def test_right_use_is_not_reported(self):
        self.assert_clean("right_use")

    def test_a_lock_freed_by_its_last_user_is_not_reported(self):
        self.assert_clean("freed_by_the_last")

    def test_data_written_by_readers_are_reported(self):
        self.assert_found("written_by_readers", self.race)

    def test_data_written_after_a_downgrade_are_reported(self):
        self.assert_found("written_after_downgrade", self.race)

    def test_all_is_told(self):
        self.assertEqual(self.check("print_the_way"), (0, "out of line\n"))


class Valgrind(Checker):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("valgrind"):
            raise unittest.SkipTest("valgrind is not installed")
        if not HAS_VALGRIND_CALLS:
            raise unittest.SkipTest("the library was built without <valgrind/helgrind.h>")

    def check(self, case, program=CASES):
        return run("valgrind", "-q", "--tool=" + self.tool, "--error-exitcode=%d" % FOUND, program,
                   *([case] if case else []))

    def test_all_calls_are_clean(self):
        status, said = self.check(None, CALLS)
        self.assertEqual(status, 0, said)


class Helgrind(Valgrind, unittest.TestCase):
    tool, race = "helgrind", "Possible data race"

    def test_an_order_inversion_is_reported(self):
        self.assert_found("order_inversion", "lock order")


class Drd(Valgrind, unittest.TestCase):
    tool, race = "drd", "Conflicting"


class OtherTools(unittest.TestCase):
    """They are to see the program as it is without us."""

    def test_memcheck_sees_the_fast_paths(self):
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not installed")
        self.assertEqual(run("valgrind", "-q", CASES, "print_the_way"), (0, "inlined\n"))

    def test_without_any_tool_they_are_inlined(self):
        self.assertEqual(run(CASES, "print_the_way"), (0, "inlined\n"))


class ThreadSanitizer(Checker, unittest.TestCase):
    race = "data race"

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.program = os.path.join(cls.folder, "race_cases")
        built = subprocess.run(
            [os.environ.get("CC", "cc"), "-g", "-O1", "-fsanitize=thread", "-D_GNU_SOURCE",
             "-I", os.path.join(SOURCES, "include"), "-o", cls.program,
             os.path.join(SOURCES, "tests", "lib", "race_cases.c"), LIBRARY, "-pthread"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if built.returncode:
            raise unittest.SkipTest("cannot build with ThreadSanitizer: " + built.stdout[-200:])
        # Some kernels place memory where an older runtime does not expect it.
        for cls.through in ([], ["setarch", "-R"]):
            if not run(*cls.through, cls.program, "print_the_way")[0]:
                return
        raise unittest.SkipTest("programs with ThreadSanitizer do not run here")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def check(self, case):
        return run(*self.through, "env", "TSAN_OPTIONS=exitcode=%d" % FOUND, self.program, case)

    def test_an_order_inversion_is_reported(self):
        self.assert_found("order_inversion", "lock-order-inversion")

    def test_a_try_in_another_order_is_not_reported(self):
        self.assert_clean("tried_in_another_order") # Helgrind reports it, for pthread locks too


if __name__ == "__main__":
    unittest.main()
