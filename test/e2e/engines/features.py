#!/usr/bin/env python3
# tier: fast
"""Stubs by the VM's own names, and the frames that -F adds: the class that a virtual call goes to, the
program counter. The method that a compiler compiles is in vm_threads."""
import re
import sys

from lib import Checks, Jvm, collapsed, good, prof, total, want


def frames_like(stacks, pattern):
    return sum(n for frames, n in stacks if any(re.search(pattern, f) for f in frames))


def routines(jvm):
    """A copy of a large array is a routine of its own."""
    stacks = collapsed(good("-d", 2, "-i", "1ms", "-o", "collapsed", jvm.pid))
    seen = frames_like(stacks, r"(?i)arraycopy|_copy")
    want(seen > 0.05 * total(stacks), "%d of %d samples in copies: %s" % (
        seen, total(stacks), sorted((n, f[-1]) for f, n in stacks)[-5:]))
    for name in ("StubRoutines", "vtable chunks"):
        want(frames_like(stacks, re.escape(name)) < 0.02 * total(stacks), "still %s" % name)


def calls(jvm):
    """Calls of many classes' methods, by class and by interface."""
    plain = collapsed(good("-d", 2, "-i", "1ms", "-o", "collapsed", jvm.pid))
    for stub in ("vtable stub", "itable stub"):
        want(frames_like(plain, "^%s$" % stub) >= 10, "%s: %d of %d" % (
            stub, frames_like(plain, "^%s$" % stub), total(plain)))
    want(not frames_like(plain, r"Stubs\.(Shape|Round)\d_\[i\]$"), "classes that were not asked for")
    stacks = collapsed(good("-d", 2, "-i", "1ms", "-F", "vtable", "-o", "collapsed", jvm.pid))
    for stub, name in (("vtable stub", "Shape"), ("itable stub", "Round")):
        classes = {frames[-1] for frames, _ in stacks if frames[-2:-1] == [stub]}
        those = {c for c in classes if re.fullmatch(r"Stubs\$%s\d_\[i\]" % name, c)}
        want(len(those) >= 2, "%s: %s" % (stub, classes))
        others = sum(n for frames, n in stacks if frames[-2:-1] == [stub] and frames[-1] not in those)
        want(others <= 0.05 * frames_like(stacks, "^%s$" % stub), "%s: %s" % (stub, classes - those))


def addresses(jvm):
    stacks = collapsed(good("-d", 1, "-i", "2ms", "-F", "pcaddr", "-o", "collapsed", jvm.pid))
    with_pc = sum(n for frames, n in stacks if re.fullmatch("0x[0-9a-f]+", frames[-1]))
    want(with_pc > 0.95 * total(stacks), "%d of %d" % (with_pc, total(stacks)))
    want(frames_like([(f[:-1], n) for f, n in stacks], "^0x") == 0, "inside of stacks")


def refused(jvm):
    done = prof("-d", 1, "-F", "vtables", jvm.pid)
    want(done.returncode == 100 and "there is no feature vtables" in done.stderr, done.stderr)
    done = prof("-d", 1, "-F", "stats,jnienv,mixed,agct", "-o", "summary", jvm.pid)
    want(done.returncode == 0, done.stderr)
    for event in ("itimer", "ctimer"):
        for option in (["--record-cpu"], ["--target-cpu", 0]):
            done = prof("-d", 1, "-e", event, *option, jvm.pid)
            want(done.returncode == 100 and option[0] in done.stderr and event in done.stderr,
                 done.stderr)


def main():
    checks = Checks(long=("virtual calls",))
    with Jvm("Stubs") as jvm:
        checks.run("refused", refused, jvm)
        checks.run("routines", routines, jvm)
        checks.run("virtual calls", calls, jvm)
        checks.run("program counters", addresses, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
