#!/usr/bin/env python3
"""A container's JVM from the beginning to the end: found by name, looked at, profiled in the
background, exported, killed. From the host, as root."""
import json
import os
import re
import subprocess
import sys
import tempfile

from contained import nothing_left, number, warm
from lib import (Checks, Prof, collapsed, difference, good, java_tool, occurrences, read, readers,
                 records, sampling, self_percent, total, wait_for, want, within)
from oci import Container, rootfs

SAMPLE = 2  # core/wire/record.h


def two_of_number_one():
    """Both are process 1 to themselves; each profile is of the one that was meant."""
    with Container("Shares", "single", userns=True) as one, \
            Container("Idle", named=True) as other:
        rows = {r["pid"]: r for r in json.loads(good("--list", "--json"))}
        want(rows[one.pid]["container"] and rows[other.pid]["container"], "not in containers")
        want((rows[one.pid]["name"], rows[other.pid]["name"]) == ("Shares", "Idle"), "names: %s" %
             rows)
        text = good("--list")
        want(re.search(r"^ *%d .* Shares \(container\)" % one.pid, text, re.M), text)
        with tempfile.TemporaryDirectory() as scratch:
            runs = [Prof(scratch, "-d", 1, "-e", "wall", "-t", "-o", "collapsed", c.pid)
                    for c in (one, other)]
            for run in runs:
                want(run.process.wait(60) == 0, run.stderr())
            for run, word, wrong in zip(runs, ("Shares.mixed", "Idle.main"), ("Idle", "Shares")):
                want(word in run.stdout() and wrong not in run.stdout(), run.stdout())
        for c in (one, other):
            nothing_left(c)


def screen():
    """Figures that are read from its files and its processes' numbers."""
    with Container("Shares", "threads", userns=True, named=True) as c:
        text = good("--batch", "-n", 2, "--refresh", "500ms", "-i", "1ms", c.pid)
        last = text[text.rindex("jtop-prof  Shares"):]
        want(re.search(r"pid %d\b" % c.pid, last), last)
        want(re.search(r"^heap \d+", last, re.M), "no performance data: " + last)
        want("Shares$A.a50" in last, last)
        text = good("--batch", "-n", 2, "--refresh", "500ms", "--view", "threads", c.pid)
        want(re.search(r"share-50", text), text)
        nothing_left(c)


def background(scratch):
    with Container("Shares", "single", userns=True, readonly=True, named=True) as c:
        warm(c)
        before = c.truth()
        good("start", "-i", "1ms", c.pid, cwd=scratch)
        wait_for(lambda: sum(c.truth().values()) - sum(before.values()) > 3e9, "work")
        good("dump", "-o", "collapsed", "-f", "dumped", c.pid, cwd=scratch)
        good("stop", "-f", "all.jfr", c.pid, cwd=scratch)
        truth = difference(before, c.truth())
        within(4.0, truth, self_percent(collapsed(read(os.path.join(scratch, "dumped")))))
        for name in ("dumped", "all.jfr"):
            st = os.stat(os.path.join(scratch, name))
            want(st.st_uid == os.geteuid(), "%s is uid %d's" % (name, st.st_uid))
        text = good("convert", "all.jfr", "-o", "collapsed", cwd=scratch)
        within(4.0, truth, self_percent(collapsed(text)))
        text = good("convert", "all.jfr", "-t", "-o", "collapsed", cwd=scratch)
        want("[mixed tid=%d]" % number(c) in text, "the thread's number")
        good("-d", "200ms", "-o", "collapsed", c.pid)  # a reader that waits goes
        nothing_left(c)
        want(not readers(c.pid), "a reader is left: %s" % readers(c.pid))


def killed(scratch):
    """A container's end, whatever was going on: what was sampled is there."""
    path = os.path.join(scratch, "killed.jtop")
    c = Container("Shares", "single", userns=True)
    try:
        warm(c)
        with Prof(scratch, "--record", path, "-d", 60, "-i", "1ms", "-o", "collapsed",
                  c.pid) as run:
            wait_for(lambda: sampling(c.pid), "the profile to begin")
            before = c.truth()
            wait_for(lambda: sum(c.truth().values()) - sum(before.values()) > 5e8, "work")
            subprocess.run(["runc", "kill", c.name, "KILL"], check=True)
            want(run.process.wait(30) == 0, "exit %s: %s" % (run.process.returncode, run.stderr()))
            shown = collapsed(run.stdout())
            recorded = sum(occurrences(r) for kind, r in records(path) if kind == SAMPLE)
            want(total(shown) >= 300, "%d samples" % total(shown))
            want(abs(recorded - total(shown)) <= 1, "%d recorded, %d shown" %
                 (recorded, total(shown)))
            want(any("Shares$A.a50" in f for f, _ in shown), "no names")
    finally:
        c.kill()


def recorder(scratch):
    """The JDK's own events in the same file: the JVM writes them where it can, we fetch them."""
    path = os.path.join(scratch, "sync.jfr")
    with Container("Shares", "single", userns=True) as c:
        good("-d", 2, "-i", "1ms", "--jfrsync", "+jdk.CPULoad+jdk.JVMInformation", "-f", path,
             c.pid)
        text = subprocess.run([java_tool("jfr"), "summary", path], stdout=subprocess.PIPE,
                              text=True, check=True).stdout
        def events(name):
            return sum(map(int, re.findall(r"^ %s +(\d+) " % re.escape(name), text, re.M)))
        want(events("jdk.JVMInformation") > 1, "none of the JDK's own: " + text)
        want(events("jdk.ExecutionSample") > 100, "none of ours: " + text)
        nothing_left(c)


def main():
    checks = Checks()
    rootfs()
    with tempfile.TemporaryDirectory() as scratch:
        checks.together(
            ("two JVMs that are process 1", two_of_number_one),
            ("on the screen", screen),
            ("start, dump, stop", background, scratch),
            ("killed while it is recorded", killed, scratch),
            ("with the JDK's recorder", recorder, scratch))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
