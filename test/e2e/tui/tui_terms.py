#!/usr/bin/env python3
# timeout: 240
"""The live screen on every kind of terminal, through resizes, and how it leaves them.

In tmux with TERM as named: what was sent piece by piece must be what sending everything at once
shows. On a pty: what is sent at the end, and what pasting does.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import Checks, Jvm, Skip, wait_for, want
from terminals import DRAWN, HOT, Pty, Tmux

LEFT = rb"\x1b\[\?1000l.*\x1b\[\?2004l.*\x1b\[\?25h.*\x1b\[\?1049l"


def on(term):
    with Jvm("Shares", "single") as j, Tmux() as s:
        s.start("-i 1ms %d" % j.pid, TERM=term)
        s.wait(DRAWN)
        want("alternate=1" in s.state() or term in ("linux", "vt100"), s.state())
        s.keys("p")
        s.wait("PAUSED|HELD")
        for cols, rows in ((80, 24), (160, 50), (40, 10), (1, 1), (30, 5), (80, 24)):
            s.resize(cols, rows)
            if cols >= 40:
                s.wait(HOT)
                for keys in (("2",), ("Down", "Down"), ("3",), ("e",), ("5",), ("1",)):
                    s.keys(*keys)
                s.wait(HOT)
                s.same_when_redrawn("%s at %dx%d" % (term, cols, rows))
        s.keys("C-z")
        s.wait("Stopped")
        want(s.state() == s.before[0], "stopped, and left changed: " + s.state())
        s.line("fg")
        wait_for(lambda: "Stopped" not in s.text() and HOT in s.text(), "the screen again")
        s.same_when_redrawn(term + " after fg")
        pid = s.pid()
        s.keys("q")
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the end")
        s.restored()


def killed(j, number):
    """Everything that was switched on is switched off, whatever it dies of."""
    with Pty(80, 24, "-i", "1ms", j.pid) as t:
        t.read_until(b"Shares")
        t.read(0.5)
        os.kill(t.pid, number)
        code, seen = t.wait()
        want(code == (0 if number == signal.SIGTERM else -number), "exit code %d" % code)
        want(re.search(LEFT, seen, re.S), "not all switched off: %r" % seen[-200:])
    wait_for(lambda: free(j), "the JVM to be free again")


def free(j):
    with Pty(80, 24, "--batch", "-n", "1", "--refresh", "300", j.pid) as t:
        return t.wait()[0] == 0


def pasted(j):
    """Pasted text is no command: it would quit, save, and worse."""
    with Pty(80, 24, "-i", "1ms", j.pid) as t:
        t.drawn(HOT.encode())
        t.write(b"\x1b[200~qqq\rq\x1b[201~")
        t.read(1)
        want(t.runs(), "it did what was pasted")
        t.write(b"?")
        t.read_until(b"keys")
        t.write(b"\x1bq")
        want(t.wait()[0] == 0, "exit code")


def synchronized(j):
    """Large frames are shown at once where the terminal can; elsewhere nothing is asked of it."""
    with Pty(160, 50, "-i", "1ms", j.pid, synchronizes=True) as t:
        t.drawn(HOT.encode())
        t.read(0.5)
        t.write(b"\x0c")
        seen = t.read(0.5)
        want(re.search(rb"\x1b\[\?2026h.*\x1b\[H\x1b\[2J.*\x1b\[\?2026l", seen, re.S),
             "not in one: %r" % seen[:100])
        t.write(b"q")
        want(t.wait()[0] == 0, "exit code")
    with Pty(80, 24, "-i", "1ms", j.pid, TERM="linux") as t:
        seen = t.drawn(HOT.encode())
        t.write(b"q")
        seen += t.wait()[1]
        want(b"2026" not in seen and b"?1000" not in seen, "unknown modes to TERM=linux")


def colours(j):
    for env, wanted, unwanted in (
            ({"COLORTERM": "truecolor", "TERM": "xterm-256color"}, rb"38;2;\d", rb"38;5;"),
            ({"TERM": "xterm-256color"}, rb"38;5;\d", rb"38;2;"),
            ({"TERM": "linux"}, rb"\x1b\[[\d;]*3[1-6]", rb"38;[25];|\b9[0-7]m"),
            ({"TERM": "vt100"}, rb"\x1b\[;?7m", rb"\b[349][0-7]m")):
        with Pty(160, 50, "--theme", "truecolor", "-i", "1ms", j.pid, **env) as t:
            seen = t.read_until(b"Shares") + t.read(2)
            want(re.search(wanted, seen), "no %r with %s" % (wanted, env))
            # "op" of the parting line is no use of colour
            want(not re.search(unwanted, seen), "%r with %s" % (unwanted, env))
            t.write(b"q")
            want(t.wait()[0] == 0, "exit code")


def own_entry(j):
    """A terminal type with keys of its own, and with colours given as 24 bits."""
    if not shutil.which("tic"):
        raise Skip("tic is not installed")
    with tempfile.TemporaryDirectory() as directory:
        source = ("odd-direct|a test,\n\tuse=xterm-256color,\n"
                  "\tRGB, colors#0x1000000, pairs#0x7FFF, kf1=\\E[777q, kdch1=\\E[P,\n"
                  "\tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d"
                  "\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,\n")
        subprocess.run(["tic", "-x", "-o", directory, "-"], input=source.encode(), check=True)
        with Pty(160, 50, "-i", "1ms", j.pid, TERM="odd-direct", TERMINFO=directory) as t:
            seen = t.drawn(HOT.encode())
            want(re.search(rb"38;2;\d", seen) and not re.search(rb"38[;:]5|38:", seen),
                 "colours that are no 24 bits")
            t.write(b"\x1b[777q")
            t.drawn(b"keys")
            t.write(b"\x1bq")
            want(t.wait()[0] == 0, "exit code")


def no_screen(j):
    with Pty(80, 24, j.pid, TERM="dumb") as t:
        code, seen = t.wait()
        want(code == 1 and b"this terminal cannot move its cursor (TERM=dumb)" in seen, repr(seen))


def unknown_type(j):
    """What is advised is not what was tried, and works here."""
    with Pty(80, 24, j.pid, TERM="nonesuch") as t:
        code, seen = t.wait()
        want(code == 1 and b"TERM=nonesuch is not known here: try TERM=xterm" in seen, repr(seen))


def slow_escape(j):
    """Keys cut in two on the way stay keys, and Esc alone is Esc."""
    with Pty(80, 24, "-i", "1ms", j.pid) as t:
        t.drawn(HOT.encode())
        t.write(b"?")
        t.read_until(b"keys")
        t.write(b"\x1b[")
        time.sleep(0.2)
        t.write(b"B")  # Down: not "Esc [ B"
        t.read(0.5)
        t.write(b"\x1b")
        t.drawn(HOT.encode())
        t.write(b"q")
        want(t.wait()[0] == 0, "exit code")


def main():
    checks = Checks()
    if not shutil.which("tmux"):
        print("ok tui_terms # SKIP tmux is not installed")
        return 0
    checks.together(*[("TERM=" + term, on, term) for term in
                      ("xterm-256color", "xterm", "screen", "screen-256color", "tmux-256color",
                       "linux", "vt100")])
    with Jvm("Shares", "single") as j:
        for number in (signal.SIGTERM, signal.SIGSEGV):
            checks.run("killed by " + number.name, killed, j, number)
        checks.run("pasted text is no command", pasted, j)
        checks.run("synchronized output", synchronized, j)
        checks.run("colours", colours, j)
        checks.run("keys in pieces", slow_escape, j)
        checks.run("a type that is not known", unknown_type, j)
        checks.run("a type that cannot move its cursor", no_screen, j)
        checks.run("an entry with its own keys and colours", own_entry, j)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
