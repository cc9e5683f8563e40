"""tests/tap.py, the runner of every test here: nothing that happens in a test may get lost."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

TAP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tap.py")


def run(*command):
    done = subprocess.run([sys.executable, TAP, *command], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout.splitlines(), done.stderr


class PythonFiles(unittest.TestCase):
    def run_file(self, body, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "test_it.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write("import os, unittest\n" + textwrap.dedent(body))
            return run(path, *arguments)

    def test_passes_are_counted_and_planned(self):
        status, lines, _ = self.run_file("""
            class A(unittest.TestCase):
                def test_one(self): pass
                def test_two(self): pass
            """)
        self.assertEqual(status, 0)
        self.assertIn("ok 1 - A.test_one", lines)
        self.assertIn("ok 2 - A.test_two", lines)
        self.assertEqual(lines[-1], "1..2")

    def test_arguments_reach_the_file(self):
        status, _, errors = self.run_file("""
            import sys
            class A(unittest.TestCase):
                def test_it(self): self.assertEqual(sys.argv[1:], ["one", "two"])
            """, "one", "two")
        self.assertEqual(status, 0, errors)

    def test_a_failure_is_told_once_and_explained_on_stderr(self):
        status, lines, errors = self.run_file("""
            class A(unittest.TestCase):
                def test_bad(self):
                    for i in range(3):
                        with self.subTest(i=i): self.assertEqual(i, 1, "not one")
            """)
        self.assertEqual(status, 1)
        self.assertEqual(lines, ["not ok 1 - A.test_bad", "1..1"])
        self.assertIn("not one", errors)

    def test_a_skip_keeps_its_reason(self):
        status, lines, _ = self.run_file("""
            class A(unittest.TestCase):
                def test_it(self): self.skipTest("needs two\\nCPUs")
            @unittest.skip("all of it")
            class B(unittest.TestCase):
                def test_it(self): pass
            """)
        self.assertEqual(status, 0)
        self.assertEqual(lines[:2], ["ok 1 - A.test_it # SKIP needs two CPUs",
                                     "ok 2 - B.test_it # SKIP all of it"])

    def test_a_whole_file_may_be_skipped(self):
        status, lines, _ = self.run_file('raise unittest.SkipTest("no such thing here")')
        self.assertEqual((status, lines), (0, ["1..0 # SKIP no such thing here"]))

    def test_a_class_that_cannot_be_set_up_fails(self):
        status, lines, _ = self.run_file("""
            class A(unittest.TestCase):
                @classmethod
                def setUpClass(cls): raise OSError("gone")
                def test_it(self): pass
            """)
        self.assertEqual(status, 1)
        self.assertTrue(lines[0].startswith("not ok 1"))

    def test_a_file_that_dies_leaves_no_plan(self):
        status, lines, _ = self.run_file("""
            class A(unittest.TestCase):
                def test_it(self): os._exit(0)
            """)
        self.assertFalse([line for line in lines if line.startswith("1..")])

    def test_a_file_without_tests_fails(self):
        self.assertEqual(self.run_file("pass")[0], 1)

    def test_a_file_that_does_not_parse_fails(self):
        self.assertNotEqual(self.run_file("def (")[0], 0)


class Programs(unittest.TestCase):
    def fixture(self, wish):
        if "TAP_FIXTURE" not in os.environ:
            self.skipTest("TAP_FIXTURE does not name the built tap_fixture")
        return run(os.environ["TAP_FIXTURE"], wish)

    def run_shell(self, script):
        return run("/bin/sh", "-c", script)

    def test_a_pass_is_a_pass(self):
        status, lines, _ = self.fixture("pass")
        self.assertEqual(status, 0)
        self.assertIn("ok 2 - does_as_asked", lines)

    def test_a_skip_of_cmocka_gets_its_reason(self):
        status, lines, _ = self.fixture("skip")
        self.assertEqual(status, 0)
        self.assertIn("ok 2 - does_as_asked # SKIP only 1 CPU", lines)

    def test_a_failure_stays_one(self):
        status, lines, _ = self.fixture("fail")
        self.assertNotEqual(status, 0)
        self.assertIn("not ok 2 - does_as_asked", lines)

    def test_a_program_that_dies_passes_its_status_on(self):
        self.assertEqual(self.fixture("kill")[0], 7)

    def test_a_signal_becomes_a_bail_out(self):
        status, lines, _ = self.run_shell("echo 1..2; echo ok 1 - a; kill -SEGV $$")
        self.assertEqual(status, 128 + 11)
        self.assertEqual(lines[-1], "Bail out! ended by SIGSEGV after 1 of 2 tests")

    def test_no_plan_is_a_failure(self):
        self.assertNotEqual(self.run_shell("echo hello")[0], 0)

    def test_both_ways_in_which_cmocka_prints_a_skip_are_known(self):
        for line in ("not ok 1 # SKIP it", "ok 1 # SKIP it"):
            with self.subTest(line=line):
                _, lines, _ = self.run_shell(f"echo 1..1; echo '# skipped because: rain'; echo '{line}'")
                self.assertEqual(lines[-1], "ok 1 - it # SKIP rain")


if __name__ == "__main__":
    unittest.main()
