#!/usr/bin/env python3
"""The picker on a real terminal (tmux), over JVMs of which some cannot be attached."""
import contextlib
import os
import re
import shutil
import signal
import stat
import sys
import tempfile

from lib import AGENT, PROF, Checks, Jvm, cpu_seconds, status, traces, wait_for, want
from tui import screen

STATE = "XDG_STATE_HOME=$PWD XDG_CONFIG_HOME=$PWD"


def row(pid, rest=""):
    return r"^.[ox* ] +%d .*%s" % (pid, rest)


def go_to(s, pid):
    """The cursor onto this row, by the filter."""
    s.keys("Escape") if "Esc clears" in s.text() else None
    s.keys("/")
    s.line(str(pid))
    s.wait(r"^>.* %d " % pid)


def order(s):
    return [int(m.group(1)) for m in re.finditer(r"^.[ox* ] +(\d+) ", s.text(), re.M)]


def cannot(s, pid, word, sentence):
    s.wait(row(pid, r"\[%s\]" % word), "the reason in the row")
    go_to(s, pid)
    s.wait(sentence, "the remedy")
    before = status(pid, "SigCgt"), cpu_seconds(pid)
    s.keys("Enter")
    s.wait(sentence, "the remedy after Enter")
    want("attaching" not in s.text(), "it tries to attach")
    want(status(pid, "SigCgt") == before[0] and not traces(pid), "the JVM was touched")
    s.keys("Escape")


def reasons():
    with contextlib.ExitStack() as stack:
        disabled = stack.enter_context(Jvm("Idle", options=["-XX:+DisableAttachMechanism"]))
        stopped = stack.enter_context(Jvm("Idle"))
        silent = stack.enter_context(Jvm("Idle", options=["-Xrs"]))
        os.kill(stopped.pid, signal.SIGSTOP)
        # With -Xrs it listens from its start on, until somebody tidies its /tmp up.
        os.unlink("/tmp/.java_pid%d" % silent.pid)
        s = stack.enter_context(screen(120, 30))
        s.start("", STATE)
        cannot(s, disabled.pid, "disabled", r"started with -XX:\+DisableAttachMechanism")
        cannot(s, stopped.pid, "stopped", r"kill -CONT %d" % stopped.pid)
        cannot(s, silent.pid, "-Xrs",
               r"listens, but its socket /tmp/\.java_pid%d was removed" % silent.pid)
        os.kill(stopped.pid, signal.SIGCONT)
        s.wait(row(stopped.pid, r" Idle"), "the JVM that goes on")
        wait_for(lambda: not re.search(row(stopped.pid, r"\[stopped\]"), s.text(), re.M),
                 "the reason to go")
        go_to(s, stopped.pid)
        s.keys("Enter")
        s.wait(r"^jtop-prof .*pid %d\b" % stopped.pid, "the JVM attached")
        s.keys("q")
        want(s.code() == 0, "exit code")
        # What was looked at comes first the next time, and is marked.
        s.start("", STATE)
        s.wait(r"^>\* .*Idle", "the recent ones")
        s.keys("q")
        want(s.code() == 0, "exit code")


def other_user():
    """nobody's JVM as daemon sees it; neither may look into root's."""
    with contextlib.ExitStack() as stack:
        place = tempfile.mkdtemp(dir="/tmp")
        stack.callback(shutil.rmtree, place)
        os.chmod(place, 0o755)
        for path in (PROF, AGENT):
            copy = shutil.copy(path, place)
            os.chmod(copy, os.stat(copy).st_mode | stat.S_IROTH | stat.S_IXOTH)
        classes = shutil.copytree(os.path.join(os.path.dirname(PROF), "java"),
                                  os.path.join(place, "java"))
        jvm = stack.enter_context(Jvm(
            "Idle", before=["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"],
            classes=classes))
        s = stack.enter_context(screen(120, 30))
        s.line("export PROF=%s" % os.path.join(place, os.path.basename(PROF)))
        s.line("clear; HOME=/nonexistent setpriv --reuid=daemon --regid=daemon --clear-groups "
               "$PROF; echo code $?")
        cannot(s, jvm.pid, "other user", r"as user\s+nobody\s+or\s+as\s+root")
        s.keys("q")
        s.wait(r"^code 0")


def sorting(busy):
    with Jvm("Idle") as idle, screen(120, 30) as s:
        s.start("", STATE)
        s.wait(row(idle.pid))
        s.wait(row(busy.pid))
        s.keys("g")
        first = order(s)
        want(first == sorted(first), "not by pid at first: %s" % first)
        for _ in range(4):
            s.keys("S")
        s.wait(r"by CPU%.*\n.*[▾v]CPU%", "the mark of what it is sorted by")
        wait_for(lambda: order(s).index(busy.pid) < order(s).index(idle.pid), "the busy one first")
        s.keys("r")
        wait_for(lambda: order(s).index(busy.pid) > order(s).index(idle.pid), "the idle one first")
        # A click on PID, with the mouse.
        at = s.text().split("\n")[1].index("PID")
        for end in "Mm":
            s.tmux("send-keys", "-l", "\x1b[<0;%d;2%s" % (at + 1, end))
        s.wait(r"JVMs, by PID")
        wait_for(lambda: order(s) == sorted(order(s)), "the order by pid")
        # Its CPU % and heap are of now.
        wait_for(lambda: float(re.search(r"^.[ox* ] +%d +\S+ +\S+ +(\d+\.\d)" % busy.pid, s.text(),
                                         re.M).group(1)) > 5, "its CPU %")
        s.keys("/")
        s.tmux("send-keys", "-l", "shares")
        wait_for(lambda: idle.pid not in order(s) and busy.pid in order(s), "the filter")
        s.keys("Escape")
        wait_for(lambda: idle.pid in order(s), "all of them")
        s.keys("Escape")
        want(s.code() == 0, "exit code")


def main():
    checks = Checks()
    with Jvm("Shares", "single") as busy:
        checks.run("sorted by key and by mouse, filtered", sorting, busy)
    checks.run("JVMs that cannot be attached say why; recent ones come first", reasons)
    if os.geteuid() == 0:
        checks.run("another user's JVM", other_user)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
