#!/usr/bin/env python3
# timeout: 240, runs: alone
"""The hostile mix under 100 us, engines and walkers taking turns, the profiler detached or killed in
between: no crash, no hang, no growth. One minute of it; `soak.py MINUTES` for more (see test/soak),
then with a line a minute.

AsyncGetCallTrace has no turn here: what it does to a JVM is the JVM's own doing."""
import contextlib
import os
import re
import statistics
import sys
import tempfile
import time

from lib import (WALKS, Checks, Jvm, Prof, armed, fds, good, memory_kb, read, threads, traces,
                 wait_for, want)

INTERVAL = "100us"
# (seconds, options of the profiler); None: it is killed, and the agent finds out by itself
TURNS = (
    (8, ("-e", "cpu")),
    (4, ("-e", "ctimer")),
    (6, ("-e", "cpu", "--cstack", "vmx")),
    (None, ("-e", "cpu")),
    (4, ("-e", "itimer")),
    (6, ("-e", "cpu", "--cstack", "dwarf")),
    (3, ("-e", "ctimer", "--cstack", "fp")),
    (4, ("-e", "cpu", "-t", "--cstack", "no")),
    (None, ("-e", "ctimer", "--cstack", "vmx")),
    (6, ("-e", "cpu", "--jstackdepth", "64")),
)
OPTIONS = ("-Xms256m", "-XX:+AlwaysPreTouch", "-XX:+IgnoreUnrecognizedVMOptions",
           "-XX:-UseDynamicNumberOfCompilerThreads", "-XX:-UseDynamicNumberOfGCThreads")
MOST_FAILED = 1.0  # percent of all walks
GROWTH_KB = 32768  # of a heap that is fixed: compilers and class metadata, with their ups and downs
MORE_THREADS = MORE_FDS = 4  # the JVM starts some of its own when it first needs them


def progress(jvm):
    """{thread: how far it is}: the CPU time of each thread of the mix."""
    found = {}
    for tid, name in threads(jvm.pid).items():
        with contextlib.suppress(OSError, IndexError):  # it has ended meanwhile
            if not name.startswith("hostile"):
                continue
            found[name] = int(read("/proc/%d/task/%d/schedstat" % (jvm.pid, tid)).split()[0])
    return found


class Soak:
    def __init__(self, jvm, scratch):
        self.jvm, self.scratch, self.turns = jvm, scratch, 0
        self.memory, self.threads, self.fds = [], [], []
        self.began = time.monotonic()

    def minutes(self):
        return (time.monotonic() - self.began) / 60

    def advances(self, before):
        wait_for(lambda: all(n > before.get(t, 0) for t, n in progress(self.jvm).items()),
                 "every thread to advance: %s" % before, 10)

    def killed(self, options):
        with Prof(self.scratch, "-d", 60, "-i", INTERVAL, *options, "-o", "summary",
                  self.jvm.pid) as p:
            wait_for(lambda: armed(self.jvm.pid), "sampling: " + p.stderr())
            p.process.kill()
            p.process.wait()
        wait_for(lambda: not traces(self.jvm.pid), "the lease to end", 10)

    def turn(self):
        seconds, options = TURNS[self.turns % len(TURNS)]
        before = progress(self.jvm)
        if seconds is None:
            self.killed(options)
        else:
            good("-d", seconds, "-i", INTERVAL, *options, "-o", "summary", self.jvm.pid)
        want(self.jvm.alive(), "the JVM died")
        self.advances(before)
        wait_for(lambda: not traces(self.jvm.pid), "traces to go: %s" % traces(self.jvm.pid), 5)
        self.turns += 1
        self.memory.append(memory_kb(self.jvm.pid))
        self.threads.append(len(threads(self.jvm.pid)))
        self.fds.append(len(fds(self.jvm.pid)))

    def told(self):
        failed = sum(WALKS.failed.values())
        return "%5.1f min  %3d turns  %9d samples  failed %.3f %%  %4d MB  %d threads  %d fds" % (
            self.minutes(), self.turns, WALKS.samples, 100 * failed / max(1, WALKS.samples),
            self.memory[-1] >> 10, self.threads[-1], self.fds[-1])

    def no_growth(self):
        """The last third of the time against the one before it: the first one is the warm-up."""
        third = len(self.memory) // 3

        def grown(values):
            return statistics.median(values[-third:]) - statistics.median(values[third:-third])

        want(third, "only %d turns" % self.turns)
        want(grown(self.memory) < GROWTH_KB, "memory, KB: %s" % self.memory)
        want(grown(self.threads) < MORE_THREADS, "threads: %s" % self.threads)
        want(grown(self.fds) < MORE_FDS, "descriptors: %s" % self.fds)

    def walks(self):
        failed = sum(WALKS.failed.values())
        want(WALKS.samples > 1000, "only %d samples" % WALKS.samples)
        want(100.0 * failed <= MOST_FAILED * WALKS.samples, "%d of %d failed: %s" % (
            failed, WALKS.samples, WALKS.failed))


def run_for(soak, minutes):
    next_line = 1
    while soak.minutes() < minutes:
        soak.turn()
        if minutes > 1 and soak.minutes() >= next_line:
            print("# " + soak.told(), flush=True)
            next_line = int(soak.minutes()) + 1


def ends_well(jvm):
    want(jvm.end() == 0, "exit code %s" % jvm.process.returncode)


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 1
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm(
            "Hostile", options=[*OPTIONS, "-XX:ErrorFile=%s/crash" % scratch]) as jvm:
        soak = Soak(jvm, scratch)
        checks.run("%g minutes" % minutes, run_for, soak, minutes)
        checks.run("walks", soak.walks)
        if not checks.failed:
            checks.run("no growth", soak.no_growth)
            checks.run("the JVM ends well", ends_well, jvm)
        elif os.path.exists(scratch + "/crash"):
            print(re.sub("^", "# ", read(scratch + "/crash")[:12000], flags=re.M))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
