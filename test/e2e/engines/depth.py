#!/usr/bin/env python3
# tier: fast
"""How many frames of a stack are kept: one less, as many, and one more than the limit."""
import collections
import os
import signal
import sys
import tempfile

from lib import Checks, Jvm, Prof, Wrong, collapsed, prof, read, sampling, wait_for, want

DEEP = 20
NAME = "MethodCalls.deep"


def stacks(scratch, *options):
    """Of a recursion that is DEEP calls deep, a stack for each call: [frames], by their number."""
    path = os.path.join(scratch, "deep.collapsed")
    with Jvm("MethodCalls") as jvm, \
            Prof(scratch, "-d", 300, "-e", NAME, "-f", path, *options, jvm.pid) as p:
        wait_for(lambda: p.process.poll() is not None or sampling(jvm.pid), "the start")
        jvm.ask("deep %d" % DEEP)
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
        if p.stderr():
            raise Wrong(p.stderr())
    found = collapsed(read(path))
    want(sum(n for _, n in found) == DEEP, "%d calls" % sum(n for _, n in found))
    return found


def lengths(found):
    return collections.Counter({len(frames): n for frames, n in found})


def whole(scratch):
    found = stacks(scratch)
    want(not any("[truncated]" in frames for frames, _ in found), "cut: %s" % found)
    base = min(len(frames) for frames, _ in found) - 1
    want(lengths(found) == {base + n: 1 for n in range(1, DEEP + 1)}, "lengths: %s" % lengths(found))
    return base


def limited(scratch, base):
    for limit in (base + DEEP, base + DEEP - 1, base + 10, 2, 1):
        found = stacks(scratch, "-j", limit)
        cut = [(frames, n) for frames, n in found if frames[0] == "[truncated]"]
        left = [(frames, n) for frames, n in found if frames[0] != "[truncated]"]
        expected = {base + n: 1 for n in range(1, DEEP + 1) if base + n <= limit}
        want(lengths(left) == expected, "-j %d: whole are %s" % (limit, lengths(left)))
        want(sum(n for _, n in cut) == DEEP - len(expected), "-j %d: %d cut" % (limit, len(cut)))
        want(all(frames[1:] == [NAME] * max(limit - 1, 1) for frames, _ in cut if limit <= 2),
             "-j %d: cut ones are %s" % (limit, cut))
        want(all(len(frames) == max(limit, 2) for frames, _ in cut), "-j %d: %s" % (limit, cut))


def recursion(scratch, base):
    """N/M: of N frames or more only M."""
    for limit, kept in ((base + 10, 4), (base + 10, base + 9), (base + 10, 0), (base + 10, base + 10)):
        found = stacks(scratch, "-j", "%d/%d" % (limit, kept))
        cut = [(frames, n) for frames, n in found if frames[0] == "[truncated]"]
        first_cut = limit + (kept >= limit)
        want(sum(n for _, n in cut) == base + DEEP - first_cut + 1, "%d/%d: %s" % (limit, kept, cut))
        if kept < limit:
            want(all(len(frames) == kept + 1 for frames, _ in cut), "%d/%d: %s" % (limit, kept, cut))


def refused():
    for value in ("0", "x", "5/", "5/x", "/5", "5/4/3", "5000000000"):
        done = prof("-d", 1, "-j", value, 1)
        want(done.returncode == 100 and "frames" in done.stderr, "%s: %s" % (value, done.stderr))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-depth-") as scratch:
        checks.run("refused", refused)
        base = []
        checks.run("whole", lambda: base.append(whole(scratch)))
        if base:
            checks.run("limited", limited, scratch, base[0])
            checks.run("deep recursion", recursion, scratch, base[0])
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
