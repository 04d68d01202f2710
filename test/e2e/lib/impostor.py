"""A process that says it is a JVM, and whose agent is whatever its maker wants: see attacks.py.

    python3 -c 'import impostor; impostor.main()' '{"answers": {"load": "agent"}, …}'

It has a file called libjvm.so mapped, a second thread, and listens where a JVM would. `plant` are
lines of Python that are run before, in its own credentials and namespaces.
"""
import ctypes
import fcntl
import json
import mmap
import os
import random
import re
import signal
import socket
import struct
import sys
import threading
import time

HEADER, RING_OFFSET, AFTER_RING = 4096, 20480, (64 << 20) + (1 << 22) // 8  # core/wire/layout.h
STATUS = HEADER + 9472
HEAD = HEADER + 12352
ESCAPE = "\x1b]0;owned\x07\x1b[31m\x9b5m\u202e"
F_ADD_SEALS, SHRINK, GROW, WRITE, SEAL = 1033, 2, 4, 8, 1
SAMPLE, METHOD, THREAD, STUB, LIBRARY, LOG = 2, 3, 5, 7, 8, 11  # core/wire/record.h
JAVA, NATIVE = 3 << 56 | 0xffff << 32, 6 << 56                    # a frame's type


def map_libjvm():
    """Of this directory, which is the impostor's own."""
    with open("libjvm.so", "wb") as f:
        f.write(b"\0" * 4096)
    fd = os.open("libjvm.so", os.O_RDONLY)
    return mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)


def header(session, ring, major=4):
    return struct.pack("<8sIIQIIQQ", b"JTOPPROF", major, 0, ring, os.getpid(), 0, session,
                       time.monotonic_ns())


def give(kind, session, ring):
    """A mapping of some kind, left open among our descriptors."""
    written = header(session, ring)
    seals = SHRINK | GROW | SEAL
    fd = os.memfd_create("jtop-prof", os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, RING_OFFSET + ring + AFTER_RING)
    if kind == "unsealed":
        seals = 0
    elif kind == "short":
        os.ftruncate(fd, 8192)
    elif kind == "ring size":
        written = header(session, ring * 2)
    elif kind == "huge":
        written = header(session, 1 << 62)
    elif kind == "odd":
        written = header(session, ring + 1)
    elif kind == "old":
        written = header(session, ring, major=1)
    elif kind == "read only":
        seals |= WRITE
    elif kind == "no header":
        os.ftruncate(fd, 16)
    os.pwrite(fd, written, 0)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


def record(kind, *parts):
    body = b"".join(parts)
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<Q", kind << 32 | (len(body) + 8)) + body


class Agent(threading.Thread):
    """Says that it obeys, and fills the ring with lies."""

    def __init__(self, fd, ring, config):
        super().__init__(daemon=True)
        self.memory = mmap.mmap(fd, RING_OFFSET + ring)
        self.ring, self.config = ring, config
        self.head = 0
        self.random = random.Random(7)

    def status(self):
        generation = self.memory[HEADER:HEADER + 4]
        name = ESCAPE.encode("utf-8", "surrogateescape")[:60]
        self.memory[STATUS + 16:STATUS + 48] = name[:32].ljust(32, b"A")
        self.memory[STATUS + 48:STATUS + 304] = (name * 5)[:256].ljust(256, b"A")
        for event in range(8):
            at = STATUS + 304 + 272 * event
            self.memory[at:at + 272] = struct.pack(
                "<IIQiIQQQQQ", event, 1 + event % 4, 1000, 0, 0, 2 ** 64 - 1, 2 ** 63, 2 ** 64 - 1,
                2 ** 64 - 1, 2 ** 63) + name.ljust(64, b"B") + (name * 4)[:144].ljust(144, b"C")
        self.memory[STATUS + 4:STATUS + 8] = struct.pack("<I", 1)
        self.memory[STATUS:STATUS + 4] = generation

    def lie(self):
        text = (ESCAPE + "x" * 40).encode("utf-8", "surrogateescape")
        noise = self.random.randbytes(self.random.randrange(8, 2000))
        now, n = time.monotonic_ns(), len(text)
        frames = [JAVA | 1] + [NATIVE | a for a in self.config.get("addresses", [])]
        return self.random.choice([
            record(LOG, struct.pack("<II", 0, n), text), record(LIBRARY), record(self.random.randrange(1, 70), noise),
            record(METHOD, struct.pack("<IHHHHI", 1, n, n, 0, 0, 0), text, text),
            record(THREAD, struct.pack("<QIHH", 1, os.getpid(), n, 0), text),
            record(SAMPLE, struct.pack("<QQQQIIHBBHH", now, 10 ** 7, 0, 0, os.getpid(), 1,
                                       len(frames), 0, 0, 0, 0),
                   struct.pack("<%dQ" % len(frames), *frames)),
            record(SAMPLE, struct.pack("<Q", now), noise)])

    def put(self, data):
        for at in range(0, len(data), 8):
            place = RING_OFFSET + (self.head + at) % self.ring
            self.memory[place:place + 8] = data[at:at + 8].ljust(8, b"\0")
        self.head += (len(data) + 7) // 8 * 8
        self.memory[HEAD:HEAD + 8] = struct.pack("<Q", self.head)

    def run(self):
        while True:
            self.status()
            for _ in range(20):
                self.put(self.lie())
            if self.config.get("wild"):  # records and positions that cannot be
                self.put(self.random.randbytes(64))
                at = HEAD
                wild = self.random.randrange(2 ** 64)
                self.memory[at:at + 8] = struct.pack("<Q", wild)
            time.sleep(0.02)


def load(words, how, config):
    session = int(re.search(r"session=(\d+)", words[2]).group(1))
    ring = int(re.search(r"ring=(\d+)", words[2]).group(1))
    if how != "none":
        fd = give(how, session, ring)
        if how == "agent":
            Agent(fd, ring, config).start()
    return b"0\nreturn code: 0\n"


def serve(connection, config):
    data = b""
    while data.count(b"\0") < 5:
        part = connection.recv(4096)
        if not part:
            return
        data += part
    words = [w.decode() for w in data.split(b"\0")[1:5]]
    how = config["answers"].get(words[0], "close")
    if how == "close":
        return
    if how == "drip":
        for _ in range(100000):
            connection.send(b"0")
            time.sleep(0.05)
    elif how == "flood":
        while True:
            connection.send(b"0\n" + b"x" * 65536)
    elif how == "silent":
        time.sleep(1000)
    elif how.startswith("say "):
        connection.send(how[4:].encode("utf-8", "surrogateescape"))
    else:
        connection.send(load(words[1:], how, config))


def answer(listener, config):
    while True:
        connection, _ = listener.accept()
        def one(c=connection):
            try:
                serve(c, config)
            except OSError:
                pass
            c.close()
        threading.Thread(target=one, daemon=True).start()


def mount(source, where, kind, flags, options=None):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), where.encode(), kind.encode(), flags,
                  options and options.encode()) != 0:
        raise OSError(ctypes.get_errno(), "mount on " + where)


def main():
    config = json.loads(sys.argv[1])
    if config.get("comm"):
        with open("/proc/self/comm", "w", encoding="utf-8") as f:
            f.write(config["comm"])
    kept = map_libjvm()
    signal.signal(signal.SIGQUIT, lambda *_: None)
    path = "/tmp/.java_pid%d" % os.getpid()
    if config.get("listen", True):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(16)
        threading.Thread(target=answer, args=(listener, config), daemon=True).start()
    else:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    exec("\n".join(config.get("plant", [])), dict(globals(), config_globals={"config": config}))
    print("ready", flush=True)
    sys.stdin.read()
    if config.get("listen", True):
        os.unlink(path)
