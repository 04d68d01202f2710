#!/usr/bin/env python3
# tier: fast
"""Methods that are replaced while they are on a stack: by retransformation, by redefinition, by our
own method events. Their frames stay where they are, with their names, for every walker."""
import os
import sys
import tempfile
import zipfile

from lib import THOROUGH, Checks, Jvm, collapsed, good, total, want

MANIFEST = """Manifest-Version: 1.0
Premain-Class: Redefined
Can-Redefine-Classes: true
Can-Retransform-Classes: true

"""
LOOPER = "Redefined$Looper."
WALKERS = ("vm", "vmx", "fp", "dwarf", "asgct") if THOROUGH else ("vm", "asgct")


class Looping:
    """The workload as its own agent."""

    def __init__(self, *options):
        self.scratch = tempfile.TemporaryDirectory(prefix="jtop-redefined-")
        jar = os.path.join(self.scratch.name, "agent.jar")
        with zipfile.ZipFile(jar, "w") as z:
            z.writestr("META-INF/MANIFEST.MF", MANIFEST)
        self.jvm = Jvm("Redefined", options=("-javaagent:" + jar, *options))

    def __enter__(self):
        return self.jvm

    def __exit__(self, *_):
        self.jvm.kill()
        self.scratch.cleanup()


def looks_right(jvm, *options):
    """All of the looper's samples have the whole way in them."""
    stacks = [(frames, n) for frames, n in collapsed(good(
        "-d", 1, "-i", "2ms", "-t", "-o", "collapsed", *options, jvm.pid))
        if frames[0].startswith("[looper")]
    want(total(stacks) >= 50, "%d samples of the looper" % total(stacks))

    def whole(frames):
        names = [f[len(LOOPER):] for f in frames if f.startswith(LOOPER)]
        return names[:3] == ["run", "outer", "inner"]
    broken = sorted((n, ";".join(f)) for f, n in stacks if not whole(f))
    want(sum(n for n, _ in broken) <= 0.01 * total(stacks), "%d of %d %s: %s" % (
        sum(n for n, _ in broken), total(stacks), options, broken[-3:]))


def everywhere(jvm, walkers=WALKERS):
    for walker in walkers:
        looks_right(jvm, "-e", "cpu", "--cstack", walker)
    looks_right(jvm, "-e", "wall")


def replaced(how, version, *options):
    with Looping(*options) as jvm:
        looks_right(jvm)
        jvm.ask(how)
        want(jvm.ask("version") == [version], "%s: version %s" % (how, jvm.ask("version")))
        everywhere(jvm)
        jvm.ask(how)  # a second time: two old versions, one of them on the stack
        everywhere(jvm, ("vm", "asgct"))
        want(jvm.end() == 0, "the JVM did not end well")


def counted(*options):
    """Our own counting of calls replaces methods too, twice: when it begins and when it ends."""
    with Looping(*options) as jvm:
        good("-d", 1, "-e", LOOPER + "inner", "-o", "collapsed", jvm.pid)
        everywhere(jvm)
        good("-d", 1, "-e", LOOPER + "work", "-o", "collapsed", jvm.pid)
        everywhere(jvm, ("vm", "asgct"))
        want(jvm.end() == 0, "the JVM did not end well")


def main():
    checks = Checks(fast=("redefined", "calls counted"))
    checks.run("retransformed", replaced, "retransform", "0")
    checks.run("redefined", replaced, "redefine", "1")
    checks.run("calls counted", counted)
    checks.run("redefined, interpreted", replaced, "redefine", "1", "-Xint")
    checks.run("calls counted, interpreted", counted, "-Xint")
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
