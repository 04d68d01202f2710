#!/usr/bin/env python3
"""What each event costs a program that does little else than what the event is about: stretches
with and without the profiler alternate in one run of one JVM, and each profiled one is compared
with the two beside it. Units of work per second of wall time, and per second of the JVM's CPU time:
that says the same on a machine that is busy otherwise. Events have their default intervals where
none is said.

Usage: events_bench.py [ROUNDS [WORD...]]     only rows with one of the words"""
import os
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import Jvm, Prof, sampling, traces, wait_for, want  # noqa: E402
from tui_bench import cpu_seconds  # noqa: E402

STRETCH = 1.0  # seconds
ROWS = (  # what the program does, options
    ("compute", "-e cpu"),
    ("compute", "-e wall"),
    ("compute", "-e page-faults"),
    ("allocate", "-e page-faults"),
    ("allocate", "-e alloc"),
    ("lock", "-e lock"),
    ("contend", "-e lock"),
    ("malloc", "-e nativemem"),
    ("malloc", "-e nativemem -i 512k"),
    ("malloc", "-e nativemem -i 512k --nofree"),
    ("mutex", "-e nativelock"),
    ("mutexes", "-e nativelock"),
    ("call", "-e EventLoad.step"),
    ("mixed", "-e cpu"),
    ("mixed", "-e cpu,wall,alloc,lock --alloc 512k"),
)


def units(jvm):
    return int(jvm.ask("")[0].split()[1]), time.monotonic(), cpu_seconds(jvm.pid)


def stretch(jvm):
    """Units per second of wall time, and of CPU time."""
    before = units(jvm)
    time.sleep(STRETCH)  # the time is what is measured
    after = units(jvm)
    done = after[0] - before[0]
    return done / (after[1] - before[1]), done / (after[2] - before[2])


def profiled(jvm, scratch, options):
    with Prof(scratch, "collect", "-d", 60, *options.split(), "-f",
              os.path.join(scratch, "out.collapsed"), jvm.pid) as p:
        wait_for(lambda: sampling(jvm.pid) or p.process.poll() is not None, "sampling")
        want(p.process.poll() is None, p.stderr())
        rate = stretch(jvm)
        p.process.send_signal(signal.SIGINT)
        p.process.wait(60)
    wait_for(lambda: not traces(jvm.pid), "the end of sampling")
    return rate


def measure(kind, options, rounds):
    ratios = []
    with tempfile.TemporaryDirectory() as scratch, Jvm("EventLoad", kind) as jvm:
        profiled(jvm, scratch, options)  # and everything is compiled by then
        before = stretch(jvm)
        for _ in range(rounds):
            watched = profiled(jvm, scratch, options)
            after = stretch(jvm)
            ratios.append([2 * w / (b + a) for w, b, a in zip(watched, before, after)])
            before = after
    return ratios


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("throughput while profiled, as a share of that without; %d pairs of %g s" % (
        rounds, STRETCH))
    print("  %-10s %-38s %24s %24s" % ("", "", "per CPU second", "per second"))
    print("  %-10s %-38s %8s %7s %7s %8s %7s %7s" % (
        ("program", "options") + 2 * ("median", "least", "most")))
    for kind, options in ROWS:
        if len(sys.argv) > 2 and not any(w in kind + " " + options for w in sys.argv[2:]):
            continue
        row = "  %-10s %-38s" % (kind, options)
        wall, cpu = zip(*measure(kind, options, rounds))
        for ratios in (cpu, wall):
            row += " %8.3f %7.3f %7.3f" % (statistics.median(ratios), min(ratios), max(ratios))
        print(row, flush=True)


if __name__ == "__main__":
    main()
