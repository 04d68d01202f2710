#!/usr/bin/env python3
# timeout: 120, tier: fast, runs: alone
"""The last resort: stacks at safepoints. Shares of methods that have safepoints in them are right, the
weights are the CPU time that was used, and the profile says that it is biased. On the Zero VM
(where there is one: JTOP_ZERO names the JDK, else /usr/lib/jvm is searched) it is the only way."""
import glob
import os
import subprocess
import sys
import time

import lib
from lib import (Checks, Jvm, collapsed, cpu_seconds, good, total, traces, wait_for, want)


def busy(stacks, name):
    """Weight of stacks that have a method of Wall on them."""
    return sum(count for frames, count in stacks if any(f.endswith(name) for f in frames))


def cpu_is_real(*jvm_options):
    """Three threads that run for 20 % of the time each, in a loop that asks for the time: its calls
    are safepoints."""
    with Jvm("Wall", 3, 60, 20, options=jvm_options) as jvm:
        before = cpu_seconds(jvm.pid)
        began = time.monotonic()
        out = good("-d", 6, "-e", "safepoint", "--total", "-t", "-o", "collapsed", jvm.pid)
        seconds = time.monotonic() - began
        used = cpu_seconds(jvm.pid) - before
        stacks = collapsed(out)
        wait_for(lambda: not traces(jvm.pid), "traces to go: %s" % traces(jvm.pid))
    ran = busy(stacks, "Wall.burn") / 1e9
    print("# %.2f s used in %.1f s, %.2f s seen, %.2f s of it in burn" % (
        used, seconds, total(stacks) / 1e9, ran))
    want(0.6 * used < ran, "burn has %.2f s of %.2f" % (ran, used))
    want(total(stacks) / 1e9 < 1.1 * used, "%.2f s seen, %.2f s used" % (total(stacks) / 1e9, used))
    want(busy(stacks, "Wall.burn") > 0.7 * busy(stacks, "Wall.mix"), "burn has too little of mix")
    threads = {frames[0] for frames, count in stacks if count and frames[0].startswith("[mixed-")}
    want(len(threads) == 3, "threads: %s" % threads)


def says_biased():
    with Jvm("Wall", 1, 30, 1) as jvm:
        text = good("-d", 2, "-e", "safepoint", jvm.pid)
        screen = good("--batch", "-n", 1, "--refresh", "500ms", "-e", "safepoint", jvm.pid)
    want("biased" in text.lower(), "the report does not say so: " + text[:400])
    want("biased" in screen.lower(), "the screen does not say so: " + screen[:400])


def find_zero():
    homes = [os.environ["JTOP_ZERO"]] if os.environ.get("JTOP_ZERO") else sorted(
        glob.glob("/usr/lib/jvm/*"))
    for home in homes:
        java = os.path.join(home, "bin", "java")
        done = os.path.exists(java) and subprocess.run(
            [java, "-zero", "-version"], capture_output=True, text=True, check=False)
        if done and "Zero VM" in done.stderr:
            return home
    return None


def zero(home):
    lib.JAVA_BIN = os.path.join(home, "bin")
    with Jvm("Wall", 2, 60, 2, options=["-zero"]) as jvm:
        text = good("-d", 4, jvm.pid)
        stacks = collapsed(good("-d", 4, "--total", "-o", "collapsed", jvm.pid))
        wall = collapsed(good("-d", 3, "-e", "wall", "--total", "-t", "-o", "collapsed", jvm.pid))
    want("biased" in text.lower(), "the report does not say so: " + text[:400])
    want(busy(stacks, "Wall.mix") > 0.5e9, "%.2f s seen" % (total(stacks) / 1e9))
    want(busy(wall, "Wall.mix") > 4e9, "%.2f s seen" % (busy(wall, "Wall.mix") / 1e9))


def main():
    checks = Checks()
    checks.run("cpu time", cpu_is_real)
    checks.run("biased", says_biased)
    home = find_zero()
    if home:
        checks.run("Zero", zero, home)
    else:
        print("ok Zero # SKIP no Zero VM here (JTOP_ZERO=JDK names one)", flush=True)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
