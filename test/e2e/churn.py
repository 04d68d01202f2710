#!/usr/bin/env python3
"""timeout: 90

Classes come and go all the time (Churn): every name in the profile must be the name of what ran
when the sample was taken. A class's number is in its own name and in its methods' names; a stale
or mixed-up name shows as a mismatch, or as one class that seems to have run for ever."""
import re
import sys

from lib import Checks, Jvm, collapsed, good, memory_kb, total, wait_for, want

SECONDS = 8


def count(jvm):
    return int(jvm.ask("")[0].split()[1])


def names(jvm, *more):
    before = count(jvm)
    stacks = collapsed(good("-d", SECONDS, "-i", "1ms", "-o", "collapsed", *more, jvm.pid))
    ran = count(jvm) - before
    want(ran > 50, "only %d classes ran" % ran)
    churned, seen = 0, {}
    for frames, n in stacks:
        numbers = [m for f in frames for m in re.findall(r"\$T(\d{5})\.(?:run|\w+?(\d{5}))$", f)]
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
    lost = sum(n for frames, n in stacks if any("unknown" in f for f in frames))
    want(lost <= 0.02 * total(stacks), "%d of %d samples with unknown frames" %
         (lost, total(stacks)))


def memory(jvm):
    """What we know of dead classes does not pile up in the JVM."""
    good("-d", 1, "-i", "1ms", "-o", "collapsed", jvm.pid)
    before = memory_kb(jvm.pid)
    for _ in range(3):
        good("-d", 3, "-i", "1ms", "-o", "collapsed", jvm.pid)
    grown = memory_kb(jvm.pid) - before
    want(grown < 24576, "%d KB more" % grown)


def main():
    checks = Checks()
    # A fixed heap: its growth is not what is measured here.
    with Jvm("Churn", options=["-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"]) as jvm:
        wait_for(lambda: count(jvm) > 100, "100 classes")
        checks.run("names, cpu", names, jvm)
        checks.run("names, ctimer", names, jvm, "-e", "ctimer")
        checks.run("memory", memory, jvm)
        checks.run("the JVM works on", count, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
