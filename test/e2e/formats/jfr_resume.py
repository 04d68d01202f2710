#!/usr/bin/env python3
# timeout: 180
"""A JFR file goes on after stop and resume: it has what the profile has, in one chunk more, and what
was moved away meanwhile is left alone. A pipe is written at the end, and not opened before."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from lib import Checks, Jvm, good, java_tool, wait_for, want


def summary(path):
    """How many samples, and how many chunks."""
    tool = java_tool("jfr") if shutil.which(java_tool("jfr")) else "jfr"
    done = subprocess.run([tool, "summary", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                          check=False)
    want(done.returncode == 0, done.stdout[-300:])
    return (int(re.search(r"^ jdk\.ExecutionSample +(\d+)", done.stdout, re.M).group(1)),
            int(re.search(r"Chunks: (\d+)", done.stdout).group(1)))


def work(jvm, seconds):
    end = sum(jvm.truth().values()) + seconds * 1e9
    wait_for(lambda: sum(jvm.truth().values()) >= end, "%g s of work" % seconds)


def counted(pid):
    return int(re.search(r"Total samples +: (\d+)", good("dump", "-o", "summary", pid)).group(1))


def goes_on(place):
    path, kept = os.path.join(place, "x.jfr"), os.path.join(place, "kept.jfr")
    with Jvm("Shares", "single") as jvm:
        good("start", "-i", "1ms", "-f", path, jvm.pid)
        work(jvm, 1)
        for chunks in (1, 2, 3):
            good("stop", jvm.pid)
            got = summary(path)
            want(got == (counted(jvm.pid), chunks), "%s of %d" % (got, counted(jvm.pid)))
            good("resume", jvm.pid)
            work(jvm, 0.5)
        good("stop", jvm.pid)
        os.rename(path, kept)
        was = summary(kept)
        good("resume", jvm.pid)
        work(jvm, 0.5)
        good("stop", jvm.pid)
        want(summary(kept) == was, "%s, was %s" % (summary(kept), was))
        want(summary(path) == (counted(jvm.pid), 1) and summary(path)[0] > was[0],
             "%s of %d" % (summary(path), counted(jvm.pid)))
        good("-d", "200ms", "-o", "collapsed", jvm.pid)  # the reader gives way


def to_a_pipe(place):
    path, copy = os.path.join(place, "pipe.jfr"), os.path.join(place, "copy.jfr")
    os.mkfifo(path)

    def drain():
        with open(path, "rb") as pipe, open(copy, "wb") as to:
            shutil.copyfileobj(pipe, to)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    with Jvm("Shares", "single") as jvm:
        good("-d", "1", "-e", "cpu", "-i", "5ms", "-f", path, jvm.pid)
    reader.join(30)
    want(not reader.is_alive(), "no end of the pipe")
    got, chunks = summary(copy)
    want(got > 5 and chunks == 1, "%d samples, %d chunks" % (got, chunks))


def main():
    check = Checks()
    with contextlib.ExitStack() as stack:
        place = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(2)]
        check.run("stop, resume, stop", goes_on, place[0])
        check.run("a pipe", to_a_pipe, place[1])
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
