"""What `rwsem bench mmap` does when the machine or the user gets in its way."""
import fcntl
import glob
import json
import os
import resource
import signal
import subprocess
import tempfile
import unittest

from rwsem_command import (HELPERS, RWSEM, SHORT, assert_valid, bench, bench_json, not_sanitized,
                           start_and_signal, thread_count, variants, wait_until)

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

    def test_a_signal_and_its_echo_lose_nothing(self):
        """timeout(1) signals its child and then the whole group, at nearly the same moment."""
        process = subprocess.Popen([RWSEM, *LONG, "-o", self.path], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        wait_until(lambda: thread_count(process.pid) >= 4)
        for _ in range(3):
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 143)
        with open(self.path, encoding="utf-8") as f:
            assert_valid(json.load(f))

    def test_sudden_death_leaves_no_temporary_file(self):
        process = subprocess.Popen([RWSEM, *LONG, "-o", self.path], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: thread_count(process.pid) >= 4)
        process.kill()
        process.wait(timeout=60)
        self.assertEqual(os.listdir(self.folder), [])

    def test_record_is_saved_before_a_reader_that_does_not_read(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        process = subprocess.Popen([RWSEM, *LONG, "-o", self.path], stdout=writer,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        os.set_blocking(writer, False)
        os.write(writer, b"x" * 4096)
        os.set_blocking(writer, True)
        os.close(writer)
        wait_until(lambda: thread_count(process.pid) >= 4)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: os.path.exists(self.path))
        process.kill()
        process.wait(timeout=60)
        with open(self.path, encoding="utf-8") as f:
            self.assertEqual(json.load(f)["interrupted_by"], "SIGINT")

    def test_stopped_child_of_the_pipe_measurement_holds_nothing_up(self):
        process = subprocess.Popen([RWSEM, "bench", "mmap", "--gate", "none", "--threads", "1",
                                    "--time", "10ms", "--json"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        child = []

        def has_child():
            try:
                tasks = os.listdir(f"/proc/{process.pid}/task")
            except FileNotFoundError:
                tasks = []
            for task in tasks:
                try:
                    with open(f"/proc/{process.pid}/task/{task}/children", encoding="ascii") as f:
                        child[:] = f.read().split()
                except FileNotFoundError:
                    continue
                if child:
                    return True
            return process.poll() is not None
        wait_until(has_child)
        if child:
            try:
                os.kill(int(child[0]), signal.SIGSTOP)
            except ProcessLookupError:
                pass
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        assert_valid(json.loads(out))

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
    def test_a_cell_that_does_not_fit_leaves_the_others_figures(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (140000 << 10, 140000 << 10))
        done, record = bench_json("--gate", "none", "--threads", "1,4096", *SHORT, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        assert_valid(record)
        self.assertEqual([v["status"] for _, v in variants(record)], ["ok", "failed"])

    def test_what_a_burst_holds_counts_before_it_is_touched(self):
        with open("/proc/meminfo", encoding="ascii") as f:
            kib = next(int(line.split()[1]) for line in f if line.startswith("MemAvailable"))
        size = (kib // 8) >> 2 << 12
        done = bench("--workload", "unmap", "--touch", "all", "--threads", "1", "--size", str(size),
                     *SHORT)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("smaller --size", done.stderr)

    def test_file_size_limit_does_not_end_a_run(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        with tempfile.TemporaryFile() as full:
            full.write(b"x" * 4096)
            full.flush()
            done = subprocess.run([RWSEM, "bench", "mmap", "--gate", "none", "--threads", "1",
                                   *SHORT], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=60, preexec_fn=limit)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("standard output", done.stderr)
        self.assertEqual(done.stderr.count("standard output"), 1, "said once")

    def test_ignored_sigchld_does_not_spoil_the_switch_counts(self):
        done, record = bench_json("--gate", "none", "--threads", "1", "--time", "6ms",
                                  preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 0, done.stderr)
        for cost in record["bench_mmap"]["switches"]:
            if cost["kind"] == "processes, one CPU" and cost["measured"]:
                steps = cost["steps"] * len(cost["elapsed_ns"])
                self.assertGreater(cost["context_switches"] / steps, 0.8)

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
