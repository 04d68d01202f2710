#!/usr/bin/env python3
# timeout: 240, tier: fast
"""Recordings that begin and end on the live screen: what is in the file is what was sampled in
that time, with all the names that were known before.

The workload's methods burn known shares of its CPU time; all of them have been seen, and named,
before the recording begins.
"""
import glob
import os
import re
import signal
import sys

from lib import (Checks, Jvm, collapsed, cpu_seconds, difference, good, self_percent, total, want,
                 wait_for, within)
from tui import screen

INTERVAL = 0.001  # seconds of CPU time between samples


def record(s, jvm, seconds):
    """Presses R twice, with so many seconds of the workload's CPU time between. Returns file and
    that time."""
    before = cpu_seconds(jvm.pid)
    s.keys("R")
    s.wait(r"recording from now on", "the recording to begin")
    wait_for(lambda: cpu_seconds(jvm.pid) - before > seconds, "CPU time to go by")
    s.keys("R")
    s.wait(r"recorded: ", "its end")
    path = max(glob.glob(os.path.join(s.directory, "*.jtop")), key=os.path.getmtime)
    return path, cpu_seconds(jvm.pid) - before


def unknown(stacks):
    frames = {f for stack, _ in stacks for f in stack}
    return sorted(f for f in frames if re.match(r"\[unknown_(method|class|stub|frame)|null", f))


def names_and_numbers(jvm):
    with screen(cols=160, rows=50) as s:
        s.start("-i 1ms %d" % jvm.pid)
        s.wait(r"Shares\$", "the first methods")
        first = cpu_seconds(jvm.pid)
        wait_for(lambda: cpu_seconds(jvm.pid) - first > 1.5, "names")
        truth_before = jvm.truth()
        path, cpu = record(s, jvm, 3)
        truth = difference(truth_before, jvm.truth())
        s.keys("q")
        want(s.code() == 0, "exit code")
        stacks = collapsed(good("-o", "collapsed", path))
        want(not unknown(stacks), "without names: %s" % unknown(stacks))
        # the same seconds, not those before: R is pressed in steps of a screen
        seen = total(stacks) * INTERVAL
        want(0.8 * cpu - 0.3 < seen < 1.1 * cpu + 0.3, "%.2f s of CPU time in the file, %.2f s "
             "went by" % (seen, cpu))
        within(8, truth, self_percent(stacks))
        by_thread = good("-o", "collapsed", "-t", path)
        want(re.search(r"^\[\w+ tid=", by_thread, re.M), "threads have no names: " +
             by_thread[:200])


def sleepers(jvm):
    """A thread that has not moved since long before is in the file, once it is said again."""
    with screen(cols=160, rows=50) as s:
        s.start("-e cpu,wall %d" % jvm.pid)
        s.wait(r"Shares\$", "the first methods")
        first = cpu_seconds(jvm.pid)
        wait_for(lambda: cpu_seconds(jvm.pid) - first > 2, "threads that have not moved")
        path, _ = record(s, jvm, 3)
        s.keys("q")
        want(s.code() == 0, "exit code")
        good("-o", "collapsed", "-t", "-f", os.path.join(s.directory, "out.collapsed"), path)
        with open(os.path.join(s.directory, "out-wall.collapsed"), encoding="utf-8") as f:
            stacks = collapsed(f.read())
    want(not unknown(stacks), "without names: %s" % unknown(stacks))
    for thread in ("Reference_Handler|Reference Handler", "Finalizer"):
        mine = [k for k, _ in stacks if re.match(r"\[(%s) tid=" % thread, k[0])]
        want(mine, "nothing of %s among %s" % (thread, sorted({k[0] for k, _ in stacks})))
        want(any("java/lang/" in f for k in mine for f in k), "no stack: %s" % mine)


def killed(jvm):
    """kill -9 leaves a good file, up to the last second."""
    with screen(cols=120, rows=30) as s:
        s.start("-i 1ms %d" % jvm.pid)
        s.wait(r"Shares\$", "the first methods")
        s.keys("R")
        s.wait(r"recording from now on", "the recording to begin")
        path = glob.glob(os.path.join(s.directory, "*.jtop"))[0]
        before = os.path.getsize(path)
        wait_for(lambda: os.path.getsize(path) > before + 4000, "samples in the file")
        os.kill(s.pid(), signal.SIGKILL)
        # The name of a file that is being killed is not; what it holds is whole records.
        stacks = collapsed(good("-o", "collapsed", path))
        want(total(stacks) > 100 and not unknown(stacks), "%d samples, without names: %s" %
             (total(stacks), unknown(stacks)))


def main():
    checks = Checks()
    for name, check in (("names and numbers", names_and_numbers),
                        ("threads that have not moved", sleepers), ("kill -9", killed)):
        with Jvm("Shares") as jvm:
            checks.run(name, check, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
