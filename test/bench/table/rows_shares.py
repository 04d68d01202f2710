"""How close to the truth shares are: eight methods of known cost, five depths of stack that have the
same cost, and the sum of all weights against the CPU clock of the process.

Two dumps of one profile bound the time that is compared: what both do before they write cancels out.
"""
import os
import sys
import time

from table_run import process_cpu_ns
from table_rows import Row

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e",
                                "engines"))
from lib import collapsed, difference, read, total, wait_for  # noqa: E402
from shares import depth_percent, own_percent  # noqa: E402

SECONDS = 6.0
FIRST = 1.0  # until every thread is sampled, and stacks are known


def dumped(bench, profiler, jvm):
    """(stacks so far, the application's own truth, ns of the process's CPU clock)"""
    path = bench.path("shares.collapsed")
    truth, clock = jvm.truth(), process_cpu_ns(jvm.pid)
    profiler.call("dump", "--total", "-o", "collapsed", "-f", path, jvm.pid)
    stacks = collapsed(read(path))
    os.unlink(path)
    return stacks, truth, clock


def session(bench, profiler, jvm):
    """({stack: weight}, {method: percent of CPU time}, ns of CPU time) of the time in between"""
    profiler.call("start", "-e", "cpu", "-i", "1ms", "--total", jvm.pid)
    try:
        time.sleep(FIRST)
        before = dumped(bench, profiler, jvm)
        time.sleep(SECONDS)  # the time is what is measured
        after = dumped(bench, profiler, jvm)
    finally:
        profiler.call("stop", "-o", "collapsed", "-f", bench.path("out.collapsed"), jvm.pid)
    weights = {}
    for sign, (stacks, _, _) in ((-1, before), (1, after)):
        for frames, weight in stacks:
            weights[";".join(frames)] = weights.get(";".join(frames), 0) + sign * weight
    found = [(stack.split(";"), w) for stack, w in weights.items() if w > 0]
    return found, difference(before[1], after[1]), after[2] - before[2]


def off_by(truth, seen):
    return max(abs(seen.get(name, 0) - percent) for name, percent in truth.items())


def measure(bench, what, program, shares_of, add):
    with bench.targets(*program) as jvms:
        for profiler in bench.sides:
            with jvms[profiler.side].turn() as jvm:
                wait_for(lambda: sum(jvm.truth().values()) > 2e9, "two seconds of CPU time")
        for _, profiler in bench.turns(what):
            with jvms[profiler.side].turn() as jvm:
                found = bench.attempt(profiler.side, session, bench, profiler, jvm)
                seen = found and bench.attempt(profiler.side, shares_of, found[0])
                if seen:
                    add(profiler.side, found, off_by(found[1], seen))


def shares(bench):
    eight = Row("shares-eight", "eight methods, 1 ms: worst error", "points", "lower", 2)
    depths = Row("shares-depths", "depths 50-1,500, 1 ms: worst error", "points", "lower", 2)
    weights = Row("weights", "sum of weights / CPU clock", "%", "closer", 1)

    def add_eight(side, found, error):
        eight.add(side, error)
        weights.add(side, 100.0 * total(found[0]) / found[2])

    measure(bench, "shares", ("Shares", "eight"), own_percent, add_eight)
    rows = bench.finish([eight, weights])
    measure(bench, "shares by depth", ("bench.Depths",), depth_percent,
            lambda side, _, error: depths.add(side, error))
    return rows[:1] + bench.finish([depths]) + rows[1:]
