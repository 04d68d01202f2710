#!/usr/bin/env python3
# timeout: 150, tier: fast
"""Waits for Java locks: LockWaits waits for locks of every kind and measures it. Profiled, the same
time is seen for the threads of each kind, under the lock's class, and the thread that held the
lock is named, with its stack; where nobody waits nothing is seen. Virtual threads from JDK 21 on.

What was changed in the JVM is as before when it is over: when it was stopped, when the reader is
gone, and over and over again."""
import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

from lib import (AGENT, Checks, Jvm, Prof, collapsed, java_version, prof, read, records, status,
                 total, traces, wait_for, want)

POINTS = 10.0  # percent
ROUNDS = 120
KINDS = {
    "monitor": "LockWaits$Shelf",
    "reentrant": "java/util/concurrent/locks/ReentrantLock$NonfairSync",
    "write": "java/util/concurrent/locks/ReentrantReadWriteLock$NonfairSync",
    "read": "java/util/concurrent/locks/ReentrantReadWriteLock$NonfairSync",
    "semaphore": "java/util/concurrent/Semaphore$NonfairSync",
}
OWNED = ("monitor", "reentrant", "write", "read")
# Carriers enough for all that are pinned at once while they hold or want a monitor (JDK 21).
OPTIONS = ("-Djdk.virtualThreadScheduler.parallelism=8", "-XX:+EnableDynamicAgentLoading")
WIRE_METHOD, WIRE_CLASS, WIRE_THREAD, WIRE_LOCK = 3, 4, 5, 9
THREAD_VIRTUAL = 1


def watched(pid):
    """Whether the engine is at work: it has a real-time signal of its own (the JDK's network code
    has one near the end)."""
    jdk = 1 << (signal.SIGRTMAX - 2 - 1)
    return (int(status(pid, "SigCgt"), 16) & ~jdk) >> 34 != 0


def at_work(pid):
    """The handler is there a moment before the engine sees waits: its reader says when that is so."""
    return watched(pid) and "is running" in prof("status", pid).stdout


@contextlib.contextmanager
def profiling(jvm, scratch, *more):
    """The profiler while it watches locks; at the end it is told to write what it has."""
    with Prof(scratch, "-e", "lock", "-d", 60, *more, jvm.pid) as p:
        wait_for(lambda: at_work(jvm.pid) or p.process.poll() is not None, "the engine")
        want(p.process.poll() is None, p.stderr())
        yield p
        p.process.send_signal(signal.SIGINT)
        p.process.wait(30)
        want(p.process.returncode == 0, "exit %s: %s" % (p.process.returncode, p.stderr()))


def ask(jvm, word, mode, rounds=ROUNDS, kinds=tuple(KINDS)):
    """{kind: ns that its waiters waited}; there must be nothing else in the answer."""
    answer = dict(line.split() for line in
                  jvm.ask("%s %s %s %d" % (word, ",".join(kinds), mode, rounds)))
    want(set(answer) == set(kinds), "the JVM says: %r" % answer)
    return {kind: int(ns) for kind, ns in answer.items()}


def own(frames):
    """Whether the program itself took the lock. The JDK has some, too: for threads that start and
    end, and for the timers of virtual threads."""
    return any(re.match(r"LockWaits\.(want|hold)", f) for f in frames) and \
        not any("ScheduledThreadPoolExecutor" in f for f in frames)


def waits(stacks):
    """{(kind, class): ns} of the waiters' threads."""
    seen = {}
    for frames, ns in stacks:
        thread = re.match(r"\[waiter-(\w+) ", frames[0])
        if thread and own(frames):
            key = (thread.group(1), frames[-1].replace("_[i]", ""))
            seen[key] = seen.get(key, 0) + ns
    return seen


# ---- who held it: WIRE_LOCK records of a recording (source: core/wire/record.h) ----

class Recording:
    """Names in it, and the waits: (kind of the waiter, name of the owner, ns, owner's methods)."""

    def __init__(self, path):
        self.classes, self.methods, self.threads, self.waits = {}, {}, {}, []
        everything = list(records(path))
        for kind, r in everything:  # names may come after what has them
            self.name(kind, r)
        for kind, r in everything:
            if kind == WIRE_LOCK:
                self.wait(r)

    def name(self, kind, r):
        if kind == WIRE_METHOD:
            number, cls, name = struct.unpack_from("<IHH", r, 8)
            self.methods[number] = r[24 + cls:24 + cls + name].decode()
        elif kind == WIRE_CLASS:
            number, n = struct.unpack_from("<II", r, 8)
            self.classes[number] = r[16:16 + n].decode()
        elif kind == WIRE_THREAD:
            java_id, tid, n, flags = struct.unpack_from("<QIHH", r, 8)
            key = ("virtual", java_id) if flags & THREAD_VIRTUAL else ("tid", tid)
            self.threads[key] = r[24:24 + n].decode()

    def thread(self, virtual_id, tid):
        return self.threads.get(("virtual", virtual_id) if virtual_id else ("tid", tid), "")

    def wait(self, r):
        _, ns, _, virtual, owner_virtual = struct.unpack_from("<QQQQQ", r, 8)
        tid, owner_tid, class_id, _, n, _ = struct.unpack_from("<IIIIII", r, 48)
        frames = struct.unpack_from("<%dQ" % n, r, 72)
        methods = {self.methods.get(f & 0xffffffff) for f in frames if 1 <= f >> 56 <= 5}
        waiter = re.match(r"waiter-(\w+)", self.thread(virtual, tid))
        if waiter:
            owner = self.thread(owner_virtual, owner_tid)
            self.waits.append((waiter.group(1), self.classes.get(class_id), owner, ns, methods))


def owners_are_right(path, mode, table):
    """`table`: monitors cannot be read (monitor.h). Few waits are told with an owner then, by the
    VM, which does not say it of virtual threads."""
    recording = Recording(path)
    for kind in OWNED:
        of_kind = [w for w in recording.waits if w[:2] == (kind, KINDS[kind])]
        known = sum(ns for _, _, owner, ns, _ in of_kind if owner)
        right = sum(ns for _, _, owner, ns, _ in of_kind if owner == "holder-" + kind)
        everything = sum(ns for _, _, _, ns, _ in of_kind)
        print("# %s: owner known %.1f %%, holder %.1f %%" % (
            kind, 100.0 * known / (everything or 1), 100.0 * right / (everything or 1)))
        if table and kind == "monitor" and mode == "virtual":
            continue
        most = known if table and kind == "monitor" else everything
        want(right >= 0.8 * most > 0, "%s: the holder is named for %.1f %% of the time"
             % (kind, 100.0 * right / (everything or 1)))
    want(not any(owner for _, cls, owner, _, _ in recording.waits if cls == KINDS["semaphore"]),
         "a semaphore has an owner")
    return recording


def contended(jvm, scratch, mode, table):
    recording = os.path.join(scratch, mode + ".jtop")
    with profiling(jvm, scratch, "-t", "-o", "collapsed", "--total", "--record", recording) as p:
        truth = ask(jvm, "contend", mode)
    seen = waits(collapsed(p.stdout()))
    for kind, ns in truth.items():
        found = seen.pop((kind, KINDS[kind].replace("/", ".")), 0)
        print("# %s %s: %.1f ms, seen %.1f ms (%+.1f %%)" % (
            mode, kind, ns / 1e6, found / 1e6, 100.0 * (found - ns) / ns))
        want(abs(found - ns) <= ns * POINTS / 100, "%s waited %d ms, seen as %d ms" % (
            kind, ns // 1000000, found // 1000000))
    # Where a class is being initialized, others wait for it.
    want(sum(seen.values()) < sum(truth.values()) / 100, "wrong classes: %r" % seen)
    done = owners_are_right(recording, mode, table)
    for kind, ns in truth.items():
        # Where monitors cannot be read, the VM tells of few waits.
        told = sum(w[3] for w in done.waits if w[:2] == (kind, KINDS[kind]))
        want(table and kind == "monitor" or abs(told - ns) <= ns * POINTS / 100,
             "%s: waits of %d ms are told of, of %d ms" % (kind, told // 1000000, ns // 1000000))
    walked = [w for w in done.waits if "hold" in w[4]]
    print("# %s: %d waits, %d with the owner's stack" % (
        mode, len(done.waits), sum(1 for w in done.waits if w[4])))
    # A virtual thread that sleeps is nowhere, it cannot be asked.
    want(walked or mode == "virtual", "no owner was seen in hold()")


def uncontended(jvm, scratch, mode):
    with profiling(jvm, scratch, "-o", "collapsed", "--total") as p:
        ask(jvm, "alone", mode)
    stacks = collapsed(p.stdout())
    seen = [s for s in stacks if own(s[0])]
    want(not seen, "seen: %r" % seen[:3])
    if stacks:
        print("# %d ns of the JDK's own: %s" % (total(stacks), {s[0][-1] for s in stacks}))


def threshold(jvm, scratch):
    """Waits much shorter than the interval add up to the same time."""
    with profiling(jvm, scratch, "-t", "-o", "collapsed", "--total", "-i", "20ms") as p:
        truth = ask(jvm, "contend", "platform", ROUNDS, ("monitor", "reentrant"))
    seen = waits(collapsed(p.stdout()))
    ns, found = sum(truth.values()), sum(seen.values())
    print("# by 20 ms: %.1f ms, seen %.1f ms" % (ns / 1e6, found / 1e6))
    want(abs(found - ns) <= 1.5 * ns * POINTS / 100, "seen %d of %d" % (found, ns))


# ---- what is left behind ----

def hook_offset():
    """Of the agent's function that stands in for Unsafe.park, in its file."""
    symbols = subprocess.run(["nm", AGENT], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = re.search(r"^([0-9a-f]+) \w park_watched$", symbols, re.M)
    return int(found.group(1), 16) if found else None


def regions(pid):
    for line in read("/proc/%d/maps" % pid).splitlines():
        words = line.split(None, 5)
        begin, end = (int(a, 16) for a in words[0].split("-"))
        yield begin, end, words[1], words[5] if len(words) == 6 else ""


def base(pid, name):
    return min(begin for begin, _, _, path in regions(pid) if os.path.basename(path) == name)


def words_that_are(pid, value):
    """Addresses of such words in the process's writable memory that is no library's; the VM maps
    its own classes from a file."""
    found = []
    pattern = struct.pack("<Q", value)
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        for begin, end, rights, path in regions(pid):
            if not rights.startswith("rw") or path.startswith("/") and not path.endswith(".jsa"):
                continue
            with contextlib.suppress(OSError):
                memory.seek(begin)
                data = memory.read(end - begin)
                at = data.find(pattern)
                while at >= 0:
                    if at % 8 == 0:
                        found.append(begin + at)
                    at = data.find(pattern, at + 8)
    return found


def word(pid, address):
    """None where memory that held it, by chance, is gone."""
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory, contextlib.suppress(OSError):
        memory.seek(address)
        return struct.unpack("<Q", memory.read(8))[0]
    return None


def in_vm(pid, address):
    return any(begin <= address < end and "x" in rights and path.endswith("/libjvm.so")
               for begin, end, rights, path in regions(pid))


def restored(jvm, scratch):
    """The word behind Unsafe.park's Method is ours while we watch, and a function of the VM's
    before and after; so often that a leak would show, and with threads inside."""
    hook = base(jvm.pid, os.path.basename(AGENT)) + hook_offset()
    with profiling(jvm, scratch, "-o", "collapsed"):
        slots = set(words_that_are(jvm.pid, hook))
    want(not watched(jvm.pid), "the signal's handler is still there")
    before = {a: word(jvm.pid, a) for a in slots}
    with profiling(jvm, scratch, "-o", "collapsed"):  # what else was ours was left on a stack
        slots = [a for a in slots
                 if word(jvm.pid, a) == hook and before[a] and in_vm(jvm.pid, before[a])]
    want(len(slots) == 1, "slots: %r" % slots)
    before = before[slots[0]]
    want(word(jvm.pid, slots[0]) == before, "another function is there now")
    with Prof(scratch, "-e", "lock", "-d", 60, "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: word(jvm.pid, slots[0]) == hook, "the engine")
        p.process.kill()
        p.process.wait(10)
        jvm.say("contend %s platform 1200" % ",".join(KINDS))  # goes on while it is undone
        wait_for(lambda: word(jvm.pid, slots[0]) == before, "the end of the lease")
        wait_for(lambda: not traces(jvm.pid), "the agent to let go")
    want(not watched(jvm.pid), "the signal's handler is still there after the lease")
    while jvm.line() != ".":
        continue


def in_and_out(jvm, scratch):
    """Started and stopped while threads wait all the time."""
    jvm.say("contend %s platform 700" % ",".join(KINDS))
    for _ in range(4):
        with profiling(jvm, scratch, "-o", "collapsed"):
            time.sleep(0.05)  # some threads are inside when it ends, whatever it is
    lines = []
    while not lines or lines[-1] != ".":
        lines.append(jvm.line())
    want(len(lines) == len(KINDS) + 1, "the JVM says: %r" % lines)
    want(jvm.alive(), "the JVM is gone")


def ends_watched(jvm, scratch):
    """The JVM ends with the engine at work, and what was seen is kept."""
    with Prof(scratch, "-e", "lock", "-d", 60, "-o", "collapsed", "--total", jvm.pid) as p:
        wait_for(lambda: at_work(jvm.pid), "the engine")
        truth = ask(jvm, "contend", "platform", 20)
        want(jvm.end() == 0, "exit %s" % jvm.process.returncode)
        p.process.wait(30)
        seen = total(collapsed(p.stdout()))
        want(seen >= 0.9 * sum(truth.values()), "seen %d of %d" % (seen, sum(truth.values())))


def one_jdk(checks, scratch, name):
    java = java_version()
    table = java >= 27
    with Jvm("LockWaits", options=OPTIONS) as jvm:
        for mode in ("platform", "virtual") if java >= 21 else ("platform",):
            ask(jvm, "alone", mode, 3)  # loading classes takes locks
        checks.run("lock %s uncontended" % name, uncontended, jvm, scratch, "platform")
        checks.run("lock %s platform threads" % name, contended, jvm, scratch, "platform", table)
        checks.run("lock %s threshold" % name, threshold, jvm, scratch)
        if java >= 21:
            checks.run("lock %s uncontended virtual" % name, uncontended, jvm, scratch, "virtual")
            checks.run("lock %s virtual threads" % name, contended, jvm, scratch, "virtual",
                       table)
        checks.run("lock %s restored" % name, restored, jvm, scratch)
        checks.run("lock %s in and out" % name, in_and_out, jvm, scratch)
        checks.run("lock %s the JVM ends" % name, ends_watched, jvm, scratch)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="lock-") as scratch:
        one_jdk(checks, scratch, "JDK %d" % java_version())
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
