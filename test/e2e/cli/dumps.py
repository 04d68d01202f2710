#!/usr/bin/env python3
# timeout: 150, tier: fast
"""A large report is sent while it is made, and written as it arrives: to a file, a pipe, a FIFO. It
needs little memory, a slow pipe does not hold up the reader, and an end in the middle leaves nothing."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from lib import (PROF, WAIT, Checks, Jvm, collapsed, good, memory_kb, prof, read, status, total,
                 wait_for, want)

STACKS = 40000
MEMORY_MB = 32
TRIES = 30
CALM = 3.5  # seconds until a ring that holds little is read less often


def reader(jvm):
    return int(re.search(r"^profiler process: (\d+)", good("status", jvm.pid), re.M).group(1))


def dump(jvm, *args, **kwargs):
    return subprocess.Popen([PROF, "dump", *args, str(jvm.pid)], stdin=subprocess.DEVNULL,
                            stderr=subprocess.PIPE, start_new_session=True, **kwargs)


def to_file(jvm, scratch):
    path = os.path.join(scratch, "all.collapsed")
    good("dump", "-o", "collapsed", "-f", path, jvm.pid)
    text = read(path)
    want(len(text) > 1 << 20, "only %d bytes: not in several pieces" % len(text))
    stacks = collapsed(text)
    want(0.99 * STACKS <= len(stacks) <= STACKS + 100, "%d stacks" % len(stacks))
    want(total(stacks) >= len(stacks), "counts")
    return text


def to_pipes(jvm, scratch):
    text = to_file(jvm, scratch)
    want(good("dump", "-o", "collapsed", jvm.pid) == text, "another text on stdout")
    with open(os.path.join(scratch, "out"), "wb") as f:
        subprocess.run([PROF, "dump", "-o", "collapsed", str(jvm.pid)], stdin=subprocess.DEVNULL,
                       stdout=f, check=True, timeout=WAIT)
    want(read(f.name) == text, "another text in a file that is stdout")
    fifo = os.path.join(scratch, "fifo")
    os.mkfifo(fifo)
    with dump(jvm, "-o", "collapsed", "-f", fifo) as p:
        want(read(fifo) == text, "another text through a FIFO")
        want(p.wait(WAIT) == 0, "exit %s" % p.returncode)
    head = subprocess.run("%s dump -o collapsed %d | head -1" % (PROF, jvm.pid), shell=True,
                          capture_output=True, text=True, check=True, timeout=WAIT)
    want(head.stdout == text.split("\n", 1)[0] + "\n" and not head.stderr, head.stderr)


def slow_pipe(jvm, scratch):
    """It is not read at all until others were answered."""
    text = to_file(jvm, scratch)
    with dump(jvm, "-o", "collapsed", stdout=subprocess.PIPE) as p:
        wait_for(lambda: memory_kb(p.pid) > len(text) / 1024, "the report in the waiting process")
        for _ in range(3):
            want("kept" in good("status", jvm.pid, timeout=10), "no answer meanwhile")
        want(p.stdout.read().decode() == text, "another text through a slow pipe")
        want(p.wait(WAIT) == 0, "exit %s" % p.returncode)


def memory(jvm, scratch):
    """Of the process that has the profile, beyond what it has already."""
    pid = reader(jvm)
    for form in ("collapsed", "jfr", "html"):
        with open("/proc/%d/clear_refs" % pid, "w", encoding="ascii") as f:
            f.write("5")
        before = memory_kb(pid)
        path = os.path.join(scratch, "memory." + form)
        good("dump", "-o", form, "-f", path, jvm.pid)
        more = (int(status(pid, "VmHWM")) - before) / 1024
        want(more < MEMORY_MB, "%s: %.0f MB for a file of %d" % (form, more, os.path.getsize(path)))


def any_moment(jvm, scratch):
    """Also while it looks whether it can write there."""
    place = tempfile.mkdtemp(dir=scratch)
    for i in range(200):
        with dump(jvm, "-o", "collapsed", "-f", os.path.join(place, "x")) as p:
            time.sleep(i * 5e-5)
            with contextlib.suppress(ProcessLookupError):
                p.send_signal(signal.SIGINT)
            p.wait(WAIT)
        want(not parts(place), "try %d left behind: %r" % (i, parts(place)))


def up_to_now(scratch):
    """Also of a profile into which little comes, whose ring is read only now and then."""
    path, calls, rounds = os.path.join(scratch, "now.collapsed"), 200, 12
    with Jvm("bench.Paths", 0, calls, 5, 10, 10) as jvm:
        good("start", "-e", "bench.Paths.leaf", jvm.pid)
        jvm.ask("once")  # all names are known from then on
        time.sleep(CALM)
        for i in range(2, rounds + 1):
            jvm.ask("once")
            good("dump", "-o", "collapsed", "-f", path, jvm.pid)
            seen = total(collapsed(read(path)))
            want(seen == i * calls, "%d calls, %d in the dump" % (i * calls, seen))
        prof("stop", "-o", "summary", jvm.pid)


def parts(place):
    return [f for f in os.listdir(place) if f.startswith(".jtop-prof-")]


def interrupted(jvm, scratch):
    """The process with the profile stops in the middle, and the user does not wait."""
    place = tempfile.mkdtemp(dir=scratch)
    path, pid, caught = os.path.join(place, "x.collapsed"), reader(jvm), False
    for _ in range(TRIES):
        with dump(jvm, "-o", "collapsed", "-f", path) as p:
            while p.poll() is None and not parts(place):
                pass
            os.kill(pid, signal.SIGSTOP)
            try:
                caught = bool(parts(place)) and p.poll() is None
                with contextlib.suppress(ProcessLookupError):
                    p.send_signal(signal.SIGINT)
                code = p.wait(WAIT)
            finally:
                os.kill(pid, signal.SIGCONT)
        want(not parts(place), "left behind: %r" % parts(place))
        if caught and code == -signal.SIGINT:
            break
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    want(caught, "each dump was faster than we are")
    want(not os.path.exists(path), "a part of a file")
    want("kept" in good("status", jvm.pid), "the profile is gone")
    to_file(jvm, scratch)


def killed(jvm, scratch):
    """The process with the profile is killed in the middle: no part of a file is left."""
    place = tempfile.mkdtemp(dir=scratch)
    path, pid = os.path.join(place, "x.collapsed"), reader(jvm)
    for _ in range(TRIES):
        with dump(jvm, "-o", "collapsed", "-f", path) as p:
            while p.poll() is None and not parts(place):
                pass
            os.kill(pid, signal.SIGSTOP)
            caught = bool(parts(place)) and p.poll() is None
            os.kill(pid, signal.SIGKILL if caught else signal.SIGCONT)
            code, said = p.wait(WAIT), p.stderr.read().decode()
        if caught:
            break
        os.unlink(path)
    want(caught, "each dump was faster than we are")
    want(code > 0 and said.count("\n") == 1, "exit %d: %s" % (code, said))
    want(not os.listdir(place), "left behind: %r" % os.listdir(place))


def full(jvm):
    for form in ("collapsed", "summary"):
        with open("/dev/full", "wb") as f:
            done = prof_to(f, "dump", "-o", form, jvm.pid)
        want(done.returncode > 0 and "No space left" in done.stderr, "%s: exit %d: %s" %
             (form, done.returncode, done.stderr))


def prof_to(f, *args):
    return subprocess.run([PROF, *map(str, args)], stdin=subprocess.DEVNULL, stdout=f,
                          stderr=subprocess.PIPE, text=True, timeout=WAIT, check=False)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, \
            Jvm("bench.Paths", 0, STACKS, 60, 100, 100) as jvm:
        good("start", "-e", "bench.Paths.leaf", jvm.pid)
        jvm.ask("once")
        prof("stop", "-o", "summary", jvm.pid)
        checks.run("to a file", to_file, jvm, scratch)
        checks.run("to pipes", to_pipes, jvm, scratch)
        checks.run("a slow pipe", slow_pipe, jvm, scratch)
        checks.run("memory", memory, jvm, scratch)
        checks.run("interrupted", interrupted, jvm, scratch)
        checks.run("at any moment", any_moment, jvm, scratch)
        checks.run("a full disk", full, jvm)
        checks.run("killed", killed, jvm, scratch)
        checks.run("up to now", up_to_now, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
