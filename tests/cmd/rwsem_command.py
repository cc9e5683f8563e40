"""How the command-line tests start `rwsem` and read what it leaves behind."""
import json
import os
import signal
import subprocess
import time
import unittest

import jsonschema

RWSEM = os.environ["RWSEM"]
SOURCE = os.environ["RWSEM_SOURCE"]
SANITIZER = os.environ.get("RWSEM_SANITIZER", "none")
HELPERS = os.environ["RWSEM_TEST_HELPERS"]

not_sanitized = unittest.skipUnless(
    SANITIZER == "none", f"the run time of -fsanitize={SANITIZER} needs what this test takes away")

# Enough to go through every part of the code, too little to say anything about speed.
SHORT = ["--time", "24ms", "--rounds", "6", "--no-switches"]


def rwsem(*arguments, timeout=120, **more):
    return subprocess.run([RWSEM, *arguments], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL, **more)


def bench(*arguments, **more):
    return rwsem("bench", "mmap", *arguments, **more)


def bench_json(*arguments, **more):
    done = bench("--json", *arguments, **more)
    try:
        return done, json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise AssertionError(f"no JSON ({error}); status {done.returncode}, stderr: {done.stderr}")


def variants(record):
    for cell in record["bench_mmap"]["cells"]:
        for variant in cell["variants"]:
            yield cell["threads"], variant


def assert_valid(record):
    """Holds a record to the shipped schema; says in one line what is wrong with it."""
    with open(os.path.join(SOURCE, "docs", "record.schema.json"), encoding="utf-8") as f:
        validator = jsonschema.Draft202012Validator(json.load(f))
    error = jsonschema.exceptions.best_match(validator.iter_errors(record))
    if error:
        raise AssertionError(f"{error.json_path}: {error.message[:200]}")


def wait_until(condition, seconds=60):
    """Polls a condition that another process brings about; the wait has no meaning of its own."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the condition did not come about in time")
        time.sleep(0.005)


def start_and_signal(arguments, when, number):
    """Starts rwsem, sends it a signal once `when(process)` holds, and returns it with output."""
    process = subprocess.Popen([RWSEM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, stdin=subprocess.DEVNULL)
    try:
        wait_until(lambda: process.poll() is not None or when(process))
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
    return process.returncode, out, err


def thread_count(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return 0
