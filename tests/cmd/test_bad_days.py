"""What `rwsem bench mmap` does when the machine or the user gets in its way."""
import glob
import json
import os
import resource
import signal
import subprocess
import tempfile
import unittest

from rwsem_command import (HELPERS, RWSEM, SHORT, assert_valid, bench, bench_json, not_sanitized,
                           start_and_signal, thread_count, variants)

LONG = ["bench", "mmap", "--gate", "none,mutex", "--threads", "3", "--time", "60s",
        "--no-switches"]


class Interrupted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "record.json")

    def interrupted(self, number):
        status, out, err = start_and_signal([*LONG, "-o", self.path],
                                            lambda p: thread_count(p.pid) >= 4, number)
        self.assertEqual(status, 128 + number, err)
        self.assertEqual(os.listdir(self.folder), ["record.json"], "nothing else is left behind")
        with open(self.path, encoding="utf-8") as f:
            record = json.load(f)
        assert_valid(record)
        self.assertFalse(record["complete"])
        self.assertEqual(record["interrupted_by"], signal.Signals(number).name)
        self.assertIn("interrupted", out)
        return record

    def test_sigint_saves_a_partial_record(self):
        record = self.interrupted(signal.SIGINT)
        measured = [v for _, v in variants(record) if v["rounds"]]
        self.assertTrue(measured)
        self.assertEqual(measured[0]["rounds"][-1]["outcome"], "interrupted")

    def test_sigterm_saves_a_partial_record(self):
        self.interrupted(signal.SIGTERM)

    def test_interrupted_json_on_stdout_is_whole(self):
        status, out, _ = start_and_signal([*LONG, "--json"], lambda p: thread_count(p.pid) >= 4,
                                          signal.SIGINT)
        self.assertEqual(status, 130)
        record = json.loads(out)
        assert_valid(record)
        self.assertFalse(record["complete"])

    def test_interrupt_while_switches_are_measured_ends_the_run(self):
        started = lambda p: thread_count(p.pid) > 1
        status, out, err = start_and_signal(["bench", "mmap", "--time", "60s", "--json"], started,
                                            signal.SIGINT)
        self.assertEqual(status, 130, err)
        assert_valid(json.loads(out))

    def test_nohup_is_respected(self):
        def ignore():
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
        process = subprocess.Popen([RWSEM, "bench", "mmap", "--gate", "none", "--threads", "3",
                                    "--time", "300ms", "--no-switches", "--json"],
                                   stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   preexec_fn=ignore)
        while process.poll() is None and thread_count(process.pid) < 4:
            pass
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertTrue(json.loads(out)["complete"])


class Exhausted(unittest.TestCase):
    @not_sanitized
    def test_memory_exhaustion_in_mid_run_is_reported_and_recorded(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
        done, record = bench_json("--gate", "none,mutex", "--threads", "1,2", "--size", "512M",
                                  *SHORT, preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mmap: Cannot allocate memory", done.stderr)
        self.assertIn("ulimit -v", done.stderr)
        assert_valid(record)
        for _, variant in variants(record):
            self.assertEqual(variant["status"], "failed")
            self.assertIn("256 MiB", variant["note"])

    @not_sanitized
    def test_map_count_exhaustion_is_told_from_lack_of_memory(self):
        done = subprocess.run([os.path.join(HELPERS, "few_mappings")], capture_output=True,
                              text=True, timeout=120)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @not_sanitized
    def test_too_many_threads_for_the_system_is_reported(self):
        most = resource.getrlimit(resource.RLIMIT_NPROC)
        if os.geteuid() == 0:
            runner = [os.path.join(HELPERS, "no_pinning"), "--no-clone"]
        else:
            runner = []
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, most[1]))
        done = subprocess.run([*runner, RWSEM, "bench", "mmap", "--gate", "none", "--threads", "8",
                               "--json", *SHORT], capture_output=True, text=True, timeout=60,
                              preexec_fn=limit)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("could start only", done.stderr)
        assert_valid(json.loads(done.stdout))


class Records(unittest.TestCase):
    def test_missing_folder_is_found_out_before_anything_is_measured(self):
        done = bench("-o", "/nonexistent/folder/record.json", "--time", "60s", timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("/nonexistent/folder/record.json", done.stderr)

    def test_read_only_folder_is_found_out_before_anything_is_measured(self):
        done = bench("-o", "/proc/record.json", "--time", "60s", timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertIn("/proc/record.json", done.stderr)

    def test_full_disk_loses_nothing(self):
        """The file-size limit stands in for the disk: the record is said not to fit."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")

            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
            done = bench("-o", path, "--gate", "none", "--threads", "1", *SHORT,
                         env=dict(os.environ, TMPDIR=folder), preexec_fn=limit)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(path, done.stderr)
            self.assertIn("Alone, a thread needs", done.stdout, "the table is printed all the same")
            self.assertEqual(glob.glob(folder + "/*"), [], "nothing is left behind")

    def test_full_standard_output_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([RWSEM, "bench", "mmap", "--gate", "none", "--threads", "1",
                                   *SHORT], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("standard output", done.stderr)

    def test_closed_standard_output_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            done = subprocess.run(
                ["sh", "-c", 'exec "$0" "$@" >&-', RWSEM, "bench", "mmap", "--gate", "none",
                 "--threads", "1", "-o", path, *SHORT], stderr=subprocess.PIPE, text=True,
                timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn("standard output", done.stderr)
            with open(path, encoding="utf-8") as f:
                self.assertTrue(json.load(f)["complete"], "and no table is written into it")

    def test_closed_pipe_still_saves_the_record(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "record.json")
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run([RWSEM, "bench", "mmap", "--gate", "none", "--threads", "1",
                                   "-o", path, *SHORT], stdout=writer, stderr=subprocess.PIPE,
                                  text=True, timeout=60)
            os.close(writer)
            self.assertEqual(done.returncode, 1)
            with open(path, encoding="utf-8") as f:
                self.assertTrue(json.load(f)["complete"])


class Confined(unittest.TestCase):
    def test_one_cpu_is_enough_and_counted(self):
        one = {min(os.sched_getaffinity(0))}
        done, record = bench_json("--gate", "none,spin", "--threads", "1x,2x", "--time", "24ms",
                                  "--rounds", "6", preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_valid(record)
        body = record["bench_mmap"]
        self.assertEqual(body["usable_cpus"], 1)
        self.assertEqual(body["options"]["threads"], [1, 2])
        two = [s for s in body["switches"] if "two" in s["kind"]]
        self.assertEqual(len(two), 2)
        for cost in two:
            self.assertFalse(cost["measured"])
            self.assertIn("one CPU", cost["why_not"])

    def test_pinning_is_done_and_recorded(self):
        done, record = bench_json("--pin", "--gate", "none", "--threads", "1,2x", *SHORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(record["bench_mmap"]["options"]["pinned"])

    def test_no_permission_to_pin_is_a_missing_capability(self):
        done = subprocess.run([os.path.join(HELPERS, "no_pinning"), RWSEM, "bench", "mmap",
                               "--pin", "--gate", "none", "--threads", "1", *SHORT],
                              capture_output=True, text=True, timeout=60)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("--pin", done.stderr)
        self.assertIn("Operation not permitted", done.stderr)

    def test_without_pinning_no_permission_is_needed(self):
        done = subprocess.run([os.path.join(HELPERS, "no_pinning"), RWSEM, "bench", "mmap",
                               "--json", "--gate", "none", "--threads", "2", "--time", "24ms"],
                              capture_output=True, text=True, timeout=60)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        record = json.loads(done.stdout)
        assert_valid(record)


if __name__ == "__main__":
    unittest.main()
