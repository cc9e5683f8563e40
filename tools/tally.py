#!/usr/bin/env python3
"""Counts the results of ./check: its own checks, and every single test of meson's logs.

    tally.py FOLDER

FOLDER/checks has a line "RESULT<tab>NAME<tab>REASON" a check; FOLDER/*.json are testlog.json files,
in which each test program's output (TAP) is counted line by line. A program that crashed, timed
out, ended early or printed no plan counts as one failure more, so that nothing gets lost. Prints
skips with their reasons, failures with what they said, and last the line "N passed, N failed, N
skipped". Exit status: 1 when something failed or nothing ran.
"""
import glob
import json
import os
import re
import sys

POINT = re.compile(r"(not )?ok\b *(\d+)?(?: -)? *(.*?)(?: *# *(SKIP|TODO)\b *(.*))?$", re.IGNORECASE)
PLAN = re.compile(r"1\.\.(\d+)(?: *# *SKIP *(.*))?$", re.IGNORECASE)
STDERR_LINES = 60


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = []  # (name, text)
        self.skipped = []  # (name, reason)

    def add(self, result, name, text):
        if result == "passed":
            self.passed += 1
        elif result == "skipped" and text:
            self.skipped.append((name, text))
        elif result == "skipped":
            self.failed.append((name, "was skipped without a reason"))
        else:
            self.failed.append((name, text))

    def add_checks(self, path):
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                result, name, reason = (line.rstrip("\n").split("\t") + ["", ""])[:3]
                self.add(result, name, reason)

    def add_log(self, path):
        suite = os.path.splitext(os.path.basename(path))[0]
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                try:
                    test = json.loads(line)
                except ValueError:
                    self.add("failed", suite, "meson's log is damaged")
                    continue
                self.add_program(f"{suite}: {test['name']}", test)

    def add_program(self, program, test):
        """One test program: each of its TAP lines, and one failure if it did not end well."""
        planned, seen, bad, bail = None, 0, 0, ""
        for line in (test.get("stdout") or "").splitlines():
            point, plan = POINT.match(line), PLAN.match(line)
            if point:
                seen += 1
                name = f"{program}: {point[3] or point[2]}"
                if point[4] and point[4].upper() == "SKIP":
                    self.add("skipped", name, point[5])
                elif point[1]:
                    bad += 1
                    self.add("failed", name, "")
                else:
                    self.add("passed", name, "")
            elif plan:
                planned = int(plan[1])
                if planned == 0 and plan[2]:
                    self.add("skipped", program, plan[2])
            elif line.startswith("Bail out!"):
                bail = line
        why = ending(test, planned, seen, bad, bail)
        if why:
            self.add("failed", program, why)
        if why or bad:
            said = (test.get("stderr") or "").splitlines()[-STDERR_LINES:]
            name, text = self.failed[-1]
            self.failed[-1] = (name, "\n    ".join([text, *said]).strip())


def ending(test, planned, seen, bad, bail):
    """Why the program as a whole did not end well; empty where it did."""
    result = test.get("result", "")
    if result == "TIMEOUT":
        return f"timed out after {test.get('duration', 0):.0f} s, having ended {seen} tests"
    if bail:
        return bail
    if planned is None:
        return f"printed no plan (status {test.get('returncode')}, {seen} tests ended)"
    if seen != planned:
        return f"ended {seen} of {planned} tests (status {test.get('returncode')})"
    if result not in ("OK", "SKIP", "EXPECTEDFAIL") and not bad:
        return f"ended as {result}, with status {test.get('returncode')}"
    return ""


def main():
    if len(sys.argv) != 2:
        print("usage: tally.py FOLDER", file=sys.stderr)
        return 2
    tally = Tally()
    checks = os.path.join(sys.argv[1], "checks")
    if os.path.exists(checks):
        tally.add_checks(checks)
    for path in sorted(glob.glob(os.path.join(glob.escape(sys.argv[1]), "*.json"))):
        tally.add_log(path)
    print()
    for name, reason in tally.skipped:
        print(f"skipped {name}: {reason}")
    for name, text in tally.failed:
        print(f"failed  {name}{': ' if text else ''}{text}")
    if not tally.passed and not tally.failed:
        print("failed  nothing ran")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())
