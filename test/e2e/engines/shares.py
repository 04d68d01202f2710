#!/usr/bin/env python3
# timeout: 300, tier: fast, runs: alone
"""CPU shares that are known must be what the profile says: Shares prints the truth from the threads'
own CPU clocks; self shares may differ by one point. And the weights of all samples must add up to
the CPU time that the process used while they were taken, by its own clock, within 2 %."""
import os
import re
import struct
import sys
import tempfile
import threading
import time

from lib import (Checks, Jvm, Wrong, collapsed, difference, good, records, total, wait_for, want,
                 within)

POINTS = 1.0
ROOT = "Shares.mixed"
SUM_PERCENT = 2.0
# With a signal of its own choice, the event is not of the kind that sends SIGTRAP.
MECHANISMS = (("first choice", ("-e", "cpu")), ("perf", ("-e", "cpu", "--signal", 27)),
              ("ctimer", ("-e", "ctimer")), ("itimer", ("-e", "itimer")))


# ---- shares ----

def own_percent(stacks):
    """Percent by the workload's own innermost method, of what lies under ROOT: compilers and
    collectors are not part of the truth, nor is the profile to be mostly theirs."""
    shares = {}
    for frames, count in stacks:
        if any(f.endswith(ROOT) for f in frames):
            leaf = next(f for f in reversed(frames) if f.startswith("Shares"))
            name = leaf.rsplit(".", 1)[-1].split("_[")[0]
            shares[name] = shares.get(name, 0) + count
    everything = sum(shares.values())
    want(everything >= 0.9 * total(stacks), "%.1f %% is elsewhere"
         % (100 - 100.0 * everything / (total(stacks) or 1)))
    return {name: 100.0 * count / everything for name, count in shares.items()}


def depth_percent(stacks):
    """Percent by the method that says how deep the stack is (bench.Depths)."""
    found = {}
    for frames, weight in stacks:
        depth = next((re.search(r"\.(d\d+)\b", f) for f in reversed(frames)
                      if "Depths.d" in f and ".down" not in f), None)
        if depth:
            found[depth.group(1)] = found.get(depth.group(1), 0) + weight
    everything = sum(found.values())
    want(everything > 0, "no sample of the program")
    return {name: 100.0 * weight / everything for name, weight in found.items()}


def close(jvm, seconds, shares_of, event, *more):
    """All methods within the bar. On a busy machine samples are few, and chance has a part in where
    they fall: then up to two more runs are added to the first, the truth's as well. What is wrong
    stays wrong."""
    stacks, truth, errors = [], {}, ""
    for _ in range(3):
        before = jvm.truth()
        stacks += collapsed(good("-d", seconds, "-i", "1ms", *event, "-o", "collapsed", *more,
                                 jvm.pid))
        for name, ns in jvm.truth().items():
            truth[name] = truth.get(name, 0) + ns - before[name]
        percent, seen = difference({n: 0 for n in truth}, truth), shares_of(stacks)
        errors = " ".join("%s %+.2f" % (n, seen.get(n, 0) - percent[n]) for n in percent)
        print("# %s, points off: %s" % (event[1], errors))
        if all(abs(seen.get(n, 0) - percent[n]) <= POINTS for n in percent):
            return
    raise Wrong("more than %g points off: %s" % (POINTS, errors))


def by_depth(event):
    with Jvm("bench.Depths") as jvm:
        close(warm(jvm), 12, depth_percent, event, "--total")


def inlined(jvm):
    """t06 is in s08's frame, or the pair would not show what it is there for."""
    text = good("-d", 3, "-i", "1ms", "-a", "-o", "collapsed", jvm.pid)
    want(re.search(r"\.s08_\[j\];[^;]*\.t06_\[i\]", text), "t06 is not inlined")


def last_frame(text):
    """The last screen's rows: {method: self percent}."""
    frame = text[text.rindex("SELF%"):]
    found = re.findall(r"^\s*(\d+\.\d)[^A-Za-z]*\s.*?(\S+)\s*$", frame, re.M)
    return {name.rsplit(".", 1)[-1]: float(percent) for percent, name in found}


def by_frames(jvm):
    before = jvm.truth()
    out = good("--batch", "-n", 14, "--refresh", "500ms", "-i", "1ms", jvm.pid)
    truth = difference(before, jvm.truth())
    within(3.0, truth, last_frame(out))  # of everything, compilers too, and of seven seconds


def by_thread(jvm):
    """Each method has a thread of its own, which is named after its share."""
    before = jvm.truth()
    stacks = collapsed(good("-d", 7, "-i", "1ms", "-t", "-o", "collapsed", jvm.pid))
    truth = difference(before, jvm.truth())
    threads = {}
    for frames, count in stacks:
        name = re.fullmatch(r"\[(.*) tid=\d+\]", frames[0])
        want(name, "not a thread: " + frames[0])
        threads[name.group(1)] = threads.get(name.group(1), 0) + 100.0 * count / total(stacks)
        for frame in frames:
            hot = re.search(r"\.[a-d](\d\d)$", frame)
            want(not hot or frames[0].startswith("[share-%s " % hot.group(1)),
                 "%s in %s" % (frame, frames[0]))
    within(3.0, {"share-" + name[1:]: percent for name, percent in truth.items()}, threads)


# ---- sums ----

class Clock(threading.Thread):
    """A process's CPU clock, noted all the time beside the clock that samples are stamped with."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.clock = ~pid << 3 | 2  # as clock_getcpuclockid has it
        self.notes = []
        self.going = True

    def note(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        used = time.clock_gettime_ns(self.clock)
        if time.clock_gettime_ns(time.CLOCK_MONOTONIC) - before < 500000:  # else interrupted
            self.notes.append((before, used))

    def run(self):
        while self.going:
            self.note()
            time.sleep(0.02)
        self.note()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.going = False
        self.join()

    def between(self, first, last):
        """The longest time within these that was noted: (begin, end, CPU time used)."""
        inside = [note for note in self.notes if first <= note[0] <= last]
        want(len(inside) > 2, "the clock was not looked at")
        return inside[0][0], inside[-1][0], inside[-1][1] - inside[0][1]


def samples(path):
    """[(time, weight)] of a recording (source: core/wire/record.h)."""
    return sorted(struct.unpack_from("<QQ", record, 8) for kind, record in records(path)
                  if kind == 2)


def adds_up(jvm, event):
    """From half a second after the first sample, when every thread is armed, to the last one."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "recording")
        with Clock(jvm.pid) as clock:
            good("-d", 8, "-i", "1ms", *event, "--record", path, "-o", "collapsed", jvm.pid)
        taken = samples(path)
    begin, end, used = clock.between(taken[0][0] + 500000000, taken[-1][0])
    weight = sum(w for t, w in taken if begin < t <= end)
    off = 100.0 * (weight / used - 1)
    print("# %s: %.3f s of CPU time, samples weigh %.3f s: %+.2f %%"
          % (event[1], used / 1e9, weight / 1e9, off))
    want(abs(off) <= SUM_PERCENT, "%.3f s CPU, samples weigh %.3f s" % (used / 1e9, weight / 1e9))


def warm(jvm):
    # Until everything hot is compiled the truth is not yet steady.
    wait_for(lambda: sum(jvm.truth().values()) > 3e9, "three seconds of CPU time")
    return jvm


def main():
    checks = Checks(fast=("four methods by samples", "weights add up, first choice",
                          "callee inlined"))
    with Jvm("Shares", "single") as jvm:
        warm(jvm)
        checks.run("four methods by samples", close, jvm, 12, own_percent, ("-e", "cpu"))
        for name, event in MECHANISMS:
            checks.run("weights add up, " + name, adds_up, jvm, event)
        checks.run("frames as text", by_frames, jvm)
    with Jvm("Shares", "eight") as jvm:
        warm(jvm)
        checks.run("callee inlined", inlined, jvm)
        checks.run("eight methods by samples", close, jvm, 12, own_percent, ("-e", "cpu"))
        for name, event in MECHANISMS:
            checks.run("eight methods by weight, " + name, close, jvm, 12, own_percent, event,
                       "--total")
    for name, event in MECHANISMS[:2]:
        checks.run("five depths by weight, " + name, by_depth, event)
    with Jvm("Shares", "threads") as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        checks.run("threads", by_thread, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
