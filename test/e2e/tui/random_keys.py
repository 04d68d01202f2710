#!/usr/bin/env python3
# timeout: 300
"""Random keys, mouse presses, pastes and resizes into the real program, on a recording and on a
terminal of ours: it neither crashes nor stops answering, and gives the terminal back.

RANDOM_KEYS (20000) says how many; JTOP_PROF may be a build with sanitizers: what they say fails
this. RANDOM_SEED (1) makes another run of it. With MATRIX=1, a million.
"""
import fcntl
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from lib import Checks, Jvm, PROF, WAIT, prof, want

KEYS = int(os.environ.get("RANDOM_KEYS", "1000000" if os.environ.get("MATRIX") else "20000"))
SEED = int(os.environ.get("RANDOM_SEED", "1"))
NEVER = {0x03, 0x11, 0x13, 0x1a, 0x1c}  # the terminal's own: interrupt, flow control, stop, quit
# Nothing that leaves, runs a command or fills the disk.
CONFIG = """[keys]
quit =
pipe =
save-svg =
save-html =
save-collapsed =
save-jfr =
save-pprof =
save-menu =
record =
new-tab =
close-tab =
"""
LIKELY = [b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1b[5~", b"\x1b[6~", b"\x1b[H", b"\x1b[F",
          b"\x1bOP", b"\r", b"\x1b", b"\t", b"\x1b[Z", b"/a\r", b"\\Shares\r", b"\\!x\r", b"n", b"N",
          b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b",", b".", b"<", b">", b"w", b"b",
          b"m", b"p", b"i", b"T", b"v", b"d", b"e", b"*", b"{", b"}", b"z", b"Z", b"X", b"F", b"L",
          b"W", b"S", b"r", b"o", b"E", b"[", b"?", b"H", b"\x1b[200~paste\x1b[201~"]


def press(dice):
    kind = dice.randrange(10)
    if kind < 6:
        return dice.choice(LIKELY)
    if kind < 7:
        return b"\x1b[<%d;%d;%d%c" % (dice.choice([0, 0, 0, 64, 65, 35]), dice.randrange(1, 200),
                                     dice.randrange(1, 60), dice.choice(b"Mm"))
    if kind < 8:
        return chr(dice.randrange(0xa0, 0x3000)).encode()
    byte = dice.randrange(256)
    return b"" if byte in NEVER else bytes([byte])


class Terminal:
    def __init__(self, place, recording):
        self.primary, secondary = pty.openpty()
        self.before = termios.tcgetattr(secondary)
        self.secondary = secondary
        self.resize(40, 120)
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8",
                   XDG_CONFIG_HOME=os.path.join(place, "config"), XDG_STATE_HOME=place,
                   ASAN_OPTIONS="detect_leaks=1:log_path=%s/asan" % place)
        with open(os.path.join(place, "stderr"), "wb") as errors:
            self.process = subprocess.Popen([PROF, recording], stdin=secondary, stdout=secondary,
                                            stderr=errors, cwd=place, env=env,
                                            start_new_session=True)
        self.last = b""
        self.seen = 0

    def resize(self, rows, cols):
        fcntl.ioctl(self.primary, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def drain(self, seconds):
        """Reads what there is; True where there was something."""
        ready, _, _ = select.select([self.primary], [], [], seconds)
        if not ready:
            return False
        part = os.read(self.primary, 65536)
        self.seen += len(part)
        self.last = (self.last + part)[-4096:]
        return True

    def send(self, data):
        while data:
            _, writable, _ = select.select([], [self.primary], [], 0)
            if writable:
                n = os.write(self.primary, data[:256])
                data = data[n:]
            want(self.process.poll() is None, "it ended: %s" % self.process.poll())
            self.drain(0)
            if not writable:
                want(self.drain(WAIT), "it takes no keys any more")

    def answers(self):
        """^L draws everything anew: bytes come."""
        while self.drain(0.2):
            pass
        seen = self.seen
        end = time.monotonic() + WAIT
        while self.seen == seen and time.monotonic() < end:
            self.send(b"\x0c")
            self.drain(0.5)
        want(self.seen > seen, "no answer to ^L")


def random_keys(place, recording):
    dice = random.Random(SEED)
    terminal = Terminal(place, recording)
    sent, next_look = 0, 2000
    try:
        while sent < KEYS:
            batch = [press(dice) for _ in range(dice.randrange(1, 60))]
            sent += len(batch)
            terminal.send(b"".join(batch))
            if dice.randrange(20) == 0:
                terminal.resize(dice.randrange(1, 70), dice.randrange(1, 220))
                os.kill(terminal.process.pid, signal.SIGWINCH)
            if sent >= next_look:
                terminal.answers()
                next_look += 20000
        terminal.resize(24, 80)
        terminal.answers()
        terminal.process.send_signal(signal.SIGTERM)
        end = time.monotonic() + WAIT
        while terminal.process.poll() is None and time.monotonic() < end:
            terminal.drain(0.1)
        while terminal.drain(0.1):
            pass
        want(terminal.process.poll() == 0, "exit: %s" % terminal.process.poll())
        want(b"\x1b[?1049l" in terminal.last, "the alternate screen was not left")
        want(b"\x1b[?1000h" not in terminal.last.rsplit(b"\x1b[?1049l", 1)[1], "the mouse is on")
        want(termios.tcgetattr(terminal.secondary)[:4] == terminal.before[:4], "modes not put back")
    finally:
        terminal.process.kill()
        terminal.process.wait()
    reports = [f for f in os.listdir(place) if f.startswith("asan")]
    with open(os.path.join(place, "stderr"), encoding="utf-8", errors="replace") as f:
        said = f.read()
    want(not reports and "ERROR" not in said and "runtime error" not in said,
         "sanitizer: %s %s" % (reports, said[:2000]))
    left = set(os.listdir(place)) - {"config", "stderr", "r.jtop", "jtop-prof"}
    want(not left, "left behind: %s" % left)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as place:
        os.makedirs(os.path.join(place, "config", "jtop-prof"))
        with open(os.path.join(place, "config", "jtop-prof", "config"), "w",
                  encoding="ascii") as f:
            f.write(CONFIG)
        recording = os.path.join(place, "r.jtop")
        with Jvm("Shares") as j:
            prof("-d", "4", "-e", "cpu,wall,alloc,lock", "-i", "1ms", "--record", recording, "-o",
                 "summary", j.pid)
        checks.run("%d random keys" % KEYS, lambda: random_keys(place, recording))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
