#!/usr/bin/env python3
# tier: fast
"""JFR files as readers take them that know some types by heart: async-profiler's converter, Grafana's
parser, IDEs. They read fields by their place, symbols in one encoding, frame types and thread states
by what async-profiler writes for them."""
import collections
import functools
import os
import re
import signal
import struct
import sys
import tempfile
import time

from lib import (Checks, Jvm, Prof, Skip, collapsed, good, java_version, prof, sampling, total, wait_for, want)

# By place: what such a reader reads of each.
FIELDS = {
    "jdk.ExecutionSample": "startTime sampledThread stackTrace state",
    "profiler.WallClockSample": "startTime sampledThread stackTrace state samples",
    "jdk.ObjectAllocationInNewTLAB":
        "startTime eventThread stackTrace objectClass allocationSize tlabSize",
    "jdk.ObjectAllocationOutsideTLAB": "startTime eventThread stackTrace objectClass allocationSize",
    "profiler.LiveObject":
        "startTime eventThread stackTrace objectClass allocationSize allocationTime",
    "jdk.JavaMonitorEnter":
        "startTime duration eventThread stackTrace monitorClass previousOwner address",
    "jdk.ThreadPark":
        "startTime duration eventThread stackTrace parkedClass timeout until address",
    "profiler.Malloc": "startTime eventThread stackTrace address size",
    "profiler.Free": "startTime eventThread stackTrace address",
    "profiler.NativeLock": "startTime duration eventThread stackTrace address",
    "jdk.MethodTrace": "startTime duration eventThread stackTrace method",
}
FRAME_TYPES = ["Interpreted", "JIT compiled", "Inlined", "Native", "C++", "Kernel", "C1 compiled"]
STATES = {"STATE_DEFAULT", "STATE_RUNNABLE", "STATE_SLEEPING"}


class Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        n = 0
        for shift in range(0, 63, 7):
            b = self.byte()
            n |= (b & (127 if shift < 56 else 255)) << shift
            if b < 128:
                break
        return n

    def raw(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def string(self):
        kind = self.byte()
        want(kind in (0, 1, 3), "a string of encoding %d" % kind)
        return {0: None, 1: ""}[kind] if kind < 3 else self.raw(self.number()).decode()

    def symbol(self):
        want(self.byte() == 3, "a symbol that is not UTF-8 with a length")
        return self.raw(self.number()).decode()


class Chunk:
    """types: {name: [(field, type name, in a pool, an array)]}; pools: {type name: {number: value}};
    events: [(type name, {field: value})]."""

    def __init__(self, data):
        self.data = data
        self.size, pools, metadata = struct.unpack_from(">QQQ", data, 8)
        self.types, self.name, self.pools, self.events = {}, {}, {}, []
        self.read_metadata(metadata)
        while True:
            before = self.read_pools(pools)
            if not before:
                break
            pools += before
        self.read_events()

    def header(self, at):
        b = Bytes(self.data, at)
        size = b.number()
        return b, at + size, b.number()

    def read_metadata(self, at):
        b, _, _ = self.header(at)
        b.number(), b.number(), b.number()
        strings = [b.string() for _ in range(b.number())]

        def element():
            name = strings[b.number()]
            keys = {strings[b.number()]: strings[b.number()] for _ in range(b.number())}
            return name, keys, [element() for _ in range(b.number())]
        root = element()
        classes = [c for c in root[2][0][2] if c[0] == "class"]
        self.name = {int(keys["id"]): keys["name"] for _, keys, _ in classes}
        for _, keys, below in classes:
            self.types[keys["name"]] = [
                (k["name"], self.name[int(k["class"])], k.get("constantPool") == "true",
                 "dimension" in k) for kind, k, _ in below if kind == "field"]

    def value(self, b, type_name, pool=False, array=False):
        if array:
            return [self.value(b, type_name, pool) for _ in range(b.number())]
        if pool or type_name in ("long", "int", "short", "char"):
            return b.number()
        if type_name in ("boolean", "byte"):
            return b.byte()
        if type_name == "float":
            return struct.unpack(">f", b.raw(4))[0]
        if type_name == "java.lang.String":
            return b.string()
        if type_name == "jdk.types.Symbol":
            return b.symbol()
        fields = {f: self.value(b, *rest) for f, *rest in self.types[type_name]}
        return fields

    def read_pools(self, at):
        b, end, _ = self.header(at)
        b.number(), b.number()
        before = b.number()
        before -= 1 << 64 if before >> 63 else 0
        b.number()
        for _ in range(b.number()):
            name = self.name[b.number()]
            pool = self.pools.setdefault(name, {})
            for _ in range(b.number()):
                number = b.number()
                pool[number] = self.value(b, name)
        want(b.at == end, "a checkpoint ends at %d, not at %d" % (b.at, end))
        return before

    def read_events(self):
        at = 68
        while at < self.size:
            b, end, kind = self.header(at)
            name = self.name.get(kind)
            if name:
                self.events.append((name, self.value(b, name)))
                want(b.at == end, "%s ends at %d, not at %d" % (name, b.at, end))
            at = end

    # ---- what the numbers stand for ----

    def enum(self, name):
        return {n: list(v.values())[0] for n, v in self.pools[name].items()}

    def symbol(self, number):
        return self.pools["jdk.types.Symbol"][number]

    def frames(self, stack):
        """[(class, method, type)], leaf first."""
        kinds, methods = self.enum("jdk.types.FrameType"), self.pools["jdk.types.Method"]
        classes = self.pools["java.lang.Class"]
        return [(self.symbol(classes[m["type"]]["name"]), self.symbol(m["name"]), kinds[f["type"]])
                for f in self.pools["jdk.types.StackTrace"][stack]["frames"]
                for m in [methods[f["method"]]]]


@functools.lru_cache(maxsize=None)  # reading them takes a second, and each check wants them
def read_chunks(path, _):
    with open(path, "rb") as f:
        data = f.read()
    found = []
    while data:
        want(data[:8] == b"FLR\0\0\2\0\0", "no chunk: %r" % data[:8])
        size = struct.unpack_from(">Q", data, 8)[0]
        found.append(Chunk(data[:size]))
        data = data[size:]
    return found


def chunks(path):
    return read_chunks(path, os.stat(path).st_mtime_ns)


def of_type(path, name):
    return [(c, e) for c in chunks(path) for kind, e in c.events if kind == name]


def by_place(path):
    for c in chunks(path):
        for name, fields in FIELDS.items():
            has = [f for f, *_ in c.types.get(name, [])]
            want(has == fields.split(), "%s: %s" % (name, has))
        want(c.enum("jdk.types.FrameType") == dict(enumerate(FRAME_TYPES)),
             "frame types: %s" % c.enum("jdk.types.FrameType"))
        want(set(c.enum("jdk.types.ThreadState").values()) == STATES, "other states")


def states(path):
    """Of CPU time the default one, of wall clock never."""
    seen = collections.defaultdict(collections.Counter)
    for c in chunks(path):
        names = c.enum("jdk.types.ThreadState")
        for kind, e in c.events:
            if "state" in e:
                seen[kind][names[e["state"]]] += 1
    want(set(seen["jdk.ExecutionSample"]) == {"STATE_DEFAULT"}, "cpu: %s" % dict(seen))
    want(set(seen["profiler.WallClockSample"]) == {"STATE_RUNNABLE", "STATE_SLEEPING"},
         "wall: %s" % dict(seen))


def settings(path):
    """Intervals, under the names by which they are looked for, are digits."""
    for name in ("interval", "wall", "alloc", "lock", "nativemem"):
        said = {e["value"] for _, e in of_type(path, "jdk.ActiveSetting") if e["name"] == name}
        want(said and all(re.fullmatch(r"\d+", s) for s in said), "%s: %s" % (name, said))


def plain(stack):
    """Without what tells hidden classes apart."""
    return re.sub(r"[+/]0x\w+", "", stack)


def names(path, raw):
    """Native and kernel frames have no class; the stacks are those of the report."""
    got, told = collections.Counter(), collections.Counter()
    for c, e in of_type(path, "jdk.ExecutionSample"):
        frames = c.frames(e["stackTrace"])
        for cls, name, kind in frames:
            want(bool(cls) == (kind in FRAME_TYPES[:3] + FRAME_TYPES[6:]) or
                 (cls and kind == "Native"), "%s.%s is %s" % (cls, name, kind))
        got[plain(";".join((cls + "." if cls else "") + name + ("_[k]" if kind == "Kernel" else "")
                           for cls, name, kind in reversed(frames)))] += 1
    for frames, n in collapsed(good("-e", "cpu", "-o", "collapsed", raw)):
        told[plain(";".join(frames))] += n
    want(got == told, "other stacks: %s" % [list((a - b).items())[:1]
                                            for a, b in ((got, told), (told, got))])


def allocated(path, raw):
    got = sum(e["tlabSize"] for _, e in of_type(path, "jdk.ObjectAllocationInNewTLAB"))
    told = total(collapsed(good("-e", "alloc", "-o", "collapsed", "--total", raw)))
    want(got == told, "%d bytes, %d in the report" % (got, told))


def calls(scratch, jvm):
    """With --trace calls are method traces, with the method and how long each took; with -e they are
    execution samples, as async-profiler has both."""
    raw, path = os.path.join(scratch, "calls.jtop"), os.path.join(scratch, "calls.jfr")
    good("-d", 1, "-e", "cpu", "--trace", "shop.Pricing.total", "--record", raw, "-f", path, jvm.pid)
    told = total(collapsed(good("-e", "shop.Pricing.total", "-o", "collapsed", raw)))
    found = of_type(path, "jdk.MethodTrace")
    want(found and len(found) == told, "%d traces, %d in the report" % (len(found), told))
    for c, e in found[:50]:
        m = c.pools["jdk.types.Method"][e["method"]]
        want(c.symbol(m["name"]) == "total" and e["duration"] > 0, "a trace: %s" % e)
    good("-d", 1, "-e", "shop.Pricing.total", "-f", path, jvm.pid)
    want(of_type(path, "jdk.ExecutionSample") and not of_type(path, "jdk.MethodTrace"), "with -e")


def all_events(scratch, jvm):
    path = os.path.join(scratch, "every.jfr")
    good("-d", 2, "--all", "--alloc", "64k", "--lock", "1us", "-f", path, jvm.pid)
    kinds = {kind for c in chunks(path) for kind, _ in c.events}
    missing = {"jdk.ExecutionSample", "profiler.WallClockSample", "jdk.ObjectAllocationInNewTLAB",
               "profiler.LiveObject", "jdk.JavaMonitorEnter", "profiler.Malloc"} - kinds
    want(not missing, "not there: %s" % missing)


def described(path):
    """What tools look for beside samples."""
    said = {(e["name"], e["value"]) for _, e in of_type(path, "jdk.ActiveSetting")}
    want(("clock", "monotonic") in said, "settings: %s" % sorted(said))
    version = [e["value"] for _, e in of_type(path, "jdk.InitialSystemProperty")
               if e["key"] == "java.vm.specification.version"]
    want(version == ["1.8" if java_version() == 8 else str(java_version())], "version %s" % version)
    libraries = {e["name"]: e for _, e in of_type(path, "jdk.NativeLibrary")}
    vm = [e for name, e in libraries.items() if name.endswith("/libjvm.so")]
    want(len(vm) == 1 and vm[0]["topAddress"] - vm[0]["baseAddress"] > 1 << 20, "VM: %s" % vm)
    want(any("libc" in name for name in libraries), "libraries: %s" % sorted(libraries))


def processes(scratch, jvm):
    """The machine's large processes: those that were there at the look before."""
    path = os.path.join(scratch, "processes.jfr")
    good("-d", 3, "--proc", 1, "-f", path, jvm.pid)
    found = [(c, e) for c, e in of_type(path, "profiler.ProcessSample") if e["pid"] == jvm.pid]
    want(len(found) == 2, "%d looks" % len(found))
    for _, e in found:
        want(e["name"] == "java" and "shop.Demo" in e["cmdLine"] and e["ppid"] == os.getpid(), str(e))
        want(e["cpuPercent"] > 0.05 and e["cpuUser"] > 0 and e["threads"] > 5, str(e))
        want(e["vmSize"] > e["vmRss"] >= e["rssAnon"] > 1 << 20 and chr(e["state"]) in "RSD", str(e))
        want(abs(e["processStartTime"] / 1000 - time.time()) < 600, str(e))
    good("-d", 2, "--proc", 0, "-f", path, jvm.pid)
    want(not of_type(path, "profiler.ProcessSample"), "with --proc 0")
    done = prof("-d", 1, "--proc", 1, "-o", "flat", jvm.pid)
    want(done.returncode == 0 and "--proc does nothing" in done.stderr, done.stderr)


def windows(scratch):
    """Samples are in the windows that are told of; with --nostop some are outside."""
    path = os.path.join(scratch, "windows.jfr")
    for more in ((), ("--nostop",)):
        with Jvm("LongSafepoint", options=["-XX:+UseSerialGC"]) as jvm, \
                Prof(scratch, "-d", 60, "-e", "cpu", "-i", "100us", "--ttsp", *more, "-f", path,
                     jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid) or p.process.poll() is not None, "sampling")
            if "has no function" in p.stderr():
                raise Skip("libjvm.so has no symbol table")
            for _ in range(100):
                jvm.say("g")
                time.sleep(0.02)  # between two collections
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(30) == 0, p.stderr())
        spans = [(e["startTime"], e["startTime"] + e["duration"])
                 for _, e in of_type(path, "profiler.Window")]
        times = [e["startTime"] for _, e in of_type(path, "jdk.ExecutionSample")]
        inside = [t for t in times if any(begin <= t <= end for begin, end in spans)]
        want(len(spans) >= 20 and inside, "%d windows, %d of %d samples" % (
            len(spans), len(inside), len(times)))
        want((len(inside) == len(times)) == (not more), "%s: %d of %d samples are inside" % (
            more, len(inside), len(times)))


def limited(scratch, jvm):
    """So many events a second; what is left out is said."""
    for spelled in ("cpu:20,alloc:5,span:1", "cpu:20;alloc:5"):
        path = os.path.join(scratch, "limited.jfr")
        done = prof("-d", 3, "-e", "cpu,alloc", "-i", "1ms", "--alloc", "64k", "--ratelimit", spelled,
                    "-f", path, jvm.pid)
        want(done.returncode == 0 and "--ratelimit" in done.stderr, done.stderr)
        for kind, limit in (("jdk.ExecutionSample", 20), ("jdk.ObjectAllocationInNewTLAB", 5)):
            events = [e for _, e in of_type(path, kind)]
            seconds = collections.Counter(e["startTime"] // 10**9 for e in events)
            want(seconds and max(seconds.values()) <= 2 * limit, "%s: %s" % (kind, seconds))
            want(sum(seconds.values()) <= limit * (len(seconds) + 1), "%s: %s" % (kind, seconds))
        said = {e["value"] for _, e in of_type(path, "jdk.ActiveSetting") if e["name"] == "ratelimit"}
        want(said == {"20", "5"}, "settings: %s" % said)
    for bad in ("cpu", "cpu:", "cpu:x", "cpus:5", ":5", "cpu:5,,alloc:5", "cpu:5,"):
        done = prof("-d", 1, "--ratelimit", bad, jvm.pid)
        want(done.returncode == 100 and "events per second" in done.stderr, "%s: %s" % (bad, done))


def main():
    checks = Checks(long=("events a second", "windows"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-jfr-bytes-") as scratch:
        raw, live = os.path.join(scratch, "all.jtop"), os.path.join(scratch, "live.jfr")
        later = os.path.join(scratch, "later.jfr")
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 3, "-i", "2ms", "-e", "cpu,wall,alloc,lock,nativemem", "--wall", "20ms",
                 "--alloc", "64k", "--lock", "1us", "--nativemem", "4k", "--record", raw,
                 "-f", live, jvm.pid)
            checks.run("calls", calls, scratch, jvm)
            checks.run("all events", all_events, scratch, jvm)
            checks.run("events a second", limited, scratch, jvm)
            checks.run("processes", processes, scratch, jvm)
        checks.run("windows", windows, scratch)
        good("-f", later, raw)
        checks.run("grown: what it says of the JVM", described, live)
        for name, path in (("grown", live), ("made later", later)):
            checks.run(name + ": fields by their place", by_place, path)
            checks.run(name + ": thread states", states, path)
            checks.run(name + ": settings", settings, path)
            checks.run(name + ": names", names, path, raw)
            checks.run(name + ": bytes", allocated, path, raw)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
