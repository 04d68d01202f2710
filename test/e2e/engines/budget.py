#!/usr/bin/env python3
# timeout: 300, runs: alone
"""--max-overhead: a JVM sampled so often that the agent takes more of a CPU than it may is sampled
less often until it keeps to that, which is said everywhere; the profile stays what was true, sums and
shares, across the change; and where there is enough room nothing changes."""
import re
import sys
import tempfile

from lib import (Checks, Jvm, Prof, collapsed, cpu_seconds, difference, good, prof, self_percent,
                 total, wait_for, want, within)

LIMIT = 0.3  # percent of a CPU; a walk of shallow stacks is cheap
PATIENCE = 120  # seconds; a period of looking takes four


def status(pid):
    """Of whoever reads the JVM; in between nobody may, and one that goes does not answer."""
    return prof("status", pid).stdout


def budget(pid):
    """(percent taken, what is done about it) as `status` says; None: nothing yet."""
    found = re.search(r"^budget: the agent uses (\S+)% of a CPU, limit \S+%; (.*)$",
                      status(pid), re.M)
    return found and (float(found.group(1)), found.group(2))


def interval_us(pid):
    """In force, as the engine's own line says."""
    found = re.search(r"^\S+: by \S+, every (\d+)(us|ms);", status(pid), re.M)
    return found and int(found.group(1)) * {"us": 1, "ms": 1000}[found.group(2)]


def keeps_to_it(jvm):
    before, used = jvm.truth(), cpu_seconds(jvm.pid)
    good("start", "-e", "cpu", "-i", "50us", "--max-overhead", "%g%%" % LIMIT, jvm.pid)
    try:
        def longer():
            said = budget(jvm.pid)
            return said and "in place of 50us, to keep below 0.3% of a CPU" in said[1] and said
        wait_for(longer, "longer intervals", PATIENCE)
        want(interval_us(jvm.pid) > 50, "the interval in force is not said")
        wait_for(lambda: 0 < budget(jvm.pid)[0] <= LIMIT, "an agent that keeps to it", PATIENCE)
        print("# " + " ".join(map(str, budget(jvm.pid))))
        report = good("dump", "-o", "summary", jvm.pid)
        want(re.search(r"^budget +: cpu every \d", report, re.M), report)
        stacks = collapsed(good("stop", "-o", "collapsed", "--total", jvm.pid))
        used = cpu_seconds(jvm.pid) - used
        seen, truth = self_percent(stacks), difference(before, jvm.truth())
        within(3.0, truth, seen)
        off = 100 * (total(stacks) / 1e9 / used - 1)
        print("# sum of weights: %+.1f %% of the process's CPU time" % off)
        want(abs(off) < 10, "the weights add up to %+.1f %% of what was used" % off)
    finally:
        prof("stop", "-o", "summary", jvm.pid)


def room_enough(jvm):
    with tempfile.TemporaryDirectory() as scratch, \
            Prof(scratch, "-d", 12, "-i", "20ms", "--max-overhead", "50%", "-o", "summary",
                 jvm.pid) as p:
        wait_for(lambda: interval_us(jvm.pid) == 20000 and budget(jvm.pid), "a profile with a budget")
        want(budget(jvm.pid)[1] == "intervals as requested", budget(jvm.pid))
        want(interval_us(jvm.pid) == 20000, "another interval than asked for")
        want(p.process.wait(90) == 0, p.stderr())
        want("budget" not in p.stderr() + p.stdout(), p.stderr())


def without(jvm):
    good("start", "-i", "1ms", jvm.pid)
    want(budget(jvm.pid) is None, "a budget that nobody asked for")
    good("stop", "-o", "summary", jvm.pid)


def screen(jvm):
    """The first picture that says so."""
    with tempfile.TemporaryDirectory() as scratch, \
            Prof(scratch, "--batch", "--refresh", "500", "-i", "50us", "--max-overhead", "%g" % LIMIT,
                 "--view", "status", jvm.pid) as p:
        wait_for(lambda: re.search(r"budget +\d\S*% of a CPU, limit 0.3%; cpu every \d", p.stdout()),
                 "a screen with the budget", PATIENCE)


def main():
    check = Checks()
    with Jvm("Shares") as jvm:
        check.run("keeps to the budget, and the profile stays right", keeps_to_it, jvm)
        check.run("room enough", room_enough, jvm)
        check.run("no budget", without, jvm)
        check.run("on the screen", screen, jvm)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
