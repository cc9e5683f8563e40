"""What `rwsem` says to somebody who asks for help or gets it wrong."""
import unittest

from rwsem_command import bench, rwsem


class Usage(unittest.TestCase):
    def refused(self, arguments, *words, status=2):
        done = bench(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertTrue(done.stderr.startswith("rwsem bench mmap: "), done.stderr)

    def test_version_and_help_go_to_stdout(self):
        for arguments, word in ((["--version"], "rwsem 0."), (["--help"], "bench mmap"),
                                (["bench", "mmap", "--help"], "--populate")):
            done = rwsem(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertIn(word, done.stdout)
            self.assertEqual(done.stderr, "")

    def test_help_tells_every_default(self):
        text = " ".join(rwsem("bench", "mmap", "--help").stdout.split())
        for default in ("none,spin,mutex,adaptive,rwlock,rwsem", "1,2,4,2x,8x", "(default: 2s)"):
            self.assertIn(default, text)

    def test_no_command_is_a_usage_error(self):
        done = rwsem()
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: rwsem", done.stderr)

    def test_unknown_command_names_the_nearest(self):
        done = rwsem("bench", "mmpa")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'bench mmap'?", done.stderr)

    def test_unknown_gate_names_the_nearest(self):
        self.refused(["--gate", "none,mutx"], "'mutx'", "did you mean 'mutex'?")

    def test_gate_unlike_any_other_is_not_guessed(self):
        done = bench("--gate", "zzzzzz")
        self.assertEqual(done.returncode, 2)
        self.assertNotIn("did you mean", done.stderr)

    def test_empty_items_and_repeated_gates_are_refused(self):
        self.refused(["--gate", "none,,mutex"], "''")
        self.refused(["--gate", ""], "''")
        self.refused(["--gate", "none,none"], "twice")

    def test_over_long_names_are_refused_whole(self):
        self.refused(["--gate", "m" * 5000], "m" * 100)

    def test_unknown_workload_names_the_nearest(self):
        self.refused(["--workload", "mremp"], "did you mean 'mremap'?")

    def test_zero_and_absurd_threads_are_refused(self):
        for threads in ("0", "-1", "1000000", "99999999999999999999", "x", "2y", "", "0x", "9999x",
                        "1,,2"):
            with self.subTest(threads=threads):
                self.refused([f"--threads={threads}"], "--threads")

    def test_sizes_not_of_a_page_name_the_next(self):
        self.refused(["--size", "5000"], "page size", "8192")

    def test_absurd_sizes_are_refused(self):
        for size in ("0", "-4096", "1e99", "4096Q", "", "inf", "nan", "99999999G"):
            with self.subTest(size=size):
                self.refused([f"--size={size}"], "--size")

    def test_more_memory_than_there_is_is_refused_before_it_is_touched(self):
        self.refused(["--size", "8G", "--threads", "64", "--touch", "all"], "MiB that may be used",
                     status=3)

    def test_numbers_of_rounds_and_iterations_are_checked(self):
        for option in ("rounds", "iterations", "seed"):
            for value in ("-1", "1.5", "many", "", "99999999999999999999"):
                with self.subTest(option=option, value=value):
                    self.refused([f"--{option}={value}"], f"--{option}")
        self.refused(["--rounds=0"], "--rounds")
        self.refused(["--iterations=0"], "--iterations")

    def test_times_are_checked(self):
        for value in ("0", "-1s", "1h", "1e99s", "fast", ""):
            with self.subTest(value=value):
                self.refused([f"--time={value}"], "--time")
        self.refused(["--time=5us", "--rounds=100"], "rounds leave less")

    def test_contradictions_are_refused(self):
        self.refused(["--time", "1s", "--iterations", "5"], "exclude each other")
        self.refused(["--limit", "1s"], "--iterations")
        self.refused(["--json", "--csv"], "only one of")
        self.refused(["--output", "-"], "--json prints")
        self.refused(["--workload", "malloc", "--populate"], "--populate", "malloc")

    def test_stray_words_and_unknown_options_are_refused(self):
        self.refused(["sleep"], "'sleep'")
        done = bench("--frobnicate")
        self.assertEqual(done.returncode, 2)
        self.assertIn("frobnicate", done.stderr)

    def test_lists_are_found_in_a_bundle_of_letters(self):
        self.assertEqual(bench("-qg", "list").stdout, bench("--gate", "list").stdout)

    def test_lists_name_every_gate_and_workload(self):
        gates = bench("--gate", "list")
        self.assertEqual(gates.returncode, 0)
        for gate in ("none", "spin", "mutex", "adaptive", "rwlock", "rwsem"):
            self.assertRegex(gates.stdout, rf"(?m)^{gate} +\S")
        workloads = bench("--workload=list")
        self.assertEqual(workloads.returncode, 0)
        for workload in ("map", "protect", "stack", "fault", "madvise", "unmap", "mremap",
                         "malloc", "smaps"):
            self.assertRegex(workloads.stdout, rf"(?m)^{workload} +\S")


if __name__ == "__main__":
    unittest.main()
