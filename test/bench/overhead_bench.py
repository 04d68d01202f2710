#!/usr/bin/env python3
"""What being profiled costs a CPU-bound program in throughput: stretches with and without the
profiler alternate in one run of one JVM, and each profiled one is compared with the two beside it.

Units of work per second of wall time are what a user of the program sees, if nothing else keeps
the machine busy; per second of the JVM's CPU time they say the same on a machine that is.

Usage: overhead_bench.py [ROUNDS]"""
import os
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import Jvm, Prof, armed, threads, traces, wait_for  # noqa: E402

STRETCH = 2.0  # seconds
INTERVALS = ("10ms", "1ms", "100us")


def cpu_seconds(pid):
    """CPU time of all threads that live now (the process's own figure counts in ticks)."""
    ns = 0
    for tid in threads(pid):
        try:
            with open("/proc/%d/task/%d/schedstat" % (pid, tid), encoding="ascii") as f:
                ns += int(f.read().split()[0])
        except OSError:
            pass
    return ns / 1e9


def look(jvm):
    units = int(jvm.ask("")[0].split()[1])
    return units, time.monotonic(), cpu_seconds(jvm.pid)


def stretch(jvm):
    """Units per second of wall time, and of CPU time."""
    before = look(jvm)
    time.sleep(STRETCH)  # the time is what is measured
    after = look(jvm)
    units = after[0] - before[0]
    return units / (after[1] - before[1]), units / (after[2] - before[2])


def profiled(jvm, scratch, interval):
    with Prof(scratch, "-d", 60, "-i", interval, "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling: " + p.stderr())
        rates = stretch(jvm)
        p.process.send_signal(signal.SIGINT)
        p.process.wait(30)
    wait_for(lambda: not traces(jvm.pid), "the end of sampling")
    return rates


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    ratios = {interval: [] for interval in INTERVALS}
    with tempfile.TemporaryDirectory() as scratch, Jvm("bench.Throughput") as jvm:
        profiled(jvm, scratch, INTERVALS[0])  # and everything is compiled by then
        before = stretch(jvm)
        for _ in range(rounds):
            for interval in INTERVALS:
                watched = profiled(jvm, scratch, interval)
                after = stretch(jvm)
                ratios[interval].append([2 * w / (b + a) for w, b, a in
                                         zip(watched, before, after)])
                before = after
    print("throughput while profiled, as a share of that without; %d pairs of %g s" % (
        rounds, STRETCH))
    print("  %-10s %24s %24s" % ("interval", "per CPU second", "per second"))
    print("  %-10s %8s %15s %8s %15s" % ("", "median", "quartiles", "median", "quartiles"))
    for interval, pairs in ratios.items():
        row = "  %-10s" % interval
        for values in ([p[1] for p in pairs], [p[0] for p in pairs]):
            low, middle, high = statistics.quantiles(values, n=4)
            row += " %8.4f %7.4f %7.4f" % (middle, low, high)
        print(row)


if __name__ == "__main__":
    main()
