#!/usr/bin/env python3
# timeout: 400
"""Flight recordings that others made, read here: the JDK's own, stack by stack as its `jfr print`
has them, on this JDK and on others that are at hand (.ci/jdks); our own files, which come back as
they went; and files that are cut anywhere."""
import collections
import contextlib
import os
import re
import subprocess
import sys
import tempfile

import lib
from export_readers import events_of, frame_name, is_class, stacks_of
from lib import Checks, Jvm, good, java_version, prof, want

JDKS = os.environ.get("JDKS_DIR", os.path.expanduser("~/.cache/jtop-prof/jdks"))
OURS = ["cpu", "wall", "alloc", "lock", "nativemem"]
STACKS_OF = {  # the JDK's events, by ours
    "cpu": ["jdk.ExecutionSample"],
    "native": ["jdk.NativeMethodSample"],
    "alloc": ["jdk.ObjectAllocationSample", "jdk.ObjectAllocationInNewTLAB",
              "jdk.ObjectAllocationOutsideTLAB"],
    "lock": ["jdk.JavaMonitorEnter", "jdk.ThreadPark"],
}
BYTES_OF = {"jdk.ObjectAllocationSample": "weight", "jdk.ObjectAllocationInNewTLAB": "tlabSize",
            "jdk.ObjectAllocationOutsideTLAB": "allocationSize"}


def others():
    """More JDKs: (version, home)."""
    own = java_version()
    found = [n for n in ("8", "11", "17", "21", "25")
             if os.access(os.path.join(JDKS, n, "bin", "java"), os.X_OK)]
    return [(int(n), os.path.join(JDKS, n)) for n in found if int(n) != own]


@contextlib.contextmanager
def java_of(home):
    before = lib.JAVA_BIN
    lib.JAVA_BIN = os.path.join(home, "bin") if home else before
    try:
        yield
    finally:
        lib.JAVA_BIN = before


def record(scratch, name, home, *settings):
    """What the JDK records of the demo, written when that ends."""
    path = os.path.join(scratch, name + ".jfr")
    option = "-XX:StartFlightRecording=filename=%s,settings=profile" % path
    with java_of(home), Jvm("shop.Demo", options=[",".join([option, *settings])]) as jvm:
        # It runs until the recording must have samples of everything.
        end = lib.time.monotonic() + 6
        lib.wait_for(lambda: lib.time.monotonic() > end, "samples")
        want(jvm.end() == 0, "the demo failed")
    return path


def stack_of(values):
    """From the root, as collapsed output has it; a cut one says so. JDK 17 and 21 have a number
    behind the address of a hidden class."""
    trace = values["stackTrace"]
    if not trace or not trace["frames"]:
        return ("[unknown]",)
    cut = ("[truncated]",) if trace["truncated"] else ()
    return cut + tuple(re.sub(r"(/0x[0-9a-f]+)/[0-9]+", r"\1", frame_name(f))
                       for f in reversed(trace["frames"]))


def told(path, types):
    return events_of(path, types)


def read(path, event, *options):
    got = collections.Counter()
    for frames, n in stacks_of(good("-e", event, "-o", "collapsed", *options, path)):
        # What has no stack still has its class, and one outside of TLABs its own mark.
        if event == "alloc" and frames[-1].endswith("_[k]"):
            frames = frames[:-1]
        got[tuple(f for f in frames if not is_class(f)) or ("[unknown]",)] += n
    return got


def same(got, expected, least=1):
    want(sum(expected.values()) >= least, "the JDK tells of only %d" % sum(expected.values()))
    want(got == expected, "%d samples, not %d; more, and less: %s" % (
        sum(got.values()), sum(expected.values()),
        list((got - expected).items())[:1] + list((expected - got).items())[:1]))


def same_stacks(path, event):
    expected = collections.Counter(stack_of(v) for _, v in told(path, STACKS_OF[event]))
    if expected:
        same(read(path, event), expected)
    want(expected or event != "cpu", "no CPU samples at all")
    print("# %s %s: %d samples" % (os.path.basename(path), event, sum(expected.values())))


def same_bytes(path):
    expected = collections.Counter()
    for kind, v in told(path, STACKS_OF["alloc"]):
        expected[stack_of(v)] += v[BYTES_OF[kind]]
    same(read(path, "alloc", "--total"), expected)


def nanoseconds(duration):
    """PT1M0.5S"""
    found = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", duration)
    hours, minutes, seconds = (float(g or 0) for g in found.groups())
    return round((hours * 3600 + minutes * 60 + seconds) * 1e9)


def same_waits(path):
    events = told(path, STACKS_OF["lock"])
    waited = sum(nanoseconds(v["duration"]) for _, v in events)
    got = sum(read(path, "lock", "--total").values()) if events else 0
    # The JDK rounds ticks by floating point.
    want(abs(got - waited) <= 2 * len(events), "%d ns, not %d" % (got, waited))


def what_it_says(path):
    period = {v["name"]: v["value"] for _, v in told(path, ["jdk.ActiveSetting"])
              if v["name"] == "period" and v["value"] in ("10 ms", "20 ms")}
    samples = sum(read(path, "cpu").values())
    weight = sum(read(path, "cpu", "--total").values())
    want(weight in (samples * 10000000, samples * 20000000) and period,
         "%d samples are %d ns" % (samples, weight))
    want("shop.Demo" in good("-e", "cpu", "-o", "html", path), "no name of the program")
    threads = good("-e", "cpu", "-t", "-o", "collapsed", path)
    names = {(v["sampledThread"]["javaName"], v["sampledThread"]["osThreadId"])
             for _, v in told(path, STACKS_OF["cpu"])}
    for name, tid in names:
        want("[%s tid=%d]" % (name, tid) in threads, "no thread %s %d" % (name, tid))


def cpu_time(path):
    """JDK 25: samples of CPU time have their own period, and are taken in place of the others."""
    events = told(path, ["jdk.CPUTimeSample"])
    same(read(path, "cpu"), collections.Counter(stack_of(v) for _, v in events))
    weight = sum(nanoseconds(v["samplingPeriod"]) for _, v in events)
    got = sum(read(path, "cpu", "--total").values())
    want(abs(got - weight) <= 2 * len(events), "%d ns, not %d" % (got, weight))


def ours_and_back(scratch, recording, event):
    path = os.path.join(scratch, "back-%s.jfr" % event)
    good("-e", event, "-f", path, recording)
    for options in ([], ["-t"]):
        before = good("-e", event, "-o", "collapsed", *options, recording)
        after = good("-e", event, "-o", "collapsed", *options, path)
        lines = set(before.splitlines()) ^ set(after.splitlines())
        want(before and before == after, "%s: %d lines differ: %s" % (
            options, len(lines), sorted(lines)[:4]))
    if event != "cpu" and event != "wall":
        before = good("-e", event, "--total", "-o", "collapsed", recording)
        want(before == good("-e", event, "--total", "-o", "collapsed", path), "weights differ")


def all_at_once(scratch, recording):
    """A file of several events. Live objects are in it a second time, and counted once."""
    path = os.path.join(scratch, "all.jfr")
    good("-f", path, recording)
    for event in OURS:
        for options in ([], ["-t"]):
            before = good("-e", event, "-o", "collapsed", *options, recording)
            after = good("-e", event, "-o", "collapsed", *options, path)
            want(before and before == after, "%s %s: they differ" % (event, options))
    lived, read_back = (re.findall(r"Total samples +: (\d+)\nevent +: live, (\d+) bytes",
                                   good("-o", "summary", of)) for of in (recording, path))
    want(lived == read_back, "alive: %s, read: %s" % (lived, read_back))


def record_ours(scratch):
    path = os.path.join(scratch, "ours.jtop")
    with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
        good("-d", 3, "-i", "2ms", "--wall", "20ms", "--alloc", "64k", "--live", "--lock",
             "1us", "--nativemem", "4k", "-e", ",".join(OURS), "--record", path, "-o", "flat", jvm.pid)
    return path


def cut(scratch, path):
    """Two chunks, of which the second is cut, or both."""
    with open(path, "rb") as f:
        chunk = f.read()
    whole = read(path, "cpu")
    twice = collections.Counter({stack: 2 * n for stack, n in whole.items()})
    step = max(1000, len(chunk) * 2 // 60 // 1000 * 1000)
    short = os.path.join(scratch, "cut.jfr")
    for size in [4, 5, 67, 68, 69, *range(step, 2 * len(chunk), step), 2 * len(chunk)]:
        with open(short, "wb") as f:
            f.write((chunk + chunk)[:size])
        done = prof("-e", "cpu", "-o", "collapsed", short)
        want(done.returncode == 0 or "has no samples of cpu" in done.stderr,
             "%d of %d bytes: exit %d: %s" % (
                 size, 2 * len(chunk), done.returncode, done.stderr))
        got = collections.Counter(
            {tuple(f): n for f, n in stacks_of(done.stdout)})
        least = twice if size == 2 * len(chunk) else whole if size >= len(chunk) else {}
        want(all(got[s] >= n for s, n in least.items()), "%d bytes: samples are missing" % size)
        want(all(n <= twice[s] for s, n in got.items()), "%d bytes: samples are made up" % size)


def nonsense(scratch):
    path = os.path.join(scratch, "nonsense.jfr")
    with open(path, "wb") as f:
        f.write(b"FLR\0\0\0\0\x09" + bytes(200))
    done = prof("-o", "collapsed", path)
    want(done.returncode == 1 and "version" in done.stderr,
         "exit %d: %s" % (done.returncode, done.stderr))


def of_the_jdk(check, scratch, version, home):
    path = record(scratch, "jdk%d" % version, home)
    for event in STACKS_OF:
        check.run("JDK %d: %s, the stacks" % (version, event), same_stacks, path, event)
    check.run("JDK %d: allocated bytes" % version, same_bytes, path)
    check.run("JDK %d: time waited" % version, same_waits, path)
    check.run("JDK %d: period, program, threads" % version, what_it_says, path)
    if version >= 25:
        timed = record(scratch, "timed%d" % version, home, "jdk.CPUTimeSample#enabled=true",
                       "jdk.CPUTimeSample#throttle=5ms")
        check.run("JDK %d: samples of CPU time" % version, cpu_time, timed)
    return path


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-jfr-") as scratch:
        path = None
        if java_version() >= 11:
            path = of_the_jdk(check, scratch, java_version(), None)
        for version, home in others():
            of_the_jdk(check, scratch, version, home)
        if path:
            check.run("cut anywhere", cut, scratch, path)
        check.run("what is no recording", nonsense, scratch)
        recording = record_ours(scratch)
        for event in OURS:
            check.run("%s: our own file comes back" % event, ours_and_back, scratch, recording,
                      event)
        check.run("our own file of several events comes back", all_at_once, scratch, recording)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
