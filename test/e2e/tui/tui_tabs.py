#!/usr/bin/env python3
# timeout: 240
"""Several JVMs in tabs on a real terminal (tmux), and what leaves the screen from there: a pipe, the
clipboard, a recording; and the mouse.
"""
import glob
import os
import re
import signal
import subprocess
import sys

from lib import PROF, Checks, Jvm, sampling, status, traces, wait_for, want
from tui import PROMPT, screen

STATE = "XDG_STATE_HOME=$PWD XDG_CONFIG_HOME=$PWD"


def up(s, jvm, what="the screen of the JVM"):
    s.wait(r"^jtop-prof .*pid %d\b" % jvm.pid, what)


def click(s, row, col, button=0):
    """A press and its release, as a terminal reports them (SGR); row and col from 0."""
    for end in "Mm":
        s.tmux("send-keys", "-l", "\x1b[<%d;%d;%d%s" % (button, col + 1, row + 1, end))


def row_of(s, pattern):
    return next(i for i, line in enumerate(s.text().split("\n")) if re.search(pattern, line))


def choose(s, jvm):
    s.wait(r"^.[ox* ] +%d " % jvm.pid, "the JVM in the list")
    s.keys("/")
    s.line(str(jvm.pid))
    s.wait(r"^>.* %d " % jvm.pid)
    s.keys("Enter")


def tabs(one, two):
    with screen(120, 30) as s:
        s.start("", STATE)
        choose(s, one)
        up(s, one)
        s.keys("C-t")
        s.wait(r"^.o +%d " % one.pid, "the mark of the open one")
        s.keys("Escape")
        up(s, one, "back from the picker")
        s.keys("C-t")
        choose(s, two)
        up(s, two)
        s.wait(r"^ \S+ %d.*\[\S+ %d\]" % (one.pid, two.pid), "the line of tabs")
        want(sampling(one.pid) and sampling(two.pid), "one of them is not sampled")
        s.keys("C-n")
        up(s, one, "the next tab")
        s.keys("C-p")
        up(s, two, "the tab before")
        s.keys("C-t")
        choose(s, one)
        up(s, one, "the tab that was open already")
        want(len(re.findall(r"\b(?:%d|%d)\b" % (one.pid, two.pid), s.text().split("\n")[0])) == 2,
             "not two tabs: " + s.text().split("\n")[0])
        s.keys("C-w")
        up(s, two, "the tab that is left")
        wait_for(lambda: not traces(one.pid), "the JVM of the closed tab to be let go")
        want(sampling(two.pid), "the other one is not sampled any more")
        s.keys("C-w")
        s.wait(r"this is the only JVM: q detaches and quits", "the last one to stay")
        want(sampling(two.pid), "the last one is left all the same")
        s.keys("q")
        want(s.code() == 0, "exit code")
        wait_for(lambda: not traces(two.pid), "the last JVM to be let go")


def end_of_one(two):
    """A JVM that ends behind another is marked; q leaves all."""
    with Jvm("Shares", "single") as one, screen(120, 30) as s:
        s.start(str(one.pid), STATE)
        up(s, one)
        s.keys("C-t")
        choose(s, two)
        up(s, two)
        one.kill()
        s.wait(r"^ \S+ %d ended" % one.pid, "the mark of the JVM that ended")
        s.keys("q")
        want(s.code() == 0, "exit code")
        wait_for(lambda: not traces(two.pid), "the JVM to be let go")


def out(jvm):
    with screen(120, 30) as s:
        s.tmux("set", "-g", "set-clipboard", "on")
        s.start(str(jvm.pid), STATE)
        s.wait(r"^> +\d+\.\d .*Shares")
        s.keys("|")
        s.wait(r"pipe to:")
        s.line("cat > table; grep -c Shares; exit 3")
        s.wait(r"exit 3: press a key", "the command's end")
        with open(os.path.join(s.directory, "table"), encoding="utf-8") as f:
            table = f.read()
        want(re.search(r"SELF%.*\n.*\d+\.\d .*Shares", table), "the table: %r" % table[:200])
        s.keys("x")
        s.wait(r"exit 3: exit 3", "the screen after the command")
        up(s, jvm)
        s.keys("|")
        s.line("sleep 60")
        wait_for(lambda: subprocess.run(["pgrep", "-P", str(s.pid())], check=False,
                                        stdout=subprocess.DEVNULL).returncode == 0, "the command")
        s.keys("C-c")
        s.wait(r"signal 2|exit 130", "Ctrl-C to end the command, not us")
        s.keys("x")
        up(s, jvm)
        s.keys("y")
        s.wait(r"copied to the terminal's clipboard")
        wait_for(lambda: "Shares" in s.tmux("show-buffer"), "the clipboard")
        s.keys("R")
        s.wait(r"recording from now on.*\.jtop", "the whole name of the file")
        s.wait(r"%d REC" % jvm.pid, "the mark of a recording")

        def count():
            return int(s.wait(r"samples ([\d,]+)").group(1).replace(",", ""))
        before = count()
        wait_for(lambda: count() > before + 50, "samples to record")
        s.keys("R")
        s.wait(r"^recorded: .*\.jtop")
        s.keys("q")
        want(s.code() == 0, "exit code")
        path, = glob.glob(os.path.join(s.directory, "*.jtop"))
        want("REC" not in s.text(), "the recording goes on")
        done = subprocess.run([PROF, "-o", "collapsed", path], stdout=subprocess.PIPE, text=True,
                              check=False)
        want(done.returncode == 0 and "Shares" in done.stdout,
             "the recording: exit %d, %r" % (done.returncode, done.stdout[:200]))


def terminal_of_a_command(jvm):
    """A command has the terminal: it reads from it, and Ctrl-Z stops it together with us."""
    with screen(120, 30) as s:
        s.start(str(jvm.pid), STATE)
        s.wait(r"^> +\d+\.\d .*Shares")
        s.keys("|")
        s.line("read a < /dev/tty; echo got $a")
        wait_for(lambda: processes("read a < .dev.tty; echo got"), "the command")
        s.line("words")
        s.wait(r"got words", "what the command read")
        s.keys("x")
        up(s, jvm)
        s.keys("|")
        s.line("sleep 4712.%d; echo not this" % os.getpid())
        wait_for(lambda: processes("sleep 4712.%d" % os.getpid()), "the command")
        s.keys("C-z")
        s.wait(r"Stopped", "the shell's prompt")
        s.line("fg")
        wait_for(lambda: not stopped(processes("sleep 4712.%d" % os.getpid())), "the command to go on")
        s.keys("C-c")
        s.wait(r"signal 2|exit 130", "Ctrl-C in the command")
        s.keys("x")
        up(s, jvm)
        pid = s.pid()
        s.keys("q")
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the end")
        s.wait(PROMPT)
        want((s.state(), s.stty()) == s.before, "the terminal is left changed")


def processes(command):
    """Pids of those with this in their command line, but for us."""
    done = subprocess.run(["pgrep", "-f", "--", command], stdout=subprocess.PIPE, text=True,
                          check=False)
    return [int(p) for p in done.stdout.split()]


def stopped(pids):
    return [p for p in pids if status(p, "State").startswith("T")]


def end_in_a_command(jvm):
    """Asked to end while a command runs: all of it ends, also what takes no SIGTERM."""
    for number, command in ((signal.SIGTERM, "sleep 4713.%d; echo on" % os.getpid()),
                            (signal.SIGHUP, "trap '' TERM; sleep 4714.%d; sleep 4714.%d" %
                             (os.getpid(), os.getpid()))):
        with screen(120, 30) as s:
            s.start(str(jvm.pid), STATE)
            s.wait(r"^> +\d+\.\d .*Shares")
            s.keys("|")
            s.line(command)
            mark = re.search(r"sleep \d+\.\d+", command).group(0)
            wait_for(lambda: len(processes("^" + mark)) == 1, "the command")
            os.kill(s.pid(), number)
            want(s.code() == 0, "exit code")
            want(not processes(mark), "left running: %s" % processes(mark))
    wait_for(lambda: not traces(jvm.pid), "the JVM to be let go")


def mouse(jvm):
    with screen(120, 30) as s:
        s.start(str(jvm.pid), STATE)
        s.wait(r"^> +\d+\.\d .*Shares")
        wait_for(lambda: s.tmux("display", "-p", "#{mouse_any_flag}").strip() == "1", "the mouse")
        row = row_of(s, r"\[1 methods\]")
        click(s, row, s.text().split("\n")[row].index("2 threads") + 2)
        s.wait(r"\[2 threads\]", "a click on a tab")
        s.keys("1")
        s.wait(r"^> +\d+\.\d .*Shares")
        click(s, row_of(s, r"^> +\d+\.\d ") + 1, 30)
        s.wait(r"^ .*\n> +\d+\.\d ", "a click on the second row")
        s.keys("M")
        s.wait(r"the terminal uses the mouse")
        wait_for(lambda: s.tmux("display", "-p", "#{mouse_any_flag}").strip() == "0", "no mouse")
        s.keys("q")
        want(s.code() == 0, "exit code")
        s.start("--no-mouse %d" % jvm.pid, STATE)
        s.wait(r"^> +\d+\.\d .*Shares")
        want(s.tmux("display", "-p", "#{mouse_any_flag}").strip() == "0", "--no-mouse")
        s.keys("q")
        want(s.code() == 0, "exit code")


def main():
    checks = Checks()
    with Jvm("Shares", "single") as one, Jvm("Shares", "single") as two:
        checks.run("JVMs open, switch and close in tabs", tabs, one, two)
        checks.run("a JVM that ends in a hidden tab is marked", end_of_one, two)
        checks.run("pipe, clipboard and recording", out, one)
        checks.run("a command has the terminal", terminal_of_a_command, one)
        checks.run("asked to end while a command runs", end_in_a_command, one)
        checks.run("the mouse, and without it", mouse, one)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
