#!/usr/bin/env python3
# timeout: 120
"""VMs that do not describe themselves. They are real ones: a copy of the JDK whose libjvm.so exports
gHotSpotVMStructs, or AsyncGetCallTrace too, under another name, or describes a field we need under
another one."""
import glob
import os
import re
import shutil
import sys
import tempfile

import lib
from lib import (Checks, Jvm, armed, collapsed, difference, good, java_tool, prof,
                 self_percent, total, traces, wait_for, want, within)

STRUCTS = b"gHotSpotVMStructs"
ASGCT = b"AsyncGetCallTrace"
FIELD = b"_last_Java_sp"


def java_home():
    return os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(java_tool("java")))))


def copy_jdk(home, scratch, name, hidden=(), vm="server"):
    """A JDK made of links, but for the files that find the others by where they are themselves; its
    libjvm.so exports the symbols `hidden` under other names."""
    to = os.path.join(scratch, name)
    library = glob.glob(home + "/**/%s/libjvm.so" % vm, recursive=True)
    want(library, "no %s libjvm.so in %s" % (vm, home))
    own = [os.path.relpath(library[0], home)]
    for found in ("libjli.so", "libjava.so", "libverify.so"):
        own += [os.path.relpath(p, home) for p in glob.glob(home + "/**/" + found, recursive=True)]
    own.append("bin/java")
    parts = {os.path.dirname(p) for p in own}
    for part in list(parts):  # every directory on the way is one of ours
        while part:
            part = os.path.dirname(part)
            parts.add(part)
    for part in sorted(parts):
        os.makedirs(os.path.join(to, part), exist_ok=True)
        for entry in os.listdir(os.path.join(home, part)):
            path = os.path.join(part, entry) if part else entry
            if path in own:
                shutil.copyfile(os.path.join(home, path), os.path.join(to, path))
                os.chmod(os.path.join(to, path), 0o755)
            elif path not in parts:
                os.symlink(os.path.realpath(os.path.join(home, path)), os.path.join(to, path))
    with open(os.path.join(to, own[0]), "r+b") as f:
        image = f.read()
        for symbol in hidden:
            want(image.count(b"\0" + symbol + b"\0") >= 1, "no %s in libjvm.so" % symbol.decode())
            image = image.replace(b"\0" + symbol + b"\0", b"\0x" + symbol[1:] + b"\0")
        f.seek(0)
        f.write(image)
    return to


class Java:
    """Workloads run on this JDK meanwhile."""

    def __init__(self, home):
        self.bin = os.path.join(home, "bin")

    def __enter__(self):
        self.before, lib.JAVA_BIN = lib.JAVA_BIN, self.bin

    def __exit__(self, *_):
        lib.JAVA_BIN = self.before


def without_structs(home, missing):
    """AsyncGetCallTrace does the work by itself, says so, and the profile is true."""
    with Java(home), Jvm("Shares", "single") as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 2e9, "two seconds of CPU time")
        before = jvm.truth()
        stacks = collapsed(good("-d", 6, "-i", "1ms", "-o", "collapsed", jvm.pid))
        truth = difference(before, jvm.truth())
        want(total(stacks) >= 1000, "only %d samples" % total(stacks))
        within(3.0, truth, self_percent(stacks))
        whole = sum(n for frames, n in stacks if "Shares.mixed" in frames and
                    frames[0] == "java/lang/Thread.run")
        want(whole > 0.95 * total(stacks), "%d of %d stacks are whole" % (whole, total(stacks)))
        screen = good("--batch", "-n", 1, "--refresh", "500ms", "--cstack", "vmx", "--precise",
                      jvm.pid)
        want("walk asgct" in screen and missing.decode() in screen, screen)
        # Threads that were there before us have the kernel's names: the VM's cannot be matched.
        named = good("-d", 2, "-i", "1ms", "-t", "-o", "collapsed", jvm.pid)
        want(re.search(r"^\[mixed tid=\d+\];", named, re.M), named[:300])
        want(jvm.end() == 0, "the JVM did not end well")


def incomplete(home):
    """The same where one field that we need is not described; and nothing but that is trusted."""
    with Java(home), Jvm("Hostile") as jvm:
        screen = good("--batch", "-n", 1, "--refresh", "500ms", jvm.pid)
        want("walk asgct" in screen and FIELD.decode() in screen, screen)
        text = good("-d", 5, "-i", "1ms", "-o", "summary", jvm.pid)
        want(int(re.search(r"Total samples +: (\d+)", text).group(1)) > 500, text)
        want(jvm.end() == 0, "the JVM did not end well")


def refused(home, options, words):
    """One line that says what is missing; the JVM goes on as if nothing had happened."""
    with Java(home), Jvm("Idle", options=options) as jvm:
        for _ in range(2):
            done = prof("-d", 1, jvm.pid)
            want(done.returncode == 1, "exit %d: %s" % (done.returncode, done.stderr))
            want(done.stderr.count("\n") == 1 and not done.stdout, "said: " + done.stderr)
            for word in words:
                want(word in done.stderr, "no %s in: %s" % (word, done.stderr))
            want(jvm.alive() and not traces(jvm.pid), "left: %s" % traces(jvm.pid))
        want(not armed(jvm.pid), "it is armed")
        want(jvm.end() == 0, "the JVM did not end well")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        home = java_home()
        plain = copy_jdk(home, scratch, "no-structs", [STRUCTS])
        checks.run("no vmStructs", without_structs, plain, STRUCTS)
        checks.run("incomplete ones", incomplete, copy_jdk(home, scratch, "incomplete", [FIELD]))
        bare = copy_jdk(home, scratch, "bare", [STRUCTS, ASGCT])
        checks.run("neither", refused, bare, [],
                   [STRUCTS.decode(), ASGCT.decode(), "server VM"])
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
