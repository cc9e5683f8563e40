"""Printers for gdb: what an rwsem_t says, and the command `info rwsem`.

gdb loads this by itself where it is installed beside a shared librwsem; else `source` it. It needs
nothing but memory and registers: no debug information of the library, and no call into the program,
so a core file will do. What it reads may be half changed or garbage, and is told as such.

All scripts of a gdb share one namespace: each name here begins with Rwsem.
"""
import os.path
import struct

import gdb
import gdb.printing
import gdb.types


class RwsemError(Exception):
    """What can't be told, in words."""


class RwsemWord:
    """The state word; lib/word.h is its authority, and the tests compare the two."""

    BITS = {"WRITER": 0, "QUEUED": 1, "QLOCK": 2, "SPINNER": 3, "HANDOFF": 4, "WOKEN": 5,
            "BIASED": 6, "RECURSIVE": 8, "SHARED": 9, "WATCHED": 10, "SLEEP_READ": 11,
            "SLEEP_WRITE": 12, "OWNER_DIED": 13, "NOT_RECOVERABLE": 14}
    SLOT_SHIFT = 16
    HOLDER_SHIFT = 32
    MAX_READERS = 0x7fffffff
    MAX_TID = 1 << 22  # Linux has no greater one

    WORDS = {"RECURSIVE": "recursive", "SHARED": "shared", "WATCHED": "watched",
             "BIASED": "biased", "SPINNER": "a thread spins", "HANDOFF": "reserved",
             "WOKEN": "a writer was called", "SLEEP_READ": "readers sleep",
             "SLEEP_WRITE": "writers sleep", "OWNER_DIED": "owner died",
             "NOT_RECOVERABLE": "not recoverable"}

    def __init__(self, word):
        self.word = word
        self.holder = word >> self.HOLDER_SHIFT
        self.tid = self.holder if self.has("WRITER") else 0
        self.readers = 0 if self.has("WRITER") else self.holder
        self.is_held = self.has("WRITER") or self.holder > 0

    def has(self, *names):
        """Whether any of these bits is set."""
        return any(self.word >> self.BITS[name] & 1 for name in names)

    def nonsense(self):
        """Why this can't be a lock, or None."""
        known = sum(1 << bit for bit in self.BITS.values())
        if self.has("BIASED", "SHARED"):
            known |= 0xffff << self.SLOT_SHIFT
        unknown = self.word & (1 << self.HOLDER_SHIFT) - 1 & ~known
        if unknown:
            return f"it has flags that no lock has ({unknown:#x})"
        if self.tid > self.MAX_TID:
            return f"its writer's TID would be {self.tid}"
        if self.readers > self.MAX_READERS + self.MAX_TID:
            return f"it would have {self.readers} readers"
        return None

    def broken_invariant(self):
        """The invariants of lib/word.h, as lib/check.c has them, or None."""
        queued, qlock, woken = self.has("QUEUED"), self.has("QLOCK"), self.has("WOKEN")
        is_attended = woken or (self.has("SPINNER") and not self.has("HANDOFF"))
        if self.has("SHARED"):
            has_queue = queued or qlock or woken or self.has("SPINNER")
            return "a shared lock has no queue" if has_queue else None
        if qlock and not queued:
            return "the queue is locked and there is none"
        if not self.is_held and queued and not qlock and not is_attended:
            return "the lock is free, threads sleep, and nobody is awake for them"
        if not self.is_held and self.has("HANDOFF") and not woken:
            return "the lock is free and reserved, and nobody comes"
        if self.has("WRITER") and not self.tid:
            return "a writer without a TID"
        if self.has("SLEEP_READ", "SLEEP_WRITE", "OWNER_DIED", "NOT_RECOVERABLE"):
            return "a private lock with flags of shared ones"
        return None

    def state(self, threads):
        if self.has("WRITER"):
            return "written by TID " + threads.name(self.tid, self.has("SHARED"))
        if self.readers:
            return f"{self.readers} reader" + ("s" if self.readers > 1 else "")
        return "free"


class RwsemMemory:
    """Memory of the program, and where the library's own structures have their members."""

    # struct rwsem__node of lib/queue.h, struct rwsem__request of lib/slow.h
    NODE = {"state": 0, "tid": 4, "next": 8, "prev": 16, "mode": 24, "is_overdue": 41}
    NODE_FORM = "<IIQQI13x?"
    NODE_IN_REQUEST = 56

    @staticmethod
    def read(address, form):
        try:
            raw = gdb.selected_inferior().read_memory(address, struct.calcsize(form))
        except (gdb.error, OverflowError):
            raise RwsemError(f"{address:#x} can't be read") from None
        return struct.unpack(form, bytes(raw))

    @classmethod
    def lock(cls, address):
        """The two words of a lock."""
        return cls.read(address, "<QQ")

    @classmethod
    def node(cls, address):
        return RwsemNode(address, *cls.read(address, cls.NODE_FORM))

    @classmethod
    def lock_of_node(cls, address):
        """The lock that the node's thread waits for: the node is in its request, that is first."""
        return cls.read(address - cls.NODE_IN_REQUEST, "<Q")[0]

    @staticmethod
    def symbol(address):
        told = gdb.execute(f"info symbol {address:#x}", to_string=True)
        name = told.split(" in section ")[0].replace(" + ", "+")
        return f"{address:#x}" + ("" if told.startswith("No symbol") else f" <{name}>")


class RwsemNode:
    """One sleeper of a private lock, on that thread's stack."""

    STATES = ("waiting", "called", "granted")
    MODES = ("reads", "writes")

    def __init__(self, address, state, tid, after, before, mode, is_overdue):
        self.address, self.tid, self.next, self.prev = address, tid, after, before
        if state >= len(self.STATES) or mode >= len(self.MODES) or \
                not 0 < tid <= RwsemWord.MAX_TID:
            raise RwsemError(f"{address:#x} is no sleeper's")
        self.state, self.mode, self.is_overdue = self.STATES[state], self.MODES[mode], is_overdue

    def text(self, threads):
        overdue = ", overdue" if self.is_overdue else ""
        return f"TID {threads.name(self.tid)}, {self.mode}, {self.state}{overdue}"


class RwsemQueue:
    """The queue of a private lock, as far as it can be followed."""

    LIMIT = 64

    def __init__(self, word, first):
        self.nodes, self.problem, self.has_more = [], None, False
        self.is_moving = word.has("QLOCK")
        try:
            if word.has("QUEUED"):
                self.follow(first)
            elif first:
                self.problem = f"the word says that it is empty, but it begins at {first:#x}"
        except RwsemError as why:
            self.problem = str(why)

    def follow(self, first):
        if not first:
            raise RwsemError("the word says that there is one, but it has no first")
        seen, address, before = set(), first, None
        while address not in seen:
            if len(self.nodes) == self.LIMIT:
                self.has_more = True
                return
            if address % 8:
                raise RwsemError(f"{address:#x} is misaligned")
            seen.add(address)
            node = RwsemMemory.node(address)
            if before and node.prev != before.address:
                raise RwsemError(f"{address:#x} does not link back to {before.address:#x}")
            self.nodes.append(node)
            before, address = node, node.next
        if address != first:
            raise RwsemError(f"it never comes back to its first: {before.address:#x} leads to "
                             f"{address:#x} again")
        if self.nodes[0].prev != before.address:
            raise RwsemError(f"its first does not link back to its last, {before.address:#x}")

    def texts(self):
        count = ("more than " if self.has_more else "") + f"{len(self.nodes)} queued"
        found = [count] if self.nodes else []
        if self.is_moving:
            found.append("queue locked, in motion")
        if self.problem:
            what = "queue not whole" if self.is_moving else "queue damaged"
            found.append(f"{what}: {self.problem}")
        return found


class RwsemThreads:
    """The threads that gdb knows, by TID."""

    def __init__(self):
        self.here, self.elsewhere = {}, {}
        for inferior in gdb.inferiors():
            is_here = inferior == gdb.selected_inferior()
            for thread in inferior.threads():
                tid = thread.ptid[1] or thread.ptid[2]
                (self.here if is_here else self.elsewhere)[tid] = thread

    def find(self, tid, is_shared=False):
        return self.here.get(tid) or (self.elsewhere.get(tid) if is_shared else None)

    def name(self, tid, is_shared=False):
        """The TID, and which thread that is."""
        thread, where = self.find(tid, is_shared), "elsewhere" if is_shared else "no such thread"
        if thread:
            where = f"thread {self.number(thread)}"
        # Without a process nobody has threads, and that is no news.
        return f"{tid} ({where})" if self.here else str(tid)

    @staticmethod
    def number(thread):
        return f"{thread.inferior.num}.{thread.num}" if len(gdb.inferiors()) > 1 else thread.num


class RwsemPrinter:
    """Prints a struct rwsem_s, with the sleepers of a private lock as its children."""

    def __init__(self, val):
        self.threads, self.nodes, self.has_more = RwsemThreads(), [], False
        try:
            self.text = self.describe(int(val["word"]), int(val["extra"]))
        except gdb.error as why:
            self.text = f"unreadable: {why}"

    @classmethod
    def at(cls, address):
        return cls(dict(zip(("word", "extra"), RwsemMemory.lock(address))))

    def describe(self, number, extra):
        word = RwsemWord(number)
        raw = f"(word {number:#x}, extra {extra:#x})"
        wrong = word.nonsense()
        if wrong:
            return f"no valid lock: {wrong} {raw}"
        parts = [word.state(self.threads)] + [w for name, w in word.WORDS.items() if word.has(name)]
        if not word.has("SHARED"):
            queue = RwsemQueue(word, extra)
            self.nodes, self.has_more = queue.nodes, queue.has_more
            parts += queue.texts()
        wrong = word.broken_invariant()
        if wrong:
            parts.append(f"BROKEN: {wrong} {raw}")
        return "; ".join(parts)

    def to_string(self):
        return self.text

    def children(self):
        for i, node in enumerate(self.nodes):
            yield f"[{i}]", node.text(self.threads)
        if self.has_more:
            yield f"[{len(self.nodes)}]", "...and more"


class RwsemSelection:
    """A `with` that gives back the selected thread and frame."""

    def __enter__(self):
        self.thread, self.frame = gdb.selected_thread(), None
        try:
            self.frame = gdb.selected_frame()
        except gdb.error:  # no process, or it runs
            pass

    def __exit__(self, *_):
        if self.thread and self.thread.is_valid():
            self.thread.switch()
            if self.frame and self.frame.is_valid():
                self.frame.select()


class RwsemStack:
    """What a thread's stack tells: where it is, and which lock it waits for."""

    DEPTH, SHOWN = 24, 5
    TAKERS = {"rwsem__take_private", "rwsem__take_shared"}
    # x86-64: the system call's number as it was, and its arguments.
    FUTEX, RESTART = 202, 219
    WAIT, WAIT_BITSET, PRIVATE = 0, 9, 128
    SHARED_MODES = {1: "reads", 2: "writes"}

    def __init__(self, thread):
        """Selects the thread; to be used within an RwsemSelection. gdb's frames are good only while
        their thread is selected, so nothing of them is kept."""
        self.thread, self.tid = thread, thread.ptid[1] or thread.ptid[2]
        self.lock, self.mode, self.problem, frames = None, None, None, []
        try:
            thread.switch()
            frame = gdb.newest_frame()
            while frame and len(frames) < self.DEPTH:
                frames.append(frame)
                frame = frame.older()
        except gdb.error as why:  # it runs, or its stack ends in nonsense
            self.problem = str(why)
        # Not all of the library's functions have names that tell; no two in a row have not.
        marks = [self.is_ours(frame) for frame in frames] + [False]
        begin = end = marks.index(True) if True in marks else 0
        while any(marks[end:end + 2]):
            end += 1
        ours = frames[begin:end]
        # A library without symbols has no names at all to tell by, only addresses.
        self.is_waiting = any(self.name(frame) in self.TAKERS for frame in ours)
        if self.is_waiting or any(frame.name() is None for frame in ours):
            self.is_waiting |= self.ask_variables(ours) or self.ask_registers(frames[0])
        top = end if self.is_waiting else 0
        self.places = [f"#{i}  {self.place(frame)}"
                       for i, frame in enumerate(frames)][top:top + self.SHOWN]
        self.site = ", in " + self.place(frames[end]) if end < len(frames) else ""

    @staticmethod
    def library(frame):
        return os.path.basename(gdb.solib_name(frame.pc()) or "")

    @staticmethod
    def name(frame):
        """The function, or "". Without debug information gdb takes a name with __ for Ada's."""
        name = frame.name() or ""
        return name.replace(".", "__", 1) if name.startswith("rwsem.") else name

    @classmethod
    def is_ours(cls, frame):
        return cls.name(frame).startswith(("rwsem_", "rwsem::")) or \
            cls.library(frame).startswith("librwsem.so")

    def ask_variables(self, frames):
        for frame in frames:
            try:
                request = frame.read_var("rq")
                if request.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
                    request = request.dereference()
                if gdb.types.get_basic_type(request.type).tag == "rwsem__request":
                    mode, lock = RwsemNode.MODES[int(request["mode"])], int(request["sem"])
                    RwsemMemory.lock(lock)
                    self.lock, self.mode = lock, mode
                    return True
            except (gdb.error, ValueError, RuntimeError, IndexError, RwsemError):
                pass  # no debug information, or optimized out
        return False

    def ask_registers(self, top):
        """A sleeper's futex is in its node, or in the shared lock itself."""
        try:
            call, at, op, bits = (int(top.read_register(name)) & (1 << 64) - 1
                                  for name in ("orig_rax", "rdi", "rsi", "r9"))
            if call not in (self.FUTEX, self.RESTART) or \
                    op & ~self.PRIVATE not in (self.WAIT, self.WAIT_BITSET):
                return False
            if op & self.PRIVATE:
                node, lock = RwsemMemory.node(at), RwsemMemory.lock_of_node(at)
                if node.tid != self.tid:
                    return False
                RwsemMemory.lock(lock)
                self.lock, self.mode = lock, node.mode
            elif RwsemWord(RwsemMemory.lock(at)[0]).has("SHARED"):
                self.lock, self.mode = at, self.SHARED_MODES.get(bits & 0xffffffff)
        except (gdb.error, ValueError, RwsemError):
            pass  # another processor, or other memory
        return self.lock is not None

    @classmethod
    def place(cls, frame):
        """Function, and file and line or library, of a frame."""
        line = frame.find_sal()
        name, library = cls.name(frame) or hex(frame.pc()), cls.library(frame)
        if line.symtab:
            return f"{name} at {os.path.basename(line.symtab.filename)}:{line.line}"
        return f"{name} from {library}" if library else name

    def wait(self):
        wish = {"reads": "to read", "writes": "to write"}.get(self.mode, "for")
        return f"waits {wish} {RwsemMemory.symbol(self.lock)}"

    def lines(self):
        if self.problem and not self.places:
            return [f"    (its stack can't be read: {self.problem})"]
        return ([f"    {self.wait()}"] if self.lock else []) + [f"    {p}" for p in self.places]


class RwsemInfo(gdb.Command):
    """Show a librwsem lock, or who waits for which.
Usage: info rwsem [EXPR]

With EXPR, a lock, a pointer to one, or its address: its state, its owner and what that is doing,
and its sleepers, first to last.
Without: every thread of this process that waits for a lock, and who holds that lock."""

    def __init__(self):
        super().__init__("info rwsem", gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        try:
            if argument.strip():
                lines = self.one_lock(self.address(gdb.parse_and_eval(argument)))
            else:
                lines = self.all_waits()
        except (RwsemError, gdb.error) as why:
            raise gdb.GdbError(str(why)) from None
        print("\n".join(lines))

    @classmethod
    def address(cls, value):
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            return cls.address(value.referenced_value())
        if kind.code == gdb.TYPE_CODE_PTR and \
                kind.target().strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            return cls.address(value.dereference())
        if kind.code in (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_INT):
            return int(value) & (1 << 64) - 1
        if kind.code == gdb.TYPE_CODE_STRUCT and value.address is not None:
            if kind.tag == "rwsem_s":
                return int(value.address)
            # rwsem::shared_mutex, or another structure round one lock
            inner = [f for f in kind.fields()
                     if gdb.types.get_basic_type(f.type).tag == "rwsem_s"]
            if len(inner) == 1:
                return cls.address(value[inner[0]])
        raise RwsemError("This is no lock in memory, and no pointer to one.")

    def one_lock(self, address):
        number = RwsemMemory.lock(address)[0]
        word, lock = RwsemWord(number), RwsemPrinter.at(address)
        lines = [f"rwsem {RwsemMemory.symbol(address)}: {lock.text}"]
        if word.nonsense():
            return lines
        with RwsemSelection():
            stacks = {t.ptid: RwsemStack(t) for t in gdb.selected_inferior().threads()}
            owner = lock.threads.find(word.tid, word.has("SHARED")) if word.tid else None
            if word.tid:
                lines.append("  Owner: TID " + lock.threads.name(word.tid, word.has("SHARED")))
            elif word.readers:
                lines.append("  Held for reading; a lock does not note by whom.")
            if owner:
                lines += (stacks.get(owner.ptid) or RwsemStack(owner)).lines()
        lines += self.sleepers(lock, stacks)
        queued = {node.tid for node in lock.nodes}
        others = [s for s in stacks.values() if s.lock == address and s.tid not in queued]
        if others:
            lines.append("  Waiting, in no order:" if word.has("SHARED") else
                         "  Waiting, not in the queue (called, spinning, or about to sleep):")
        return lines + [f"    TID {lock.threads.name(s.tid)}, {s.mode or 'mode unknown'}{s.site}"
                        for s in others]

    @staticmethod
    def sleepers(lock, stacks):
        lines = ["  Queue, first to last:"] if lock.nodes else []
        for node in lock.nodes:
            thread = lock.threads.find(node.tid)
            site = stacks[thread.ptid].site if thread else ""
            lines.append(f"    {node.text(lock.threads)}{site}")
        return lines + (["    ...and more"] if lock.has_more else [])

    def all_waits(self):
        if not gdb.selected_inferior().threads():
            raise RwsemError("There is no process to look at.")
        threads, lines, waits_for = RwsemThreads(), [], {}
        with RwsemSelection():
            stacks = [RwsemStack(t) for t in gdb.selected_inferior().threads()]
        for stack in sorted(stacks, key=lambda s: s.thread.num):
            who = f"Thread {RwsemThreads.number(stack.thread)} (TID {stack.tid})"
            if stack.lock is not None:
                word = RwsemWord(RwsemMemory.lock(stack.lock)[0])
                waits_for[stack.tid] = word.tid
                held = word.nonsense() or word.state(threads)
                lines.append(f"{who} {stack.wait()}, {held}{stack.site}")
            elif stack.is_waiting:
                lines.append(f"{who} takes a lock; which can't be told: librwsem has no debug "
                             f"information, and the thread is not asleep{stack.site}")
            elif stack.problem:
                lines.append(f"{who} can't be looked at: {stack.problem}")
        return (lines or ["No thread is seen waiting in librwsem."]) + \
            self.rings(waits_for, threads)

    @staticmethod
    def rings(waits_for, threads):
        """Threads that wait for each other, or for themselves."""
        lines, told = [], set()
        for start in waits_for:
            way, tid = [], start
            while tid in waits_for and tid not in way and tid not in told:
                way.append(tid)
                tid = waits_for[tid]
            told.update(way)
            if tid in way:
                ring = [threads.name(t) for t in way[way.index(tid):] + [tid]]
                chain = ", which waits for TID ".join(ring[1:])
                lines.append(f"DEADLOCK: TID {ring[0]} waits for TID {chain}")
        return lines


RwsemPrinters = gdb.printing.RegexpCollectionPrettyPrinter("librwsem")
RwsemPrinters.add_printer("rwsem_t", "^rwsem_s$", RwsemPrinter)
gdb.printing.register_pretty_printer(gdb.current_objfile(), RwsemPrinters, replace=True)
RwsemInfo()
