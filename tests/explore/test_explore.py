#!/usr/bin/env python3
"""Runs the explorer over the library as it is, and over one with each planted fault.

test_explore.py EXPLORE SOURCE_ROOT CC...   RWSEM_TEST_LONG=1 explores one preemption further.
"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutants import MUTANTS  # noqa: E402
from variants import build, run  # noqa: E402

EXPLORE, ROOT = sys.argv[1], sys.argv[2]
CC = sys.argv[3:]
MORE = 1 if os.environ.get("RWSEM_TEST_LONG") else 0

# bound, programs; see main.c for what they mean
TWO = (5, ["w|w", "w|r", "W|w", "R|w", "i|w", "j|w", "d|w", "d|r", "u|w", "u|u", "x|w", "y|w",
           "ww|ww", "wr|rw", "hhhh|w", "hhhh|r", "gggg|w", "p:w|w", "p:W|w", "p:hhh|w"])
THREE = (3, ["w|w|w", "w|w|r", "w|r|r", "ww|w|w", "W|W|w", "W|R|w", "R|w|w", "i|w|w", "j|w|r",
             "j|i|w", "d|r|w", "d|r|r", "d|W|r", "d|R|w", "u|w|r", "u|u|w", "u|W|r", "x|w|w",
             "y|w|w", "W|W|W", "R|W|W", "hh|W|r", "hh|R|w", "gg|gg|w", "p:w|w|w", "p:W|w|r",
             "p:i|w|w", "p:d|r|w", "c:r|r|w", "c:rr|w|w", "pc:W|r|w"])
FOUR = (2, ["w|w|w|w", "w|w|r|r", "d|r|r|w", "W|w|r|w", "i|j|w|w", "x|w|y|r"])
# many long holds past one that sleeps: nobody is passed for ever
LONG = (2, ["h" * 15 + "|w", "h" * 15 + "|r", "h" * 15 + "|r|w", "p:" + "h" * 15 + "|r|w",
            "g" * 15 + "|" + "g" * 15 + "|w", "h" * 7 + "|" + "h" * 15 + "|w", "c:nn|n|w"])
SHARED = (3, ["s:w|w|w", "s:w|r|r", "s:W|w|r", "s:i|w|r", "s:d|r|w", "s:hhhh|w", "s:gggg|w",
              "s:u|w|r", "s:R|W|w", "s:j|W|r", "s:x|w|w", "sc:rr|w"])


class TheLibrary(unittest.TestCase):
    def explore(self, group):
        bound, programs = group
        status, output = run([EXPLORE, "--bound", str(bound + MORE)] + programs)
        self.assertEqual(status, 0, output[-6000:])
        print("# bound %d, %d programs: %s" % (bound + MORE, len(programs),
                                               output.splitlines()[-1]), file=sys.stderr)

    def test_two_threads(self):
        self.explore(TWO)

    def test_three_threads(self):
        self.explore(THREE)

    def test_four_threads(self):
        self.explore(FOUR)

    def test_nobody_is_passed_for_ever(self):
        self.explore(LONG)

    def test_process_shared(self):
        self.explore(SHARED)

    def test_a_failing_schedule_can_be_replayed(self):
        mutant = MUTANTS[0]
        with tempfile.TemporaryDirectory() as folder:
            program = broken(mutant, folder)
            status, output = run([program] + mutant[3])
            self.assertEqual(status, 1, output)
            again = [line for line in output.splitlines() if line.startswith("again:")][0]
            words = again.split()
            status, story = run([program, "--replay", words[3], words[4].strip("'")])
            self.assertEqual(status, 1, story)
            self.assertIn(mutant[4], story)


def broken(mutant, folder):
    return build(ROOT, CC, "explore", mutant[1], mutant[2], folder)


class EachPlantedFaultIsFound(unittest.TestCase):
    pass


def add(number, mutant):
    def case(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run([broken(mutant, folder)] + mutant[3])
        self.assertEqual(status, 1, output[-3000:])
        self.assertIn(mutant[4], output)

    case.__doc__ = mutant[0]
    words = "".join(c if c.isalnum() else "_" for c in mutant[0])
    setattr(EachPlantedFaultIsFound, "test_%02d_%s" % (number, words), case)


for index, one in enumerate(MUTANTS, 1):
    add(index, one)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
