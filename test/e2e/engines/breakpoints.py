#!/usr/bin/env python3
# timeout: 120, tier: fast
"""Breakpoints and counters at once: both send SIGTRAP, thousands of times a second. The program takes
a new TLAB every few microseconds, and each one meets a breakpoint."""
import sys

from lib import Checks, Jvm, collapsed, good, prof, total, want

OPTIONS = ("-XX:TLABSize=4k", "-XX:-ResizeTLAB")
SECONDS = 3


def units(jvm):
    return int(jvm.ask("")[0].split()[1])


def goes_on(jvm, before):
    want(jvm.alive(), "the JVM died with %s" % jvm.process.poll())
    want(units(jvm) > before, "the program does nothing more")


def both(jvm):
    before = units(jvm)
    text = good("-q", "-e", "cpu,alloc", "--tlab", "-i", "50us", "-d", SECONDS, "-o", "text", jvm.pid)
    want("EventLoad" in text, "no method of the application")
    goes_on(jvm, before)


def counters_after(jvm):
    """The breakpoints are gone; a counter's signal may still come just behind where they were."""
    before = units(jvm)
    stacks = collapsed(good("-q", "-e", "cpu", "-i", "50us", "-d", 2, "-o", "collapsed", jvm.pid))
    want(total(stacks) > 1000, "%d samples" % total(stacks))
    goes_on(jvm, before)


def safepoints(jvm):
    before = units(jvm)
    done = prof("-q", "-e", "cpu", "-i", "50us", "--ttsp", "-d", 2, "-o", "collapsed", jvm.pid)
    want(done.returncode == 0, done.stderr)
    goes_on(jvm, before)


def main():
    checks = Checks()
    with Jvm("EventLoad", "mixed", options=OPTIONS) as jvm:
        for i in range(2):
            checks.run("both, round %d" % (i + 1), both, jvm)
            checks.run("counters after breakpoints, round %d" % (i + 1), counters_after, jvm)
        checks.run("at each safepoint", safepoints, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
