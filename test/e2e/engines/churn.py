#!/usr/bin/env python3
# timeout: 180, runs: alone
"""Classes come and go all the time (Churn): every name in the profile must be the name of what ran
when the sample was taken. A class's number is in its own name and in its methods' names; a stale
or mixed-up name shows as a mismatch, or as one class that seems to have run for ever.

Meanwhile the JVM's memory must not grow by more than it does in a twin that nobody profiles. Both
have C1 only: what C2 takes for a compilation, megabytes and when it likes, would hide ours.

CHURN_SECONDS is the length of the long run."""
import os
import re
import sys
import tempfile
import time

from lib import Checks, Jvm, Prof, armed, collapsed, good, read, total, wait_for, want

SECONDS = int(os.environ.get("CHURN_SECONDS", "60"))
GROWTH_KB = 1024
STEADY_S = 4    # nothing new for so long: the VM has warmed up
WARM_UP_S = 25  # at most
# A heap that is there from the start, and one malloc arena: what grows then is ours or the VM's.
QUIET = ["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC",
         "-XX:TieredStopAtLevel=1"]
ONE_ARENA = dict(os.environ, MALLOC_ARENA_MAX="1")
# Failures that say what a sample is; none of them stands for a method that ran.
BY_DESIGN = {"[truncated]"}


def count(jvm):
    return int(jvm.ask("")[0].split()[1])


def anonymous_kb(jvm):
    """Its own memory: not the ring, which is shared, nor files, nor generated code: the VM takes
    room for that in steps of half a megabyte, with us or without."""
    kb, counts = 0, False
    for line in read("/proc/%d/smaps" % jvm.pid).splitlines():
        mapping = re.match(r"[0-9a-f]+-[0-9a-f]+ (\S+) ", line)
        if mapping:
            counts = "x" not in mapping.group(1)
        elif counts and line.startswith("Anonymous:"):
            kb += int(line.split()[1])
    return kb


def warm_up(*jvms):
    """Until their memory has stood still for a while: the compilers are done with the VM itself."""
    end, since, before = time.monotonic() + WARM_UP_S, time.monotonic(), None

    def steady():
        nonlocal since, before
        now = [anonymous_kb(j) // 256 for j in jvms]
        if now != before:
            since, before = time.monotonic(), now
        return time.monotonic() - since > STEADY_S or time.monotonic() > end
    wait_for(steady, "memory to stand still", WARM_UP_S + 5)


def check_names(stacks, before, ran):
    churned, seen = 0, {}
    for frames, n in stacks:
        # What a compiler works on ran earlier: on a crowded machine its queue is seconds long.
        numbers = [m for f in frames if not f.startswith("[compiling]")
                   for m in re.findall(r"\$T(\d{5})\.(?:run|\w+?(\d{5}))$", f)]
        if not numbers:
            continue
        distinct = {number for pair in numbers for number in pair if number}
        want(len(distinct) == 1, "a stack of several classes: " + ";".join(frames))
        number = distinct.pop()
        want(before - 1 <= int(number) <= before + ran + 1, "%s ran before: %s" %
             (number, ";".join(frames)))
        churned += n
        seen[number] = seen.get(number, 0) + n
    want(churned > 0.3 * total(stacks), "%d of %d samples" % (churned, total(stacks)))
    want("00000" not in seen, "the template itself never runs")
    # Each class runs for 5 ms: none can have many samples, and nearly all are seen.
    want(max(seen.values()) < 50, "one class: %d of %d samples" % (max(seen.values()), churned))
    want(len(seen) > 0.5 * min(ran, churned), "%d of %d classes seen" % (len(seen), ran))


def check_known(stacks):
    """Nothing that ran is unknown, and nearly every walk reached its end."""
    lost, failed = {}, {}
    for frames, n in stacks:
        for f in frames:
            if re.match(r"\[unknown_", f):
                lost[f] = lost.get(f, 0) + n
            elif re.fullmatch(r"\[[a-zA-Z_]+\]", f) and f not in BY_DESIGN:
                failed[f] = failed.get(f, 0) + n
    want(not lost, "of %d samples: %s" % (total(stacks), lost))
    want(sum(failed.values()) <= 0.001 * total(stacks), "of %d samples: %s" % (
        total(stacks), failed))


class Run:
    """One long profile of a churning JVM."""

    def __init__(self, jvm):
        self.jvm, self.grown = jvm, 0

    def profile(self):
        """Notes how much memory the JVM has more at the last look than before."""
        memory = anonymous_kb(self.jvm)
        self.before = count(self.jvm)
        with tempfile.TemporaryDirectory() as scratch:
            with Prof(scratch, "-d", SECONDS, "-i", "1ms", "-o", "collapsed", self.jvm.pid) as p:
                wait_for(lambda: armed(self.jvm.pid), "sampling")

                def watched():
                    if p.process.poll() is not None:
                        return True
                    if armed(self.jvm.pid):
                        self.grown = anonymous_kb(self.jvm) - memory
                        time.sleep(0.5)
                    return False
                wait_for(watched, "the profile", SECONDS + 30)
                want(p.process.returncode == 0, p.stderr())
                self.stacks = collapsed(p.stdout())
        self.ran = count(self.jvm) - self.before
        want(self.ran > 10 * SECONDS, "only %d classes ran" % self.ran)
        check_names(self.stacks, self.before, self.ran)
        check_known(self.stacks)
        print("# %d classes, %d samples" % (self.ran, total(self.stacks)), flush=True)


def memory(run, twin_grown):
    print("# %d KB more, %d KB in the twin" % (run.grown, twin_grown), flush=True)
    want(run.grown > 0, "it was not looked at")
    want(run.grown - max(twin_grown, 0) <= GROWTH_KB,  # what the twin gives back is chance
         "%d KB more, its twin %d KB, %d classes" %
         (run.grown, twin_grown, run.ran))


def other_engine():
    """The same with another engine and the VM's own choice of collector."""
    with Jvm("Churn") as jvm:
        wait_for(lambda: count(jvm) > 100, "100 classes")
        before = count(jvm)
        stacks = collapsed(good("-d", 6, "-e", "ctimer", "-i", "1ms", "-o", "collapsed", jvm.pid))
        check_names(stacks, before, count(jvm) - before)
        check_known(stacks)
        want(jvm.end() == 0, "the JVM did not end well")


def main():
    checks = Checks()
    with Jvm("Churn") as jvm, Jvm("Churn", options=QUIET, env=ONE_ARENA) as quiet, \
            Jvm("Churn", options=QUIET, env=ONE_ARENA) as twin:
        warm_up(quiet, twin)
        before = anonymous_kb(twin)
        run = Run(quiet)
        checks.together(("%d s" % SECONDS, Run(jvm).profile), ("%d s, C1" % SECONDS, run.profile))
        checks.run("memory", memory, run, anonymous_kb(twin) - before)
        checks.run("they end well", lambda: want(jvm.end() == 0 == quiet.end(), "they did not"))
    checks.run("ctimer", other_engine)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
