#!/usr/bin/env python3
# timeout: 240
"""A JFR file that grows opens after a kill -9 of the JVM, of the profiler, or of both, at any moment,
and has what was delivered until then: all of it when only the JVM died, and all but the last flush
when the profiler did. KILLS says how many of them (12)."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from lib import Checks, Jvm, Prof, armed, collapsed, good, java_tool, total, wait_for, want

KILLS = int(os.environ.get("KILLS", "12"))
# Of samples: a flush is due every 0.1 s, and a loaded machine may be late with it.
LAST_FLUSH = 1.0
EVENT = "jdk.ExecutionSample"


def jfr(*args):
    tool = java_tool("jfr") if shutil.which(java_tool("jfr")) else "jfr"
    done = subprocess.run([tool, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    want(done.returncode == 0, "%s: %s" % (args[0], done.stdout[-300:]))
    return done.stdout


def summary(path):
    """Events by type, and how many chunks."""
    text = jfr("summary", path)
    counts = {m.group(1): int(m.group(2))
              for m in re.finditer(r"^ ([\w.]+) +(\d+) +\d+\s*$", text, re.M)}
    return counts, int(re.search(r"Chunks: (\d+)", text).group(1))


def times_of(path):
    events = json.loads(jfr("print", "--json", "--events", EVENT, path))["recording"]["events"]
    want(all(e["values"]["stackTrace"]["frames"] and e["values"]["sampledThread"]
             for e in events), "samples without a stack or a thread")
    return sorted(e["values"]["startTime"] for e in events)


def seconds(stamp):
    return sum(float(part) * unit for part, unit in
               zip(re.search(r"T(\d+):(\d+):([\d.]+)", stamp).groups(), (3600, 60, 1)))


def recorded(path):
    """How many samples of CPU time the raw stream has."""
    return total(collapsed(good("-e", "cpu", "-o", "collapsed", path)))


def killed(scratch, who, moment, chunks):
    files = tempfile.mkdtemp(dir=scratch)
    path, raw = os.path.join(files, "x.jfr"), os.path.join(files, "x.jtop")
    more = ["--chunktime", "1s"] if chunks else []
    with Jvm("Shares", "single", cwd=scratch, options=["-XX:-CreateCoredumpOnCrash"]) as jvm, \
            Prof(scratch, "-d", 60, "-e", "cpu", "-i", "1ms", *more, "-f", path, "--record", raw,
                 jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid) and os.path.exists(path), "sampling")
        time.sleep(moment)  # any moment is a good one
        if who != "jvm":
            p.process.kill()
        if who != "profiler":
            os.kill(jvm.pid, signal.SIGKILL)
        p.process.wait(30)
    counts, many = summary(path)
    got, told = counts.get(EVENT, 0), recorded(raw)
    times = times_of(path)
    want(len(times) == got, "%d printed of %d" % (len(times), got))
    want(many > 1 or not chunks or moment < 3, "%d chunks in %.1f s" % (many, moment))
    if who == "jvm":
        want(got == told and got, "%d samples of %d" % (got, told))
    elif moment > 1.5:
        want(got, "no sample in %.1f s" % moment)
        rate = got / max(seconds(times[-1]) - seconds(times[0]), 0.1)
        want(told - got <= rate * LAST_FLUSH + 100, "%d samples of %d" % (got, told))
    left = sorted(os.listdir(files))
    want(left == ["x.jfr", "x.jtop"], "left behind: %s" % left)
    print("# %s after %.2f s: %d samples in %d chunks, %d in the stream" %
          (who, moment, got, many, told), flush=True)


def ends_whole(scratch):
    """The same file when nobody dies: no filler, and the samples of the stream."""
    path, raw = os.path.join(scratch, "whole.jfr"), os.path.join(scratch, "whole.jtop")
    with Jvm("Shares", "single") as jvm:
        good("-d", 3, "-e", "cpu,alloc", "-i", "1ms", "--chunktime", "1s", "-f", path, "--record",
             raw, jvm.pid)
    counts, many = summary(path)
    want(many > 1, "%d chunks" % many)
    want(counts[EVENT] == recorded(raw), "%d samples of %d" % (counts[EVENT], recorded(raw)))
    want(os.path.getsize(path) < 4 << 20, "%d bytes" % os.path.getsize(path))


def main():
    checks = Checks()
    dice = random.Random(int(os.environ.get("SEED", "0")) or None)
    with tempfile.TemporaryDirectory(prefix="jtop-prof-kill-jfr-") as scratch:
        checks.run("nobody dies", ends_whole, scratch)
        for i in range(KILLS):
            who = ("profiler", "jvm", "both")[i % 3]
            moment = dice.uniform(0.0, 3.5)
            checks.run("kill -9 of %s, %d" % (who, i), killed, scratch, who, moment, i % 2 == 0)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
