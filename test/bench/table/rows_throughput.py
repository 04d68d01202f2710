"""What a busy application keeps of its throughput: per second of its own CPU time, and, with all
cores busy, per second of wall time, which is what the profiler's other processes take too.

A stretch with the profiler is compared with those beside it; what two stretches without one differ
by is the noise."""
import contextlib
import os
import time

from table_run import OFF, Wrong, running_for, want
from table_rows import Row

STRETCH = 1.0  # seconds
INTERVALS = (("10ms", "10 ms"), ("1ms", "1 ms"), ("100us", "100 us"))
WARM = 6.0
PATHS = (20000, 60, 100, 6000)  # distinct paths, frames, work at the end of each


def look(jvm):
    """(units, ns of CPU time, ns of wall time) so far"""
    return [int(word) for word in jvm.ask("tell")[0].split()[1:]]


def stretch(jvm, seconds):
    """Units per second of CPU time, and of wall time."""
    before = look(jvm)
    time.sleep(seconds)  # the time is what is measured
    units, cpu, wall = (a - b for a, b in zip(look(jvm), before))
    want(units > 0 and cpu > 0, "the program does nothing")
    return 1e9 * units / cpu, 1e9 * units / wall


def stop(bench, profiler, jvm):
    profiler.call("stop", "-o", "collapsed", "-f", bench.path("out.collapsed"), jvm.pid)


def profiled(bench, profiler, jvm, interval, seconds):
    try:
        profiler.call("start", "-e", "cpu", "-i", interval, jvm.pid)
        rates = stretch(jvm, seconds)
    except Wrong:
        with contextlib.suppress(Wrong):  # the next turn begins without it
            stop(bench, profiler, jvm)
        raise
    stop(bench, profiler, jvm)
    return rates


def kept(watched, before, after):
    """Percent, each of (CPU, wall)."""
    return [200 * w / (b + a) for w, b, a in zip(watched, before, after)]


def compare(bench, what, jvms, intervals, seconds, add):
    """add(interval, side, (percent by CPU, percent by wall)) for each pair, with OFF for the noise."""
    for profiler in bench.sides:
        running_for(jvms[profiler.side], WARM)
        with jvms[profiler.side].turn() as jvm:  # and the first start is not what is measured here
            bench.attempt(profiler.side, profiled, bench, profiler, jvm, intervals[0], 0.5)
    for _, profiler in bench.turns(what):
        with jvms[profiler.side].turn() as jvm:
            before = stretch(jvm, seconds)
            for interval in intervals:
                watched = bench.attempt(profiler.side, profiled, bench, profiler, jvm, interval,
                                        seconds)
                if not watched:
                    break
                after = stretch(jvm, seconds)
                add(interval, profiler.side, kept(watched, before, after))
                add(interval, OFF, [100 * a / b for a, b in zip(after, before)])
                before = after


def throughput(bench):
    rows = {("cpu", i): Row("cpu-" + i, "throughput, cpu %s: per CPU second" % name, "%", "higher")
            for i, name in INTERVALS}
    rows.update({("wall", i): Row("wall-" + i, "throughput, cpu %s: by the clock" % name, "%",
                                  "higher") for i, name in INTERVALS[1:]})

    def add(interval, side, percents):
        for kind, percent in zip(("cpu", "wall"), percents):
            if (kind, interval) in rows:
                rows[kind, interval].add(side, percent)

    with bench.targets("bench.Paths", os.cpu_count(), *PATHS) as jvms:
        compare(bench, "throughput", jvms, [i for i, _ in INTERVALS], STRETCH, add)
    return bench.finish(list(rows.values()))


def deep(bench):
    """The share of a thread with one stack of 1,500 frames."""
    row = Row("deep", "1,500 frames deep, 1 ms: share of CPU", "%", "lower")
    with bench.targets("bench.Paths", 1, 1, 1500, 1500, 100000) as jvms:
        compare(bench, "deep", jvms, ["1ms"], STRETCH,
                lambda _, side, percents: row.add(side, 100 - percents[0]))
    return bench.finish([row])


def threads(bench):
    """500 that sleep after a millisecond of work: together they need part of a core, and under
    a profiler not all of the cores. Else its commands wait behind hundreds of threads."""
    row = Row("threads", "500 threads, 100 us: per CPU second", "%", "higher")
    pause = 4000  # ms
    with bench.targets("bench.Paths", 500, *PATHS, pause) as jvms:
        compare(bench, "threads", jvms, ["100us"], 2 * STRETCH,
                lambda _, side, percents: row.add(side, percents[0]))
    return bench.finish([row])
