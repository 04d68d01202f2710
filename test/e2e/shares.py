#!/usr/bin/env python3
"""timeout: 180

CPU shares that are known must be what the profile says: Shares prints the truth from the threads'
own CPU clocks; self shares may differ by 3 points."""
import re
import sys

from lib import (Checks, Jvm, collapsed, difference, good, self_percent, total, wait_for, want,
                 within)

POINTS = 3.0


def by_samples(jvm):
    before = jvm.truth()
    stacks = collapsed(good("-d", 10, "-i", "1ms", "-o", "collapsed", jvm.pid))
    truth = difference(before, jvm.truth())
    # As many as half a core would give: the machine may be busy.
    want(total(stacks) >= 1500, "only %d samples" % total(stacks))
    within(POINTS, truth, self_percent(stacks))


def by_weight(jvm, seconds, *more):
    """Samples weigh what they stand for: shares hold, and their sum is the CPU time."""
    before = jvm.truth()
    stacks = collapsed(good("-d", seconds, "-i", "1ms", "-o", "collapsed", "--total", *more,
                            jvm.pid))
    after = jvm.truth()
    within(POINTS, difference(before, after), self_percent(stacks))
    burned, sampled = sum(after.values()) - sum(before.values()), total(stacks)
    # The truth was asked for a moment before and after: attaching takes its time.
    want(0.85 * burned <= sampled <= 1.05 * burned,
         "%.2f s CPU, samples weigh %.2f s" % (burned / 1e9, sampled / 1e9))


def last_frame(text):
    """The last screen's rows: {method: self percent}."""
    frame = text[text.rindex("SELF%"):]
    found = re.findall(r"^\s*(\d+\.\d)[^A-Za-z]*\s.*?(\S+)\s*$", frame, re.M)
    return {name.rsplit(".", 1)[-1]: float(percent) for percent, name in found}


def by_frames(jvm):
    before = jvm.truth()
    out = good("--batch", "-n", 14, "--refresh", "500ms", "-i", "1ms", jvm.pid)
    truth = difference(before, jvm.truth())
    within(POINTS, truth, last_frame(out))


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
    within(POINTS, {"share-" + name[1:]: percent for name, percent in truth.items()}, threads)


def main():
    checks = Checks()
    with Jvm("Shares", "single") as jvm:
        # Until everything hot is compiled the truth is not yet steady.
        wait_for(lambda: sum(jvm.truth().values()) > 2e9, "two seconds of CPU time")
        checks.run("samples, cpu", by_samples, jvm)
        checks.run("weight, cpu", by_weight, jvm, 5)
        # Their samples come at the kernel's tick: longer, for the same certainty.
        checks.run("weight, ctimer", by_weight, jvm, 12, "-e", "ctimer")
        checks.run("weight, itimer", by_weight, jvm, 12, "-e", "itimer")
        checks.run("frames as text", by_frames, jvm)
    with Jvm("Shares", "threads") as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        checks.run("threads", by_thread, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
