"""The dump of a profile of 120,000 stacks that goes on: seconds, and the memory of the process that
writes it, beyond what the profile takes. For jtop-prof that is its reader, for the peer the JVM.

Every call of the method at the end of a path is a sample, so that each path is in the profile once.
"""
import os

from table_run import OURS, forget_peak, memory_mb, peak_mb, want
from table_rows import Row

STACKS = 120000
FORMATS = ("collapsed", "jfr", "html")
JFR_PAIRS = 3  # where each needs a profile of its own
SIZE = ("-Xms256m", "-XX:+AlwaysPreTouch")  # else the heap itself grows


def lines(path):
    with open(path, "rb") as f:
        return sum(1 for _ in f)


def collect(profiler, jvm, *more):
    """MB that the process with the profile takes then"""
    profiler.call("start", "-e", "bench.Paths.leaf", *more, jvm.pid)
    jvm.say("once")
    while jvm.line() != ".":
        pass
    return memory_mb(profiler.keeper(jvm))


def dump(bench, profiler, jvm, form, path, profile):
    """(seconds, MB beyond those of the profile, stacks: only of a collapsed file)"""
    keeper = profiler.keeper(jvm)
    forget_peak(keeper)
    took = profiler.call("dump", "-o", "flamegraph" if form == "html" else form, "-f", path, jvm.pid)
    more = peak_mb(keeper) - profile
    want(os.path.exists(path) and os.path.getsize(path), "%s: no file" % form)
    stacks = lines(path) if form == "collapsed" else STACKS
    os.unlink(path)
    return took / 1e3, more, stacks


def stop(bench, profiler, jvm):
    profiler.call("stop", "-o", "collapsed", "-f", bench.path("dump.end"), jvm.pid)


class Rows:
    def __init__(self):
        self.time = {f: Row("dump-" + f, "dump of 120,000 stacks, " + f, "s", "lower", 2)
                     for f in FORMATS}
        self.memory = {f: Row("dump-memory-" + f, "memory for that dump, " + f, "MB", "lower", 0)
                       for f in FORMATS}

    def add(self, profiler, form, found):
        if not found:
            return
        seconds, more, stacks = found
        self.time[form].add(profiler.side, seconds)
        self.memory[form].add(profiler.side, max(0, more))
        if stacks < 0.99 * STACKS:
            self.time[form].note(profiler.side, "only %d stacks are in the file" % stacks)

    def all(self):
        return list(self.time.values()) + list(self.memory.values())


def with_jfr(bench, profiler, jvm):
    """The peer writes a JFR file only if the session began as one, and each sample once."""
    path = bench.path("dump.jfr")
    try:
        return dump(bench, profiler, jvm, "jfr", path,
                    collect(profiler, jvm, "-o", "jfr", "-f", path))
    finally:
        stop(bench, profiler, jvm)


def dumps_of_peer(bench, profiler, jvm, rows):
    for n in range(min(bench.pairs, JFR_PAIRS)):
        bench.progress("jfr %d of %d, %s" % (n + 1, min(bench.pairs, JFR_PAIRS), profiler.side))
        rows.add(profiler, "jfr", bench.attempt(profiler.side, with_jfr, bench, profiler, jvm))
    bench.finish([rows.time["jfr"], rows.memory["jfr"]])


def dumps(bench):
    rows, profile = Rows(), {}
    with bench.targets("bench.Paths", 0, STACKS, 60, 100, 100, options=SIZE) as jvms:
        for profiler in bench.sides:
            with jvms[profiler.side].turn() as jvm:
                if profiler.side != OURS:
                    dumps_of_peer(bench, profiler, jvm, rows)
                bench.progress("samples %d stacks, %s" % (STACKS, profiler.side))
                profile[profiler.side] = bench.attempt(profiler.side, collect, profiler, jvm)
        for _, profiler in bench.turns("dump"):
            for form in FORMATS:
                if (form == "jfr" and profiler.side != OURS) or not profile[profiler.side]:
                    continue
                with jvms[profiler.side].turn() as jvm:
                    rows.add(profiler, form, bench.attempt(
                        profiler.side, dump, bench, profiler, jvm, form,
                        bench.path("dump." + form), profile[profiler.side]))
    return bench.finish(rows.all())
