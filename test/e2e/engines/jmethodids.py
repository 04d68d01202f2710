#!/usr/bin/env python3
"""Profiling makes no jmethodIDs, which the VM would keep for ever: the hot classes have no table of
them before, during and after it. (--precise makes those of the methods it touches: opt-in.)
AsyncGetCallTrace needs them, so there they must be seen: without that the check would prove
nothing.

A library of the test looks into the VM's own structures; it is compiled here."""
import os
import shutil
import subprocess
import sys
import tempfile

from lib import (CLASSES, ROOT, Checks, Jvm, Prof, armed, collapsed, good, java_tool, total,
                 wait_for, want)

SERIAL = ["-XX:+UseSerialGC"]


def build(scratch):
    source = os.path.join(ROOT, "test", "java", "native", "method_ids.c")
    to = os.path.join(scratch, "libmethod_ids.so")
    # The VM at hand need not be a JDK: any JDK's headers do.
    places = [java_tool("java"), "java", "javac"]
    homes = [os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(p) or p)))
             for p in places]
    home = next((h for h in homes if os.path.exists(h + "/include/jni.h")), None)
    want(home, "no jni.h beside any of %s" % homes)
    include = ["-I", home + "/include", "-I", home + "/include/linux"]
    subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", *include, "-o", to,
                    source], check=True)
    return to


def tables(jvm):
    """{class: whether it has jmethodIDs}"""
    found = dict(line.split() for line in jvm.ask(""))
    want("unknown" not in found.values(), "this VM does not tell: %s" % found)
    return {name: has == "table" for name, has in found.items()}


def hot(stacks):
    """Classes that the profile has seen at work."""
    return {frame.rsplit(".", 1)[0].replace("/", ".") for frames, _ in stacks for frame in frames}


def none_made(library, *more):
    with Jvm("MethodIds", library, options=SERIAL) as jvm:
        before = tables(jvm)
        want(not any(before.values()), "the VM had them before: %s" % before)
        with tempfile.TemporaryDirectory() as scratch:
            with Prof(scratch, "-d", 4, "-i", "1ms", "-o", "collapsed", *more, jvm.pid) as p:
                wait_for(lambda: armed(jvm.pid), "sampling")
                during = tables(jvm)
                want(p.process.wait(60) == 0, p.stderr())
                stacks = collapsed(p.stdout())
        want(total(stacks) > 50, "only %d samples" % total(stacks))
        want(hot(stacks) >= {"MethodIds$Compiled", "MethodIds$Inlining", "MethodIds$Worker"},
             "not hot: %s" % hot(stacks))
        for when, seen in (("during", during), ("after", tables(jvm))):
            want(not any(seen.values()), "%s it there are some: %s" % (when, seen))


def seen_with_asgct(library):
    with Jvm("MethodIds", library, options=SERIAL) as jvm:
        want(not any(tables(jvm).values()), "the VM had them before")
        good("-d", 1, "--cstack", "asgct", "-o", "collapsed", jvm.pid)
        want(all(tables(jvm).values()), "the check sees nothing: %s" % tables(jvm))


def main():
    checks = Checks()
    want(os.path.exists(os.path.join(CLASSES, "MethodIds.class")), "MethodIds is not compiled")
    with tempfile.TemporaryDirectory() as scratch:
        library = build(scratch)
        checks.run("none by default", none_made, library)
        checks.run("none with vmx", none_made, library, "--cstack", "vmx")
        checks.run("none with ctimer, per thread", none_made, library, "-e", "ctimer", "-t")
        checks.run("seen with asgct", seen_with_asgct, library)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
