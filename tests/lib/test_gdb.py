#!/usr/bin/env python3
"""The printers for gdb: what they say of locks in every state, in a process, in a core file,
without debug information and without symbols; and that gdb finds them once they are installed.

test_gdb.py BUILD_DIR SOURCE_ROOT GDB_CASES MESON...
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, ROOT, CASES = sys.argv[1:4]
MESON = sys.argv[4:]
SCRIPT = os.path.join(ROOT, "lib", "gdb", "rwsem_gdb.py")

TID = r"TID \d+ "


def gdb(program, *commands, first=(), env=None):
    """What gdb prints for the commands, its standard error among it."""
    command = ["gdb", "-nx", "-batch"]
    # nothing from the network, and no terminal's width
    for text in ("set debuginfod enabled off", "set width 0", *first):
        command += ["-iex", text]
    for text in commands:
        command += ["-ex", text]
    done = subprocess.run(command + [program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=150, check=False,
                          env=dict(os.environ, LC_ALL="C.UTF-8", **(env or {})))
    return done.stdout


def look(program, case, *commands, **options):
    """What gdb prints when the case has brought its locks into their states."""
    return gdb(program, "source " + SCRIPT, "break look_here", "run " + case, *commands, **options)


def need_gdb():
    if not shutil.which("gdb"):
        raise unittest.SkipTest("gdb is not installed")
    if "yes" not in gdb("/bin/true", "python print('yes')"):
        raise unittest.SkipTest("this gdb has no Python")
    told = gdb(CASES, "break main", "run none")
    if "Breakpoint 1, main" not in told:
        raise unittest.SkipTest("gdb can't run a program here: " + (told.splitlines() or [""])[-1])


def setUpModule():
    need_gdb()


class Folder(unittest.TestCase):
    """Cases with a folder for what they make, and their own complaint on tracebacks."""

    @classmethod
    def setUpClass(cls):
        cls.folder = os.path.realpath(tempfile.mkdtemp())

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def assert_no_traceback(self, told):
        self.assertNotIn("Traceback", told)
        self.assertNotIn("Python Exception", told)
        self.assertNotIn("Error while executing", told)

    def assert_line(self, pattern, told):
        self.assertRegex(told, re.compile("^" + pattern + "$", re.M))


class States(Folder):
    NAMES = ("idle", "readers", "recursive", "watched", "written", "*shared", "*died", "*lost",
             "garbage", "cycle", "torn", "moving", "crowd", "stranger", "noise", "unlinked",
             "broken", "called", "ghost", "object")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.core = os.path.join(cls.folder, "core")
        cls.prints = [text for name in cls.NAMES
                      for text in (f"echo \\n[{name}]:", f"output {name}")]
        cls.told = look(CASES, "states", *cls.prints, "echo \\n", "info rwsem",
                        "echo --one\\n", "info rwsem written", "echo --two\\n",
                        "info rwsem shared", "echo --three\\n", "info rwsem &noise",
                        "echo --four\\n", "info rwsem object", "echo --five\\n", "info rwsem 3",
                        "echo --six\\n", "info rwsem (short)1.5", "thread 3", "up 2",
                        "echo --before\\n", "thread", "frame", "echo --\\n", "info rwsem",
                        "info rwsem written", "echo --after\\n", "thread", "frame",
                        "thread 1", "echo --eight\\n", "print *(rwsem_t *)16", "echo --nine\\n",
                        "info rwsem crowd", "echo --ten\\n", "generate-core-file " + cls.core)

    def of(self, name, told=None):
        found = re.search(r"^\[" + re.escape(name) + r"\]:(.*)$", told or self.told, re.M)
        self.assertTrue(found, told or self.told)
        return found[1]

    def part(self, name):
        return self.told.split(f"--{name}\n")[1].split("--")[0]

    def test_no_lock_makes_it_stumble(self):
        self.assert_no_traceback(self.told)

    def test_free_and_read(self):
        self.assertEqual(self.of("idle"), "free")
        self.assertEqual(self.of("readers"), "3 readers")
        self.assertEqual(self.of("recursive"), "1 reader; recursive")
        self.assertEqual(self.of("watched"), "free; watched")

    def check_written(self, told):
        self.assertRegex(
            self.of("written", told),
            r"^written by " + TID + r"\(thread 1\); reserved; 3 queued = \{"
            r"\[0\] = " + TID + r"\(thread \d\), reads, waiting, overdue, "
            r"\[1\] = " + TID + r"\(thread \d\), writes, waiting, overdue, "
            r"\[2\] = " + TID + r"\(thread \d\), reads, waiting, overdue\}$")
        self.assertRegex(self.of("object", told), r"lock = written by " + TID + r"\(thread 1\)\}$")

    def test_written_with_a_queue(self):
        self.check_written(self.told)

    def test_the_queue_is_in_order(self):
        threads = re.findall(r"\] = TID \d+ \(thread (\d)\)", self.of("written"))
        self.assertEqual(threads, ["2", "3", "4"])

    def test_shared(self):
        self.assertRegex(self.of("*shared"), r"^written by " + TID + r"\(thread 1\); shared; "
                         r"reserved; writers sleep$")
        self.assertRegex(self.of("*died"), r"^written by .*\(thread 1\); shared; .*owner died$")
        self.assertRegex(self.of("*lost"), r"^free; shared; .*not recoverable$")

    def test_a_dead_writer(self):
        self.assertEqual(self.of("ghost"), "written by TID 4000000 (no such thread)")

    def test_flags_of_those_awake(self):
        self.assertEqual(self.of("called"), "free; a thread spins; reserved; a writer was called; "
                         "1 queued = {[0] = TID 100 (no such thread), reads, waiting}")

    def test_damaged_queues(self):
        self.assertEqual(self.of("garbage"), "1 reader; queue damaged: 0x10 can't be read")
        self.assertRegex(self.of("cycle"), r"^1 reader; 3 queued; queue damaged: it never comes "
                         r"back to its first: 0x\w+ leads to 0x\w+ again = \{\[0\] = TID 100 .*"
                         r"\[2\] = TID 102 [^\[]*\}$")
        self.assertRegex(self.of("stranger"), r"1 queued; queue damaged: 0x\w+ is no sleeper's = ")
        self.assertRegex(self.of("unlinked"), r"2 queued; queue damaged: 0x\w+ does not link back ")
        self.assertIn("; BROKEN: the lock is free, threads sleep, and nobody is awake for them "
                      "(word 0x2, extra 0x0)", self.of("broken"))

    def test_a_locked_queue_is_in_motion(self):
        self.assertIn("1 queued; queue locked, in motion = {[0] = TID 100 ", self.of("moving"))
        self.assertIn("; queue locked, in motion; queue not whole: ", self.of("torn"))

    def test_a_long_queue_is_cut(self):
        self.assertIn("; more than 64 queued = {", self.of("crowd"))
        self.assertIn("[63] = TID 163 ", self.of("crowd"))
        self.assertTrue(self.of("crowd").endswith("[64] = ...and more}"))
        self.assertIn("    ...and more\n", self.part("nine"))

    def test_garbage(self):
        self.assertEqual(self.of("noise"), "no valid lock: it has flags that no lock has "
                         "(0xa5a58080) (word 0xa5a5a5a5a5a5a5a5, extra 0xa5a5a5a5a5a5a5a5)")
        self.assertRegex(self.part("three"), r"^rwsem 0x\w+ <noise>: no valid lock: ")
        self.assertEqual(self.part("eight"), "Cannot access memory at address 0x10\n")

    def test_who_waits(self):
        for number, wish in ((2, "read"), (3, "write"), (4, "read")):
            self.assert_line(rf"Thread {number} \(TID \d+\) waits to {wish} 0x\w+ <written>, "
                             rf"written by TID \d+ \(thread 1\), in {wish}s at gdb_cases.c:\d+",
                             self.told)
        self.assert_line(r"Thread 5 \(TID \d+\) waits to write 0x\w+, written by TID \d+ "
                         r"\(thread 1\), in writes_shared at gdb_cases.c:\d+", self.told)
        self.assertNotIn("DEADLOCK", self.told)

    def test_one_private_lock(self):
        self.assert_line(r"rwsem 0x\w+ <written>: written by TID \d+ \(thread 1\); reserved; "
                         r"3 queued\n  Owner: TID \d+ \(thread 1\)\n"
                         r"    #0  look_here at gdb_cases.c:\d+\n(    #\d .*\n)+"
                         r"  Queue, first to last:\n"
                         r"    TID \d+ \(thread 2\), reads, waiting, overdue, in reads at .*\n"
                         r"    TID \d+ \(thread 3\), writes, waiting, overdue, in writes at .*\n"
                         r"    TID \d+ \(thread 4\), reads, waiting, overdue, in reads at .*",
                         self.part("one"))

    def test_one_shared_lock(self):
        self.assert_line(r"  Waiting, in no order:\n"
                         r"    TID \d+ \(thread 5\), writes, in writes_shared at .*",
                         self.part("two"))

    def test_what_is_a_lock(self):
        self.assertRegex(self.part("four"), r"^rwsem 0x\w+ <object\+8>: written by ")
        self.assertEqual(self.part("five"), "0x3 can't be read\n")

    def test_the_selection_stays(self):
        before = self.part("before")
        self.assertRegex(before, r"^\[Current thread is 3 .*\n#2 ")
        self.assertTrue(self.part("after").startswith(before), self.told)

    def test_a_core_file(self):
        if not os.path.exists(self.core):
            self.skipTest("gdb could not write a core file: " + self.told.splitlines()[-1])
        told = gdb(CASES, "core-file " + self.core, "source " + SCRIPT, *self.prints, "echo \\n",
                   "info rwsem")
        self.assert_no_traceback(told)
        self.check_written(told)
        self.assert_line(r"Thread \d \(TID \d+\) waits to write 0x\w+ <written>, written by .*, "
                         r"in writes at gdb_cases.c:\d+", told)

    def test_without_a_process(self):
        told = gdb(CASES, "source " + SCRIPT, "print idle", "info rwsem idle", "info rwsem")
        self.assert_no_traceback(told)
        self.assertIn("$1 = free\n", told)
        self.assert_line(r"rwsem 0x\w+ <idle>: free", told)
        self.assertIn("There is no process to look at.", told)


class Deadlock(Folder):
    def check(self, told, place=r" at gdb_cases.c:\d+"):
        self.assert_no_traceback(told)
        for number, wish, lock, owner, function in (
                (2, "read", "table", 3, "cache_then_table"),
                (3, "write", "cache", 2, "table_then_cache"),
                (4, "write", "names", 4, "names_twice")):
            self.assert_line(rf"Thread {number} \(TID \d+\) waits to {wish} 0x\w+ <{lock}>, "
                             rf"written by TID \d+ \(thread {owner}\), in {function}{place}", told)
        self.assert_line(r"DEADLOCK: TID \d+ \(thread 2\) waits for TID \d+ \(thread 3\), which "
                         r"waits for TID \d+ \(thread 2\)", told)
        self.assert_line(r"DEADLOCK: TID \d+ \(thread 4\) waits for TID \d+ \(thread 4\)", told)

    def test_with_debug_information(self):
        told = look(CASES, "deadlock", "info rwsem", "info rwsem cache")
        self.check(told)
        self.assert_line(r"  Owner: TID \d+ \(thread 2\)\n    waits to read 0x\w+ <table>\n"
                         r"    #\d+  cache_then_table at gdb_cases.c:\d+\n(    #\d.*\n)*"
                         r"  Queue, first to last:\n    TID \d+ \(thread 3\), writes, .*", told)

    def test_without(self):
        if not shutil.which("strip") or os.uname().machine != "x86_64":
            self.skipTest("strip is not installed, or this is no x86-64")
        bare = os.path.join(self.folder, "bare")
        subprocess.run(["strip", "--strip-debug", "-o", bare, CASES], check=True)
        self.check(look(bare, "deadlock", "info rwsem"), place="")


class Installed(Deadlock):
    """gdb finds the printers for the shared library by itself; also for a library without any
    symbols but those it exports, as distributions ship it."""

    test_with_debug_information = test_without = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        done = subprocess.run(MESON + ["install", "-C", BUILD, "--no-rebuild", "--destdir",
                                       cls.folder + "/stage"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stdout)

        def one(name):
            found = glob.glob(f"{cls.folder}/stage/**/{name}", recursive=True)
            if not found:
                raise AssertionError(name + " is not installed")
            return os.path.dirname(found[0])
        cls.headers, cls.libs = one("rwsem.h"), one("librwsem.so.0")
        cls.auto = one("gdb/auto-load") + "/auto-load"

    def look(self, program, *commands):
        # The stage stands for the root: a lookup of auto-load + /stage/LIBDIR finds LIBDIR's.
        tree = self.folder + "/tree"
        os.makedirs(os.path.dirname(tree + self.folder + "/stage"), exist_ok=True)
        if not os.path.islink(tree + self.folder + "/stage"):
            os.symlink(self.auto, tree + self.folder + "/stage")
        return gdb(program, "break look_here", "run deadlock", *commands,
                   first=("set auto-load safe-path /", "set auto-load scripts-directory " + tree),
                   env={"LD_LIBRARY_PATH": self.libs})

    def test_found_by_gdb(self):
        program = os.path.join(self.folder, "program")
        subprocess.run([os.environ.get("CC", "cc"), "-g", "-D_GNU_SOURCE", "-DLOCKS_ONLY",
                        "-I" + self.headers, "-o", program,
                        os.path.join(ROOT, "tests", "lib", "gdb_cases.c"),
                        self.libs + "/librwsem.so.0", "-pthread"], check=True)
        told = self.look(program, "print cache", "info rwsem")
        self.assertRegex(told, r"\$1 = written by TID \d+ \(thread 2\); reserved; 1 queued = \{")
        self.check(told)
        if os.uname().machine == "x86_64" and shutil.which("strip"):
            subprocess.run(["strip", self.libs + "/librwsem.so.0"], check=True)
            self.check(self.look(program, "info rwsem"))


class Constants(Folder):
    """The script has the library's constants and offsets a second time."""

    def test_the_bits(self):
        with open(os.path.join(ROOT, "lib", "word.h"), encoding="utf-8") as text:
            header = text.read()
        wanted = {"WRITER": 0}
        wanted.update((name, int(bit)) for name, bit in
                      re.findall(r"^#define WORD_(\w+)\s+WORD_BIT\((\d+)\)", header, re.M))
        shifts = [int(re.search(rf"^#define WORD_{name}_SHIFT\s+(\d+)", header, re.M)[1])
                  for name in ("SLOT", "HOLDER")]
        most = re.search(r"^#define WORD_MAX_READERS UINT64_C\((\w+)\)", header, re.M)[1]
        told = gdb("/bin/true", "source " + SCRIPT, "python print(RwsemWord.BITS)", "python print("
                   "RwsemWord.SLOT_SHIFT, RwsemWord.HOLDER_SHIFT, RwsemWord.MAX_READERS)")
        self.assertEqual(told.splitlines(),
                         [str(wanted), f"{shifts[0]} {shifts[1]} {int(most, 0)}"])

    def test_the_offsets(self):
        told = gdb(CASES, "source " + SCRIPT, "python import struct",
                   "python n, r = (gdb.lookup_type('struct rwsem__' + t) for t in "
                   "('node', 'request'))",
                   "python print({f: n[f].bitpos // 8 for f in RwsemMemory.NODE})",
                   "python print(RwsemMemory.NODE)",
                   "python print(r['node'].bitpos // 8, r['sem'].bitpos)",
                   "python print(RwsemMemory.NODE_IN_REQUEST, 0)").splitlines()
        self.assertEqual((told[0], told[2]), (told[1], told[3]))

    def test_the_names_in_gdb(self):
        # Scripts share a namespace, where two of a name spoil each other.
        told = gdb("/bin/true", "python old = set(globals()) | {'old'}", "source " + SCRIPT,
                   "python print([n for n in globals() if n not in old and "
                   "not n.startswith('Rwsem') and n not in ('os', 'struct', 'gdb')])")
        self.assertEqual(told, "[]\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
