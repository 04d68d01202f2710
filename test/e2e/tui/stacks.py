#!/usr/bin/env python3
# timeout: 240
"""The page of stacks on the live screen: what a JVM with deadlocks answers, and a JVM that does not
answer.
"""
import contextlib
import os
import re
import shutil
import signal
import socket
import sys

from lib import Checks, Jvm, read, threads, want, wait_for
from plain import Plain
from tui import screen

DEADLOCK = r"deadlock: (mon-1 waits for mon-2, mon-2 waits for mon-1|" \
           r"mon-2 waits for mon-1, mon-1 waits for mon-2)"
ASKS = r"asking the JVM for its stacks"
TAKEN = r"^stacks of \d\d:\d\d:\d\d, lines "


def leave(s):
    s.keys("q")
    want(s.code() == 0, "exit code")


@contextlib.contextmanager
def attached(jvm, *arguments, rows=50):
    with screen(120, rows) as s:
        s.start(" ".join([*arguments, str(jvm.pid)]))
        s.wait(r"^> +\d+\.\d .*Stuck\.spin")
        yield s


@contextlib.contextmanager
def busy(jvm):
    """Its attach listener waits for somebody who says nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.connect("/tmp/.java_pid%d" % jvm.pid)
        yield


def all_threads(jvm):
    with attached(jvm) as s:
        s.keys("D")
        s.wait(TAKEN)
        s.wait(DEADLOCK)
        s.wait(r"deadlock: lock-\d waits for lock-\d, lock-\d waits for lock-\d")
        s.wait(r"^ +mon-1  BLOCKED \(on object monitor\)  tid \d+  DEADLOCK")
        s.keys("/")
        s.line("worker-4")
        s.keys("j", "j", "j", "j")
        s.wait(r"worker-4  BLOCKED \(on object monitor\)  tid \d+\n"
               r" +waits for <0x[0-9a-f]+> java\.lang\.Object, held by worker-3\n"
               r" +at Stuck\.want\(Stuck\.java:\d+\)")
        s.keys("s")
        name = os.path.basename(s.wait(r"written: (\S+(?:\n\S+)?\.txt)").group(1))
        want(re.fullmatch(r"jtop-prof-Stuck-%d-\d{8}-\d{6}\.txt" % jvm.pid, name), name)
        text = read(os.path.join(s.directory, name))
        want(re.match(r"\d{4}-\d\d-\d\d [\d:]+\nFull thread dump ", text), text[:200])
        want('"worker-4" #' in text and "Found 2 deadlocks." in text, "not all: " + text[-300:])
        s.keys("D")
        s.wait(TAKEN)
        s.keys("Escape")
        s.wait(r"^> +\d+\.\d .*Stuck\.spin")
        leave(s)


def one_thread(jvm):
    with attached(jvm) as s:
        s.keys("2", "/")
        s.line("worker-4")
        s.wait(r"^>.*worker-4")
        s.keys("D")
        s.wait(r"STACK OF THREAD worker-4")
        s.wait(r"^ +worker-4  BLOCKED.*\n +waits for .*, held by worker-3")
        want("waiter" not in s.text(), "another thread: " + s.text())
        s.keys("q")
        s.wait(r"^>.*worker-4")
        leave(s)


def silent(jvm):
    """The screen goes on while the JVM does not answer; Esc cancels, or the answer comes."""
    def samples():
        return int(re.search(r"samples ([\d,]+)", s.text()).group(1).replace(",", ""))
    with attached(jvm) as s:
        before = len(threads(s.pid()))
        with busy(jvm):
            s.keys("D")
            s.wait(ASKS)
            want(len(threads(s.pid())) > before, "no thread waits for the answer")
            first = samples()
            wait_for(lambda: samples() > first, "the screen to go on")
            s.wait(ASKS)
            s.keys("Escape")
            s.wait("cancelled: the JVM has not answered")
            wait_for(lambda: len(threads(s.pid())) == before, "the thread of the request to end")
            s.wait(r"^> +\d+\.\d .*Stuck\.spin")
            s.keys("D")
            s.wait(ASKS)
        s.wait(TAKEN)
        s.wait(DEADLOCK)
        s.keys("q")
        leave(s)


def stopped(jvm):
    with attached(jvm) as s:
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            s.keys("D")
            s.wait(r"JVM %d \(Stuck\) is stopped by a signal" % jvm.pid)
            s.keys("Escape")
            s.wait(r"^> +\d+\.\d .*Stuck\.spin")
            s.keys("2")
            s.wait(r"CPU%.*STATE")
        finally:
            os.kill(jvm.pid, signal.SIGCONT)
        s.keys("1", "D")
        s.wait(DEADLOCK)
        s.keys("q")
        leave(s)


def viewer(jvm):
    with attached(jvm), attached(jvm) as s:
        s.wait(r"sampled by \d+")
        s.keys("D")
        s.wait(DEADLOCK)
        s.keys("q")
        leave(s)


def plain(jvm):
    with Plain(jvm.pid) as p:
        page = p.send("D")
        want(re.search(DEADLOCK, page) and re.search(TAKEN, page, re.M), page)
        page = p.send("/worker-4")
        want(re.search(r"^worker-4  BLOCKED.*\n +waits for .*, held by worker-3$", page, re.M), page)
        want("SELF%" not in p.send("pgup"), "not on the page")
        want("Stuck.spin, self" in p.send("q"), "not back")
        want(p.end() == 0, "exit code")


def gone():
    with Jvm("Stuck") as jvm, attached(jvm, "--record", "r.jtop") as s:
        jvm.kill()
        s.wait("the JVM is gone")
        s.keys("D")
        s.wait("the JVM is gone: it has no stacks any more")
        leave(s)
        s.start("r.jtop")
        s.wait(r"RECORDING$")
        s.keys("D")
        s.wait("this is a recording: there is no JVM to ask for its stacks")
        leave(s)


def main():
    checks = Checks()
    if not shutil.which("tmux"):
        print("ok stacks on screen # SKIP needs tmux")
        return 0
    with Jvm("Stuck") as jvm:
        checks.run("all threads, deadlocks, a file", all_threads, jvm)
        checks.run("the thread of a row", one_thread, jvm)
        checks.run("a JVM that does not answer", silent, jvm)
        checks.run("a JVM that is stopped", stopped, jvm)
        checks.run("a viewer", viewer, jvm)
        checks.run("lines to be read aloud", plain, jvm)
        want(jvm.alive(), "the JVM died")
    checks.run("no JVM any more, and a recording", gone)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
