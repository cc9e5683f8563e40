#!/usr/bin/env python3
"""Runs the explorer over the library as it is, and over one with each planted fault.

test_explore.py EXPLORE SOURCE_ROOT CC...   RWSEM_TEST_LONG=1 explores one preemption further.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from mutants import MUTANTS  # noqa: E402

EXPLORE, ROOT = sys.argv[1], sys.argv[2]
CC = sys.argv[3:]
LONG = 1 if os.environ.get("RWSEM_TEST_LONG") else 0
LIB_FILES = ["rwsem.c", "slow.c", "spin.c", "check.c", "tunables.c", "shared.c"]
TEST_FILES = ["explore.c", "main.c", "os.c", "unwatched.c"]

# bound, programs; see main.c for what they mean
TWO = (5, ["w|w", "w|r", "W|w", "R|w", "i|w", "j|w", "d|w", "d|r", "u|w", "u|u", "x|w", "y|w",
           "ww|ww", "wr|rw", "hhhh|w", "hhhh|r", "gggg|w", "p:w|w", "p:W|w", "p:hhh|w"])
THREE = (3, ["w|w|w", "w|w|r", "w|r|r", "ww|w|w", "W|W|w", "W|R|w", "R|w|w", "i|w|w", "j|w|r",
             "j|i|w", "d|r|w", "d|r|r", "d|W|r", "d|R|w", "u|w|r", "u|u|w", "u|W|r", "x|w|w",
             "y|w|w", "W|W|W", "R|W|W", "hh|W|r", "hh|R|w", "gg|gg|w", "p:w|w|w", "p:W|w|r",
             "p:i|w|w", "p:d|r|w", "c:r|r|w", "c:rr|w|w", "pc:W|r|w"])
FOUR = (2, ["w|w|w|w", "w|w|r|r", "d|r|r|w", "W|w|r|w", "i|j|w|w", "x|w|y|r"])
SHARED = (3, ["s:w|w|w", "s:w|r|r", "s:W|w|r", "s:i|w|r", "s:d|r|w", "s:hhhh|w", "s:gggg|w",
              "s:u|w|r", "s:R|W|w", "s:j|W|r", "s:x|w|w", "sc:rr|w"])


def run(command, seconds=600):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds, check=False)
    return done.returncode, done.stdout


class TheLibrary(unittest.TestCase):
    def explore(self, group):
        bound, programs = group
        status, output = run([EXPLORE, "--bound", str(bound + LONG)] + programs)
        self.assertEqual(status, 0, output[-6000:])
        print("# bound %d, %d programs: %s" % (bound + LONG, len(programs),
                                               output.splitlines()[-1]), file=sys.stderr)

    def test_two_threads(self):
        self.explore(TWO)

    def test_three_threads(self):
        self.explore(THREE)

    def test_four_threads(self):
        self.explore(FOUR)

    def test_process_shared(self):
        self.explore(SHARED)

    def test_a_failing_schedule_can_be_replayed(self):
        mutant = MUTANTS[0]
        with tempfile.TemporaryDirectory() as folder:
            program = build(mutant, folder)
            status, output = run([program] + mutant[3])
            self.assertEqual(status, 1, output)
            again = [line for line in output.splitlines() if line.startswith("again:")][0]
            words = again.split()
            status, story = run([program, "--replay", words[3], words[4].strip("'")])
            self.assertEqual(status, 1, story)
            self.assertIn(mutant[4], story)


def build(mutant, folder):
    name, file, changes = mutant[:3]
    lib = os.path.join(folder, "lib")
    shutil.copytree(os.path.join(ROOT, "lib"), lib)
    path = os.path.join(lib, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for old, new in changes:
        if text.count(old) != 1:
            raise AssertionError("%s: '%s' is %d times in %s" % (name, old, text.count(old), file))
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as source:
        source.write(text)
    program = os.path.join(folder, "explore")
    here = os.path.join(ROOT, "tests", "explore")
    status, output = run(CC + ["-std=gnu11", "-O1", "-w", "-U_FORTIFY_SOURCE", "-D_GNU_SOURCE",
                               '-DRWSEM_SEAM="tests/explore/seam.h"', "-I" + folder, "-I" + lib,
                               "-I" + ROOT, "-I" + os.path.join(ROOT, "include"), "-o", program]
                         + [os.path.join(lib, f) for f in LIB_FILES]
                         + [os.path.join(here, f) for f in TEST_FILES] + ["-lpthread"])
    if status:
        raise AssertionError(name + ": " + output)
    return program


class EachPlantedFaultIsFound(unittest.TestCase):
    pass


def add(number, mutant):
    def case(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run([build(mutant, folder)] + mutant[3])
        self.assertEqual(status, 1, output[-3000:])
        self.assertIn(mutant[4], output)

    case.__doc__ = mutant[0]
    words = "".join(c if c.isalnum() else "_" for c in mutant[0])
    setattr(EachPlantedFaultIsFound, "test_%02d_%s" % (number, words), case)


for index, one in enumerate(MUTANTS, 1):
    add(index, one)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
