"""What the code makes is valid against docs/record.schema.json, and what breaks it is not.

test_schema.py PRINT_ENV SCHEMA
"""

import copy
import json
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

PRINT_ENV, SCHEMA = sys.argv[1:3]


def printed(*words):
    done = subprocess.run([PRINT_ENV, *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def round_of(number):
    return {
        "round": number, "order": 1, "elapsed_ns": 1000000, "iterations": 20,
        "thread_iterations": [12, 8], "cpu_ns": 1900000, "voluntary_switches": 3,
        "involuntary_switches": 1, "minor_faults": 20, "major_faults": 0, "outcome": "ok",
    }


def variant_of(gate, verdict, ratio):
    return {
        "gate": gate, "status": "ok", "rounds": [round_of(0), round_of(1)],
        "latency_ns": {
            "mmap": printed("histogram", "800", "900", "100000"),
            "whole": printed("histogram"),
        },
        "summary": {
            "rate_per_second": 20000.0, "iteration_ns": 100000.5, "cpu_ns_per_iteration": 900.0, "switches_per_iteration": 0.1,
            "faults_per_iteration": 1.0, "slowest_share": 0.8,
            "ratio": ratio, "verdict": verdict,
        },
    }


def whole_record():
    """A record as `rwsem bench mmap` is to write it; frame and histograms are the code's own."""
    record = printed("frame")
    record["complete"] = True
    ratio = {"value": 1.2, "low": None, "high": None, "confidence": 0.95, "pairs": 2}
    record["bench_mmap"] = {
        "options": {
            "gates": ["none", "mutex"], "threads": [2], "workload": "mmap", "touch": "first",
            "populate": False, "size": 4096, "page_size": 4096, "mode": "time",
            "cell_ns": 1000000000, "iterations": 0, "rounds": 2, "pinned": False, "seed": 1,
            "limit_ns": 0,
        },
        "usable_cpus": 2, "clock": {
            "name": "tsc", "overhead_ns_per_iteration": 21.5, "fastest_iteration_ns": 1500.25,
            "overhead_share": 0.0143,
        },
        "workload": {"name": "mmap", "like": "a scanner", "does": "maps", "phases": ["mmap"]},
        "switches": [
            {"kind": "yield", "about": "sched_yield", "measured": True, "steps": 100,
             "elapsed_ns": [51000], "context_switches": 100, "step_ns": 510.0},
            {"kind": "pipe", "about": "a byte", "measured": False, "why_not": "only one CPU",
             "steps": 0, "elapsed_ns": [], "context_switches": 0, "step_ns": None},
        ],
        "cells": [
            {"threads": 2, "variants": [variant_of("none", "baseline", None),
                                        variant_of("mutex", "too few rounds", ratio)]},
        ],
    }
    return record


@unittest.skipIf(jsonschema is None, "python3-jsonschema is not installed")
class Schema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as file:
            cls.schema = json.load(file)
        cls.valid = whole_record()

    def errors(self, value, definition=None):
        schema = self.schema
        if definition:
            schema = {"$ref": "#/$defs/" + definition, "$defs": self.schema["$defs"]}
        found = jsonschema.Draft202012Validator(schema).iter_errors(value)
        return [f"{'/'.join(map(str, e.absolute_path))}: {e.message}" for e in found]

    def test_schema_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_every_object_is_closed_and_every_member_described(self):
        def walk(node, where):
            if isinstance(node, list):
                for index, item in enumerate(node):
                    walk(item, f"{where}/{index}")
            if not isinstance(node, dict):
                return
            if "properties" in node and "required" in node:
                self.assertIs(node.get("additionalProperties"), False, where)
                for name, member in node["properties"].items():
                    described = "description" in member or "$ref" in member
                    self.assertTrue(described, f"{where}/{name}")
            for key, item in node.items():
                walk(item, f"{where}/{key}")

        walk(self.schema, "")

    def test_environment_of_this_machine_is_valid(self):
        self.assertEqual(self.errors(self.valid["environment"], "environment"), [])

    def test_environment_of_an_empty_machine_is_valid(self):
        with tempfile.TemporaryDirectory() as root:
            self.assertEqual(self.errors(printed("environment", root), "environment"), [])

    def test_histograms_are_valid(self):
        for samples in ([], ["0"], ["31", "32", "63"], [str(2**40)], [str(2**64 - 1)] * 2):
            self.assertEqual(self.errors(printed("histogram", *samples), "histogram"), [])

    def test_whole_record_is_valid(self):
        self.assertEqual(self.errors(self.valid), [])

    def test_interrupted_record_is_valid_where_it_says_so(self):
        record = copy.deepcopy(self.valid)
        record["interrupted_by"] = "SIGINT"
        self.assertNotEqual(self.errors(record), [])
        record["complete"] = False
        self.assertEqual(self.errors(record), [])

    def test_each_change_for_the_worse_is_found(self):
        def cell(record):
            return record["bench_mmap"]["cells"][0]

        changes = {
            "no body": lambda r: r.pop("bench_mmap"),
            "other version": lambda r: r.update(schema=2),
            "other kind": lambda r: r.update(kind="bench lock"),
            "local time": lambda r: r.update(started="2011-05-15T12:00:00+02:00"),
            "unknown member of the frame": lambda r: r.update(host="vm"),
            "environment lacks a fact": lambda r: r["environment"]["cpu"].pop("governor"),
            "environment has a stray fact": lambda r: r["environment"]["cpu"].update(serial="1"),
            "no usable CPU": lambda r: r["environment"]["cpu"].update(usable=0),
            "switch without value":
                lambda r: r["environment"]["kernel"].update(config={"CONFIG_HZ": {"why": "x"}}),
            "unknown touch": lambda r: r["bench_mmap"]["options"].update(touch="some"),
            "seconds as a float": lambda r: r["bench_mmap"]["options"].update(cell_ns=1.5),
            "no threads": lambda r: cell(r).update(threads=0),
            "no gate": lambda r: cell(r)["variants"][0].pop("gate"),
            "negative time": lambda r: cell(r)["variants"][0]["rounds"][0].update(elapsed_ns=-1),
            "unknown outcome": lambda r: cell(r)["variants"][0]["rounds"][0].update(outcome="x"),
            "no whole": lambda r: cell(r)["variants"][0]["latency_ns"].pop("whole"),
            "bucket of three":
                lambda r: cell(r)["variants"][0]["latency_ns"]["whole"].update(buckets=[[1, 2, 3]]),
            "empty bucket":
                lambda r: cell(r)["variants"][0]["latency_ns"]["whole"].update(buckets=[[1, 0]]),
            "unknown verdict": lambda r: cell(r)["variants"][0]["summary"].update(verdict="good"),
            "share above 1": lambda r: cell(r)["variants"][0]["summary"].update(slowest_share=2),
            "switch neither measured nor excused":
                lambda r: r["bench_mmap"]["switches"][1].pop("why_not"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                record = copy.deepcopy(self.valid)
                change(record)
                self.assertNotEqual(self.errors(record), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
