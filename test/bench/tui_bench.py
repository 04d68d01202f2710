#!/usr/bin/env python3
"""What looking costs: the program's own CPU while it shows a JVM that is sampled 1,000 times a
second, its memory, and the bytes it sends; at 160x50 and one refresh a second, view by view."""
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
from lib import Jvm, PROF, cpu_seconds, memory_kb  # noqa: E402

SETTLE, SECONDS = 8, 10


def read_for(fd, seconds):
    """Bytes that came meanwhile."""
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        if select.select([fd], [], [], 0.1)[0]:
            n += len(os.read(fd, 65536))
    return n


def main():
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8", XDG_CONFIG_HOME="/nonexistent")
    with Jvm("Shares") as j:
        p = subprocess.Popen([PROF, "-i", "1ms", str(j.pid)], stdin=secondary, stdout=secondary,
                             env=env, start_new_session=True)
        try:
            read_for(primary, SETTLE)
            for key, view in zip("12350", ("methods", "threads", "call tree", "flame", "overview")):
                os.write(primary, key.encode())
                read_for(primary, 3)
                before, began = cpu_seconds(p.pid), time.monotonic()
                sent = read_for(primary, SECONDS)
                took = time.monotonic() - began
                print("  %-10s %4.1f %% of one core, %5.0f bytes/s, %3.0f MB" % (
                    view, 100 * (cpu_seconds(p.pid) - before) / took, sent / took,
                    memory_kb(p.pid) / 1024))
            os.write(primary, b"q")
            read_for(primary, 2)
        finally:
            p.kill()
            p.wait()


if __name__ == "__main__":
    main()
