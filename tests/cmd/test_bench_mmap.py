"""What `rwsem bench mmap` measures, prints and records."""
import csv
import io
import os
import pty
import re
import statistics
import subprocess
import unittest

from rwsem_command import RWSEM, SHORT, assert_valid, bench, bench_json, not_sanitized, variants


def cpus():
    return len(os.sched_getaffinity(0))


class Measures(unittest.TestCase):
    def test_record_is_valid_and_complete(self):
        done, record = bench_json("--gate", "none,spin,mutex", "--threads", "1,2", *SHORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        assert_valid(record)
        self.assertTrue(record["complete"])
        self.assertEqual(record["kind"], "bench mmap")

    def test_record_with_switch_costs_is_valid(self):
        done, record = bench_json("--gate", "none", "--threads", "1", "--time", "6ms")
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_valid(record)
        switches = record["bench_mmap"]["switches"]
        self.assertEqual(len(switches), 5)
        for cost in switches:
            self.assertEqual(cost["measured"], "why_not" not in cost)
            if cost["measured"]:
                per_step = [ns / cost["steps"] for ns in cost["elapsed_ns"]]
                self.assertAlmostEqual(cost["step_ns"], statistics.median(per_step), delta=0.01)

    def test_iterations_are_exact_in_each_thread(self):
        done, record = bench_json("--gate", "none,mutex", "--threads", "1,3", "--iterations", "123",
                                  "--rounds", "2", "--no-switches")
        self.assertEqual(done.returncode, 0, done.stderr)
        for threads, variant in variants(record):
            self.assertEqual(len(variant["rounds"]), 2)
            for measured in variant["rounds"]:
                self.assertEqual(measured["thread_iterations"], [123] * threads)
                self.assertEqual(measured["iterations"], 123 * threads)
            for name in ("mmap", "touch", "munmap", "whole"):
                self.assertEqual(variant["latency_ns"][name]["count"], 2 * 123 * threads, name)

    def test_summary_follows_from_the_raw_samples(self):
        _, record = bench_json("--gate", "none,mutex", "--threads", "2", *SHORT)
        for threads, variant in variants(record):
            rates = [r["iterations"] * 1e9 / r["elapsed_ns"] for r in variant["rounds"]]
            summary = variant["summary"]
            self.assertAlmostEqual(summary["rate_per_second"] / statistics.median(rates), 1, 9)
            self.assertAlmostEqual(
                summary["iteration_ns"] * summary["rate_per_second"] / 1e9 / threads, 1, 9)
            cpu = sum(r["cpu_ns"] for r in variant["rounds"])
            done = sum(r["iterations"] for r in variant["rounds"])
            self.assertAlmostEqual(summary["cpu_ns_per_iteration"] * done / cpu, 1, 9)

    @not_sanitized
    def test_touching_faults_and_not_touching_does_not(self):
        for touch, least, most in (("first", 1, 1.2), ("none", 0, 0.2), ("all", 4, 4.3)):
            _, record = bench_json("--gate", "none", "--threads", "1", "--touch", touch, "--size",
                                   str(4 * os.sysconf("SC_PAGESIZE")), "--iterations", "500",
                                   "--rounds", "1", "--no-switches")
            for _, variant in variants(record):
                faults = variant["summary"]["faults_per_iteration"]
                self.assertTrue(least <= faults <= most, f"{touch}: {faults} faults an iteration")

    def test_populate_moves_the_fault_from_touch_to_mmap(self):
        median = {}
        for extra in ([], ["--populate"]):
            _, record = bench_json("--gate", "none", "--threads", "1", "--iterations", "2000",
                                   "--rounds", "1", "--no-switches", *extra)
            self.assertEqual(record["bench_mmap"]["options"]["populate"], bool(extra))
            for _, variant in variants(record):
                median[bool(extra)] = variant["latency_ns"]["touch"]["p50_ns"]
        # A fault costs an entry to the kernel, a write to a page that is there some nanoseconds.
        self.assertLess(median[True], median[False] / 2)

    def test_every_gate_has_its_turn_in_each_round_in_shuffled_order(self):
        arguments = ["--threads", "1", "--time", "40ms", "--rounds", "20", "--no-switches",
                     "--seed", "11"]
        _, record = bench_json(*arguments)
        orders = {}
        for _, variant in variants(record):
            for measured in variant["rounds"]:
                orders.setdefault(measured["round"], {})[measured["order"]] = variant["gate"]
        seen = {tuple(order[i] for i in range(6)) for order in orders.values()}
        self.assertEqual(len(orders), 20)
        self.assertGreater(len(seen), 5)
        _, again = bench_json(*arguments)
        for (_, a), (_, b) in zip(variants(record), variants(again)):
            self.assertEqual([r["order"] for r in a["rounds"]], [r["order"] for r in b["rounds"]])

    def test_few_rounds_give_no_verdict(self):
        _, record = bench_json("--gate", "none,mutex", "--threads", "2", "--time", "20ms",
                               "--rounds", "5", "--no-switches")
        verdicts = [v["summary"]["verdict"] for _, v in variants(record)]
        self.assertEqual(verdicts, ["baseline", "too few rounds"])

    def test_threads_may_be_multiples_of_usable_cpus(self):
        _, record = bench_json("--gate", "none", "--threads", "1x,2x,8x", *SHORT)
        self.assertEqual(record["bench_mmap"]["options"]["threads"],
                         [record["bench_mmap"]["usable_cpus"] * n for n in (1, 2, 8)])

    def test_collapse_is_bounded_and_reported(self):
        # A stand-in for the naive spinlock on few CPUs that needs no luck: more iterations than
        # the limit allows.
        done, record = bench_json("--gate", "none,spin", "--threads", "8x", "--iterations",
                                  "100000000", "--limit", "200ms", "--no-switches", timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_valid(record)
        for _, variant in variants(record):
            self.assertIn(variant["status"], ("cut off", "collapsed"))
            self.assertRegex(variant["note"], r"of \d+ iterations in")
            self.assertEqual(len(variant["rounds"]), 1, "a gate that was cut off is not asked again")

    def test_own_overhead_is_recorded(self):
        _, record = bench_json("--gate", "none", "--threads", "1", *SHORT)
        clock = record["bench_mmap"]["clock"]
        self.assertGreater(clock["overhead_ns_per_iteration"], 0)
        self.assertAlmostEqual(
            clock["overhead_share"],
            clock["overhead_ns_per_iteration"] / clock["fastest_iteration_ns"])

    def test_every_workload_runs(self):
        names = re.findall(r"(?m)^(\S+)", bench("--workload", "list").stdout)
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            with self.subTest(workload=name):
                done, record = bench_json("--workload", name, "--gate", "none,mutex", "--threads",
                                          "1,4", *SHORT)
                self.assertEqual(done.returncode, 0, done.stderr)
                assert_valid(record)
                for _, variant in variants(record):
                    self.assertIn(variant["status"], ("ok", "collapsed"), variant.get("note"))
                    self.assertGreater(variant["latency_ns"]["whole"]["count"], 0)


class Prints(unittest.TestCase):
    def test_table_has_a_row_for_each_cell_and_gate(self):
        done = bench("--gate", "none,spin,mutex", "--threads", "1,2", *SHORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = re.findall(r"(?m)^ +([12])  (none|spin|mutex) ", done.stdout)
        self.assertEqual(len(rows), 12)  # throughput and latency
        self.assertRegex(done.stdout, r"measuring itself: .* of the fastest cell")
        self.assertIn("seed", done.stdout)
        self.assertEqual(done.stderr, "", "no progress where there is no terminal")

    def test_words_follow_the_table_unless_quiet(self):
        loud = bench("--gate", "none,mutex", "--threads", "1", *SHORT)
        quiet = bench("-q", "--gate", "none,mutex", "--threads", "1", *SHORT)
        self.assertIn("Alone, a thread needs", loud.stdout)
        self.assertNotIn("Alone, a thread needs", quiet.stdout)

    def test_words_never_recommend_a_lock_for_one_thread(self):
        done = bench("--gate", "none,mutex", "--threads", "1", *SHORT)
        self.assertNotIn("Queueing", done.stdout)
        self.assertNotIn("The worst", done.stdout)

    def test_words_need_rounds(self):
        done = bench("--gate", "none,mutex", "--threads", "2", "--time", "4ms", "--rounds", "1",
                     "--no-switches")
        words = " ".join(done.stdout.split())
        self.assertIn("1 round is too few to say whether a gate helps", words)

    def test_words_speak_of_2011_only_for_the_same_experiment(self):
        same = bench("--gate", "none,mutex", "--threads", "2", *SHORT)
        self.assertIn("In May 2011", same.stdout)
        for other in (["--gate", "spin,mutex"], ["--gate", "none,spin"],
                      ["--gate", "none,mutex", "--populate"],
                      ["--gate", "none,mutex", "--workload", "stack"]):
            done = bench("--threads", "2", *other, *SHORT)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("In May 2011", done.stdout, other)

    def test_lines_fit_into_120_columns(self):
        gates = re.findall(r"(?m)^(\S+)", bench("--gate", "list").stdout)
        done = bench("--gate", ",".join(gates), "--threads", "1,2", *SHORT)
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), 120, line)

    def test_verbose_adds_every_phase(self):
        done = bench("-v", "--gate", "none", "--threads", "1", *SHORT)
        for phase in ("mmap", "touch", "munmap"):
            self.assertRegex(done.stdout, rf"(?m)^ +1  none +{phase} +[\d,]+ ")

    def test_classic_prints_the_lines_of_2011(self):
        done = bench("--classic", "--threads", "4", "--iterations", "200")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        number = r"\d+\.\d+"
        self.assertRegex(lines[0], rf"^Yield Time: {number}s, Latency: {number}us$")
        for line, gate in zip(lines[1:], ("nolock", "spinlock", "mutex"), strict=True):
            self.assertRegex(line, rf"^Mmap Time \[{gate}\]: {number}s, Latency: {number}us")

    def test_classic_latency_is_time_by_iterations(self):
        done = bench("--classic", "--threads", "2", "--iterations", "500", "--gate", "none",
                     "--no-switches")
        time, latency = map(float, re.search(r"(\S+)s, Latency: (\S+)us", done.stdout).groups())
        self.assertAlmostEqual(time * 1e6 / 500, latency, delta=0.2)

    def test_csv_is_what_a_parser_expects(self):
        done = bench("--csv", "--gate", "none,mutex", "--threads", "1,2", *SHORT)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([(r["threads"], r["gate"]) for r in rows],
                         [("1", "none"), ("1", "mutex"), ("2", "none"), ("2", "mutex")])
        for row in rows:
            self.assertNotIn(None, row)
            self.assertGreater(float(row["rate_per_second"]), 0)
            self.assertLessEqual(float(row["whole_p50_ns"]), float(row["whole_max_ns"]))

    def test_progress_with_time_left_is_for_terminals(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [RWSEM, "bench", "mmap", "--gate", "none,mutex", "--threads", "1,2", "--time", "600ms",
             "--no-switches"], stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL,
            env=dict(os.environ, TERM="xterm"))
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 4096):
                shown += chunk
        except OSError:
            pass  # how a terminal says that its other end is gone
        out, _ = process.communicate(timeout=60)
        os.close(leader)
        self.assertRegex(shown.decode(), r"\d+ %  1 thread, none, about \d+ s left")
        self.assertTrue(shown.endswith(b"\r\033[K"), "the line is wiped at the end")
        self.assertNotIn(b"\033", out)

    def test_colour_is_for_terminals_that_want_it(self):
        for extra, wanted in (({}, True), ({"NO_COLOR": "1"}, False)):
            leader, follower = pty.openpty()
            process = subprocess.Popen(
                [RWSEM, "bench", "mmap", "-q", "--gate", "none", "--threads", "1", *SHORT],
                stdout=follower, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                env={**os.environ, **extra})
            os.close(follower)
            shown = b""
            try:
                while chunk := os.read(leader, 4096):
                    shown += chunk
            except OSError:
                pass
            process.wait(timeout=60)
            os.close(leader)
            self.assertEqual(b"\033[1m" in shown, wanted)


if __name__ == "__main__":
    print(f"# {cpus()} CPUs")
    unittest.main()
