"""Terminals for end-to-end scripts: tmux, which draws, and a pty, whose every byte is seen and which
answers what terminals answer. Not a program."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

from lib import PROF, WAIT, Wrong, wait_for, want

PROMPT = r"^\S*[$#] ?\n*\Z"
HOT = "a50"  # the hottest method of the workload Shares
DRAWN = r"^> +\d+\.\d .*%s" % HOT


def environment(**more):
    kept = {k: v for k, v in os.environ.items()
            if k not in ("TMUX", "NO_COLOR", "COLORTERM", "STY", "XDG_CONFIG_HOME")}
    kept.update(LC_ALL="C.UTF-8", HISTFILE="/dev/null", XDG_CONFIG_HOME="/nonexistent", **more)
    return kept


class Tmux:
    """A tmux server of its own with a shell in its only window."""

    def __init__(self, cols=80, rows=24):
        self.directory = tempfile.mkdtemp()
        self.socket = os.path.join(self.directory, "tmux")
        subprocess.run(["tmux", "-S", self.socket, "-f", "/dev/null", "-u", "new-session", "-d",
                        "-x", str(cols), "-y", str(rows), "-c", self.directory,
                        "exec bash --norc --noprofile -i"],
                       check=True, env=environment(), stdin=subprocess.DEVNULL)
        self.wait(PROMPT, "the shell")
        self.before = None

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
        return wait_for(lambda: re.search(pattern, self.text(), re.M),
                        "%s in %s" % (what or pattern, self.directory))

    def resize(self, cols, rows):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def state(self):
        """What a program may leave changed in a terminal."""
        return self.tmux("display", "-p", "alternate=#{alternate_on} caret=#{cursor_flag} "
                         "keypad=#{keypad_flag} keys=#{keypad_cursor_flag} "
                         "mouse=#{mouse_any_flag}#{mouse_sgr_flag}").strip()

    def stty(self):
        path = os.path.join(self.directory, "stty-%d" % time.monotonic_ns())
        self.line("stty -g > %s.new; mv %s.new %s" % (path, path, path))
        wait_for(lambda: os.path.exists(path), "stty")
        with open(path, encoding="ascii") as f:
            return f.read()

    def start(self, arguments, **env):
        """Runs the program from the shell."""
        self.before = self.state(), self.stty()
        self.line("clear")
        self.line(" ".join(["%s=%s" % pair for pair in env.items()] + [PROF, arguments]))

    def restored(self):
        self.wait(PROMPT)
        after = self.state(), self.stty()
        want(after == self.before,
             "the terminal is left changed: %s, was %s" % (after, self.before))

    def pid(self):
        """The program's, while it runs."""
        shell = self.tmux("display", "-p", "#{pane_pid}").strip()
        with open("/proc/%s/task/%s/children" % (shell, shell), encoding="ascii") as f:
            return int(f.read().split()[0])

    def same_when_redrawn(self, what):
        """What is on the screen is what sending everything again makes of it."""
        def settled():
            first = self.text("-e")
            self.keys("C-l")
            time.sleep(0.15)
            return self.text("-e") == first
        # The header's figures go on once a second, so one look may fall between two of them.
        wait_for(settled, "a screen that stays the same when it is redrawn: " + what)

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False,
                       stderr=subprocess.DEVNULL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Pty:
    """The program on a pseudo terminal that says "here I am" as terminals do."""

    def __init__(self, cols, rows, *arguments, synchronizes=False, **env):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(PROF, [PROF, *map(str, arguments)],
                      environment(**{"TERM": "xterm-256color", **env}))
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        self.synchronizes = synchronizes
        self.ended = False
        self.bytes = 0

    def answer(self, data):
        for _ in re.findall(rb"\x1b\[5n", data):
            os.write(self.fd, b"\x1b[0n")
        if self.synchronizes and b"\x1b[?2026$p" in data:
            os.write(self.fd, b"\x1b[?2026;2$y")

    def read(self, seconds, until=None):
        """What comes within this time, or until that is in it."""
        data, end = b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not (until and until in data):
            if not select.select([self.fd], [], [], left)[0]:
                break
            try:
                part = os.read(self.fd, 65536)
            except OSError:
                break
            self.answer(part)
            data += part
            self.bytes += len(part)
        return data

    def read_until(self, word, seconds=WAIT):
        data = self.read(seconds, word)
        want(word in data, "waited for %r in %r" % (word, data[-500:]))
        return data

    def drawn(self, word):
        """Waits until the word is on the screen. Of a changed row only what differs is sent, so the
        whole screen is asked for when the word does not come."""
        data, end = b"", time.monotonic() + WAIT
        while word not in data and time.monotonic() < end:
            data += self.read(1, word)
            if word not in data:
                self.write(b"\x0c")
        want(word in data, "waited for %r in %r" % (word, data[-500:]))
        return data

    def write(self, data):
        os.write(self.fd, data)

    def runs(self):
        self.ended = self.ended or os.waitpid(self.pid, os.WNOHANG)[0] != 0
        return not self.ended

    def wait(self):
        """Exit status within WAIT, and what came until then."""
        end, data = time.monotonic() + WAIT, b""
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            data += self.read(0.05)
            if pid:
                self.ended = True
                return os.waitstatus_to_exitcode(status), data
        raise Wrong("it does not end")

    def close(self):
        if not self.ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
