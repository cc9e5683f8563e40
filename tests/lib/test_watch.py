#!/usr/bin/env python3
"""Watched locks: what debug mode reports of a misuse, what statistics count, what tunables take.

Each case runs watch_cases, a program that does one thing wrong, by name.
"""
import os
import re
import subprocess
import unittest

PROGRAM = os.environ["WATCH_CASES"]


def run(case, **env):
    """Exit status and stderr of the case; RWSEM_... of the caller's environment left out."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("RWSEM_")}
    clean.update(env)
    done = subprocess.run([PROGRAM, case], env=clean, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


class DebugMode(unittest.TestCase):
    def assert_reported(self, case, text, stacks=2):
        status, err = run(case, RWSEM_DEBUG="1")
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("rwsem: "), 1, err)
        self.assertIn(text, err)
        self.assertIn('"the cache"', err)
        self.assertEqual(len(re.findall(r", thread \d+:\n", err)), stacks, err)
        status, err = run(case)
        self.assertNotIn("rwsem: ", err)

    def test_recursive_read(self):
        self.assert_reported("recursive_read", "recursive read")

    def test_self_deadlock(self):
        self.assert_reported("self_deadlock", "holds itself")

    def test_up_without_down(self):
        self.assert_reported("up_without_down", "up without down")

    def test_wrong_owner(self):
        self.assert_reported("wrong_owner", "wrong owner")

    def test_destroy_while_held(self):
        self.assert_reported("destroy_while_held", "destroy while held")

    def test_order_inversion_over_three_locks(self):
        self.assert_reported("order_inversion", "lock-order inversion")

    def test_right_use_is_not_reported(self):
        status, err = run("right_use", RWSEM_DEBUG="1")
        self.assertEqual((status, err), (0, ""))

    def test_the_flag_asks_for_the_checks_of_one_lock(self):
        status, err = run("flagged")
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("rwsem: "), 1, err)
        self.assertIn("recursive read", err)
        self.assertIn('"the cache"', err)

    def test_a_read_hold_that_another_thread_releases_is_not_misuse(self):
        status, err = run("handed_over", RWSEM_DEBUG="1")
        self.assertEqual(status, 0, err)
        self.assertEqual(err.count("rwsem: "), 1, err)
        self.assertIn("lock-order inversion", err)

    def test_a_lock_made_anew_has_no_past(self):
        for case in ("made_anew", "handed_over_and_gone"):
            self.assertEqual(run(case, RWSEM_DEBUG="1"), (0, ""))

    def test_a_handler_may_use_another_lock(self):
        # Watching allocates when it sees something first, which rwsem(7) tells; not so elsewhere.
        tsan = os.environ.get("TSAN_OPTIONS", "") + ":report_signal_unsafe=0"
        for variable in ("RWSEM_STATS", "RWSEM_DEBUG"):
            self.assertEqual(run("used_in_a_handler", TSAN_OPTIONS=tsan, **{variable: "1"}),
                             (0, ""))

    def test_a_report_is_no_cancellation_point(self):
        status, err = run("cancelled", RWSEM_DEBUG="1")
        self.assertEqual(status, 0, err)
        self.assertIn("recursive read", err)
        self.assertIn(", thread ", err)

    def test_level_2_aborts(self):
        status, err = run("up_without_down", RWSEM_DEBUG="2")
        self.assertEqual(status, -6, err)


class Statistics(unittest.TestCase):
    def test_a_watched_lock_counts(self):
        self.assertEqual(run("counts"), (0, ""))

    def test_every_lock_counts_when_asked_for(self):
        self.assertEqual(run("counts_all", RWSEM_STATS="1"), (0, ""))

    def test_others_count_nothing(self):
        self.assertEqual(run("counts_nothing"), (0, ""))


class Stack(unittest.TestCase):
    def test_a_thread_with_the_smallest_stack_can_wait(self):
        self.assertEqual(run("small_stack"), (0, ""))


class Tunables(unittest.TestCase):
    def test_the_environment_sets_them(self):
        self.assertEqual(run("tunable_is_5", RWSEM_HANDOFF_NS="5"), (0, ""))

    def test_nonsense_for_the_modes_is_told(self):
        for variable in ("RWSEM_DEBUG", "RWSEM_STATS"):
            for text in ("yes", "on", "-1", "7"):
                status, err = run("counts_nothing", **{variable: text})
                self.assertEqual(status, 0)
                self.assertIn("%s=%s is not used" % (variable, text), err)

    def test_nonsense_is_told_and_not_used(self):
        for text in ("", "abc", "5x", "-1", "99999999999999999999", "1000000001"):
            status, err = run("tunable_is_default", RWSEM_HANDOFF_NS=text)
            self.assertEqual(status, 0)
            self.assertIn("RWSEM_HANDOFF_NS=" + text + " is not used", err)


if __name__ == "__main__":
    unittest.main()
