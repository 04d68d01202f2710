#!/usr/bin/env python3
# timeout: 240, runs: alone
"""The live screen over a line of 64 kbit/s with 100 ms each way: a key is answered within the line's
delay and 200 ms, and what is too much for the line makes frames rarer, not keys late.

The far end (the program on a pty, served over TCP as ssh would) lives in a network namespace of its
own; tc's token buckets make the line's rate, and the near end delays what goes and comes.
"""
import contextlib
import fcntl
import os
import pty
import queue
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

from lib import PROF, WAIT, Checks, Jvm, wait_for, want
from terminals import environment

DELAY = 0.1  # seconds each way
RATE = "64kbit"
MORE = 0.2  # seconds a key may take beyond the line's delay
NEAR, FAR, PORT = "10.231.77.1", "10.231.77.2", 7731


def far_end(arguments):
    """Serves one terminal, and ends with the connection."""
    with socket.create_server((FAR, PORT)) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(PROF, [PROF, *arguments], environment(TERM="xterm-256color"))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):
        while True:
            for ready in select.select([fd, connection], [], [])[0]:
                data = os.read(fd, 4096) if ready == fd else connection.recv(4096)
                if not data:
                    return 0
                if ready == fd:
                    connection.sendall(data)
                else:
                    os.write(fd, data)
    return 0


class Line:
    """The near end: a terminal at the end of a long line."""

    def __init__(self):
        self.socket = socket.create_connection((FAR, PORT), timeout=WAIT)
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.out, self.came = queue.Queue(), queue.Queue()
        self.tail = b""  # of what was seen, for questions cut in two
        for work in (self.send_late, self.receive):
            threading.Thread(target=work, daemon=True).start()

    def send_late(self):
        with contextlib.suppress(OSError):
            while (item := self.out.get()) is not None:
                time.sleep(max(0.0, item[0] + DELAY - time.monotonic()))
                self.socket.sendall(item[1])

    def receive(self):
        with contextlib.suppress(OSError):
            while data := self.socket.recv(4096):
                self.came.put((time.monotonic(), data))

    def write(self, data):
        self.out.put((time.monotonic(), data))

    def read(self, seconds, until=None):
        """What is seen within the time, or until that is."""
        seen, end = b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not (until and until in seen):
            try:
                at, data = self.came.get(timeout=left)
            except queue.Empty:
                break
            time.sleep(max(0.0, at + DELAY - time.monotonic()))
            both = self.tail + data
            for found in re.finditer(rb"\x1b\[5n", both):
                if found.end() > len(self.tail):
                    self.write(b"\x1b[0n")
            self.tail = both[-3:]
            seen += data
        return seen

    def close(self):
        self.out.put(None)
        self.socket.close()


@contextlib.contextmanager
def line(*arguments):
    """The program over the line; everything goes with its far end."""
    command = ["unshare", "--net", sys.executable, os.path.abspath(__file__), "far", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as far:
        try:
            connect(far.pid)
            far.stdin.write(b"\n")
            far.stdin.flush()
            want(far.stdout.readline() == b"ready\n", "the far end does not start")
            near = Line()
            try:
                yield near
            finally:
                near.close()
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                far.wait(5)
            far.kill()
            subprocess.run(["ip", "link", "del", "jtopline0"], check=False,
                           stderr=subprocess.DEVNULL)


def connect(pid):
    """A pair of devices, one in the namespace of that process, both as slow as the line."""
    def run(*words, inside=False):
        there = ["nsenter", "--net=/proc/%d/ns/net" % pid] if inside else []
        subprocess.run([*there, *words], check=True, stdin=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
    own = os.readlink("/proc/self/ns/net")
    wait_for(lambda: os.readlink("/proc/%d/ns/net" % pid) != own, "the namespace")
    run("ip", "link", "add", "jtopline0", "type", "veth", "peer", "name", "jtopline1")
    run("ip", "link", "set", "jtopline1", "netns", str(pid))
    for device, address, inside in (("jtopline0", NEAR, False), ("jtopline1", FAR, True)):
        run("ip", "address", "add", address + "/30", "dev", device, inside=inside)
        run("ip", "link", "set", device, "up", inside=inside)
        run("tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", RATE, "burst", "1600",
            "limit", "200000", inside=inside)


def answers(near, keys, apart):
    """Seconds from a key to its answer, at any moment of a second. Each key is typed into the
    search, where it shows; no frame has these characters otherwise."""
    found = []
    for i, key in enumerate(keys):
        near.read(apart + 0.13 * (i % 7))
        begin = time.monotonic()
        near.write(key)
        want(key in near.read(WAIT, key), "no answer to %r" % key)
        found.append(time.monotonic() - begin)
    return sorted(found)


def show(name, times):
    print("# %s: a key is answered after %s ms, %d of them the line's own" %
          (name, " ".join("%.0f" % (t * 1e3) for t in times), 2e3 * DELAY))


def usable(j):
    with line("-i", "10ms", str(j.pid)) as near:
        near.read(WAIT, b"Shares")
        near.read(6)
        near.write(b"/")
        near.read(2)
        times = answers(near, [b"#", b"@", b"!", b"&", b"=", b";", b"`", b"\""] , 0.9)
        show("steady", times)
        # The last of a hundred may have to wait behind a frame; seven of eight must not.
        want(times[-2] <= 2 * DELAY + MORE, "late: %s" % times)
        near.write(b"\x1b")
        near.read(0.5)
        near.write(b"q")
        near.read(2)


def overload(j):
    """Ten whole screens a second, if they could."""
    with line("-i", "1ms", "--refresh", "50", str(j.pid)) as near:
        near.read(WAIT, b"Shares")
        near.read(6)
        near.write(b"/")
        near.read(3)
        times = answers(near, [b"#", b"@", b"!", b"&"], 1.5)
        show("20 frames a second asked for", times)
        want(times[len(times) // 2] <= 2 * DELAY + 4 * MORE, "late: %s" % times)
        near.write(b"\x1b")
        near.read(0.5)
        near.write(b"q")
        near.read(2)


def possible():
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "tc", "unshare", "nsenter"))):
        return False
    test = "ip link set lo up && tc qdisc add dev lo root tbf rate 64kbit burst 1600 limit 9000"
    veth = "ip link add jtopline8 type veth peer name jtopline9"
    return subprocess.run(["unshare", "--net", "sh", "-c", test + " && " + veth], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def main():
    if sys.argv[1:2] == ["far"]:
        sys.stdin.readline()  # until the line is there
        return far_end(sys.argv[2:])
    if not possible():
        print("ok tui_slow_link # SKIP needs root, network namespaces and tc's tbf")
        return 0
    checks = Checks()
    with Jvm("Shares", "single") as j:
        checks.run("keys over 64 kbit/s", usable, j)
        checks.run("more frames than the line takes", overload, j)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
