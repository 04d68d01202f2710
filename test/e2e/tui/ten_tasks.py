#!/usr/bin/env python3
# timeout: 240, tier: fast
"""Ten tasks of an incident, each done with at most four keys, on the demo in a real terminal.

A text that is typed (a name, a filter) counts as one key; so does the Enter after it.
"""
import os
import re
import sys

from lib import Checks, Jvm, want
from tui import screen

MOST = 4


class Counted:
    """The screen, and how many keys were pressed since the last task began."""

    def __init__(self, s):
        self.s = s
        self.count = 0

    def begin(self, name):
        self.name, self.count = name, 0

    def press(self, *keys):
        self.count += len(keys)
        self.s.keys(*keys)

    def type(self, text):
        """Types a text and Enter."""
        self.count += 2
        self.s.line(text)

    def done(self, pattern):
        found = self.s.wait(pattern)
        print("# %s: %d keys" % (self.name, self.count))
        want(self.count <= MOST, "%s takes %d keys" % (self.name, self.count))
        return found


def tasks(jvm, *events):
    with screen(120, 40) as s:
        c = Counted(s)
        c.begin("which method burns CPU now")
        s.start(" ".join([*events, str(jvm.pid)]))
        c.done(r"^> +\d+\.\d .* shop\.")

        c.begin("what changed since now (b)")
        c.press("b")
        c.done(r"CHANGE")
        c.press("B")

        c.begin("only my package")
        c.press("Z")
        c.done(r"\] .*shop\.\*")

        c.begin("back to where I was")
        c.press("Escape")
        c.done(r"\[1 methods\](?!.*shop\.\*)")

        c.begin("a minute ago")
        c.press("<")
        c.done(r"\d\d:\d\d:\d\d\u2013\d\d:\d\d:\d\d .*PAUSED")
        c.press("p")
        s.wait("LIVE")

        c.begin("save for the ticket")
        c.press("s")
        name = os.path.basename(c.done(r"written: (\S+(?:\n\S+)?\.svg)").group(1))
        want(re.fullmatch(r"jtop-prof-shop\.Demo-%d-.*\.svg" % jvm.pid, name), name)

        c.begin("stack of thread X now")
        c.press("2", "/")
        s.line("order-worker-2")
        c.count += 1
        c.press("D")
        c.done(r"STACK OF THREAD order-worker-2\s+order-worker-2  [A-Z_]+")
        c.press("q")

        c.begin("who allocates byte[]")
        c.press("6", "Enter")  # the second starts the event
        s.wait(r"^> .*byte\[\]")
        c.press("Right")
        c.done(r"byte\[\].*\n.* (java|shop|sun)\.")

        c.begin("which lock, who holds it")
        c.press("4", "Enter")
        c.done(r"held by [\w-]+ in shop\.")

        c.begin("stop watching locks")
        c.press("o", "Enter")
        s.wait(r"^> \[ \] lock +off")
        c.press("Escape")
        c.done(r"\[4 locks\]")
        s.keys("q")
        want(s.code() == 0, "exit code")


def main():
    checks = Checks()
    with Jvm("shop.Demo") as jvm:
        checks.run("ten tasks", tasks, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
