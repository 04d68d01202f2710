#!/usr/bin/env python3
"""timeout: 400

A JVM for aarch64, emulated, with our agent in it from its start (test/aarch64/run sets it up): CPU
time by timer signals, stacks by the walker. The profiler is an ordinary program of this machine
that shares the ring with it. An emulated JVM is slow, and the emulator's own work counts as that
of the instruction it is done for: shares are compared with the JVM's CPU clocks all the same."""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import (AGENT, PROF, WALKS, Checks, Jvm, collapsed, cpu_seconds, read,  # noqa: E402
                 self_percent, total, wait_for, want, within)

EMULATOR = os.environ["EMULATOR"].split()
POINTS = 4.0
MOST_FAILED = 1.0  # percent


class Profiled(Jvm):
    """A workload under the emulator, sampled from its start to its end."""

    def __init__(self, place, main, *args, engine="itimer", form="collapsed", options=()):
        self.report = os.path.join(place, "report." + form)
        agent = "-agentpath:%s=start,event=%s,interval=10ms,file=%s,frontend=%s" % (
            AGENT, engine, self.report, PROF)
        super().__init__(main, *args, options=[agent, *options], before=EMULATOR)

    def finish(self):
        """The report, once the JVM has ended well."""
        want(self.end() == 0, "the JVM ended with exit code %s" % self.process.returncode)
        wait_for(lambda: os.path.exists(self.report), "the report", 10)
        text = read(self.report)
        WALKS.note(["collapsed"], text)
        return text


def shares(place, engine, options):
    with Profiled(place, "Shares", "single", engine=engine, options=options) as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 8e9, "eight seconds of CPU time", 60)
        truth = jvm.truth()
        stacks = collapsed(jvm.finish())
    everything = sum(truth.values())
    want(total(stacks) > 0.5 * everything / 10e6, "only %d samples in %.1f s" % (
        total(stacks), everything / 1e9))
    # The truth is of the work's own thread, not of what main did before.
    hot = [(frames, n) for frames, n in stacks
           if frames[-1].split(".")[-1] in truth and not any("calibrate" in f for f in frames)]
    seen = self_percent(hot)
    within(POINTS, {n: 100 * t / everything for n, t in truth.items()}, seen)
    whole = sum(n for frames, n in hot if frames[0].endswith("Thread.run"))
    want(whole >= 0.99 * total(hot), "%d of %d stacks reach the thread's run" % (whole, total(hot)))


def hostile(place, options, seconds):
    with Profiled(place, "Hostile", form="txt", options=options) as jvm:
        before = cpu_seconds(jvm.pid)
        wait_for(lambda: cpu_seconds(jvm.pid) > before + seconds, "CPU time", 6 * seconds)
        text = jvm.finish()
    samples = int(re.search(r"Total samples +: (\d+)", text).group(1))
    reasons = WALKS.reasons()
    failed = {name: int(n) for name, n in re.findall(r"^(\w+) +: (\d+) \(", text, re.M)
              if name in reasons}
    want(samples > 100 * seconds * 0.5, "only %d samples" % samples)
    want(100.0 * sum(failed.values()) <= MOST_FAILED * samples, "%d samples: %s" % (
        samples, failed))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as place:
        checks.run("shares, itimer", shares, place, "itimer", [])
        checks.run("shares, ctimer", shares, place, "ctimer", [])
        checks.run("shares, C1 only", shares, place, "itimer", ["-XX:TieredStopAtLevel=1"])
        checks.run("shares, interpreted", shares, place, "itimer", ["-Xint"])
        checks.run("hostile", hostile, place, [], 15)
        checks.run("hostile, C1 only", hostile, place, ["-XX:TieredStopAtLevel=1"], 10)
        checks.run("hostile, interpreted", hostile, place, ["-Xint"], 10)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
