#!/usr/bin/env python3
# timeout: 180, tier: fast
"""Several events in one JFR file, read by the JDK: every event through its API and by jfr print, and
the counts of each are those of our own reports. With the JDK's own recorder in the same file, too."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import Checks, Jvm, collapsed, good, java_tool, prof, total, want

EVENTS = {
    "cpu": ["jdk.ExecutionSample"],
    "wall": ["profiler.WallClockSample"],
    "alloc": ["jdk.ObjectAllocationInNewTLAB"],
    "lock": ["jdk.JavaMonitorEnter", "jdk.ThreadPark"],
    "nativemem": ["profiler.Malloc"],
}
READER = """
import java.nio.file.*;
import jdk.jfr.consumer.*;

public class ReadAll {
    public static void main(String[] args) throws Exception {
        long events = 0, frames = 0;
        try (RecordingFile file = new RecordingFile(Paths.get(args[0]))) {
            while (file.hasMoreEvents()) {
                RecordedEvent e = file.readEvent();
                e.getFields().forEach(f -> e.getValue(f.getName()));
                e.getStartTime();
                e.getDuration();
                events++;
                if (e.getStackTrace() != null)
                    for (RecordedFrame f : e.getStackTrace().getFrames()) {
                        f.getMethod().getType().getName();
                        frames++;
                    }
            }
        }
        System.out.println(events + " " + frames);
    }
}
"""


def run(*command):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
    want(done.returncode == 0, "%s: %s" % (command[0], (done.stderr or done.stdout)[-400:]))
    return done.stdout


def tool(name):
    return java_tool(name) if shutil.which(java_tool(name)) else name


def summary(path):
    """Events by type; the JDK's and ours of one name are two rows."""
    counts = {}
    for m in re.finditer(r"^ ([\w.]+) +(\d+) +\d+\s*$", run(tool("jfr"), "summary", path), re.M):
        counts[m.group(1)] = counts.get(m.group(1), 0) + int(m.group(2))
    return counts


def printed(path, types):
    out = json.loads(run(tool("jfr"), "print", "--json", "--events", ",".join(types), path))
    return [e["values"] for e in out["recording"]["events"]]


def begins(path, event):
    """The earliest of its times, without the zone: they compare as text."""
    return min(re.sub(r"(Z|[+-][\d:]+)$", "", v["startTime"]) for v in printed(path, [event]))


def same_counts(path, recording):
    for event, types in EVENTS.items():
        got = sum(v.get("samples", 1) for v in printed(path, types))
        told = total(collapsed(good("-e", event, "-o", "collapsed", recording)))
        want(got == told, "%s: %d samples, %d in the report" % (event, got, told))


def read_by_the_api(path, scratch):
    source = os.path.join(scratch, "ReadAll.java")
    with open(source, "w", encoding="utf-8") as f:
        f.write(READER)
    events, frames = map(int, run(tool("java"), source, path).split())
    kinds = summary(path)
    told = sum(n for name, n in kinds.items()
               if name.lower() not in ("jdk.checkpoint", "jdk.metadata"))
    want(events == told and frames, "%d events, %d in the summary" % (events, told))


def what_it_knows(path):
    machine = printed(path, ["jdk.JVMInformation", "jdk.OSInformation", "jdk.CPUInformation"])
    want(len(machine) % 3 == 0 and any(v.get("jvmVersion") for v in machine), "said: %s" % machine)
    heap = printed(path, ["jdk.GCHeapSummary"])
    want(heap and all(v["heapUsed"] > 0 for v in heap), "heap: %s" % heap[:1])
    for v in printed(path, ["jdk.CPULoad"]):
        want(all(0 <= v[k] <= 1 for k in ("jvmUser", "jvmSystem", "machineTotal")), str(v))
    malloc = {v["address"] for v in printed(path, ["profiler.Malloc"])}
    free = {v["address"] for v in printed(path, ["profiler.Free"])}
    # What was allocated before the file began has no address there.
    want(free and len(free & malloc) > 0.8 * len(free), "%d freed of %d" % (len(free), len(malloc)))


def two_that_count(scratch, jvm):
    """Not more than one event is execution samples."""
    raw, path = os.path.join(scratch, "two.jtop"), os.path.join(scratch, "two.jfr")
    later = os.path.join(scratch, "two-later.jfr")
    good("-d", 2, "-i", "2ms", "-e", "cpu,page-faults", "--record", raw, "-f", path, jvm.pid)
    good("-f", later, raw)
    cpu, faults = (total(collapsed(good("-e", event, "-o", "collapsed", raw)))
                   for event in ("cpu", "page-faults"))
    want(cpu and faults, "%d samples of cpu, %d page faults" % (cpu, faults))
    first, began = begins(path, "jdk.ExecutionSample"), begins(path, "jdk.ActiveRecording")
    want(first >= began, "a sample of %s, the recording began at %s" % (first, began))
    for file in (path, later):
        got = len(printed(file, ["jdk.ExecutionSample"]))
        want(got == cpu, "%s: %d samples of cpu, %d in the report" % (file, got, cpu))
        samples = printed(file, ["profiler.EventSample"])
        want(len(samples) == faults and all(v["event"] == "page-faults" for v in samples),
             "%s: %d page faults, %d in the report" % (file, len(samples), faults))
        for event, told in (("cpu", cpu), ("page-faults", faults)):
            got = total(collapsed(good("-e", event, "-o", "collapsed", file)))
            want(got == told, "%s, read back: %d of %s, not %d" % (file, got, event, told))


def with_the_jdks(scratch, jvm):
    path = os.path.join(scratch, "sync.jfr")
    good("-d", 2, "-e", "cpu", "--jfrsync", "+jdk.ThreadStart+jdk.InitialSystemProperty", "-f", path,
         jvm.pid)
    counts = summary(path)
    want(counts["jdk.ExecutionSample"] > 0 and counts["jdk.InitialSystemProperty"] > 5,
         "counts: %s" % counts)
    stacks = printed(path, ["jdk.ExecutionSample"])
    want(any(f["method"]["type"]["name"].startswith("shop") for v in stacks
             for f in v["stackTrace"]["frames"]), "no frames of ours")
    want(not [n for n in os.listdir("/tmp") if re.match(r"jtop-prof-\d+-\d+$", n)
              and os.stat("/tmp/" + n).st_uid == os.getuid()], "left in /tmp")


def bad_settings(scratch, jvm):
    path = os.path.join(scratch, "bad.jfr")
    for config in ("no such", "/no/such/file.jfc"):
        done = prof("-d", 1, "--jfrsync", config, "-f", path, jvm.pid)
        want(done.returncode == 100 and len(done.stderr.splitlines()) == 1,
             "exit %d: %s" % (done.returncode, done.stderr))
    done = prof("-d", 1, "--jfrsync", "profile", "-o", "collapsed", jvm.pid)
    want(done.returncode == 100 and "-f" in done.stderr, "said: " + done.stderr)


def main():
    checks = Checks(fast=("grown: the counts of the reports",
                          "grown: every event through the API"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-jfr-readers-") as scratch:
        live, raw = os.path.join(scratch, "live.jfr"), os.path.join(scratch, "all.jtop")
        later = os.path.join(scratch, "later.jfr")
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 4, "-i", "2ms", "--wall", "20ms", "--alloc", "64k", "--lock", "1us",
                 "--nativemem", "4k", "-e", ",".join(EVENTS), "--chunktime", "2s", "--record", raw,
                 "-f", live, jvm.pid)
            checks.run("with the JDK's own recorder", with_the_jdks, scratch, jvm)
            checks.run("cpu time and page faults", two_that_count, scratch, jvm)
            checks.run("settings that there are not", bad_settings, scratch, jvm)
        good("-f", later, raw)
        for name, path in (("grown", live), ("made later", later)):
            checks.run(name + ": the counts of the reports", same_counts, path, raw)
            checks.run(name + ": every event through the API", read_by_the_api, path, scratch)
        checks.run("the machine, the heap, what was freed", what_it_knows, live)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
