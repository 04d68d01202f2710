#!/usr/bin/env python3
# timeout: 180, tier: fast
"""Perf events are counted as the kernel's own tool counts them, over the same stretch of the same
thread, and shown where they happened; what cannot be had is refused with the reason. Needs root.
"""
import contextlib
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

from lib import Checks, Jvm, Prof, Wrong, collapsed, cpu_seconds, good, links, perf_fds, prof, \
    read, threads, traces, wait_for, want

TRACEFS = "/sys/kernel/tracing"
DEVICES = "/sys/bus/event_source/devices"
SHARE = 0.05  # of the truth


class Workload(Jvm):
    def __init__(self, scratch):
        self.file = os.path.join(scratch, "pages")
        super().__init__("PerfEvents", self.file)
        self.worker = wait_for(lambda: next((
            t for t, name in threads(self.pid).items() if name == "worker"), None), "the worker")

    def do(self, order):
        self.ask(order)


class Stat:
    """perf stat of one thread, counting between enable and disable."""

    def __init__(self, scratch, event, tid):
        self.path = os.path.join(scratch, "stat")
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        self.process = subprocess.Popen(
            ["perf", "stat", "-x", ",", "-e", event, "-t", str(tid), "-D", "-1", "-o", self.path,
             "--control", "fd:%d,%d" % (orders, answers)],
            pass_fds=(orders, answers), start_new_session=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(orders)
        os.close(answers)
        self.say(b"enable\n")

    def say(self, word):
        os.write(self.orders, word)
        want(os.read(self.answers, 16).startswith(b"ack"), "perf stat does not count")

    def count(self):
        self.say(b"disable\n")
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)
        return int(re.search(r"^(\d+),", read(self.path), re.M).group(1))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        os.close(self.orders)
        os.close(self.answers)


def everyone_armed(jvm):
    """The agent's own thread is not sampled."""
    return perf_fds(jvm.pid) >= len(threads(jvm.pid)) - 1


def stack_is(stacks, *frames):
    """How much of it has these frames, in this order, root first."""
    n = 0
    for names, count in stacks:
        rest = iter(names)
        if all(any(frame in name for name in rest) for frame in frames):
            n += count
    return n


def sampled(scratch, jvm, event, order, *options, stat=None):
    """What the worker's samples weigh, their stacks, and perf's count."""
    with Prof(scratch, "-d", 60, "-e", event, *options, "-t", "--total", "-o", "collapsed",
              jvm.pid) as p:
        def going():
            want(p.process.poll() is None, p.stderr())
            return everyone_armed(jvm)
        wait_for(going, "sampling")
        truth = Stat(scratch, stat or event, jvm.worker)
        with contextlib.closing(truth):
            jvm.do(order)
            expected = truth.count()
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
    stacks = [(frames[1:], n) for frames, n in collapsed(p.stdout())
              if frames[0] == "[worker tid=%d]" % jvm.worker]
    print("# %s: sampled %d, counted %d" % (event, sum(n for _, n in stacks), expected))
    wait_for(lambda: not traces(jvm.pid), "everything to be taken down")
    return sum(n for _, n in stacks), stacks, expected


def counted(scratch, jvm, event, order, frames, *options, stat=None, at_least=4000):
    """Weights agree with perf's count, and nearly all of them are at `frames`."""
    weight, stacks, expected = sampled(scratch, jvm, event, order, *options, stat=stat)
    want(expected >= at_least, "only %d to count" % expected)
    want(abs(weight - expected) <= SHARE * expected,
         "perf counts %d, samples weigh %d" % (expected, weight))
    there = stack_is(stacks, *frames)
    want(there >= 0.9 * weight, "of %d, %d at %s: %s" % (weight, there, frames, stacks[:3]))


def exactly(scratch, jvm, event, n, order, frames):
    """And the program itself knows how often."""
    weight, stacks, expected = sampled(scratch, jvm, event, "%s %d" % (order, n),
                                       stat=STAT.get(event))
    for what, truth in (("perf counts", expected), ("the program did", n)):
        want(abs(weight - truth) <= 0.01 * truth, "%s %d, samples weigh %d" % (what, truth, weight))
    there = stack_is(stacks, *frames)
    want(there >= 0.98 * weight, "of %d, %d at %s: %s" % (weight, there, frames, stacks[:3]))


STAT = {}  # event → as perf stat wants it


def address_of(jvm):
    """Of the workload's mapping of a single page."""
    for line in read("/proc/%d/maps" % jvm.pid).splitlines():
        begin, end = (int(a, 16) for a in line.split()[0].split("-"))
        if line.endswith(jvm.file) and end - begin == 4096:
            return begin
    raise Wrong("the page is not mapped")


def libc(jvm):
    return next(line.split()[-1] for line in read("/proc/%d/maps" % jvm.pid).splitlines()
                if re.search(r"/libc[.-][^/]*$", line))


@contextlib.contextmanager
def tracefs():
    mounted = os.path.exists(os.path.join(TRACEFS, "events"))
    if not mounted:
        subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACEFS], check=True)
    try:
        yield
    finally:
        if not mounted:
            subprocess.run(["umount", TRACEFS], check=True)


@contextlib.contextmanager
def perf_probe(library, function, kind):
    """A uprobe of perf's own beside ours, for perf stat; its events do not disturb each other."""
    name = b"%s_%s_%d" % (kind, function.encode(), os.getpid())
    offset = int(next(line.split()[0] for line in subprocess.run(
        ["nm", "-D", library], check=True, capture_output=True, text=True).stdout.splitlines()
        if re.search(r" [TW] %s(@|$)" % function, line)), 16)
    events = os.open(TRACEFS + "/uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(events, b"%s:jtop/%s %s:0x%x\n" % (kind, name, library.encode(), offset))
        try:
            yield "jtop:" + name.decode()
        finally:
            os.write(events, b"-:jtop/%s\n" % name)
    finally:
        os.close(events)


def probe(scratch, jvm, event, frames):
    library = libc(jvm)
    name = "%s:%s:sched_yield" % (event, library)
    with perf_probe(library, "sched_yield", b"r" if event == "uretprobe" else b"p") as stat:
        STAT[name] = stat
        exactly(scratch, jvm, name, 10000, "yield", frames)


def breakpoint_by_name(scratch, jvm):
    library = libc(jvm)
    base = next(int(line.split("-")[0], 16)
                for line in read("/proc/%d/maps" % jvm.pid).splitlines() if line.endswith(library))
    symbol = next(line.split()[0] for line in subprocess.run(
        ["nm", "-D", library], check=True, capture_output=True, text=True).stdout.splitlines()
        if re.search(r" [TW] sched_yield(@|$)", line))
    STAT["sched_yield"] = "mem:0x%x:x" % (base + int(symbol, 16))
    exactly(scratch, jvm, "sched_yield", 10000, "yield", ("PerfEvents.yields", "sched_yield"))


def watched_memory(scratch, jvm):
    event = "mem:0x%x/8:w" % address_of(jvm)
    exactly(scratch, jvm, event, 10000, "write", ("PerfEvents.write",))


def sections(text):
    """Samples by event, of a profile of several."""
    found, event = {}, None
    for line in text.splitlines():
        if line.startswith("# event: "):
            event = line[len("# event: "):].split(",")[0]
        elif line:
            found.setdefault(event, []).append(line)
    return {event: collapsed("\n".join(lines)) for event, lines in found.items()}


def cpu_ns(jvm):
    return int(read("/proc/%d/task/%d/schedstat" % (jvm.pid, jvm.worker)).split()[0])


def shared_signal(scratch, jvm, cpu):
    """The kernel keeps one signal of a kind: it may not cost the other event its own."""
    calls = 200000
    with Prof(scratch, "-d", 60, "-e", cpu + ",syscalls:sys_enter_sched_yield", "-t", "--total",
              "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: perf_fds(jvm.pid) >= (2 if cpu == "cpu" else 1) *
                 (len(threads(jvm.pid)) - 1), "sampling: " + p.stderr())
        before = cpu_ns(jvm)
        jvm.do("yield %d" % calls)
        jvm.do("burn 700")
        spent = cpu_ns(jvm) - before
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
    wait_for(lambda: not traces(jvm.pid), "everything to be taken down")
    weights = {event: sum(n for frames, n in stacks if frames[0].startswith("[worker "))
               for event, stacks in sections(p.stdout()).items()}
    print("# %d ms, %d calls: %s" % (spent / 1e6, calls, weights))
    want(len(weights) == 2, "events: %s" % weights)
    want(abs(weights.pop(cpu) - spent) < 0.1 * spent, "CPU time is lost")
    want(abs(weights.popitem()[1] - calls) < 0.01 * calls, "calls are lost")


class Request:
    """What the reader asks for, in the mapping it shares with the agent (core/wire/layout.h)."""
    GENERATION, ENGINES = 4096, 4096 + 28

    def __init__(self, pid):
        path = next(path for path, target in links(pid) if target.startswith("/memfd:jtop-prof"))
        with open(path, "r+b") as f:
            self.words = mmap.mmap(f.fileno(), 8192)

    def ask(self, engines):
        """Only so many of its engines. The agent looks ten times a second."""
        struct.pack_into("<I", self.words, self.ENGINES, engines)
        now, = struct.unpack_from("<I", self.words, self.GENERATION)
        struct.pack_into("<I", self.words, self.GENERATION, now + 1)


def other_stops(scratch, jvm):
    """While one event is stopped and started, the other one goes on."""
    with Prof(scratch, "-d", 60, "-e", "cpu,page-faults", "-i", "100us", "-t", "--total",
              "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: perf_fds(jvm.pid) >= 2 * (len(threads(jvm.pid)) - 1),
                 "sampling: " + p.stderr())
        request, before = Request(jvm.pid), cpu_ns(jvm)
        for i in range(20):
            request.ask(1 + i % 2)
            jvm.do("burn 110")
        spent = cpu_ns(jvm) - before
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
    weight = sum(n for frames, n in sections(p.stdout())["cpu"] if frames[0].startswith("[worker "))
    print("# %d ms of CPU time, samples weigh %d" % (spent / 1e6, weight / 1e6))
    want(abs(weight - spent) < 0.1 * spent, "CPU time is lost")


def idle(scratch):
    """The signal itself makes a sleeping thread come and go: that may not go on for ever."""
    with Jvm("Idle") as jvm, Prof(scratch, "-d", 60, "-e", "sched:sched_switch", "-o",
                                  "collapsed", jvm.pid) as p:
        wait_for(lambda: everyone_armed(jvm), "sampling: " + p.stderr())
        began, before = time.monotonic(), cpu_seconds(jvm.pid)
        wait_for(lambda: time.monotonic() > began + 2, "two seconds")
        used = (cpu_seconds(jvm.pid) - before) / (time.monotonic() - began)
        want(used < 0.4, "a JVM that sleeps uses %d %% of a processor" % (100 * used))


def refused(event, jvm, *words, options=()):
    done = prof("-d", 1, "-e", event, *options, "-o", "collapsed", jvm.pid)
    want(done.returncode != 0, "%s is sampled here" % event)
    for word in words:
        want(re.search(word, done.stderr), "%s: %s" % (event, done.stderr))
    wait_for(lambda: not traces(jvm.pid), "everything to be taken down")


def no_pmu(jvm):
    if os.path.exists(DEVICES + "/cpu"):
        good("-d", 1, "-e", "cycles", "-o", "collapsed", jvm.pid)
        return
    for event in ("cycles", "cache-misses", "L1-dcache-load-misses", "r1a8"):
        refused(event, jvm, event + ": no PMU: this CPU, or its hypervisor")


def no_kprobes(jvm):
    if os.path.exists(DEVICES + "/kprobe"):
        good("-d", 1, "-e", "kprobe:do_sys_openat2", "-o", "collapsed", jvm.pid)
        return
    refused("kprobe:do_sys_openat2", jvm, "kprobe")


def impossible(jvm):
    refused("trace:999999", jvm, "no tracepoint 999999")
    refused("mem:0x%x/8:w" % (address_of(jvm) + 1), jvm, "cannot watch 8 bytes")


def main():
    checks = Checks(fast=("page faults", "a tracepoint", "a uprobe",
                          "a native function's breakpoint"))
    with tempfile.TemporaryDirectory(dir="/dev/shm") as scratch, tracefs():
        with Workload(scratch) as jvm:
            jvm.do("yield 30000")  # and it is compiled
            jvm.do("write 30000")
            jvm.do("sleep 3000")
            run = checks.run
            run("page faults", counted, scratch, jvm, "page-faults", "touch 100",
                ("PerfEvents.touch",))
            run("context switches", counted, scratch, jvm, "context-switches", "sleep 20000",
                ("PerfEvents.sleep",))
            run("a tracepoint", exactly, scratch, jvm, "syscalls:sys_enter_sched_yield", 10000,
                "yield", ("PerfEvents.yields", "sched_yield"))
            run("switches of the scheduler", counted, scratch, jvm, "sched:sched_switch",
                "sleep 20000", ("PerfEvents.sleep",))
            run("every system call", counted, scratch, jvm, "raw_syscalls:sys_enter",
                "yield 10000", ("PerfEvents.yields",))
            run("a uprobe", probe, scratch, jvm, "uprobe", ("PerfEvents.yields", "sched_yield"))
            run("a uretprobe", probe, scratch, jvm, "uretprobe", ("PerfEvents.yields",))
            run("a native function's breakpoint", breakpoint_by_name, scratch, jvm)
            run("a watched address", watched_memory, scratch, jvm)
            for cpu in ("cpu", "ctimer"):
                run("a signal for two events, " + cpu, shared_signal, scratch, jvm, cpu)
            run("one event is stopped", other_stops, scratch, jvm)
            run("switches of threads that sleep", idle, scratch)
            run("hardware events", no_pmu, jvm)
            run("kprobes", no_kprobes, jvm)
            run("events that cannot be", impossible, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
