#!/usr/bin/env python3
# timeout: 120, tier: fast
"""Either side is killed while the other one looks: a dead JVM loses no sample, a dead profiler costs
the JVM nothing."""
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from lib import (Checks, Jvm, Prof, armed, burn, collapsed, cpu_seconds, difference, fds, good,
                 java_tool, perf_fds, prof, self_percent, threads, total, traces, wait_for, want,
                 within)

LEASE = 5  # seconds until a profiler that is gone costs nothing any more


def jvm_killed(scratch, how, *engine):
    """The report of a JVM that died holds what was sampled until then."""
    files = tempfile.mkdtemp(dir=scratch)
    report, picture = os.path.join(files, "r.collapsed"), os.path.join(files, "p.svg")
    # No core file, no report file of the JVM's own.
    with Jvm("Shares", "single", cwd=scratch, options=["-XX:-CreateCoredumpOnCrash"]) as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        with Prof(scratch, "-d", 30, "-i", "1ms", *engine, "--total", "-f", report, "-f", picture,
                  jvm.pid) as p:
            wait_for(lambda: armed(jvm.pid), "sampling")
            before = jvm.truth()
            burn(jvm.pid, 3)
            after = jvm.truth()
            os.kill(jvm.pid, how)
            began = time.monotonic()
            p.process.wait(20)
            took = time.monotonic() - began
            said = p.stderr()
    want(took < 5, "the profiler went on for %.1f s" % took)
    want(str(jvm.pid) in said and ("killed" in said or "ended" in said), "said: " + said)
    with open(report, encoding="utf-8") as f:
        stacks = collapsed(f.read())
    burned = sum(after.values()) - sum(before.values())
    want(total(stacks) >= 0.9 * burned, "%.2f s of %.2f s" % (total(stacks) / 1e9, burned / 1e9))
    within(8, difference(before, after), self_percent(stacks))
    xml.etree.ElementTree.parse(picture)
    want(sorted(os.listdir(files)) == ["p.svg", "r.collapsed"], str(os.listdir(files)))


def profiler_killed(scratch, *arguments):
    with Jvm("Idle") as jvm, Jvm("Shares", "single") as busy:
        for j in (jvm, busy):
            subprocess.run([java_tool("jcmd"), str(j.pid), "VM.version"], check=True,
                           stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        before = {j: (fds(j.pid), set(threads(j.pid))) for j in (jvm, busy)}
        for j in (jvm, busy):
            with Prof(scratch, *arguments, j.pid) as p:
                wait_for(lambda: armed(j.pid), "sampling")
                p.process.kill()
                p.process.wait()
        for j in (jvm, busy):
            wait_for(lambda: not traces(j.pid), "traces to go: %s" % traces(j.pid), LEASE)
            # HotSpot's own compiler threads may have ended meanwhile, and others come.
            want(fds(j.pid) == before[j][0], "descriptors: %s" % fds(j.pid))
            new = [name for tid, name in threads(j.pid).items()
                   if tid not in before[j][1] and "Compiler" not in name and "C1" not in name
                   and "C2" not in name]
            want(not new, "threads: %s" % new)
        used = cpu_seconds(jvm.pid)
        time.sleep(2)
        used = cpu_seconds(jvm.pid) - used
        want(used <= 0.05, "an idle JVM uses %.2f s in 2 s" % used)
        # And the next one finds it as if nothing had been.
        want(total(collapsed(good("-d", 1, "-o", "collapsed", busy.pid))) > 0, "no samples")


def second_reader(scratch):
    """While one profiler looks, another one is told so; it does not take the JVM away."""
    with Jvm("Shares", "single") as jvm, Prof(scratch, "-d", 30, "-i", "1ms", "-o", "collapsed",
                                              jvm.pid) as first:
        wait_for(lambda: armed(jvm.pid), "sampling")
        second = prof("-d", 1, "-o", "collapsed", jvm.pid)
        want(second.returncode == 200, "exit %d: %s" % (second.returncode, second.stderr))
        want(len(second.stderr.splitlines()) == 1, "said: " + second.stderr)
        want(first.process.poll() is None and armed(jvm.pid), "the first one was disturbed")
        first.process.send_signal(signal.SIGINT)
        want(first.process.wait(20) == 0 and total(collapsed(first.stdout())) > 0, first.stderr())
        want(perf_fds(jvm.pid) == 0, "still samples")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        checks.together(
            *[("kill -9 of the profiler, " + e, profiler_killed, scratch, "-d", 60, "-e", e, "-o",
               "collapsed") for e in ("cpu", "ctimer", "itimer")],
            ("kill -9 of the profiler, frames", profiler_killed, scratch, "--batch"))
        checks.together(
            ("kill -9 of the JVM, cpu", jvm_killed, scratch, signal.SIGKILL),
            ("kill -9 of the JVM, ctimer", jvm_killed, scratch, signal.SIGKILL, "-e", "ctimer"),
            ("kill -SEGV of the JVM", jvm_killed, scratch, signal.SIGSEGV))
        checks.run("second profiler", second_reader, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
