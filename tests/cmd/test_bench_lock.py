"""What `rwsem bench lock` measures, prints and records."""
import csv
import io
import json
import math
import re
import shutil
import tempfile
import unittest

from rwsem_command import assert_valid, rwsem


HISTORY = ["linux-2011", "linux-2011-mutex", "linux-2013", "linux-2014", "linux-2019"]
SHORT = ["--time", "12ms", "--rounds", "6"]


def bench(*arguments, **more):
    return rwsem("bench", "lock", *arguments, **more)


def bench_json(*arguments):
    done = bench("--json", *arguments)
    return done, json.loads(done.stdout)


class Measures(unittest.TestCase):
    def test_every_preset_runs_and_its_record_is_valid(self):
        presets = [line.split()[0] for line in bench("--preset", "list").stdout.splitlines()]
        self.assertIn("classic", presets)
        for preset in presets:
            with self.subTest(preset=preset):
                done, record = bench_json("--preset", preset, *SHORT)
                self.assertEqual(done.returncode, 0, done.stderr)
                assert_valid(record)
                self.assertTrue(record["complete"])
                for cell in record["bench_lock"]["cells"]:
                    self.assertEqual(cell["preset"], preset)
                    for variant in cell["variants"]:
                        self.assertIn(variant["status"], ("ok", "collapsed"))

    def test_shares_of_writes_are_what_was_asked(self):
        _, record = bench_json("--lock", "mutex", "--threads", "2", "--writes", "0,25,100", *SHORT)
        for cell, share in zip(record["bench_lock"]["cells"], (0, 0.25, 1), strict=True):
            self.assertEqual(cell["write_share"], share)
            for variant in cell["variants"]:
                done = variant["reads"] + variant["writes"]
                self.assertAlmostEqual(variant["writes"] / done, share, delta=0.03)
                self.assertEqual(done, sum(r["iterations"] for r in variant["rounds"]))

    def test_every_wait_of_a_timed_round_is_counted(self):
        _, record = bench_json("--lock", "rwlock", "--threads", "3", "--writes", "50", *SHORT)
        for variant in record["bench_lock"]["cells"][0]["variants"]:
            timed = sum(r["iterations"] for r in variant["timed_rounds"])
            self.assertEqual(
                variant["read_wait_ns"]["count"] + variant["write_wait_ns"]["count"], timed)

    def test_dedicated_roles_only_do_their_own(self):
        _, record = bench_json("--lock", "rwlock-writer", "--threads", "4", "--writers", "1",
                               *SHORT)
        cell = record["bench_lock"]["cells"][0]
        self.assertEqual((cell["writers"], cell["write_share"]), (1, None))
        for variant in cell["variants"]:
            writes = sum(r["thread_iterations"][0] for r in variant["rounds"])
            self.assertEqual(variant["writes"], writes)

    def test_no_lock_runs_only_where_nobody_writes(self):
        done, record = bench_json("--lock", "none,mutex", "--threads", "2", "--writes", "0,50",
                                  *SHORT)
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_valid(record)
        reads, half = (cell["variants"][0] for cell in record["bench_lock"]["cells"])
        self.assertEqual(reads["status"], "ok")
        self.assertEqual((half["status"], half["note"]), ("not run", "only where nobody writes"))

    def test_the_standing_of_the_first_lock_is_what_the_rates_say(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        done = bench("--lock", "rwsem,mutex,rwlock", "--threads", "1,2", "--writes", "0,50",
                     "--output", folder + "/record", *SHORT)
        with open(folder + "/record", encoding="utf-8") as text:
            cells = json.load(text)["bench_lock"]["cells"]
        ratios = []
        for cell in cells:
            first, *others = [v["summary"]["rate_per_second"] for v in cell["variants"]]
            ratios.append(first / max(others))
        found = re.search(r"rwsem against the best other lock of each case: geometric mean "
                          r"([\d.]+) over 4 cases, least\s([\d.]+) ", done.stdout)
        mean = math.exp(sum(map(math.log, ratios)) / 4)
        self.assertAlmostEqual(float(found[1]), mean, delta=mean / 100)
        self.assertAlmostEqual(float(found[2]), min(ratios), delta=min(ratios) / 100)

    def test_too_few_rounds_give_nobody_a_place(self):
        done, record = bench_json("--lock", "rwsem,mutex", "--threads", "1", "--time", "9ms",
                                  "--rounds", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        assert_valid(record)
        places = [v["place"] for v in record["bench_lock"]["cells"][0]["variants"]]
        self.assertEqual(places, ["unknown", "unknown"])

    def test_exactly_one_lock_is_first(self):
        _, record = bench_json("--threads", "1", *SHORT)
        places = [v["place"] for v in record["bench_lock"]["cells"][0]["variants"]]
        self.assertEqual(places.count("first"), 1)

    def locks_of(self, *arguments):
        done = bench("--csv", *arguments, "--time", "6us", "--rounds", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(dict.fromkeys(
            row["lock"] for row in csv.DictReader(io.StringIO(done.stdout))))

    def test_old_kernels_locks_are_compared_where_all_that_is_asked_for_is_classic(self):
        self.assertEqual(self.locks_of("--preset", "classic"), [*HISTORY, "rwsem", "mutex"])
        self.assertEqual(self.locks_of("--preset", "classic", "--lock", "mutex"), ["mutex"])
        self.assertEqual(self.locks_of("--threads", "1", "--lock", ",".join(HISTORY)), HISTORY)
        for others in (["--preset", "classic,read-only"], ["--preset", "classic", "--threads", "1"],
                       ["--preset", "read-only"], ["--threads", "1"]):
            with self.subTest(others=others):
                locks = self.locks_of(*others)
                self.assertIn("rwlock", locks)
                self.assertFalse(set(locks) & set(HISTORY))

    def test_csv_is_what_a_parser_expects(self):
        done = bench("--csv", "--lock", "mutex,rwlock", "--threads", "1,2", *SHORT)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        self.assertEqual([(r["threads"], r["lock"]) for r in rows],
                         [("1", "mutex"), ("1", "rwlock"), ("2", "mutex"), ("2", "rwlock")])
        for row in rows:
            self.assertNotIn(None, row)
            self.assertGreater(float(row["rate_per_second"]), 0)

    def test_table_has_a_row_for_each_lock(self):
        done = bench("--lock", "mutex,rwlock", "--threads", "2", *SHORT)
        self.assertRegex(done.stdout, r"(?m)^. mutex +[\d,]+ ")
        self.assertRegex(done.stdout, r"(?m)^. rwlock +[\d,]+ ")
        self.assertEqual(done.stderr, "")


class Usage(unittest.TestCase):
    def refused(self, arguments, *words):
        done = bench(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_bad_values_name_the_option(self):
        self.refused(["--lock", "rwlok"], "--lock", "did you mean 'rwlock'?")
        self.refused(["--preset", "starve-writr"], "did you mean 'starve-writer'?")
        self.refused(["--preset", ""], "--preset")
        for share in ("-1", "101", "some", "", "nan"):
            self.refused([f"--writes={share}"], "--writes")
        self.refused(["--writers", "0"], "--writers")
        self.refused(["--writers", "5", "--threads", "4"], "more than 4 threads")
        self.refused(["--writers", "1", "--writes", "5"], "exclude each other")
        self.refused(["--threads", "0"], "--threads")
        self.refused(["--inside", "-1us"], "--inside")
        self.refused(["--time", "1us", "--rounds", "10"], "rounds leave less")
        self.refused(["--json", "--csv"], "only one of")
        self.refused(["--inside", "2", "--time", "400ms"], "an operation of 2")
        self.refused(["--output", "-"], "--json prints")

    def test_lists_name_every_lock(self):
        listed = bench("--lock", "list")
        self.assertEqual(listed.returncode, 0)
        for lock in ("none", "rwsem", "spin", "mutex", "adaptive", "rwlock", "rwlock-writer",
                     *HISTORY):
            self.assertRegex(listed.stdout, rf"(?m)^{lock} +\d+ bytes")

    def test_locks_of_other_libraries_are_listed_even_when_they_are_not_here(self):
        listed = bench("--lock", "list").stdout
        for lock in ("nsync", "ck_brlock", "ck_pflock", "ck_rwlock", "abseil", "boost_shared",
                     "tbb_rw_mutex", "tbb_spin_rw", "parking_lot", "rust_std"):
            self.assertRegex(listed, rf"(?m)^{lock} +(\d+ bytes  |not here: )\w")
            if "not here" in re.search(rf"(?m)^{lock} .*", listed)[0]:
                self.refused(["--lock", lock], lock + " is not here: ")


if __name__ == "__main__":
    unittest.main()
