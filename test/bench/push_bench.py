#!/usr/bin/env python3
"""What one `jtop-prof push` costs that profiles many JVMs all day: its CPU time, as a share of one
core, and its memory, over a minute after it has attached to all of them.

The JVMs are small and idle but for about one percent of a core each; the receiver is a process of
its own that takes everything in.

Other JVMs of the machine are profiled too: where there are some, run it in a pid namespace of its
own (unshare --pid --fork --mount-proc).

Usage: push_bench.py [JVMS [SECONDS [OPTION...]]]"""
import concurrent.futures
import contextlib
import gzip
import http.server
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import TICK, Jvm, Prof, cpu_seconds, read, sampling, status, threads  # noqa: E402

ATTACH = 150.0  # seconds
SMALL = ("-Xmx16m", "-XX:+UseSerialGC", "-Xss256k", "-XX:TieredStopAtLevel=1",
         "-XX:CICompilerCount=1")


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes everything; counts in a file of two words."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.messages += 1
        self.server.received += len(body)
        with open(self.server.counts, "w", encoding="ascii") as f:
            f.write("%d %d" % (self.server.messages, self.server.received))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    messages = received = 0


def receive(to_parent, counts):
    server = Server(("127.0.0.1", 0), Receiver)
    server.counts = counts
    os.write(to_parent, b"%d\n" % server.server_port)
    server.serve_forever()


@contextlib.contextmanager
def receiver(scratch):
    """(port, file with the counts)"""
    counts = os.path.join(scratch, "counts")
    with open(counts, "w", encoding="ascii") as f:
        f.write("0 0")
    from_child, to_parent = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            receive(to_parent, counts)
        finally:
            os._exit(0)
    try:
        with os.fdopen(from_child) as f:
            yield int(f.readline()), counts
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(to_parent)


def begin_jvms(stack, count):
    """Four at a time: their start is what costs most here."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jvms = list(pool.map(lambda _: Jvm("bench.Service", options=SMALL), range(count)))
    for jvm in jvms:
        stack.enter_context(jvm)
    return jvms


def counted(counts):
    words = read(counts).split()
    return (int(words[0]), int(words[1])) if len(words) == 2 else (0, 0)


def times(pid):
    """User and system time in ticks."""
    fields = read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()
    return int(fields[11]), int(fields[12])


def measure(push, jvms, counts, seconds):
    """What all of it used in the time."""
    peak = 0
    messages, received = counted(counts)
    used, began = times(push.pid), time.monotonic()
    theirs = sum(cpu_seconds(jvm.pid) for jvm in jvms)
    while time.monotonic() < began + seconds:
        time.sleep(1)  # the time is what is measured
        peak = max(peak, int(status(push.pid, "VmRSS")))
    took = time.monotonic() - began
    more = counted(counts)
    user, system = (TICK * (now - then) for now, then in zip(times(push.pid), used))
    return {"cpu": 100 * (user + system) / took, "user": 100 * user / max(TICK, user + system),
            "jvms": 100 * (sum(cpu_seconds(jvm.pid) for jvm in jvms) - theirs) / took,
            "rss": peak / 1024, "messages": more[0] - messages,
            "bytes": (more[1] - received) / max(1, more[0] - messages)}


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        port, counts = stack.enter_context(receiver(scratch))
        jvms = begin_jvms(stack, count)
        push = stack.enter_context(Prof(scratch, "push", "--to", "http://127.0.0.1:%d" % port,
                                        "--all-jvms", "-i", "10ms", *sys.argv[3:]))
        began = time.monotonic()
        while (profiled := sum(sampling(jvm.pid) for jvm in jvms)) < count:
            if push.process.poll() is not None or time.monotonic() > began + ATTACH:
                break
            time.sleep(0.5)
        attached = time.monotonic() - began
        if push.process.poll() is not None:
            sys.exit("push ended: " + push.stderr())
        time.sleep(20)  # names, symbols and the first window are not what goes on all day
        result = measure(push, jvms, counts, seconds)
        print("%d JVMs at 10 ms under one push, %g s after the first 20" % (profiled, seconds))
        print("  %-28s %10s" % ("CPU of one core", "%.1f %%" % result["cpu"]))
        print("  %-28s %10s" % ("of it in user mode", "%.0f %%" % result["user"]))
        print("  %-28s %10s" % ("memory at most (RSS)", "%.0f MB" % result["rss"]))
        print("  %-28s %10d" % ("threads", len(threads(push.pid))))
        print("  %-28s %10s" % ("until all were attached", "%.1f s" % attached))
        print("  %-28s %10d" % ("messages", result["messages"]))
        print("  %-28s %10s" % ("bytes each, unpacked", "%.0f" % result["bytes"]))
        print("  %-28s %10s" % ("the JVMs' own CPU", "%.1f %%" % result["jvms"]))
        for line in push.stderr().splitlines():
            if not line.endswith(": profiled"):
                print("  " + line)
        push.process.terminate()
        began = time.monotonic()
        push.process.wait(60)
        print("  %-28s %10s" % ("until all were let go", "%.1f s" % (time.monotonic() - began)))


if __name__ == "__main__":
    main()
