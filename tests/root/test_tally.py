"""tools/tally.py: the last line of ./check is right whatever becomes of a test program."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TALLY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "tally.py")


class Tally(unittest.TestCase):
    def tally(self, *programs, checks=""):
        """Each program is (meson's result, stdout) with a status that fits."""
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "checks"), "w", encoding="utf-8") as f:
                f.write(checks)
            with open(os.path.join(folder, "tests.json"), "w", encoding="utf-8") as f:
                for result, stdout in programs:
                    f.write(json.dumps({"name": "it", "result": result, "stdout": stdout, "duration": 1,
                                        "stderr": "said this", "returncode": result != "OK"}) + "\n")
            done = subprocess.run([sys.executable, TALLY, folder], capture_output=True, text=True,
                                  timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def assert_tally(self, told, status, last):
        self.assertEqual((told[0], told[1][-1]), (status, last))

    def test_every_subtest_counts(self):
        told = self.tally(("OK", "1..2\nok 1 - a\nok 2 - b\n"), ("OK", "ok 1 - c\n1..1\n"))
        self.assert_tally(told, 0, "3 passed, 0 failed, 0 skipped")

    def test_own_checks_count(self):
        told = self.tally(checks="passed\ta\t\nskipped\tb\tno clang\nfailed\tc\tsee above\n")
        self.assert_tally(told, 1, "1 passed, 1 failed, 1 skipped")
        self.assertIn("skipped b: no clang", told[1])

    def test_a_skip_is_told_with_its_reason(self):
        told = self.tally(("OK", "1..2\nok 1 - a # SKIP one CPU only\nok 2 - b\n"))
        self.assert_tally(told, 0, "1 passed, 0 failed, 1 skipped")
        self.assertIn("skipped tests: it: a: one CPU only", told[1])

    def test_a_whole_program_may_be_skipped(self):
        told = self.tally(("SKIP", "1..0 # SKIP no rseq\n"), ("OK", "1..1\nok 1 - a\n"))
        self.assert_tally(told, 0, "1 passed, 0 failed, 1 skipped")

    def test_a_skip_without_a_reason_is_a_failure(self):
        told = self.tally(("OK", "1..1\nok 1 - a # SKIP\n"))
        self.assert_tally(told, 1, "0 passed, 1 failed, 0 skipped")

    def test_a_failure_says_what_it_said(self):
        told = self.tally(("FAIL", "1..2\nok 1 - a\nnot ok 2 - b\n"))
        self.assert_tally(told, 1, "1 passed, 1 failed, 0 skipped")
        self.assertIn("said this", "\n".join(told[1]))

    def test_a_crash_is_a_failure_more(self):
        told = self.tally(("ERROR", "1..3\nok 1 - a\nBail out! ended by SIGSEGV\n"))
        self.assert_tally(told, 1, "1 passed, 1 failed, 0 skipped")

    def test_a_crash_before_the_plan_is_a_failure(self):
        self.assert_tally(self.tally(("ERROR", "")), 1, "0 passed, 1 failed, 0 skipped")

    def test_a_crash_after_the_last_test_is_a_failure(self):
        told = self.tally(("ERROR", "1..1\nok 1 - a\n"))
        self.assert_tally(told, 1, "1 passed, 1 failed, 0 skipped")

    def test_a_timeout_is_a_failure(self):
        told = self.tally(("TIMEOUT", "1..2\nok 1 - a\n"))
        self.assert_tally(told, 1, "1 passed, 1 failed, 0 skipped")
        self.assertIn("timed out", "\n".join(told[1]))

    def test_fewer_tests_than_planned_is_a_failure(self):
        told = self.tally(("OK", "1..2\nok 1 - a\n"))
        self.assert_tally(told, 1, "1 passed, 1 failed, 0 skipped")

    def test_a_program_that_speaks_no_tap_is_a_failure(self):
        self.assert_tally(self.tally(("OK", "fine\n")), 1, "0 passed, 1 failed, 0 skipped")

    def test_nothing_at_all_is_a_failure(self):
        self.assert_tally(self.tally(), 1, "0 passed, 0 failed, 0 skipped")

    def test_only_skips_is_nothing(self):
        told = self.tally(("OK", "1..1\nok 1 - a # SKIP rain\n"))
        self.assert_tally(told, 1, "0 passed, 0 failed, 1 skipped")


if __name__ == "__main__":
    unittest.main()
