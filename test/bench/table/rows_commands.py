"""What the command line takes, from its start to its exit, in ms."""
import time

from table_run import running_for
from table_rows import Row


def commands(bench):
    """In a JVM that has been profiled before, with a core free. A start after a stop finds the agent
    in the JVM; after a -d of jtop-prof it does not."""
    rows = [Row("attach", "start after a -d", "ms", "lower", 0),
            Row("start", "start after a stop", "ms", "lower", 0),
            Row("stop", "stop, collapsed file", "ms", "lower", 0),
            Row("duration", "-d 1 beyond its second", "ms", "lower", 0)]

    def round_of(profiler, jvm):
        out, started = bench.path("out.collapsed"), []
        for _ in range(2):
            started.append(profiler.call("start", "-e", "cpu", jvm.pid))
            time.sleep(0.5)  # some samples
            stop = profiler.call("stop", "-o", "collapsed", "-f", out, jvm.pid)
        whole = profiler.call("-d", "1", "-e", "cpu", "-o", "collapsed", "-f", out, jvm.pid)
        return *started, stop, whole - 1000

    with bench.targets("bench.Paths", 1, 20000, 60, 100, 6000) as jvms:
        for profiler in bench.sides:
            running_for(jvms[profiler.side], 3)
            with jvms[profiler.side].turn() as jvm:
                bench.attempt(profiler.side, round_of, profiler, jvm)
        for _, profiler in bench.turns("commands"):
            with jvms[profiler.side].turn() as jvm:
                for row, ms in zip(rows, bench.attempt(profiler.side, round_of, profiler, jvm) or ()):
                    row.add(profiler.side, ms)
    return bench.finish(rows)
