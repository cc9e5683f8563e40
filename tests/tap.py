#!/usr/bin/env python3
"""Runs one test program and speaks TAP for it, each skip with its reason.

    tap.py FILE.py [ARG...] the unittest cases of that file, which finds ARGs in sys.argv[1:]
    tap.py PROGRAM [ARG...] a cmocka program, whose skips are put right (see tests/skip.h)

Meson calls it with protocol 'tap'; by hand it works just as well. Exit status: 0 when nothing
failed, 1 when a case failed, and for a program that status or signal with which it ended.
"""
import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True

BECAUSE = "# skipped because: "
CMOCKA_SKIP = re.compile(r"(?:not )?ok (\d+)(?: -)? ?# SKIP ?(.*)")


def say(line):
    print(line, flush=True)


def one_line(text):
    return " ".join(str(text).split())


class TapResult(unittest.TestResult):
    """Prints a line as each case ends; what a failing case has to say goes to stderr."""

    def __init__(self):
        super().__init__()
        self.number = 0
        self.bad = 0
        self.began = 0.0
        self.subtest_failed = False

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()
        self.subtest_failed = False

    def line(self, ok, test, rest=""):
        self.number += 1
        self.bad += not ok
        name = test.id()
        if isinstance(test, unittest.TestCase):
            name = name.split(".", 1)[-1]  # without the module
        name = name.replace("#", "")
        say(f"{'ok' if ok else 'not ok'} {self.number} - {name}{rest}")

    def addSuccess(self, test):
        self.line(True, test)
        say(f"# took {time.monotonic() - self.began:.2f} s")

    def addSkip(self, test, reason):
        self.line(True, test, f" # SKIP {one_line(reason) or 'no reason given'}")

    def addExpectedFailure(self, test, err):
        self.line(True, test, " # SKIP known to fail")

    def addUnexpectedSuccess(self, test):
        self.line(False, test)
        print(f"{test.id()}: was expected to fail and did not", file=sys.stderr, flush=True)

    def addFailure(self, test, err):
        self.line(False, test)
        self.explain(test, err)

    addError = addFailure

    def addSubTest(self, test, subtest, err):
        # The case as a whole fails once, however many of its subtests do.
        if err is not None:
            self.explain(subtest, err)
            if not self.subtest_failed:
                self.subtest_failed = True
                self.line(False, test)

    def explain(self, test, err):
        text = self._exc_info_to_string(err, test)
        print(f"--- {test.id()}\n{text}", file=sys.stderr, flush=True)


def run_unittest(path, arguments):
    sys.argv[:] = [path, *arguments]
    folder = os.path.dirname(os.path.abspath(path))
    sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    try:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    except unittest.SkipTest as why:
        say(f"1..0 # SKIP {one_line(why)}")
        return 0
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    if suite.countTestCases() == 0:
        say("Bail out! no test case in " + path)
        return 1
    result = TapResult()
    suite.run(result)
    # Printed last: a class or module that is skipped as a whole is one line, not one a case.
    say(f"1..{result.number}")
    return 1 if result.bad else 0


def run_program(command):
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    # One program that hangs is meson's to end; it ends the whole process group.
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, errors="replace")
    reason, planned, seen = None, None, 0
    for line in child.stdout:
        line = line.rstrip("\n")
        if line.startswith(BECAUSE):
            reason = line[len(BECAUSE):]
        skipped = CMOCKA_SKIP.match(line)
        if skipped:
            line = f"ok {skipped[1]} - {skipped[2]} # SKIP {one_line(reason or 'no reason given')}"
        if re.match(r"(not )?ok\b", line):
            seen += 1
            reason = None
        plan = re.match(r"1\.\.(\d+)", line)
        if plan:
            planned = int(plan[1])
        say(line)
    status = child.wait()
    if status < 0:
        say(f"Bail out! ended by {signal.Signals(-status).name} after {seen} of {planned} tests")
        return 128 - status
    if planned is None:
        say(f"Bail out! printed no plan, ended with status {status}")
        return status or 1
    return status


def main():
    if len(sys.argv) < 2:
        print("usage: tap.py FILE.py|PROGRAM [ARG...]", file=sys.stderr)
        return 2
    if sys.argv[1].endswith(".py"):
        return run_unittest(sys.argv[1], sys.argv[2:])
    return run_program(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
