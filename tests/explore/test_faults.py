#!/usr/bin/env python3
"""The faults that other locks were known for, by name.

For each: the library as it is passes a program that would show the fault, and a variant of the library
that has the fault, planted in its text, fails that very program with the words that name it.

test_faults.py EXPLORE SOURCE_ROOT CC...
"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from variants import build, run  # noqa: E402

EXPLORE, ROOT = sys.argv[1], sys.argv[2]
CC = sys.argv[3:]
os.environ["RWSEM_TEST_PATIENCE"] = "4"  # seconds until a hang is one
os.environ["CMOCKA_MESSAGE_OUTPUT"] = "TAP"

LONG_WRITES, LONG_READS = "h" * 15, "g" * 15
HANDOFF_WHEN_OVERDUE = "        return first->is_overdue ? word | WORD_HANDOFF : word;"
IS_OPEN = "    if (!(word & WORD_HANDOFF) || rq->mine & WORD_WOKEN)\n        return true;"

# name: (kind of program, its arguments, file of lib/, [(old, new)...], what the variant's run says)
# Kinds are variants.KINDS; arguments of "explore" are programs, see main.c.
FAULTS = {
    # Linux' readers fell from 1,794 to 44 thousand operations a second.
    "handoff_at_the_first_wakeup_makes_a_convoy": (
        "explore", ["--bound", "3", "w|w", "ww|w"], "slow.c",
        [(HANDOFF_WHEN_OVERDUE, "        return word | WORD_HANDOFF;")], "convoy"),
    # One operation against 173,696.
    "without_handoff_a_waiter_starves": (
        "explore", ["--bound", "2", LONG_WRITES + "|w", LONG_WRITES + "|r|w"], "slow.c",
        [(IS_OPEN, "    return true;")], "starvation"),
    "readers_that_are_preferred_starve_writers": (
        "explore", ["--bound", "1", LONG_READS + "|" + LONG_READS + "|w"], "slow.c",
        [("    if (!(word & WORD_HANDOFF) || rq->mine & WORD_WOKEN)",
          "    if (rq->mode == MODE_READ || !(word & WORD_HANDOFF) || rq->mine & WORD_WOKEN)")],
        "starvation"),
    # A waiter's count that saturates at two: seen only from the third waiter on.
    "exactly_three_or_four_writers_lose_a_wakeup": (
        "explore", ["--bound", "2", "w|w|w", "w|w|w|w"], "queue.h",
        [("    if (node->next == node) {", "    if (node->next == node->prev) {")], "lost wake-up"),
    # A waiter is woken by the change of a value that comes back (ABA).
    "the_futex_value_that_comes_back_loses_a_wakeup": (
        "explore", ["--bound", "3", "s:w|w", "s:w|w|w"], "shared.c",
        [("return os_futex_wait(flags_of(rq->sem), (uint32_t)next,",
          "return os_futex_wait(flags_of(rq->sem),"
          " (uint32_t)RWSEM__LOAD(&rq->sem->word, RWSEM__RELAXED),")], "lost wake-up"),
    "a_barging_thread_that_clears_the_waiters_bit_strands_the_woken_one": (
        "explore", ["--bound", "3", "ww|w|w"], "slow.c",
        [("without_promises(rq, word) + rq->hold,",
          "(without_promises(rq, word) & ~WORD_QUEUED) + rq->hold,")], "left"),
    "a_try_lock_leaves_a_flag_behind": (
        "explore", ["--bound", "2", "p:w|x", "p:w|y|w"], "rwsem.c",
        [("    return rc == -EBUSY && !limits->is_try ? rwsem__take_private(&rq) : rc;",
          "    if (rc == -EBUSY && limits->is_try)\n        return rwsem__spin(&rq);\n"
          "    return rc == -EBUSY ? rwsem__take_private(&rq) : rc;")], ""),
    "a_timed_out_waiter_leaves_a_count_behind": (
        "explore", ["--bound", "3", "w|R|w"], "slow.c",
        [("    if (finish_call(&rq->node) == NODE_GRANTED)\n        return 0;",
          "    if (finish_call(&rq->node) == NODE_GRANTED)\n        return rc;")], "left behind"),
    "a_timed_out_writer_keeps_out_the_readers_behind_it": (
        "explore", ["--bound", "3", "hh|W|r", "r|W|r"], "slow.c",
        [("            queue_remove(sem, &rq->node);\n            settle(sem, 0, 0);\n            return rc;",
          "            queue_remove(sem, &rq->node);\n            unlock_queue(sem);\n"
          "            return rc;")], "reserved"),
    "an_interrupted_waiter_leaves_a_flag_behind": (
        "explore", ["--bound", "3", "i|ww", "w|i|w"], "slow.c",
        [("    if (rc)\n        drop_promises(rq);\n", "    (void)drop_promises;\n")], ""),
    "an_interrupted_waiter_takes_a_wakeup_with_it": (
        "explore", ["--bound", "3", "s:w|i|w"], "shared.c",
        [("    if (rc)\n        pass_on(rq->sem);\n    else\n", "    (void)pass_on;\n    if (!rc)\n")],
        ""),
    # glibc 2.25 to 2.29 and others: the reader counts itself first, and takes it back.
    "readers_that_add_and_back_out_are_seen_by_others": (
        "explore", ["--bound", "3", "d|r", "u|r"], "slow.c",
        [("    uint64_t word = RWSEM__LOAD(&rq->sem->word, RWSEM__RELAXED);\n\n"
          "    while (rwsem__is_open(rq, word)) {",
          "    uint64_t word;\n\n    if (rq->mode == MODE_READ) {\n"
          "        RWSEM__ADD(&rq->sem->word, WORD_READER, RWSEM__ACQUIRE);\n"
          "        RWSEM__SUB(&rq->sem->word, WORD_READER, RWSEM__RELEASE);\n    }\n"
          "    word = RWSEM__LOAD(&rq->sem->word, RWSEM__RELAXED);\n"
          "    while (rwsem__is_open(rq, word)) {")], ""),
    "recursive_readers_deadlock_under_a_waiting_writer": (
        "explore", ["--bound", "3", "c:n|w", "c:nn|w"], "slow.c",
        [("    return modes[rq->mode].may_join && word & WORD_RECURSIVE && word & WORD_HELD;",
          "    return false;")], "lost wake-up"),
    "unlock_touches_a_lock_that_was_freed": (
        "explore", ["--bound", "3", "w|w", "w|r|w"], "slow.c",
        [("    unlock_queue(sem);\n    wake(called);\n}",
          "    unlock_queue(sem);\n    wake(called);\n"
          "    (void)RWSEM__LOAD(&sem->word, RWSEM__RELAXED);\n}")], "use after free"),
    "a_spin_counted_in_iterations_lasts_as_long_as_pause": (
        "spin", ["a_spin_is_bounded_by_time_whatever_pause_costs"], "spin.c",
        [("        if (++looks % LOOKS_PER_CLOCK)\n            continue;",
          "        if (++looks < 1000)\n            continue;\n        return -EBUSY;")], "not ok"),
    "a_spin_goes_on_at_a_lock_that_does_not_move": (
        "spin", ["a_spin_ends_at_a_lock_that_does_not_move"], "spin.c",
        [("now_ns - moved_ns >= rwsem__tunable.spin_ns ||", "false ||")], "not ok"),
    "threads_spin_although_they_outnumber_the_cpus": (
        "spin", ["nobody_spins_when_those_awake_outnumber_the_cpus"], "spin.c",
        [("    if (RWSEM__LOAD(&crowd->waiting, RWSEM__RELAXED) + 1 > cpus)", "    if (cpus < 2)")],
        "not ok"),
    "a_waiter_spins_on_a_machine_of_one_cpu": (
        "spin", ["nobody_spins_with_one_cpu"], "spin.c",
        [("    cpus = os_usable_cpus(now_ns);", "    cpus = 64; /* online */")], "not ok"),
    "many_spin_at_once": (
        "spin", ["one_spins_at_most"], "spin.c",
        [("        if (word & (WORD_SPINNER | WORD_HANDOFF))", "        if (word & WORD_HANDOFF)")],
        "not ok"),
    "affinity_is_overlooked": (
        "quota", ["affinity_counts"], "os.c",
        [("syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);",
          "sizeof(mask);\n    memset(mask, 1, sizeof(mask));")], "not ok"),
    "the_quota_of_a_control_group_is_overlooked": (
        "quota", ["the_tightest_group_counts"], "quota.c",
        [("        *end = '\\0';\n    }\n}\n\nstatic bool has_cpu", "        return least;\n    }\n}\n\n"
          "static bool has_cpu")], "not ok"),
    "reader_counts_overflow": (
        "calls", ["more_readers_than_can_be_counted_are_refused"], "slow.c",
        [("        if (word_readers(word) >= WORD_MAX_READERS)\n            return -EAGAIN;\n", "")],
        "not ok"),
    "a_killed_writer_leaves_shared_memory_locked_for_ever": (
        "processes", ["a_killed_writer_is_reported_to_the_next_taker"], "os.c",
        [("    return read_stat(tid, &state, &birth) && (state == 'Z' || state == 'X');",
          "    return false;"),
         ("    if (is_gone)\n        return true;", "    (void)is_gone;")], "hangs"),
    "a_reused_tid_is_taken_for_the_dead_writer": (
        "processes", ["a_reused_tid_is_not_taken_for_the_writer"], "shared.c",
        [("        is_dead = birth && birth != (uint32_t)mark;", "        (void)birth;")], "hangs"),
    "a_forked_child_passes_for_its_parent": (
        "processes", ["a_child_has_its_own_tid"], "rwsem.c",
        [("    RWSEM__SELF = 0; /* the child's only thread has another TID */", "")], "not ok"),
}


class Faults(unittest.TestCase):
    """What is asserted of each is in add()."""


def add(name, fault):
    kind, args, file, changes, says = fault

    def case(self):
        with tempfile.TemporaryDirectory() as folder:
            whole = EXPLORE if kind == "explore" else build(ROOT, CC, kind, file, [], folder + "/whole")
            status, output = run([whole] + args)
            self.assertEqual(status, 0, "as it is:\n" + output[-3000:])
            status, output = run([build(ROOT, CC, kind, file, changes, folder + "/broken")] + args)
            self.assertNotEqual(status, 0, "the broken one passes:\n" + output[-3000:])
            self.assertIn(says, output[:3000] + output[-3000:])

    setattr(Faults, "test_" + name, case)


for each in FAULTS.items():
    add(*each)

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
