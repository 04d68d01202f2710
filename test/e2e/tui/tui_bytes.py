#!/usr/bin/env python3
# timeout: 180, runs: alone
"""Bytes on the wire of a steady screen of 160x50 at one frame a second, and how soon a key is
answered.

One event with every view, and four events; the sessions run at the same time, each on a JVM of its
own.
"""
import select
import sys
import time

from lib import Checks, Jvm, want
from terminals import Pty

MOST = 2048  # bytes a second
SECONDS = 20
VIEWS = {"2": "threads", "3": "call tree", "4": "locks", "5": "flame", "6": "alloc", "7": "lines",
         "8": "status", "0": "overview"}
KEY = 0.05  # seconds to the answer of a key


def steady(t, seconds):
    """Bytes a second while nobody does anything."""
    before, begin = t.bytes, time.monotonic()
    while time.monotonic() - begin < seconds:
        t.read(begin + seconds - time.monotonic())
    return (t.bytes - before) / (time.monotonic() - begin)


def answers(t, keys):
    """Seconds until each key's answer began."""
    found = []
    for key in keys:
        while t.read(0.08):  # a frame may be under way
            pass
        begin = time.monotonic()
        t.write(key)
        t.read_until_any(1.0)
        found.append(time.monotonic() - begin)
    return sorted(found)


class Terminal(Pty):
    def read_until_any(self, seconds):
        want(select.select([self.fd], [], [], seconds)[0], "no answer to a key")


def measured(name, events, views):
    with Jvm("shop.Demo") as j, Terminal(160, 50, "-e", events, j.pid) as t:
        t.read_until(b"shop.")
        steady(t, 15)  # rows of a young profile change places all the time
        rate = steady(t, SECONDS)
        print("# %s: %.0f bytes/s over %d s" % (name, rate, SECONDS))
        times = answers(t, [b"j", b"k"] * 8)
        print("# %s: key to the answer's first byte: median %.1f ms, worst %.1f ms" %
              (name, times[len(times) // 2] * 1e3, times[-1] * 1e3))
        want(rate <= MOST, "%.0f bytes/s" % rate)
        # a key may come while a frame is computed; half of them do not
        want(times[len(times) // 2] <= KEY, "keys are answered after %s s" % times)
        worst = []
        for key, view in views.items():
            t.write(key.encode())
            steady(t, 1.2)
            rate = steady(t, 3)
            print("# %s, %s: %.0f bytes/s" % (name, view, rate))
            if rate > MOST:
                worst.append("%s %.0f bytes/s" % (view, rate))
        want(not worst, ", ".join(worst))
        t.write(b"q")
        want(t.wait()[0] == 0, "exit code")


def main():
    checks = Checks()
    checks.together(("one event", measured, "one event", "cpu", VIEWS),
                    ("four events", measured, "four events", "cpu,wall,alloc,lock", {}))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
