#!/usr/bin/env python3
# timeout: 180, tier: fast
"""A detach leaves nothing behind: no thread, descriptor, mapping (but the library), timer, signal
disposition or file; and one can attach again, twenty times and more."""
import os
import signal
import subprocess
import sys
import tempfile

from lib import (AGENT, WAIT, Checks, Jvm, Prof, armed, collapsed, cpu_seconds, fds, good, java_tool,
                 mapped, memory_kb, sampling, status, threads, total, traces, wait_for, want)

CYCLES = 20
# A compiler thread that HotSpot starts or ends in between would be a difference of its own.
STEADY = ("-XX:+IgnoreUnrecognizedVMOptions", "-XX:-UseDynamicNumberOfCompilerThreads",
          "-XX:-UseDynamicNumberOfGCThreads", "-XX:+UseSerialGC")
SIGNALS = ("SigCgt", "SigIgn", "SigBlk")


def files(jvm, *places):
    """Files whose name is about us or about this JVM, and everything in its own directory."""
    found = []
    for place in ("/tmp", "/dev/shm", "/var/tmp", tempfile.gettempdir()):
        found += [os.path.join(place, n) for n in os.listdir(place)
                  if ("jtop-prof" in n and "test" not in n) or str(jvm.pid) in n]
    for place in places:
        found += [os.path.join(place, n) for n in os.listdir(place)]
    return sorted(set(found))


def state(jvm, *places):
    return {"threads": sorted(threads(jvm.pid).items()), "fds": fds(jvm.pid),
            "signals": [status(jvm.pid, f) for f in SIGNALS], "files": files(jvm, *places)}


def same(before, after):
    for what, value in before.items():
        gone = [v for v in value if v not in after[what]]
        new = [v for v in after[what] if v not in value]
        want(value == after[what], "%s: new %s, gone %s" % (what, new, gone))


def wait_same(jvm, before, *places):
    """The agent's thread needs a moment to end after the profiler has."""
    wait_for(lambda: not traces(jvm.pid) and len(threads(jvm.pid)) <= len(before["threads"]),
             "traces to go: %s" % traces(jvm.pid), 5)
    same(before, state(jvm, *places))


def one(jvm, before, place, *arguments):
    out = good(*arguments, jvm.pid, cwd=place)
    want(out, "no report")
    wait_same(jvm, before, place)


def while_attached(jvm, before, scratch):
    """The checks above can see: while we sample, there is something."""
    with Prof(scratch, "-d", 30, "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling")
        seen = traces(jvm.pid)
        for what in ("memfd:jtop-prof", "mapping"):
            want(any(what in s for s in seen), "no %s while attached: %s" % (what, seen))
        p.process.send_signal(2)
        p.process.wait(30)
        want(p.process.returncode == 0, p.stderr())
    wait_same(jvm, before)


def sample(jvm, scratch, engine):
    """Until the JVM has had some CPU time."""
    with Prof(scratch, "-d", 60, "-e", engine, "-i", "1ms", "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: sampling(jvm.pid) or p.process.poll() is not None, "sampling")
        enough = cpu_seconds(jvm.pid) + 0.2
        wait_for(lambda: cpu_seconds(jvm.pid) >= enough or p.process.poll() is not None, "work")
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(WAIT) == 0, p.stderr())
        return collapsed(p.stdout())


def cycles(jvm, before, scratch):
    rss = memory_kb(jvm.pid)
    for i in range(CYCLES):
        stacks = sample(jvm, scratch, ("cpu", "ctimer", "itimer")[i % 3])
        want(total(stacks) > 0, "cycle %d: no samples" % (i + 1))
        wait_same(jvm, before)
    grown = memory_kb(jvm.pid) - rss
    want(grown < 8192, "%d KB more after %d cycles" % (grown, CYCLES))
    ours = {m for m in mapped(jvm.pid) if "jtop" in os.path.basename(m)}
    want(ours == {os.path.realpath(AGENT)}, "mapped: %s" % ours)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as place, \
            Jvm("Shares", "single", options=STEADY, cwd=place) as jvm:
        # The JVM's own listener thread and socket come with the first attach of anybody.
        subprocess.run([java_tool("jcmd"), str(jvm.pid), "VM.version"], check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        before = state(jvm, place)
        want(not traces(jvm.pid), "traces before the first attach")
        for engine in ("cpu", "ctimer", "itimer"):
            checks.run("nothing left: " + engine, one, jvm, before, place,
                       "-d", 1, "-e", engine, "-o", "collapsed")
        checks.run("nothing left: frames", one, jvm, before, place, "--batch", "-n", 1)
        checks.run("something there while attached", while_attached, jvm, before, scratch)
        checks.run("%d cycles" % CYCLES, cycles, jvm, before, scratch)
        checks.run("the JVM works on", jvm.truth)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
