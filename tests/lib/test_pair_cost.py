#!/usr/bin/env python3
"""Instructions of an uncontended pair, counted by callgrind: repeatable, unlike time.

PAIR_COST names the program.
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM = os.environ["PAIR_COST"]
TIMES = 10000
MOST = 20  # a pair of down and up, the loop's own taken off


def instructions(what, times):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM,
                           what, str(times)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=True)
    return int(re.search(r"Collected\s*:\s*(\d+)", done.stderr).group(1))


def a_turn(what):
    return (instructions(what, TIMES) - instructions(what, 0)) / TIMES


class AnUncontendedPair(unittest.TestCase):
    def setUp(self):
        if not shutil.which("valgrind"):
            self.skipTest("valgrind is not here, which counts the instructions")

    def cost(self, what):
        cost = a_turn(what) - a_turn("none")
        print("# %s pair: %.1f instructions" % (what, cost), file=sys.stderr)
        self.assertGreater(cost, 2)  # less, and it was not measured
        self.assertLessEqual(cost, MOST)

    def test_to_read_is_short(self):
        self.cost("read")

    def test_to_write_is_short(self):
        self.cost("write")


if __name__ == "__main__":
    unittest.main()
