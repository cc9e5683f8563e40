#!/usr/bin/env python3
"""spin checks the model of sleeping and waking, and finds each fault planted in it.

test_models.py FOLDER CC...   RWSEM_TEST_LONG=1: larger configurations (minutes, gigabytes).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MODEL = os.path.abspath(os.path.join(sys.argv[1], "sleep_wake.pml"))
CC = sys.argv[2:]


def check(*defines):
    """Errors found, states looked at, and what spin's verifier printed."""
    with tempfile.TemporaryDirectory() as folder:
        def run(command):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=3000, check=False)
            return done.stdout

        said = run(["spin", "-a", *defines, MODEL])
        if not os.path.exists(os.path.join(folder, "pan.c")):
            raise AssertionError(said)
        said = run(CC + ["-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=8000", "-o", "pan",
                         "pan.c"])
        said += run(["./pan", "-m100000"])
    found = re.search(r"errors: (\d+)", said)
    states = re.search(r"(\d+) states, stored", said)
    if not found or not states or "error: max search depth" in said or "out of memory" in said:
        raise AssertionError(said)
    return int(found.group(1)), int(states.group(1)), said


@unittest.skipUnless(shutil.which("spin"), "spin is not installed")
class SleepAndWake(unittest.TestCase):
    def assert_right(self, *defines):
        errors, states, said = check(*defines)
        self.assertEqual(errors, 0, said)
        print("# %s: %d states" % (" ".join(defines), states), file=sys.stderr)

    def assert_found(self, number, what):
        errors, _, said = check("-DBREAK=%d" % number)
        self.assertEqual(errors, 1, said)
        self.assertIn(what, said)

    def test_two_threads_twice(self):
        self.assert_right("-DN=2", "-DROUNDS=2")

    def test_three_threads(self):
        self.assert_right("-DN=3")

    @unittest.skipUnless(os.environ.get("RWSEM_TEST_LONG"), "long; RWSEM_TEST_LONG=1 runs it")
    def test_two_threads_four_times(self):
        self.assert_right("-DN=2", "-DROUNDS=4")

    def test_a_dropped_wakeup_is_found(self):
        self.assert_found(1, "invalid end state")

    def test_a_release_that_calls_nobody_is_found(self):
        self.assert_found(2, "assertion violated")

    def test_a_timeout_that_lets_nobody_in_is_found(self):
        self.assert_found(3, "assertion violated")

    def test_a_kept_promise_is_found(self):
        self.assert_found(4, "assertion violated")

    def test_sleeping_without_looking_again_is_found(self):
        self.assert_found(5, "invalid end state")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
