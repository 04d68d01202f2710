#!/usr/bin/env python3
# timeout: 90
"""A profiler that stands still (SIGSTOP, a closed laptop) lets go of the JVM after its lease of 3 s;
when it comes back it samples on and says what it missed."""
import os
import re
import signal
import sys
import tempfile
import time

from lib import Checks, Jvm, Prof, armed, burn, collapsed, total, traces, wait_for, want

LEASE = 3


def stand_still(p, jvm, seconds):
    wait_for(lambda: armed(jvm.pid), "sampling")
    os.kill(p.pid, signal.SIGSTOP)
    began = time.monotonic()
    try:
        wait_for(lambda: not armed(jvm.pid), "the engines to stop", LEASE + 2)
        held = time.monotonic() - began
        want(held > 1, "the lease ended after only %.1f s" % held)
        wait_for(lambda: not traces(jvm.pid), "the mapping to go: %s" % traces(jvm.pid), LEASE + 2)
        time.sleep(max(0, seconds - (time.monotonic() - began)))
    finally:
        os.kill(p.pid, signal.SIGCONT)
    wait_for(lambda: armed(jvm.pid), "sampling to go on", 10)


def batch(scratch, *engine):
    with Jvm("Shares", "single") as jvm, Prof(scratch, "-d", 60, "-i", "1ms", *engine, "-o",
                                              "collapsed", "--total", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling")
        before = sum(jvm.truth().values())
        burn(jvm.pid, 1)
        stand_still(p, jvm, 6)
        resumed = sum(jvm.truth().values())
        burn(jvm.pid, 1.5)
        after = sum(jvm.truth().values())
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(20) == 0, "exit %d: %s" % (p.process.returncode, p.stderr()))
        sampled = total(collapsed(p.stdout()))
        # What was burned before and after is there; what it slept through mostly is not.
        want(sampled >= 0.8 * (after - resumed), "nothing since it came back: %.2f s" %
             (sampled / 1e9))
        want(sampled < 0.9 * (after - before), "%.2f s of %.2f s although it stood still" %
             (sampled / 1e9, (after - before) / 1e9))
        said_so(p.stderr())


def said_so(text):
    found = re.search(r"stopped for (\d+\.\d) s", text)
    want(found, "does not say what it missed: " + text)
    want(float(found.group(1)) >= 2, "says it missed only " + found.group(0))


def frames(scratch):
    with Jvm("Shares", "single") as jvm, Prof(scratch, "--batch", "--refresh", "200ms",
                                              jvm.pid) as p:
        stand_still(p, jvm, 6)
        shown = p.stdout().count("SELF%")
        wait_for(lambda: p.stdout().count("SELF%") > shown + 5, "more frames", 10)
        said_so(p.stdout())
        p.process.send_signal(signal.SIGINT)
        p.process.wait(20)


def shorter_than_the_lease(scratch):
    """A pause the lease covers costs nothing at all."""
    with Jvm("Shares", "single") as jvm, Prof(scratch, "-d", 60, "-i", "1ms", "-o", "collapsed",
                                              "--total", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling")
        before = sum(jvm.truth().values())
        os.kill(p.pid, signal.SIGSTOP)
        time.sleep(1.5)
        os.kill(p.pid, signal.SIGCONT)
        after = sum(jvm.truth().values())
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(20) == 0, "exit %d: %s" % (p.process.returncode, p.stderr()))
        sampled = total(collapsed(p.stdout()))
        want(sampled >= 0.9 * (after - before), "%.2f s of %.2f s" %
             (sampled / 1e9, (after - before) / 1e9))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        checks.together(*[("stopped 6 s, " + e, batch, scratch, "-e", e)
                          for e in ("cpu", "ctimer", "itimer")],
                        ("stopped 6 s, frames", frames, scratch))
        checks.run("stopped 1.5 s", shorter_than_the_lease, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
