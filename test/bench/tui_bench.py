#!/usr/bin/env python3
"""What looking costs: the program's own CPU while it shows a JVM that is sampled 1,000 times a
second, its memory, and the bytes it sends; at 160x50 and one refresh a second, view by view."""
import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import Jvm, PROF, memory_kb, threads  # noqa: E402

SETTLE, SECONDS = 8, 10


def cpu_seconds(pid):
    """CPU time of all threads that live now (the process's own figure counts in ticks)."""
    ns = 0
    for tid in threads(pid):
        with contextlib.suppress(OSError):
            with open("/proc/%d/task/%d/schedstat" % (pid, tid), encoding="ascii") as f:
                ns += int(f.read().split()[0])
    return ns / 1e9


class Screen:
    """The live screen of a JVM, in a terminal of its own."""

    def __init__(self, pid):
        self.terminal, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8",
                   XDG_CONFIG_HOME="/nonexistent")
        self.process = subprocess.Popen([PROF, "-i", "1ms", str(pid)], stdin=secondary,
                                        stdout=secondary, env=env, start_new_session=True)
        os.close(secondary)

    def read_for(self, seconds):
        """Bytes that came meanwhile."""
        end, n = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.1)[0]:
                n += len(os.read(self.terminal, 65536))
        return n

    def press(self, key):
        os.write(self.terminal, key.encode())

    def stretch(self, seconds):
        """(percent of one core, bytes a second, MB)"""
        before, began = cpu_seconds(self.process.pid), time.monotonic()
        sent = self.read_for(seconds)
        took = time.monotonic() - began
        return (100 * (cpu_seconds(self.process.pid) - before) / took, sent / took,
                memory_kb(self.process.pid) / 1024)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.press("q")
            self.read_for(2)
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


def main():
    with Jvm("Shares") as j, Screen(j.pid) as screen:
        screen.read_for(SETTLE)
        for key, view in zip("12350", ("methods", "threads", "call tree", "flame", "overview")):
            screen.press(key)
            screen.read_for(3)
            print("  %-10s %4.1f %% of one core, %5.0f bytes/s, %3.0f MB" % (
                (view,) + screen.stretch(SECONDS)))


if __name__ == "__main__":
    main()
