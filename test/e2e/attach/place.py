#!/usr/bin/env python3
"""The agent's library where the JVM can load it: copies of it in JVMs that do not see ours, how many
there are after several attaches, and what is left when the profiler is killed meanwhile."""
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import (AGENT, CLASSES, PROF, WAIT, Checks, Jvm, armed, collapsed, mapped, prof,
                 readers, total, wait_for, want)
from oci import DOCKER, INSIDE, Container

NOBODY = 65534
COPY = r"/\.jtop-prof-[0-9a-f]{8}-([0-9a-f]{8})\.so \(deleted\)$"


def copies(pid):
    """Those that the JVM has loaded: one name each."""
    return sorted({name for name in mapped(pid) if re.search(COPY, name)})


class Build:
    """The profiler in a directory that only root may enter, with an agent unlike any other."""

    def __init__(self, scratch):
        self.place = tempfile.mkdtemp(dir=scratch)
        self.program = shutil.copy(PROF, self.place)
        self.agent = shutil.copy(AGENT, self.place)
        self.change()

    def change(self):
        """The agent's content, not what it does."""
        with open(self.agent, "ab") as f:
            f.write(os.urandom(8))

    def run(self, *args):
        return subprocess.run([self.program, *map(str, args)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=90, check=False)

    def begin(self, *args, before=()):
        return subprocess.Popen([*before, self.program, *map(str, args)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                start_new_session=True)


def seen(done):
    want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
    stacks = collapsed(done.stdout)
    want(total(stacks) > 0 and any("Shares" in f for s in stacks for f in s[0]), done.stdout)


def may_not_read_ours(scratch):
    """A JVM of this machine, of a user who cannot read the profiler's directory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as own:
        os.chmod(own, 0o755)
        classes = shutil.copytree(CLASSES, os.path.join(own, "java"))
        with Jvm("Shares", "single", classes=classes, user=NOBODY, group=NOBODY, extra_groups=[],
                 cwd="/") as jvm:
            build = Build(scratch)
            for _ in range(2):
                seen(build.run("-d", 1, "-i", "1ms", "-o", "collapsed", jvm.pid))
            names = copies(jvm.pid)
            want(len(names) == 1 and names[0].startswith("/tmp/"), names)
            left = glob.glob("/tmp/.jtop-prof-*-%s.so" % re.search(COPY, names[0]).group(1))
            want(not left, left)


def loads_it_once():
    with Container("Shares", "single", userns=True) as c:
        for i in range(3):
            seen(prof("-d", 1, "-i", "1ms", "-o", "collapsed", c.pid))
            names = copies(c.pid)
            want(len(names) == 1, "after %d attaches: %s" % (i + 1, names))
        want(not c.files(), c.files())


def looks_as_the_user():
    """Root as Docker has it, without CAP_SYS_PTRACE, may not look at the JVM's descriptors."""
    with Container("Shares", "single", inside=True, named=True) as c:
        seen(c.run(INSIDE + "/jtop-prof", "-d", 1, "-i", "1ms", "-o", "collapsed", 1, user=0,
                   caps=DOCKER))


def two_builds(scratch):
    """They do not work side by side; one after the other they do, also after a sudden end."""
    with Container("Shares", "single") as c:
        first, second = Build(scratch), Build(scratch)
        # Where the other one cannot ask it.
        holder = first.begin("-d", 60, "-o", "flat", c.pid, before=("unshare", "--net"))
        try:
            wait_for(lambda: armed(c.pid), "sampling")
            done = second.run("-d", 1, c.pid)
            want(done.returncode == 1 and
                 "another running jtop-prof profiles JVM %d" % c.pid in done.stderr, done.stderr)
            want("(pid %d)" % holder.pid in done.stderr, "not said by whom: " + done.stderr)
        finally:
            holder.kill()
            holder.wait(WAIT)
        seen(second.run("-d", 1, "-i", "1ms", "-o", "collapsed", c.pid))
        want(len(copies(c.pid)) == 2, copies(c.pid))
        want(not c.files(), c.files())


def killed_meanwhile(scratch):
    """At any moment of an attach, and while its file is there. Each has another agent to place."""
    with Container("Shares", "single", userns=True) as c:
        build, seen_file = Build(scratch), 0
        for i in range(20):
            build.change()
            with build.begin("-d", 60, "-o", "flat", c.pid) as profiler:
                end = time.monotonic() + 2
                while i % 4 < 2 and time.monotonic() < end and not c.files():
                    time.sleep(0.001)
                seen_file += bool(c.files())
                time.sleep(random.uniform(0, 0.03 if i % 4 < 2 else 0.25))
                if i % 2:
                    os.killpg(profiler.pid, signal.SIGKILL)
                else:
                    profiler.kill()
            wait_for(lambda: not c.files(), "the files to go: %s" % c.files())
            wait_for(lambda: not readers(c.pid), "the processes to end")
        want(seen_file > 0, "no file was ever there")
        want(c.alive(), "the JVM has ended")
        seen(build.run("-d", 1, "-i", "1ms", "-o", "collapsed", c.pid))
        want(not c.files(), c.files())


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        checks.run("a library that the JVM's user may not read", may_not_read_ours, scratch)
        checks.run("several attaches load it once", loads_it_once)
        checks.run("what root may not see, the user may", looks_as_the_user)
        checks.run("two builds of the agent", two_builds, scratch)
        checks.run("the profiler is killed", killed_meanwhile, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
