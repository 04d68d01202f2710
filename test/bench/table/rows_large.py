"""A JVM with 20,000 loaded classes and 1,000 threads: the pauses that the application itself sees
while a profiler is attached for the first time; the memory that the JVM has more after 10 seconds of
profiling, and that of the reader. Each figure is from a fresh JVM; the same without an attach is
beside it."""
import time

from table_run import OFF, Target, memory_mb
from table_rows import Row

WINDOW = 2.0  # seconds in which a pause counts
PROFILED = 10.0
MEMORY_PAIRS = 3  # of all the pairs: memory varies little
SIZE = ("-Xms256m", "-XX:+AlwaysPreTouch")  # else the heap itself grows


def pauses(jvm):
    """ms: the longest gap of a busy thread, the most that a timer was late"""
    return [int(word) / 1e6 for word in jvm.ask("tell")[0].split()[1:]]


def window(jvm, seconds, during=lambda: None):
    jvm.ask("begin")
    began = time.monotonic()
    during()
    time.sleep(max(0, began + seconds - time.monotonic()))  # the time is what is measured
    return pauses(jvm)


def memory_after(jvm, began):
    time.sleep(max(0, began + PROFILED - time.monotonic()))
    return memory_mb(jvm.pid)


def attached(bench, profiler, jvm, with_memory):
    """(pauses while it is attached, after a while: MB more, and MB of a process besides)"""
    before, began = memory_mb(jvm.pid), time.monotonic()
    seen = window(jvm, WINDOW, lambda: profiler.call("start", "-e", "cpu", jvm.pid))
    more = memory_after(jvm, began) - before if with_memory else None
    keeper = profiler.keeper(jvm)
    besides = memory_mb(keeper) if keeper != jvm.pid else 0
    profiler.call("stop", "-o", "collapsed", "-f", bench.path("out.collapsed"), jvm.pid)
    return seen, more, besides


def large(bench):
    gap = Row("attach-busy", "attach, large JVM: busy thread's pause", "ms", "lower", 2)
    late = Row("attach-timer", "attach, large JVM: timer late", "ms", "lower", 2)
    memory = Row("memory", "memory that a large JVM has more", "MB", "lower", 1)
    reader = Row("memory-reader", "memory of a process besides", "MB", "lower", 1)
    for n, profiler in bench.turns("attach to a large JVM"):
        with Target("bench.Large", 20000, 1000, options=SIZE) as jvm:
            window(jvm, WINDOW)  # it has settled by then
            with_memory = n < MEMORY_PAIRS
            before, began = memory_mb(jvm.pid), time.monotonic()
            alone = window(jvm, WINDOW)
            if with_memory:
                memory.add(OFF, memory_after(jvm, began) - before)
            found = bench.attempt(profiler.side, attached, bench, profiler, jvm, with_memory)
            for row, value in zip((gap, late), alone):
                row.add(OFF, value)
            if found:
                for row, value in zip((gap, late), found[0]):
                    row.add(profiler.side, value)
                if with_memory:
                    memory.add(profiler.side, found[1])
                    reader.add(profiler.side, found[2])
    return bench.finish([gap, late, memory, reader])
