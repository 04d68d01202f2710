#!/usr/bin/env python3
# timeout: 240, tier: fast
"""A batch profile of a JVM that another process samples: it takes its samples from there, of its
own time and events only; adds the events that are missing, and takes them away again; is refused
where the samples would be others; and goes on when the other process ends. Nobody is disturbed by
it.
"""
import os
import re
import signal
import struct
import sys
import tempfile
import time

from join import count, frames, gone, last, sockets
from lib import (Checks, Jvm, Prof, burn, collapsed, good, prof, read, records, sampling, total,
                 wait_for, want)
from tui import screen

SAMPLE, REPEAT = 2, 12  # core/wire/record.h: enum wire_type
CPU, WALL, ALLOC = 0, 1, 2  # core/wire/layout.h: enum wire_event
SLEEPERS = ("wait-sleep", "wait-park")  # of test/java/Wall.java: they never run
SECOND = 1000000000


def as_text(scratch, pid, *args):
    """A live screen as text, in the background."""
    return Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", *args, pid)


def shown(p):
    wait_for(lambda: count(last(p)) > 20, "the screen's samples")


def goes_on(p):
    seen, then = len(frames(p)), count(last(p))
    wait_for(lambda: len(frames(p)) > seen + 2 and count(last(p)) > then + 20,
             "the screen to go on")


def times(path):
    """(event, time in ns, count) of each sample of a recording."""
    for kind, data in records(path):
        if kind == SAMPLE:
            yield data[50], struct.unpack_from("<Q", data, 8)[0], \
                struct.unpack_from("<I", data, 44)[0] or 1
        elif kind == REPEAT:
            yield data[32], struct.unpack_from("<Q", data, 8)[0], \
                struct.unpack_from("<I", data, 28)[0] or 1


def only(path, events, since, until):
    """The recording has samples of these events, and none from another time. How many."""
    found = list(times(path))
    want({event for event, _, _ in found} == events, "events %s" % {e for e, _, _ in found})
    first, end = min(t for _, t, _ in found), max(t for _, t, _ in found)
    want(since <= first and end <= until,
         "%d … %d are outside %d … %d" % (first, end, since, until))
    return sum(n for _, _, n in found)


def state(pid, event):
    """What `status` says of an event: "by perf, every 10ms; …", or nothing."""
    found = re.search(r"^%s: (.*)$" % event, good("status", pid), re.M)
    return found.group(1) if found else ""


def same_event(scratch):
    path, file = os.path.join(scratch, "same.jtop"), os.path.join(scratch, "same.txt")
    with Jvm("Shares", "single") as jvm, screen(cols=120, rows=40) as s:
        s.start("-i 1ms %d" % jvm.pid)
        s.wait(r"Shares\$A.a50", "the methods")
        burn(jvm.pid, 1)
        begin = time.monotonic_ns()
        with Prof(scratch, "-d", 60, "-i", "1ms", "--record", path, "-f", file, "-o", "collapsed",
                  jvm.pid) as batch:
            wait_for(lambda: os.path.exists(path), "the profile to begin")
            burn(jvm.pid, 0.5)
            os.kill(batch.pid, signal.SIGINT)
            want(batch.process.wait(30) == 0, batch.stderr())
        end = time.monotonic_ns()
        taken = total(collapsed(read(file)))
        want(taken > 100 and "a50" in read(file), read(file))
        want(only(path, {CPU}, begin, end) == taken, "the recording has other samples")
        then = count(s.text())
        want(then > taken * 1.5, "the screen has %d samples, the profile %d" % (then, taken))
        wait_for(lambda: count(s.text()) > then + 200, "the screen to go on")
        want("LIVE" in s.text() and " sampled by " not in s.text(), s.text())
        s.keys("q")
        want(s.code() == 0, "exit code")
        gone(jvm)


def another_event(scratch):
    path, file = os.path.join(scratch, "other.jtop"), os.path.join(scratch, "other.txt")
    with Jvm("EventLoad", "mixed") as jvm:
        with as_text(scratch, jvm.pid) as p:
            shown(p)
            begin = time.monotonic_ns()
            with Prof(scratch, "-d", 2, "-e", "alloc", "--record", path, "-f", file, "-o",
                      "collapsed", jvm.pid) as batch:
                wait_for(lambda: state(jvm.pid, "alloc").startswith("by "), "the event to run")
                want(batch.process.wait(60) == 0, batch.stderr())
            end = time.monotonic_ns()
            want("byte[]" in read(file), read(file))
            only(path, {ALLOC}, begin, end)
            wait_for(lambda: not state(jvm.pid, "alloc").startswith("by "), "the event to end")
            want(state(jvm.pid, "cpu").startswith("by "), good("status", jvm.pid))
            # one that is killed leaves nothing either
            with Prof(scratch, "-d", 60, "-e", "alloc", "-f", file, jvm.pid) as batch:
                wait_for(lambda: state(jvm.pid, "alloc").startswith("by "), "the event to run")
                batch.process.kill()
            wait_for(lambda: not state(jvm.pid, "alloc").startswith("by "), "the event to end")
            goes_on(p)
        gone(jvm)


def repeated(scratch):
    """Sleepers were sampled before, and are only repeated since then."""
    file = os.path.join(scratch, "wall.txt")
    with Jvm("Wall", 2, 60, 2) as jvm:
        with as_text(scratch, jvm.pid, "-e", "wall") as p:
            shown(p)
            goes_on(p)
            begin = time.monotonic()
            good("-d", 2, "-e", "wall", "-t", "-o", "collapsed", "--total", "-f", file, jvm.pid)
            span = (time.monotonic() - begin) * SECOND
            for name in SLEEPERS:
                slept = sum(n for stack, n in collapsed(read(file)) if name in stack[0])
                want(0.5 * span < slept < 1.3 * span, "%s: %d of %d ns" % (name, slept, span))
            goes_on(p)
        gone(jvm)


def others(scratch):
    """Samples that are not those of the session are refused, with what differs."""
    with Jvm("Shares", "single") as jvm:
        alone = prof("-d", "100ms", "-e", "cache-misses", jvm.pid)
        with as_text(scratch, jvm.pid) as p:
            shown(p)
            if alone.returncode:  # it can be asked for, and cannot be sampled here
                done = prof("-d", 1, "-e", "cpu,cache-misses", jvm.pid)
                want((done.returncode, done.stderr) == (alone.returncode, alone.stderr),
                     "%d %s" % (done.returncode, done.stderr))
            for args, why in ((("-i", "1ms"), "every 10ms there, and is to be sampled every 1ms"),
                              (("-e", "wall,itimer"), "cpu is sampled there, and only one of"),
                              (("--cstack", "fp"), "walked by vm there, and by fp here"),
                              (("-j", "20"), "frames there, and 20 here"),
                              (("--features", "vtable"), "additional frames"),
                              (("--precise",), "without --precise"),
                              (("--max-overhead", "1%"), "--max-overhead"),
                              (("--ttsp",), "--ttsp")):
                done = prof("-d", 1, *args, jvm.pid)
                want(done.returncode == 200 and not done.stdout, "%d %s" % (done.returncode, args))
                want(re.fullmatch(r"jtop-prof: process %d profiles JVM %d, [^\n]*%s[^\n]* or quit "
                                  r"process %d first\n" % (p.pid, jvm.pid, re.escape(why), p.pid),
                                  done.stderr), done.stderr)
            want(not state(jvm.pid, "wall"), good("status", jvm.pid))
            goes_on(p)
        gone(jvm)


def screen_quits(scratch):
    path, file = os.path.join(scratch, "quit.jtop"), os.path.join(scratch, "quit.txt")
    with Jvm("EventLoad", "mixed") as jvm:
        with as_text(scratch, jvm.pid) as p:
            shown(p)
            begin = time.monotonic_ns()
            with Prof(scratch, "-e", "cpu,alloc", "-d", 60, "--record", path, "-f", file, "-o",
                      "collapsed", jvm.pid) as batch:
                wait_for(lambda: state(jvm.pid, "alloc").startswith("by "), "the events")
                burn(jvm.pid, 0.5)
                os.kill(p.pid, signal.SIGTERM)
                want(p.process.wait(30) == 0, p.stderr())
                quit_ns = time.monotonic_ns()
                wait_for(lambda: "process: %d, in the foreground" % batch.pid in
                         good("status", jvm.pid), "the batch to take over")
                burn(jvm.pid, 1)
                os.kill(batch.pid, signal.SIGINT)
                want(batch.process.wait(30) == 0, batch.stderr())
                want("process %d, which sampled this JVM, has ended" % p.pid in batch.stderr(),
                     batch.stderr())
            only(path, {CPU, ALLOC}, begin, time.monotonic_ns())
            for event in (CPU, ALLOC):
                when = [t for e, t, _ in times(path) if e == event]
                want(min(when) < quit_ns < max(when), "event %d: samples of one half only" % event)
            for event, method in (("cpu", "compute"), ("alloc", "byte[]")):
                want(method in read(file.replace(".txt", "-%s.txt" % event)), event)
        gone(jvm)


def batch_first(scratch):
    """A screen that views a batch profile goes on when that ends, and so does a second batch."""
    files = [os.path.join(scratch, "first-%d.txt" % i) for i in (1, 2)]
    with Jvm("Shares", "single") as jvm:
        with Prof(scratch, "-d", 60, "-o", "collapsed", "-f", files[0], jvm.pid) as first:
            wait_for(lambda: sockets(jvm.pid), "the profile")
            with as_text(scratch, jvm.pid) as p, \
                    Prof(scratch, "-d", 60, "-e", "cpu,wall", "-o", "collapsed", "-f", files[1],
                         jvm.pid) as second:
                wait_for(lambda: " sampled by %d" % first.pid in last(p), "the screen")
                wait_for(lambda: re.search(r"wall.* 50ms", last(p)), "the second profile's event")
                burn(jvm.pid, 0.5)
                os.kill(first.pid, signal.SIGINT)
                want(first.process.wait(30) == 0, first.stderr())
                want("a50" in read(files[0]), "no a50")
                wait_for(lambda: last(p) and " sampled by %d" % first.pid not in last(p),
                         "somebody to go on")
                goes_on(p)
                want(second.process.poll() is None, second.stderr())
                os.kill(second.pid, signal.SIGINT)
                want(second.process.wait(30) == 0, second.stderr())
                for event in ("cpu", "wall"):
                    want("a50" in read(files[1].replace(".txt", "-%s.txt" % event)), event)
                goes_on(p)
                wait_for(lambda: not state(jvm.pid, "wall").startswith("by "), "wall to end")
        gone(jvm)


def others_files(scratch):
    """The files of a profile in the background have nothing of what another one added."""
    mine, file = os.path.join(scratch, "mine.jfr"), os.path.join(scratch, "b.txt")
    with Jvm("Shares", "single") as jvm:
        good("start", "-f", mine, jvm.pid)
        wait_for(lambda: sampling(jvm.pid), "sampling")
        good("-d", 1, "-e", "wall", "-o", "collapsed", "-f", file, jvm.pid)
        want("a50" in read(file), read(file))
        want(not state(jvm.pid, "wall"), good("status", jvm.pid))
        good("stop", jvm.pid)
        want("a50" in good("convert", mine, "-e", "cpu", "-o", "collapsed"), "no a50")
        done = prof("convert", mine, "-e", "wall", "-o", "collapsed")
        want(done.returncode == 100 and "no samples" in done.stderr or not done.stdout, done.stdout)


def main():
    checks = Checks(fast=("the same event", "another event", "other samples", "the screen quits"))
    with tempfile.TemporaryDirectory() as scratch:
        for name, check in (("the same event", same_event), ("another event", another_event),
                            ("repeated samples", repeated), ("other samples", others),
                            ("the screen quits", screen_quits),
                            ("the batch was first", batch_first), ("others' files", others_files)):
            checks.run(name, check, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
