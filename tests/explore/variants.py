"""Builds a test program over the library with some of its text replaced: a deliberately broken variant.

A replaced text that is not in its file exactly once is an error, so that no list of variants can drift
from the code unseen.
"""
import os
import shutil
import subprocess

LOCK_FILES = ["rwsem.c", "slow.c", "spin.c", "check.c", "tunables.c", "shared.c"]
WHOLE_LIB = LOCK_FILES + ["os.c", "quota.c", "watch.c", "misuse.c", "symbols.c"]
SEAM = ['-DRWSEM_SEAM="tests/explore/seam.h"']

# The programs: sources of the test, of the library, further arguments of the compiler.
KINDS = {
    "explore": (["explore/explore.c", "explore/main.c", "explore/os.c", "explore/unwatched.c"],
                LOCK_FILES, SEAM),
    "spin": (["lib/test_spin.c", "explore/unwatched.c"], LOCK_FILES, ["-lcmocka"]),
    "calls": (["lib/test_calls.c"], WHOLE_LIB, ["-lcmocka"]),
    "processes": (["lib/test_processes.c"], WHOLE_LIB, ["-lcmocka"]),
    "quota": (["lib/test_quota.c", "result/tree.c"], WHOLE_LIB, ["-lcmocka"]),
}


def run(command, seconds=600):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=seconds, check=False)
    return done.returncode, done.stdout


def build(root, compiler, kind, file, changes, folder):
    """The program's path; `file` of lib/ with each (old, new) of `changes` made, in `folder`."""
    lib = os.path.join(folder, "lib")
    shutil.copytree(os.path.join(root, "lib"), lib)
    path = os.path.join(lib, file)
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for old, new in changes:
        if text.count(old) != 1:
            raise AssertionError("'%s' is %d times in %s" % (old, text.count(old), file))
        text = text.replace(old, new)
    with open(path, "w", encoding="utf-8") as source:
        source.write(text)
    tests, sources, options = KINDS[kind]
    program = os.path.join(folder, kind)
    status, output = run(compiler + ["-std=gnu11", "-O1", "-w", "-U_FORTIFY_SOURCE", "-D_GNU_SOURCE",
                                     "-I" + folder, "-I" + lib, "-I" + root,
                                     "-I" + os.path.join(root, "include"), "-o", program]
                         + [os.path.join(lib, name) for name in sources]
                         + [os.path.join(root, "tests", name) for name in tests]
                         + options + ["-lpthread"])
    if status:
        raise AssertionError(output)
    return program
