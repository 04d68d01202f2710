#!/usr/bin/env python3
# timeout: 300
"""The server among those who mean it harm: requests that never end, more connections than there is
room for, and a stream of requests that are wrong in every way, against a real JVM; it goes on
serving, and holds no more of anything than before.

SECONDS_HTTP is how long the stream goes on (20). With an ASan build beside the usual one
(make BUILD=build/asan CFLAGS="-O1 -g -fsanitize=address,undefined" all, or what the unit tests left
there) that is what serves.
"""
import contextlib
import os
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import lib
from lib import BUILD, AGENT, Checks, Jvm, ROOT, Wrong, wait_for, want
from serve_server import Server

SECONDS = float(os.environ.get("SECONDS_HTTP", "20"))
SEED = int(os.environ.get("SEED", str(random.randrange(1 << 30))))
ASAN = os.path.join(BUILD, "asan")
ASAN_FLAGS = "CFLAGS=-O2 -g -fno-omit-frame-pointer -fno-sanitize-recover=all " \
             "-fsanitize=address,undefined"
THREADS = 6
CONNECTIONS = 256  # core/http/serve/server/peers.h
NAMES = ["pid", "event", "duration", "interval", "jstackdepth", "bufsize", "thread", "simple",
         "output", "width", "height", "minwidth", "reverse", "from", "to", "filter", "virtual",
         "tree", "inverted", "rows", "nodes", "method", "source", "context", "title", "token",
         "next", "include"]
VALUES = ["", "0", "1", "-1", "5", "18446744073709551615", "99999999999999999999", "1e9", "cpu",
          "wall", "alloc", "lock", "cpu,alloc", "java.lang.Object.wait", "collapsed", "svg", "html",
          "jfr", "pprof", "json", "flat", "tree", "%00", "%ff%fe", "%zz", "%", "+", "%2e%2e%2f",
          "../../../etc/passwd", "%27%3B%20rm%20-rf", "%3Cscript%3E", "(((((((((", "(a*)*b",
          "%5B%5B%3A", "a" * 1000, "%f0%9f%98%80", "true", "no", "10ms", "1h"]
HEADERS = [b"Host: localhost", b"Host: evil.example", b"Accept: text/html", b"Accept: */*",
           b"Accept-Encoding: gzip", b"Connection: close", b"Content-Length: 5",
           b"Content-Length: 99999", b"Transfer-Encoding: chunked", b"Expect: 100-continue",
           b"Authorization: Bearer " + b"x" * 300, b"Cookie: " + b"a=b; " * 200,
           b"Origin: http://evil.example", b"Sec-Fetch-Site: cross-site", b"Range: bytes=0-0,5-,-1",
           b"If-None-Match: *", b"Upgrade: h2c", b"X-" + b"y" * 500 + b": z", b" folded: yes",
           b"Content-Type: application/x-www-form-urlencoded", b": nothing", b"Nothing"]


def sanitized():
    """The program of an ASan build; the usual one where there is none."""
    program = os.path.join(ASAN, "jtop-prof-http")
    if os.path.exists(os.path.join(ASAN, "core", "http", "serve", "server", "server.o")) and \
            not os.path.exists(program):
        subprocess.run(["make", "--no-print-directory", "BUILD=" + ASAN, ASAN_FLAGS, program],
                       cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return program if os.path.exists(program) else lib.PROF


def rss(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", lib.read("/proc/%d/status" % pid)).group(1)) // 1024


def descriptors(pid):
    return len(os.listdir("/proc/%d/fd" % pid))


def half_a_request(server):
    s = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    s.sendall(b"GET /prof?pid=1 HTTP/1.1\r\nHost: localhost\r\nX-A: b")
    return s


def served(server, seconds=10):
    """Somebody who means well is answered, and soon."""
    began = time.monotonic()
    for path in ("/healthz", "/"):
        status, _, text = server.ask(path)
        want(status == 200, "%s: %d: %s" % (path, status, text[:200]))
    took = time.monotonic() - began
    want(took < seconds, "that took %.1f s" % took)


def slow_loris(server):
    """200 that send a byte a second; others are answered meanwhile, and the 200 are ended."""
    before = descriptors(server.pid)
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(half_a_request(server)) for _ in range(200)]
        began = time.monotonic()
        while time.monotonic() - began < 60 and slow:
            served(server)
            for s in list(slow):
                with contextlib.suppress(BlockingIOError):
                    try:
                        s.setblocking(False)
                        s.send(b"y")
                        if s.recv(100) == b"":
                            raise ConnectionError
                    except ConnectionError:
                        slow.remove(s)
            time.sleep(1)
        want(not slow, "%d of them are still there after a minute" % len(slow))
    wait_for(lambda: descriptors(server.pid) <= before + 4, "the descriptors to be %d again" % before)


def too_many(server):
    """More than there is room for: the oldest go, and who comes last is served."""
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(half_a_request(server)) for _ in range(2 * CONNECTIONS + 50)]
        served(server)
        gone = 0
        for s in slow[:50]:
            s.settimeout(20)
            with contextlib.suppress(socket.timeout, ConnectionError):
                gone += s.recv(100) == b""
        want(gone == 50, "of the oldest 50, %d were ended" % gone)
        want(descriptors(server.pid) < 2 * CONNECTIONS, "%d descriptors" % descriptors(server.pid))
        served(server)


def silent_readers(server, pid):
    """Those who ask for what is large or has no end, and take nothing."""
    asked = []
    with contextlib.ExitStack() as stack:
        for i in range(80):
            s = stack.enter_context(socket.create_connection(("127.0.0.1", server.port),
                                                             timeout=30))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            path = "/api/v1/jvms/%d/%s" % (pid, "events" if i % 2 else "view")
            s.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path).encode() *
                      (1 if i % 2 else 20))
            asked.append(s)
        for _ in range(5):
            served(server, 30)
            time.sleep(0.5)


class Requests:
    """Each is wrong in some way of its own, or in none."""

    def __init__(self, seed, pid):
        self.random = random.Random(seed)
        self.pid = pid

    def path(self):
        r = self.random
        base = r.choice(["/", "/live/%d" % self.pid, "/prof", "/prof", "/prof/%032x" %
                         r.getrandbits(128), "/metrics", "/api/v1/jvms",
                         "/api/v1/jvms/%d" % self.pid, "/api/v1/jvms/%d/view" % self.pid,
                         "/api/v1/jvms/%d/lines" % self.pid, "/api/v1/jvms/%d/events" % self.pid,
                         "/api/v1/jvms/%d/findings" % self.pid,
                         "/api/v1/status", "/healthz", "/login", "/live/1", "/api/v1/jvms/1/view",
                         "/../../etc/passwd", "//", "/%2e%2e/", "/api/v1/../../x"])
        pairs = ["%s=%s" % (r.choice(NAMES), r.choice(VALUES)) for _ in range(r.choice(
            [0, 0, 1, 1, 2, 3, 5, 70]))]
        if "prof" in base and r.random() < 0.5:
            pairs.insert(0, "pid=%d" % self.pid)
            pairs.append("duration=%d" % r.choice([1, 1, 2]))
        return base + ("?" + "&".join(pairs) if pairs else "")

    def whole(self):
        r = self.random
        method = r.choice(["GET"] * 12 + ["HEAD", "POST", "PUT", "OPTIONS", "CONNECT", "GET\t", "",
                                          "A" * 200])
        lines = [("%s %s HTTP/%s" % (method, self.path(), r.choice(
            ["1.1"] * 12 + ["1.0", "2.0", "0.9", "1.11"]))).encode()]
        if r.random() < 0.9:
            lines.append(HEADERS[0])
        lines += r.choices(HEADERS, k=r.choice([0, 0, 1, 2, 4, 80]))
        return b"\r\n".join(lines) + b"\r\n\r\n" + r.choice([b"", b"", b"a=b&c", b"x" * 6000])

    def next(self):
        r = self.random
        data = bytearray(b"".join(self.whole() for _ in range(r.choice([1, 1, 1, 2, 5]))))
        for _ in range(r.choice([0, 0, 1, 2, 5, 30])):
            at = r.randrange(len(data))
            kind = r.randrange(4)
            if kind == 0:
                data[at] = r.randrange(256)
            elif kind == 1:
                data[at:at] = bytes(r.randrange(256) for _ in range(r.randrange(1, 20)))
            elif kind == 2:
                del data[at:at + r.randrange(1, 20)]
            else:
                data[at:at] = data[at:at + r.randrange(1, 2000)]
            if not data:
                data = bytearray(b"\r\n")
        return bytes(data[:r.randrange(1, len(data) + 1)] if r.random() < 0.1 else data)


def send_one(server, r, data):
    """Takes some of the answer, or none; goes away in one way or another."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as s:
        with contextlib.suppress(OSError):
            cut = r.randrange(len(data)) if r.random() < 0.2 else len(data)
            s.sendall(data[:cut])
            if cut < len(data):
                s.sendall(data[cut:])
            way = r.randrange(5)
            if way == 0:
                s.shutdown(socket.SHUT_WR)
            if way < 3:
                s.settimeout(r.choice([0.02, 0.2, 1]))
                enough = time.monotonic() + 2  # of a stream that has no end
                while s.recv(65536) and time.monotonic() < enough:
                    pass
            elif way == 3:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def stream(server, pid, seconds):
    """How many were sent."""
    sent, failures = [0] * THREADS, []
    end = time.monotonic() + seconds

    def one(number):
        requests = Requests(SEED + number, pid)
        try:
            while time.monotonic() < end and not failures:
                send_one(server, requests.random, requests.next())
                sent[number] += 1
        except OSError as e:
            failures.append("%s after %d" % (e, sent[number]))

    threads = [threading.Thread(target=one, args=(n,)) for n in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    want(not failures, "seed %d: %s" % (SEED, failures))
    return sum(sent)


def fuzz(server, jvm):
    began = rss(server.pid)
    sent = stream(server, jvm.pid, SECONDS / 2)
    middle = rss(server.pid)
    sent += stream(server, jvm.pid, SECONDS / 2)
    last = rss(server.pid)
    print("# %d requests in %g s, seed %d; RSS %d, %d, %d MB; %d descriptors" %
          (sent, SECONDS, SEED, began, middle, last, descriptors(server.pid)), flush=True)
    want(sent > 5 * SECONDS, "only %d requests" % sent)
    want(last - middle < 100, "it grew from %d to %d MB" % (middle, last))
    served(server)
    want(jvm.alive(), "the JVM is dead")


def still_profiles(server, jvm):
    """All that was begun meanwhile is over; a profile then is as ever."""
    path = "/prof?pid=%d&duration=1&output=collapsed&interval=5ms" % jvm.pid

    def begun():
        status, headers, text = server.ask(path)
        want(status in (202, 409, 429, 503, 303, 200), "%d: %s" % (status, text))
        return (headers.get("location") or headers.get("refresh", "").partition("url=")[2] or
                (path if status == 200 else "")) if status in (202, 303, 200) else ""

    where = wait_for(begun, "a profile to begin", 120)
    where = re.sub(r"^https?://[^/]+", "", where.split("URL=")[-1])
    text = wait_for(lambda: (lambda s, _, t: t if s == 200 else "")(*server.ask(where)), "it", 60)
    want("Shares" in text, text[:300])


def everything(scratch):
    program = sanitized()
    print("# %s" % program)
    environment = dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=8:intercept_strstr=0",
                       UBSAN_OPTIONS="print_stacktrace=1")
    usual, lib.PROF = lib.PROF, program
    with Jvm("Shares") as jvm, Server(scratch, "--libpath", AGENT, env=environment) as server:
        lib.PROF = usual
        before = descriptors(server.pid)
        checks = Checks()
        checks.run("slow loris", slow_loris, server)
        checks.run("more connections than there is room for", too_many, server)
        checks.run("readers that take nothing", silent_readers, server, jvm.pid)
        checks.run("a stream of wrong requests", fuzz, server, jvm)
        checks.run("a profile after it", still_profiles, server, jvm)
        if server.process.poll() is not None:
            print(re.sub(r"(?m)^", "# ", server.stderr()[:6000]), flush=True)
            raise Wrong("it ended: exit %d" % server.process.returncode)
        checks.run("its descriptors", wait_for, lambda: descriptors(server.pid) <= before + 16,
                   "%d descriptors to be %d again" % (descriptors(server.pid), before), 60)
        server.end()
        said = server.stderr()
        want(not re.search(r"Sanitizer|runtime error", said), said[-3000:])
        want(checks.failed == 0, "see above")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        checks.run("everything", everything, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
