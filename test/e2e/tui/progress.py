#!/usr/bin/env python3
# timeout: 120
"""How far a profile is, on a terminal: one line that fits, changes, and is gone at the end. In a pipe,
with -q, and behind the shell's back there is none."""
import os
import re
import subprocess
import sys
import tempfile

from lib import PROF, WAIT, Checks, Jvm, good, wait_for, want
from tui import screen

BAR = r"^\[=*> *\]  \d+s left  [\d,]+ samples?(  [\d,]+/s)?$"
EITHER = r"^(\[=*> *\]  )?\d+s left  [\d,]+ samples?(  [\d,]+/s)?$"


def rows(s, pattern):
    return [row for row in s.text().splitlines() if re.match(pattern, row)]


def at_width(jvm, columns, pattern):
    """There is never more than one such line, and the last words stand where it was."""
    with screen(cols=columns, rows=20) as s:
        out = os.path.join(s.directory, "a.collapsed")
        s.start("-d 4 -i 1ms -f a.collapsed %d" % jvm.pid)
        s.wait(pattern, "the line")
        first = rows(s, pattern)
        want(len(first) == 1, "lines: %s" % s.text())
        wait_for(lambda: rows(s, pattern) not in ([], first), "that it changes")
        want(len(rows(s, pattern)) < 2, "lines: %s" % s.text())
        want(s.code() == 0, s.text())
        want(not rows(s, pattern) and "left" not in s.text(), "it stays: " + s.text())
        said = re.search(r"(?m)^a\.collapsed: ([\d,]+) samples?, [\d.]+ (B|KB)$", s.text())
        want(said, "what was written: " + s.text())
        counted = sum(int(line.split()[-1]) for line in open(out))
        want(int(said[1].replace(",", "")) == counted, "%s samples in the file" % counted)
        want(os.path.getsize(out) > 0, "no file")


def as_asprof(jvm, place):
    """Under that name another process profiles. The line is there all the same, Ctrl-C comes once, and
    a job in the background has none."""
    program = os.path.join(place, "asprof")
    os.symlink(PROF, program)
    with screen(cols=80, rows=20) as s:
        s.line("clear; %s -d 600 -i 1ms -f a.collapsed %d; echo over" % (program, jvm.pid))
        s.wait(r"left  [\d,]+ samples", "the line")
        s.keys("C-c")
        s.wait(r"(?m)^over$", "the end")
        want("Interrupted" in s.text() and not rows(s, EITHER), s.text())
        want(os.path.getsize(os.path.join(s.directory, "a.collapsed")) > 0, "no file")
        s.line("clear; %s -d 1500ms -f a.collapsed %d & wait; echo gone" % (program, jvm.pid))
        s.wait(r"(?m)^gone$", "the end")
        want(not rows(s, EITHER) and "left" not in s.text(), s.text())


def narrowed(jvm):
    """The window becomes smaller meanwhile."""
    with screen(cols=100, rows=20) as s:
        s.start("-d 600 -i 1ms -f a.svg %d" % jvm.pid)
        s.wait(r"left  [\d,]+ samples  [\d,]+/s", "the line")
        s.resize(40, 20)
        wait_for(lambda: rows(s, r"^(\[=*> *\]  )?\d+m\d\ds left  [\d,]+ samples?"), "a short line")
        s.keys("C-c")
        want(s.code() == 0, s.text())
        want(os.path.exists(os.path.join(s.directory, "a.svg")), "no file after Ctrl-C")
        want("left" not in s.text().splitlines()[-1], s.text())


def silent(jvm, options, redirect=""):
    with screen(cols=80, rows=20) as s:
        s.start("-d 1500ms %s -f a.collapsed %d %s" % (options, jvm.pid, redirect))
        seen = []
        path = os.path.join(s.directory, "code")
        wait_for(lambda: seen.append(s.text()) or os.path.exists(path), "the end")
        want(s.code() == 0, s.text())
        want(not any("left" in text for text in seen), "a line was drawn")
        return s.text(), s.directory and os.path.exists(os.path.join(s.directory, "a.collapsed"))


def quiet(jvm):
    text, written = silent(jvm, "-q")
    want(written and "Profiling" not in text and "a.collapsed:" not in text, text)


def in_a_pipe(jvm):
    text, written = silent(jvm, "", "2> said")
    want(written and "a.collapsed:" not in text, text)


def in_the_background(jvm):
    """A job of the shell's: the terminal is somebody else's."""
    with screen(cols=80, rows=20) as s:
        seen = []
        s.line("clear; %s -d 1500ms -f a.collapsed %d & wait; echo over" % (PROF, jvm.pid))
        wait_for(lambda: seen.append(s.text()) or re.search(r"(?m)^over", s.text()), "the end")
        want(not any("left" in text for text in seen), "a line was drawn")


def converted(jvm, scratch):
    """What is quick shows nothing."""
    record = os.path.join(scratch, "r.jtop")
    good("-d", 1, "--record", record, "-o", "summary", jvm.pid)
    with screen(cols=60, rows=20) as s:
        s.start("-f a.svg " + record)
        want(s.code() == 0 and "converting" not in s.text(), s.text())


def no_terminal_at_all(jvm):
    done = subprocess.run([PROF, "-d", "1", "-o", "summary", str(jvm.pid)], capture_output=True,
                          stdin=subprocess.DEVNULL, text=True, check=False, timeout=WAIT)
    want(done.returncode == 0 and not done.stderr, done.stderr)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm("Shares", "single") as jvm:
        check.run("80 columns", at_width, jvm, 80, BAR)
        check.run("40 columns", at_width, jvm, 40, EITHER)
        check.run("a window that shrinks, and Ctrl-C", narrowed, jvm)
        check.run("-q", quiet, jvm)
        check.run("stderr in a file", in_a_pipe, jvm)
        check.run("a job in the background", in_the_background, jvm)
        check.run("as asprof", as_asprof, jvm, scratch)
        check.run("a quick conversion", converted, jvm, scratch)
        check.run("no terminal", no_terminal_at_all, jvm)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
