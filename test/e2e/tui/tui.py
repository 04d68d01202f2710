#!/usr/bin/env python3
# timeout: 300, tier: fast
"""The live screen in a real terminal (tmux), over a real JVM.

Prints "ok NAME" or "not ok NAME - reason" a check. JTOP_PROF names the program (else
BUILD/jtop-prof, else build/jtop-prof), JAVA_HOME the JDK. BUILD/java holds the workloads.
"""
import contextlib
import fcntl
import glob
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PROF = os.path.abspath(os.environ.get("JTOP_PROF", os.path.join(BUILD, "jtop-prof")))
JAVA = os.path.join(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
WAIT = 30  # seconds until something that should happen counts as not happening
HOT = "a50"  # the hottest method of the workload, half of its only busy thread
THREAD = "mixed"
DRAWN = b"Shares$"  # of a method's row; later ones may come in pieces: only what changes is sent
THOROUGH = os.environ.get("TIER") != "fast"
PROMPT = r"^\S*[$#] ?\n*\Z"

failures = 0


class Wrong(Exception):
    pass


def want(condition, reason):
    if not condition:
        raise Wrong(reason)


def check(name, function, *args):
    global failures
    try:
        function(*args)
        print("ok", name, flush=True)
    except Exception as e:  # a crash of a check is a failure of that check
        failures += 1
        reason = " ".join(str(e).split())[:2000] or type(e).__name__
        print("not ok %s - %s" % (name, reason), flush=True)


def wait_for(condition, what):
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.03)
    raise Wrong("waited %d s for %s" % (WAIT, what() if callable(what) else what))


class Java:
    """A running workload; it ends with its standard input."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [JAVA, *options, "-cp", os.path.join(BUILD, "java"), "Shares", "single"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.pid = self.process.pid
        self.process.stdin.write(b"truth\n")
        self.process.stdin.flush()
        while True:  # it answers: it runs
            line = self.process.stdout.readline()
            want(line, "the workload does not start")
            if line.strip() == b".":
                return

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def java(*options):
    j = Java(*options)
    try:
        yield j
    finally:
        j.close()


class Screen:
    """A tmux server of its own with a shell in its only window."""

    def __init__(self, cols=80, rows=24, env=None):
        self.directory = tempfile.mkdtemp()
        self.socket = os.path.join(self.directory, "tmux")
        environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        environment.update(LC_ALL="C.UTF-8", HISTFILE="/dev/null", **(env or {}))
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "-u", "new-session", "-d",
                        "-x", str(cols), "-y", str(rows), "-c", self.directory,
                        "exec bash --norc --noprofile -i"],
                       check=True, env=environment, stdin=subprocess.DEVNULL)
        self.wait(PROMPT, "the shell")

    def tmux(self, *args):
        return subprocess.run(["tmux", "-S", self.socket, *args], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout.decode()

    def text(self, *args):
        return self.tmux("capture-pane", "-p", *args)

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def line(self, text):
        self.tmux("send-keys", "-l", text)
        self.keys("Enter")

    def wait(self, pattern, what=None):
        """Waits until the screen matches; returns the match."""
        return wait_for(lambda: re.search(pattern, self.text(), re.M),
                        lambda: "%s; the screen is:\n%s" % (what or pattern, self.text()))

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def state(self):
        """What a program may leave changed in a terminal."""
        return self.tmux("display", "-p", "alternate=#{alternate_on} caret=#{cursor_flag} "
                         "keypad=#{keypad_flag} keys=#{keypad_cursor_flag} "
                         "mouse=#{mouse_any_flag}").strip()

    def stty(self):
        name = "stty-%d" % time.monotonic_ns()
        self.line("stty -g > %s; stty -a > %s.a" % (name, name))
        path = os.path.join(self.directory, name)
        wait_for(lambda: os.path.exists(path + ".a") and os.path.getsize(path + ".a"), "stty")
        with open(path, encoding="ascii") as f:
            return f.read()

    def start(self, command, env=""):
        """Runs the program from the shell; its exit code goes to a file."""
        self.before = self.state(), self.stty()
        self.line("clear")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(self.directory, "code"))
        self.line("%s %s %s; echo $? > code" % (env, PROF, command))

    def code(self):
        """The exit code, once it is there; the terminal must be as it was."""
        path = os.path.join(self.directory, "code")
        wait_for(lambda: os.path.exists(path) and os.path.getsize(path),
                 lambda: "the end; the screen is:\n" + self.text())
        self.wait(PROMPT)
        after = self.state(), self.stty()
        want(after == self.before, "the terminal is left changed: %s, was %s" %
             (after, self.before))
        with open(path, encoding="ascii") as f:
            return int(f.read())

    def pid(self):
        """The program's, while it runs."""
        shell = self.tmux("display", "-p", "#{pane_pid}").strip()
        with open("/proc/%s/task/%s/children" % (shell, shell), encoding="ascii") as f:
            return int(f.read().split()[0])

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def screen(*args, **kwargs):
    s = Screen(*args, **kwargs)
    try:
        yield s
    finally:
        s.close()


def picker_to_quit(j):
    with screen() as s:
        s.start("")
        s.wait(r"^.[ox* ] +%d .*Shares" % j.pid)
        s.keys("/")
        s.line(str(j.pid))
        s.wait(r"^>[o* ] +%d .*Shares" % j.pid)
        s.keys("Enter")
        s.wait(r"\[1 methods\]")
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.keys("q")
        want(s.code() == 0, "exit code")


def views(j):
    with screen() as s:
        s.start("-i 1ms %d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        text = s.text()
        for word in ("pid %d" % j.pid, "heap ", "gc ", "cpu ", "threads ", "walk ", "drops 0",
                     "failed ", "overhead ", "last 1m", "LIVE"):
            want(word in text, "no '%s' in:\n%s" % (word, text))
        s.keys("2")
        # The kernel's count and the samples say the same of who runs.
        m = s.wait(r"^> +\d+ +(\d+\.\d) +(\d+\.\d) +\d+ (run|sleep) +%s " % THREAD)
        want(float(m.group(2)) > 80, "share of %s: %s" % (THREAD, m.group(0)))
        for kind in ("GC", "JIT", "VM"):
            s.wait(r"^ +\(\d+\) +\S+ +\d+\.\d .* ▸ %s threads" % kind)
        want(not re.search(r"C2 Compiler|VM Periodic", s.text()), "single threads:\n" + s.text())
        s.keys("Enter")
        s.wait(r"\[1 methods\].* thread %s" % THREAD)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.keys("3")
        s.wait(r"\[3 call tree\] .* thread %s" % THREAD)
        s.keys("e")
        s.wait(r"[▾▸·] \S*%s" % HOT)
        s.keys("i")
        s.wait("BOTTOM-UP")
        s.wait(r"^> .*%s" % HOT)
        # Back the same way, and down the other: the tree stands on its head only where it was turned.
        s.wait("threads > methods of thread %s > call tree of thread %s" % (THREAD, THREAD))
        s.keys("Escape")
        s.wait(r"\[1 methods\].* thread %s" % THREAD)
        s.keys("Escape")
        s.wait(r"\[2 threads\](?!.* thread ).* LIVE")
        s.wait(r"^> +\d+ .* %s " % THREAD)
        s.keys("F12")
        s.wait(r"F12 does nothing here: \? lists the keys")
        s.keys("4")
        s.wait(r"\[4 locks\]")
        s.wait("locks are not sampled: Enter starts lock")
        s.keys("1")
        s.wait(r"\[1 methods\]")
        s.keys("\\")
        s.wait("^filter ")
        s.keys("A", "5", "0")
        s.wait(r"\\A50 +\d")
        s.keys("Enter", "h")
        s.wait("jtop-prof: keys")
        s.keys("Escape")
        s.wait(r"\[1 methods\]")
        s.keys("Escape")
        s.wait(r"\[1 methods\] [^%]* LIVE")
        s.keys("i", "2")
        s.keys("U", "Escape")
        s.wait("there is nothing to go back to: q quits")
        s.keys("q")
        want(s.code() == 0, "exit code")


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pause_holds(j):
    with screen() as s:
        s.start("--refresh 100 %d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.keys("p")
        s.wait("PAUSED")
        s.wait(r"until \d\d:\d\d:\d\d|\d\d:\d\d:\d\d\u2013\d\d:\d\d:\d\d")
        before = s.text()
        busy = cpu_seconds(j.pid)
        wait_for(lambda: cpu_seconds(j.pid) - busy > 2, "the JVM to go on")
        want(s.text() == before, "the screen went on:\n%s\n%s" % (before, s.text()))
        s.keys("p")
        s.wait("LIVE")
        wait_for(lambda: s.text().splitlines()[4:22] != before.splitlines()[4:22], "rows to go on")
        s.keys("q")
        want(s.code() == 0, "exit code")


def saved(s):
    """The SVG that the status line names."""
    m = s.wait(r"written: (\S+(?:\n\S+)?\.svg)")
    path = os.path.join(s.directory, os.path.basename(m.group(1)))
    want(glob.glob(os.path.join(s.directory, "*.svg")) == [path], "not the only file: " + path)
    return path


def svg(j):
    with screen(160, 50) as s:
        s.start("-i 1ms %d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.keys("s")
        path = saved(s)
        want(re.fullmatch(r"jtop-prof-Shares-%d-\d{8}-\d{6}\.svg" % j.pid, os.path.basename(path)),
             path)
        tree = xml.etree.ElementTree.parse(path)
        want(tree.getroot().tag.endswith("svg"), "no SVG")
        with open(path, encoding="utf-8") as f:
            want(HOT in f.read(), "no %s in it" % HOT)
        s.keys("q")
        want(s.code() == 0, "exit code")
        want(not [n for n in os.listdir(s.directory) if ".tmp" in n], "a temporary file is left")


def resizes(j):
    with screen() as s:
        s.start("%d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.resize(160, 50)
        s.wait(r"  classes ")
        s.resize(40, 10)
        s.wait(r"^Enter callers  s SVG")
        want("too small" not in s.text(), "40x10 is enough")
        s.resize(30, 5)
        s.wait("have 30x5")
        s.resize(1, 1)
        s.resize(80, 24)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        want(len(re.findall("METHOD", s.text())) == 1, "left-overs:\n" + s.text())
        s.keys("q")
        want(s.code() == 0, "exit code")


def stop_and_continue(j):
    with screen() as s:
        s.start("%d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        pid = s.pid()
        s.keys("C-z")
        s.wait(r"Stopped")
        want(s.state() == s.before[0], "not given back: " + s.state())
        s.line("fg")
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        # From outside, without a chance to tidy up first: drawn anew all the same.
        os.kill(pid, signal.SIGSTOP)
        s.wait(r"Stopped")
        s.keys("C-u")  # the terminal's answer to the last frame may have come to the shell
        s.line("fg")
        s.wait(r"\[1 methods\]")
        wait_for(lambda: "Stopped" not in s.text(), "the screen to be drawn anew")
        s.keys("q")
        wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the end")
        s.wait(PROMPT)
        want((s.state(), s.stty()) == s.before, "the terminal is left changed")


def dies_tidily(j, number, code):
    with screen() as s:
        s.start("%d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        want("alternate=1" in s.state(), "no screen of its own: " + s.state())
        os.kill(s.pid(), number)
        want(s.code() == code, "exit code is not %d" % code)
    # Who crashed could not take leave of the JVM: it lets go by itself.
    wait_for(lambda: frames(j, 1).returncode == 0, "the JVM to be free again")


def jvm_dies(name):
    with java() as j, screen(120, 24) as s:
        s.start("-i 1ms %d" % j.pid)
        # So many that the hottest path is the one it ought to be.
        s.wait(r"samples \d+,\d{3}")
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        j.process.kill()
        j.process.wait()
        s.wait(r"JVM GONE$")
        s.wait(r"the JVM is gone")
        want(HOT in s.text(), "the rows are gone")
        s.keys("3", "e")
        s.wait(r"[▾▸·] \S*%s" % HOT)
        s.keys("s")
        with open(saved(s), encoding="utf-8") as f:
            want(HOT in f.read(), "no %s in the picture" % HOT)
        s.keys("q")
        want(s.code() == 0, name)


def stands_still(_):
    """A JVM that somebody stopped is no idle one; and who leaves it, leaves a clean prompt."""
    with java() as j, screen(120, 40) as s:
        s.start("-i 1ms %d" % j.pid)
        s.wait(r"^> +\d+\.\d .*%s" % HOT)
        s.wait(r" LIVE$")
        os.kill(j.pid, signal.SIGSTOP)
        try:
            s.wait(r" JVM STOPPED$")
            s.wait(r"JVM %d is stopped by a signal: kill -CONT %d" % (j.pid, j.pid))
            s.keys("8")
            s.wait(r"state +no samples come in: the JVM is stopped by a signal")
            os.kill(j.pid, signal.SIGCONT)
            s.wait(r" LIVE$")
            s.wait(r"state +samples come in")
            os.kill(j.pid, signal.SIGSTOP)
            s.wait(r" JVM STOPPED$")
            pid = s.pid()
            s.keys("q")
            wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the end")
            s.wait(PROMPT)
            time.sleep(0.5)  # what came late would be seen behind it
            last = s.text().rstrip("\n").splitlines()[-1]
            want(re.search(PROMPT, last), "something is left at the prompt: " + last)
        finally:
            os.kill(j.pid, signal.SIGCONT)


def attach_given_up(_):
    """The JVM answers another one, who says nothing: Ctrl-C ends the waiting."""
    with java() as j, screen(100, 24) as s:
        want(frames(j, 1).returncode == 0, "a first frame")
        with socket.socket(socket.AF_UNIX) as other:
            other.connect("/tmp/.java_pid%d" % j.pid)
            s.start("%d" % j.pid)
            s.wait(r"attaching to \S*Shares")
            pid = s.pid()
            s.keys("C-c")
            wait_for(lambda: not os.path.exists("/proc/%d" % pid), "the end")
            s.wait(PROMPT)
            want("did not answer" not in s.text(), "it waited:\n" + s.text())
            want((s.state(), s.stty()) == s.before, "the terminal is left changed")


def attach_refused(_):
    with java("-XX:+DisableAttachMechanism") as j, screen(100, 24) as s:
        s.start("")
        s.wait(r"%d .*Shares" % j.pid)
        s.keys("/")
        s.line(str(j.pid))
        s.wait(r"^>x +%d " % j.pid)
        s.keys("Enter")
        s.wait(r"DisableAttachMechanism")
        want(re.search(r"^>x +%d " % j.pid, s.text(), re.M), "not in the list any more")
        s.keys("Escape")
        s.wait(r"^.[ox* ] +\d+ ")
        s.keys("q")
        want(s.code() == 0, "exit code")
        s.start("%d" % j.pid)
        want(s.code() == 1, "exit code with the JVM given")
        want("DisableAttachMechanism" in s.text(), "no reason:\n" + s.text())


def unknown_terminal(j):
    with screen() as s:
        s.start("%d" % j.pid, env="TERM=nonesuch")
        want(s.code() == 1, "exit code")
        want("TERM=nonesuch" in s.text(), "no reason:\n" + s.text())


class Pty:
    """The program on a pseudo terminal whose every byte is seen."""

    def __init__(self, cols, rows, *arguments, **env):
        environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        environment.update(LC_ALL="C.UTF-8", TERM="xterm-256color")
        environment.update(env)
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(PROF, [PROF, *arguments], environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.ended = False

    def read(self, seconds):
        """What comes within this time."""
        data, end = b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                data += os.read(self.fd, 65536)
            except OSError:
                break
        return data

    def read_until(self, word):
        seen = b""
        end = time.monotonic() + WAIT
        while word not in seen:
            want(time.monotonic() < end, "waited for %s in %r" % (word, seen[-500:]))
            seen += self.read(0.1)
        return seen

    def wait(self):
        """Exit status within WAIT; what comes is thrown away."""
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.ended = True
                return os.waitstatus_to_exitcode(status)
            self.read(0.05)
        raise Wrong("it does not end")

    def close(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


@contextlib.contextmanager
def terminal(*args, **kwargs):
    t = Pty(*args, **kwargs)
    try:
        yield t
    finally:
        t.close()


def few_bytes(j):
    """A steady screen: what changes is sent, and no more."""
    with terminal(160, 50, "-i", "1ms", str(j.pid)) as t:
        t.read_until(DRAWN)
        first = len(t.read(3))
        steady = t.read(5)
        print("# %d bytes in the first seconds, then %d bytes/s" % (first, len(steady) / 5))
        want(b"\x1b[2J" not in steady and b"\x1b[H\x1b[J" not in steady, "it clears the screen")
        want(len(steady) < 5 * 4096, "%d bytes in 5 s" % len(steady))
        t.read(0)
        os.write(t.fd, b"q")
        want(t.wait() == 0, "exit code")


def no_colour(j):
    for env in ({"TERM": "vt100"}, {"NO_COLOR": "1"}):
        with terminal(80, 24, str(j.pid), **env) as t:
            seen = t.read_until(DRAWN) + t.read(0.5)
            want(not re.search(rb"\x1b\[[\d;]*\b(?:3[0-7]|4[0-7]|9[0-7])\b[\d;]*m", seen),
                 "colours with %s" % env)
            want(b"\x1b[7m" in seen or b";7m" in seen, "no reverse video with %s" % env)
            os.write(t.fd, b"q")
            want(t.wait() == 0, "exit code")


def plain_ascii(j):
    with terminal(80, 24, str(j.pid), LC_ALL="C") as t:
        seen = t.read_until(DRAWN)
        os.write(t.fd, b"3e")
        seen += t.read(1)
        want(max(seen) < 0x80, "something beyond ASCII was sent")
        os.write(t.fd, b"q")
        want(t.wait() == 0, "exit code")


def stopped_terminal(j):
    """Output that nobody takes must not hold up the end."""
    with terminal(80, 24, "--refresh", "50", str(j.pid)) as t:
        t.read_until(DRAWN)
        termios.tcflow(t.fd, termios.TCOOFF)
        time.sleep(1)
        os.kill(t.pid, signal.SIGTERM)
        end = time.monotonic() + WAIT
        while time.monotonic() < end and not t.ended:
            pid, _ = os.waitpid(t.pid, os.WNOHANG)
            t.ended = pid != 0
            time.sleep(0.02)
        want(t.ended, "it waits for the terminal")


def hang_up(j):
    t = Pty(80, 24, str(j.pid))
    t.read_until(DRAWN)
    os.close(t.fd)
    end = time.monotonic() + WAIT
    while time.monotonic() < end and not t.ended:
        t.ended = os.waitpid(t.pid, os.WNOHANG)[0] != 0
        time.sleep(0.02)
    if not t.ended:
        os.kill(t.pid, signal.SIGKILL)
        os.waitpid(t.pid, 0)
        raise Wrong("it goes on without its terminal")


def frames(j, number, *more):
    env = dict(os.environ, COLUMNS="100", LC_ALL="C.UTF-8")
    return subprocess.run([PROF, "--batch", "-n", str(number), "--refresh", "300", *more,
                           str(j.pid)], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=WAIT, check=False)


def batch(j):
    done = frames(j, 3)
    text = done.stdout.decode()
    want(done.returncode == 0 and not done.stderr, "exit code, or %r" % done.stderr)
    parts = text.split("\n\n")
    want(len(parts) == 3, "%d frames:\n%s" % (len(parts), text))
    for f in parts:
        want("pid %d" % j.pid in f and "METHOD" in f, "not a frame:\n" + f)
    want(HOT in parts[-1], "no %s:\n%s" % (HOT, parts[-1]))
    want("\x1b" not in text and max(map(len, text.splitlines())) <= 100, "not 100 plain columns")
    head = subprocess.run("%s --batch --refresh 100 %d | head -n 1" % (PROF, j.pid), shell=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=WAIT, check=False)
    want(head.stdout.startswith(b"jtop-prof") and not head.stderr, "head: %r" % (head,))


def main():
    if not shutil.which("tmux"):
        print("ok tui # SKIP tmux is not installed")
        return 0
    with java() as j:
        check("picker, attach, quit", picker_to_quit, j)
        check("views and keys", views, j)
        check("pause holds the picture", pause_holds, j)
        check("svg of the screen", svg, j)
        check("resizes", resizes, j)
        check("stop and continue", stop_and_continue, j)
        for name, code in (("SIGINT", 0), ("SIGTERM", 0), ("SIGSEGV", 139), ("SIGHUP", 0),
                           ("SIGABRT", 134), ("SIGQUIT", 131))[: None if THOROUGH else 3]:
            check("restored after " + name, dies_tidily, j, getattr(signal, name), code)
        check("unknown terminal type", unknown_terminal, j)
        check("few bytes", few_bytes, j)
        check("no colour", no_colour, j)
        check("no UTF-8", plain_ascii, j)
        check("stopped terminal", stopped_terminal, j)
        check("terminal hangs up", hang_up, j)
        check("batch frames", batch, j)
    check("the JVM dies", jvm_dies, "exit code")
    if THOROUGH:
        check("a stopped JVM", stands_still, None)
    check("attach given up", attach_given_up, None)
    check("attach refused", attach_refused, None)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
