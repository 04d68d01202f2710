#!/usr/bin/env python3
# timeout: 240, runs: alone
"""async-profiler and we in one JVM under the hostile mix, one after the other and one within the
other, in every order: no crash, and both have the CPU time of the process. Half a minute of it;
`two_profilers.py MINUTES` for more (see test/soak). ASPROF names its program; without it, nothing
is checked."""
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from lib import Checks, Jvm, Skip, collapsed, cpu_seconds, perf_fds, prof, read, timers, total, wait_for, want
from soak import OPTIONS, ends_well, progress

ASPROF = os.environ.get("ASPROF", "")
# The order of "begin" and "end" of both: one after the other, or within each other.
ORDERS = ("ttoo", "oott", "toto", "toot", "otot", "otto")
OURS = ("cpu", "ctimer", "itimer", "wall", "cpu,wall", "alloc", "lock", "Hostile.exceptions", "nativemem",
        "nativelock")
THEIRS = ("cpu", "ctimer", "itimer", "wall", "alloc", "lock", "Hostile.collections", "nativemem",
          "nativelock")
TIME = ("cpu", "ctimer", "itimer")  # events whose total is the CPU time of the process
INTERVAL = "2ms"
LEAST, MOST = 0.75, 1.25


class Refused(Exception):
    """It says why it does not take part."""


def theirs(*words):
    done = subprocess.run([ASPROF, *map(str, words)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=90, check=False)
    if done.returncode:
        raise Refused(" ".join((done.stdout + done.stderr).split())[:200])
    return done.stdout


def ours(*words):
    done = prof(*words)
    if done.returncode:
        raise Refused(" ".join(done.stderr.split())[:200])
    return done.stdout


def rate(event):
    """The kernel's clock ticks each 4 ms: a process's timer cannot be faster."""
    return ("-i", "20ms" if event == "itimer" else INTERVAL) if event in TIME or "wall" in event else ()


class Side:
    """One of the two, from its beginning to its end."""

    def __init__(self, jvm, call, event):
        self.jvm, self.call, self.event = jvm, call, event

    def begin(self):
        before = cpu_seconds(self.jvm.pid)
        self.call("start", "-e", self.event, *rate(self.event), self.jvm.pid)
        self.most, self.least = before, cpu_seconds(self.jvm.pid)

    def end(self):
        """The share of the CPU time that it has; 1 where something else is counted, 0: nothing was."""
        at = cpu_seconds(self.jvm.pid)
        text = self.call("stop", "-o", "collapsed", "--total", self.jvm.pid)
        stacks = collapsed(re.sub("^(#.*|OK)\n", "", text, flags=re.M))  # a heading for each event
        self.least, self.most = at - self.least, cpu_seconds(self.jvm.pid) - self.most
        self.stacks = total(stacks)
        if self.event not in TIME:
            return 1.0 if stacks or "lock" in self.event else 0.0  # few wait for one
        seen = total(stacks) / 1e9
        return seen / self.least if seen < self.least else max(1.0, seen / self.most)


class Pair:
    def __init__(self, jvm, seed):
        self.jvm, self.random, self.turns, self.refused, self.shares = jvm, random.Random(seed), 0, {}, {}
        self.began = time.monotonic()
        self.orders = itertools.cycle(ORDERS)

    def minutes(self):
        return (time.monotonic() - self.began) / 60

    def say_no(self, who, event, e):
        key = "%s -e %s: %s" % (who, event, re.sub(r"\d{3,}", "N", str(e)))
        self.refused[key] = self.refused.get(key, 0) + 1

    def turn(self):
        order = next(self.orders)
        sides = {"t": Side(self.jvm, theirs, self.random.choice(THEIRS)),
                 "o": Side(self.jvm, ours, self.random.choice(OURS))}
        what = "%s ours=%s theirs=%s" % (order, sides["o"].event, sides["t"].event)
        events = {side.event for side in sides.values()}
        before = progress(self.jvm)
        begun = set()
        for who in order:
            side = sides.get(who)
            try:
                if side and who not in begun:
                    begun.add(who)
                    side.begin()
                    time.sleep(2)
                elif side:
                    share = side.end()
                    if who == "o" and order in ("otot", "otto") and events == {"itimer"}:
                        continue  # there is one such timer, and the second one has it
                    self.shares.setdefault(who, []).append((share, what, side.stacks, side.least))
            except Refused as e:
                self.say_no(who, side.event + " in " + order, e)
                del sides[who]
        want(self.jvm.alive(), what + ": the JVM died")
        wait_for(lambda: all(n > before.get(t, 0) for t, n in progress(self.jvm).items()),
                 what + ": every thread to advance", 20)
        wait_for(lambda: not perf_fds(self.jvm.pid) and not timers(self.jvm.pid),
                 what + ": counters and timers to go", 10)
        self.turns += 1

    def told(self):
        return "%5.1f min  %3d turns  ours %d right of %d  theirs %d right of %d  refused %d" % (
            self.minutes(), self.turns, *itertools.chain.from_iterable(
                (sum(LEAST < s[0] < MOST for s in self.shares.get(w, ())), len(self.shares.get(w, ())))
                for w in "ot"), sum(self.refused.values()))

    def right(self, who):
        wrong = [s for s in self.shares.get(who, ()) if not LEAST < s[0] < MOST]
        for share in wrong:
            print("# %.2f of the CPU time: %s (%d, %.2f s)" % share)
        want(self.shares.get(who) and not wrong, "%d of %d profiles are wrong" % (
            len(wrong), len(self.shares.get(who, ()))))


def run_for(pair, minutes):
    next_line = 1
    while pair.minutes() < minutes:
        pair.turn()
        if minutes > 1 and pair.minutes() >= next_line:
            print("# " + pair.told(), flush=True)
            next_line = int(pair.minutes()) + 1


def there():
    if not os.access(ASPROF, os.X_OK):
        raise Skip("ASPROF names no program")


def main():
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    checks = Checks()
    if not os.access(ASPROF, os.X_OK):
        checks.run("the other one is there", there)
        return checks.code()
    seed = int(os.environ.get("SEED", time.time()))
    print("# seed %d" % seed)
    with tempfile.TemporaryDirectory() as scratch, Jvm(
            "Hostile", options=[*OPTIONS, "-XX:ErrorFile=%s/crash" % scratch]) as jvm:
        pair = Pair(jvm, seed)
        checks.run("%g minutes" % minutes, run_for, pair, minutes)
        print("# " + pair.told())
        for reason, n in sorted(pair.refused.items()):
            print("# %d x %s" % (n, reason))
        checks.run("ours", pair.right, "o")
        checks.run("theirs", pair.right, "t")
        if jvm.alive():
            checks.run("the JVM ends well", ends_well, jvm)
        elif os.path.exists(scratch + "/crash"):
            print(re.sub("^", "# ", read(scratch + "/crash")[:12000], flags=re.M))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
