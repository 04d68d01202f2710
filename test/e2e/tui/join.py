#!/usr/bin/env python3
# timeout: 300
"""One agent, several who look: a second screen joins the first one's profile, sees what it has
seen, and goes on when it ends; who is killed leaves nothing behind.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import (PROF, Checks, Jvm, Prof, armed, cpu_seconds, fds, prof, read, threads, traces,
                 wait_for, want)
from tui import screen

IMPOSTOR = """
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
stat = open("/proc/%s/stat" % sys.argv[1]).read().rsplit(")", 1)[1].split()
s.bind("\\0jtop-prof/%s-%s-%s" % (sys.argv[1], stat[19], sys.argv[2]))
s.listen(5)
print("bound", flush=True)
sys.stdin.read()
"""


def sockets(pid):
    """How many listen for those who want to look on at this JVM."""
    return len(re.findall(r" 00010000 .* @jtop-prof/%d-[-0-9u]+$" % pid, read("/proc/net/unix"), re.M))


def burn(jvm, seconds):
    first = cpu_seconds(jvm.pid)
    wait_for(lambda: cpu_seconds(jvm.pid) - first > seconds, "CPU time to go by")


def frames(p):
    """The frames that a screen as text has printed so far, whole ones."""
    return ["jtop-prof  " + f for f in re.split(r"^jtop-prof  ", p.stdout(), flags=re.M)[1:-1]]


def last(p):
    found = frames(p)
    return found[-1] if found else ""


def count(frame):
    """Samples so far, by its head."""
    found = re.search(r"samples ([\d,.]+)", frame)
    return int(found.group(1).replace(",", "")) if found else 0


def shares(frame):
    """Self percent by method."""
    return {name: float(percent) for percent, name in
            re.findall(r"^[> ]*([\d.]+) ±.* Shares\$\w+\.(\w+)\s*$", frame, re.M)}


def alike(a, b):
    one, other = shares(a), shares(b)
    want(len(one) >= 3 and one.keys() == other.keys(), "%s, %s" % (one, other))
    for name, percent in one.items():
        want(abs(percent - other[name]) < 6, "%s, %s" % (one, other))


def gone(jvm):
    """Nothing of ours is left."""
    wait_for(lambda: not traces(jvm.pid), "the agent to let go: %s" % traces(jvm.pid))
    want(not sockets(jvm.pid), "a socket is left")
    want(jvm.alive(), "the JVM is gone")
    burn(jvm, 0.1)


def two_screens(jvm, _):
    with screen(cols=120, rows=40) as one, screen(cols=120, rows=40) as two:
        one.start("-i 1ms %d" % jvm.pid)
        one.wait(r"Shares\$A.a50", "the first methods")
        burn(jvm, 1)
        before = count(one.text())
        want(before > 300, one.text())
        two.start(str(jvm.pid))
        two.wait(r"pid %d sampled by %d" % (jvm.pid, one.pid()), "whose session it is")
        two.wait(r"Shares\$A.a50", "its methods")
        want(count(two.text()) >= before, "the past is missing: %d, %d" %
             (before, count(two.text())))
        two.keys("8")
        two.wait(r"process %d; this is a viewer" % one.pid(), "the status view")
        two.keys("1")
        two.wait(r"Shares\$A.a50", "its methods")
        one.keys("q")
        want(one.code() == 0, "exit code")
        two.wait(r"has ended: this process samples it now", "the news")
        seen = count(two.text())
        two.wait(r"pid %d  " % jvm.pid, "it is its own session now")
        wait_for(lambda: count(two.text()) > seen + 200, "samples")
        want(abs(shares(two.text()).get("a50", 0) - 50) < 15, two.text())
        two.keys("q")
        want(two.code() == 0, "exit code")
    gone(jvm)


def events_for_both(jvm, scratch):
    with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as one:
        wait_for(lambda: shares(last(one)), "frames")
        with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", "-e", "cpu,wall",
                  jvm.pid) as two:
            for p in (one, two):
                wait_for(lambda: re.search(r"wall.* 50ms", last(p)), "the wall clock of both")
            burn(jvm, 3)
            wait_for(lambda: shares(last(two)), "methods")
            alike(last(one), last(two))
        burn(jvm, 0.3)
        want("wall" in last(one), "it stays")
    gone(jvm)


def settled(prof):
    """Descriptors and threads that stay the same from one frame to the next but two."""
    def state():
        return fds(prof.pid), sorted(threads(prof.pid).values())

    def unchanged():
        before, seen = state(), len(frames(prof))
        wait_for(lambda: len(frames(prof)) > seen + 2, "frames")
        return before if state() == before else None
    return wait_for(unchanged, "descriptors and threads to settle")


def on_looker_killed(jvm, scratch):
    with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as one:
        wait_for(lambda: shares(last(one)), "frames")
        before = settled(one)
        for how in (signal.SIGKILL, signal.SIGTERM):
            with Prof(scratch, "--batch", "-n", 1000, jvm.pid) as two:
                wait_for(lambda: " sampled by %d" % one.pid in last(two), "it looks on")
                os.kill(two.pid, how)
                two.process.wait(20)
            wait_for(lambda: (fds(one.pid), sorted(threads(one.pid).values())) == before,
                     "nothing to be left of it")
        seen = len(frames(one))
        wait_for(lambda: len(frames(one)) > seen + 2, "the first to go on")
    gone(jvm)


def reader_killed(jvm, scratch):
    with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as one:
        wait_for(lambda: shares(last(one)), "frames")
        with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as two, \
                Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as three:
            for p in (two, three):
                wait_for(lambda: " sampled by %d" % one.pid in last(p) and shares(last(p)), "it looks on")
            os.kill(one.pid, signal.SIGKILL)
            one.process.wait(20)
            # one of the two attaches, the other one looks on at that
            wait_for(lambda: sorted(" sampled by " in last(p) for p in (two, three)) == [False, True] and
                     not any(" sampled by %d" % one.pid in last(p) for p in (two, three)),
                     "somebody to go on")
            seen = {p: count(last(p)) for p in (two, three)}
            for p in (two, three):
                wait_for(lambda: count(last(p)) > seen[p] + 20, "samples")
                want("a50" in shares(last(p)), last(p))
            want(sockets(jvm.pid) == 1, "%d sockets" % sockets(jvm.pid))
            os.kill(two.pid, signal.SIGKILL)
            os.kill(three.pid, signal.SIGKILL)
            two.process.wait(20)
            three.process.wait(20)
    gone(jvm)


def jvm_killed(jvm, scratch):
    with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as one, \
            Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as two:
        for p in (one, two):
            wait_for(lambda: shares(last(p)), "frames")
        jvm.process.kill()
        for p in (one, two):
            want(p.process.wait(20) == 0, "exit %d: %s" % (p.process.returncode, p.stderr()))
            want("the JVM is gone" in p.stdout(), p.stdout()[-500:])
    want(not sockets(jvm.pid), "a socket is left")


def refused(jvm, scratch):
    """Who wants the JVM for himself is told whose it is."""
    with Prof(scratch, "--batch", "-n", 1000, jvm.pid) as one:
        wait_for(lambda: shares(last(one)), "frames")
        done = prof("start", jvm.pid)
        want(done.returncode == 200 and str(one.pid) in done.stderr, done.stderr)
        if os.geteuid() == 0 and shutil.which("unshare"):
            done = subprocess.run(["unshare", "-n", PROF, "--batch", "-n", "1", str(jvm.pid)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
            if "unshare" not in done.stderr:
                want(done.returncode == 1 and "pid %d" % one.pid in done.stderr and
                     "network namespace" in done.stderr, done.stderr)
    gone(jvm)


def impostor(jvm, scratch):
    """Another user's socket of that name is not believed, and keeps nobody from profiling."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        return
    with contextlib.ExitStack() as stack:
        p = stack.enter_context(subprocess.Popen(
            ["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c", IMPOSTOR,
             str(jvm.pid), str(os.stat("/proc/%d/ns/pid" % jvm.pid).st_ino)], stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        stack.callback(p.kill)
        want(p.stdout.readline() == b"bound\n", "no socket")
        done = prof("dump", jvm.pid)
        want(done.returncode != 0 and "a50" not in done.stdout, done.stdout + done.stderr)
        with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", jvm.pid) as one:
            wait_for(lambda: shares(last(one)), "frames")
            want(" sampled by " not in last(one), last(one))
        wait_for(lambda: not traces(jvm.pid), "the agent to let go")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        for name, check in (("two screens", two_screens), ("events for both", events_for_both),
                            ("who looks on is killed", on_looker_killed),
                            ("the reader is killed", reader_killed),
                            ("the JVM is killed", jvm_killed), ("refused", refused),
                            ("an impostor", impostor)):
            with Jvm("Shares") as jvm:
                checks.run(name, check, jvm, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
