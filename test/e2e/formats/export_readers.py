#!/usr/bin/env python3
# tier: fast
"""What the JDK's jfr and Go's pprof read in our files is what our own reports say: the same
recording of several events, as each format.

The JDK is JAVA_HOME's; its jfr is used where it has one (11 and later)."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import Checks, Jvm, java_tool, prof, want

EVENTS = {  # of the profile, and as JFR has them
    "cpu": ["jdk.ExecutionSample"],
    "wall": ["profiler.WallClockSample"],
    "alloc": ["jdk.ObjectAllocationInNewTLAB"],
    "lock": ["jdk.JavaMonitorEnter", "jdk.ThreadPark"],
    "nativemem": ["profiler.Malloc"],
}


def run(*command):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    want(done.returncode == 0, "%s: %s" % (command[0], (done.stderr or done.stdout)[-400:]))
    return done.stdout


def good(*args):
    done = prof(*args)
    want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
    return done.stdout


def stacks_of(text):
    """Of collapsed output: frames from the root and a count each."""
    return [(stack.split(";"), int(n)) for stack, n in
            (line.rsplit(" ", 1) for line in text.splitlines() if line)]


class Recording:
    """What the demo did, of all events at once."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.path = os.path.join(scratch, "all.jtop")
        # The workload ends before the files are read: it has nothing to say to them.
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 4, "-i", "2ms", "--wall", "20ms", "--alloc", "64k", "--lock", "1us",
                 "--nativemem", "4k", "-e", ",".join(EVENTS), "--record", self.path,
                 "-o", "flat", jvm.pid)

    def collapsed(self, event, *options):
        return stacks_of(good("-e", event, "-o", "collapsed", *options, self.path))

    def file(self, event, ending, *options):
        path = os.path.join(self.scratch, event + ending)
        good("-e", event, "-f", path, *options, self.path)
        return path


# ---- pprof ----

def pprof(path, *options):
    return run("go", "tool", "pprof", "-symbolize=none", *options, path)


def flat_of(recording, event):
    """Samples by method, as the text report has them."""
    # What is left of native memory would follow as a report of its own.
    text = good("-e", event, "-o", "flat=100000", recording.path)
    text = text.split("--- Execution profile ---")[1]
    return {m.group(2): int(m.group(1)) for m in
            re.finditer(r"^ *\d+ +[\d.]+% +(\d+)  (.+)$", text, re.M)}


def same_flat(recording, event):
    out = pprof(recording.file(event, ".pb.gz"), "-top", "-sample_index=samples", "-nodefraction=0",
                "-edgefraction=0", "-nodecount=1000000")
    rows = re.findall(r"^ *(\d+) +[\d.]+% +[\d.]+% +(\d+) +[\d.]+%  (.+)$", out, re.M)
    got = {name: int(flat) for flat, _, name in rows if int(flat)}
    told = flat_of(recording, event)
    want(told and got == told, "%d rows, %d in the report; not the same: %s" %
         (len(got), len(told), sorted(set(got.items()) ^ set(told.items()))[:6]))


def what_pprof_says(recording):
    raw = pprof(recording.file("cpu", ".pprof"), "-raw")
    for fact in (r"samples/count cpu/nanoseconds", r"Duration: [34]\.", r"event:\[cpu\]",
                 r"thread:\[order-worker-[1-4]\]", r"tid:\[\d+\]",
                 r"shop\.Demo\S* shop/Demo.java:\d",
                 r"samples · 0 dropped"):
        want(re.search(fact, raw), "no %s in %s" % (fact, raw[:600]))
    weights = {e: re.search(r"Total samples = (\S+)", pprof(recording.file(e, ".pb.gz"), "-top"))
               for e in ("alloc", "lock")}
    want(weights["alloc"] and weights["alloc"].group(1).endswith("B"), "allocation is not in bytes")
    want(weights["lock"] and weights["lock"].group(1).endswith("s"), "locks are not in seconds")


# ---- JFR ----

def jfr(*args):
    return run(java_tool("jfr") if shutil.which(java_tool("jfr")) else "jfr", *args)


def events_of(path, types):
    out = json.loads(jfr("print", "--json", "--stack-depth", 4096, "--events", ",".join(types),
                         path))
    return [(e["type"], e["values"]) for e in out["recording"]["events"]]


def frame_name(frame):
    """As collapsed output has it. A hidden class has its address behind a '/' there."""
    method = frame["method"]
    name = method["name"]
    if method["type"] and method["type"]["name"]:
        name = re.sub(r"\+(?=0x)", "/", method["type"]["name"].replace(".", "/")) + "." + name
    return name + ("_[k]" if frame["type"] == "Kernel" else "")


def is_class(name):
    return name.endswith("_[i]")


def same_stacks(recording, event):
    events = events_of(recording.file(event, ".jfr"), EVENTS[event])
    got, told = collections.Counter(), collections.Counter()
    for _, v in events:
        stack = tuple(frame_name(f) for f in reversed(v["stackTrace"]["frames"]))
        got[stack] += v.get("samples", 1)
    for frames, n in recording.collapsed(event):
        told[tuple(f for f in frames if not is_class(f))] += n
    want(told and got == told, "%d stacks, %d in the report; not the same: %s" %
         (len(got), len(told), list((got - told).items())[:1] + list((told - got).items())[:1]))
    print("# jfr %s: %d stacks, %d samples" % (event, len(got), sum(got.values())))


def what_jfr_says(recording):
    path = recording.file("cpu", ".jfr")
    summary = jfr("summary", path)
    want(re.search(r"Chunks: 1\b", summary), summary[:200])
    samples = sum(n for _, n in recording.collapsed("cpu"))
    want(re.search(r"jdk\.ExecutionSample +%d\b" % samples, summary), summary[:600])
    events = events_of(path, EVENTS["cpu"])
    seconds = {v["startTime"][:19] for _, v in events}
    want(3 <= len(seconds) <= 7, "4 s of samples are in %d seconds" % len(seconds))
    frames = [f for _, v in events for f in v["stackTrace"]["frames"]]
    ours = [f for f in frames if (f["method"]["type"] or {}).get("name", "").startswith("shop")]
    want(sum(f["lineNumber"] > 0 for f in ours) > len(ours) * 0.9, "frames have no lines")
    want({"JIT compiled", "Inlined", "Kernel"} <= {f["type"] for f in frames}, "no frame types")
    threads = {v["sampledThread"]["javaName"] for _, v in events}
    want(any(str(t).startswith("order-worker-") for t in threads), "threads are %s" % threads)
    settings = {v["name"]: v["value"] for _, v in events_of(path, ["jdk.ActiveSetting"])}
    want(settings.get("interval") == "2000000" and "0 dropped" in settings.get("quality", ""),
         "settings are %s" % settings)


def what_jfr_says_of_weights(recording):
    path = recording.file("alloc", ".jfr")
    by_class, told = collections.Counter(), collections.Counter()
    for _, v in events_of(path, EVENTS["alloc"]):
        by_class[v["objectClass"]["name"].replace("/", ".")] += v["tlabSize"]
    for frames, n in recording.collapsed("alloc", "--total"):
        told[frames[-1][:-len("_[i]")]] += n
    want(sum(by_class.values()) == sum(told.values()), "%d bytes, not %d" %
         (sum(by_class.values()), sum(told.values())))
    for name in told:
        if "[]" not in name:
            want(by_class[name] == told[name], "%s: %d bytes, not %d" %
                 (name, by_class[name], told[name]))
    locks = events_of(recording.file("lock", ".jfr"), EVENTS["lock"])
    want(all(v.get("monitorClass") or v.get("parkedClass") for _, v in locks), "no class of a lock")
    want(any(v["duration"] != "PT0S" for _, v in locks), "no lock was waited for")


def from_the_leaves(recording):
    reverse = recording.file("cpu", ".html", "--reverse", "--title", "from the leaves")
    with open(reverse, encoding="utf-8") as f:
        page = f.read()
    want("<title>from the leaves" in page and "its callers" in page, "no title")


def main():
    check = Checks(fast=("pprof cpu: the flat report", "jfr cpu: the stacks",
                         "jfr alloc: the stacks", "html: from the leaves"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-readers-") as scratch:
        recording = Recording(scratch)
        for event in EVENTS:
            check.run("pprof %s: the flat report" % event, same_flat, recording, event)
        check.run("pprof: threads, lines, units", what_pprof_says, recording)
        for event in EVENTS:
            check.run("jfr %s: the stacks" % event, same_stacks, recording, event)
        check.run("jfr: seconds, lines, threads, settings", what_jfr_says, recording)
        check.run("jfr: bytes and classes", what_jfr_says_of_weights, recording)
        check.run("html: from the leaves", from_the_leaves, recording)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
