#!/usr/bin/env python3
# timeout: 240, tier: fast, runs: alone
"""The wall clock: how long each of hundreds of threads runs and waits, what it waits for, and that
looking at it wakes nobody."""
import collections
import os
import re
import struct
import sys
import tempfile
import time

from lib import (Checks, Jvm, Prof, collapsed, fds, good, java_version, read, records, status,
                 threads, traces, wait_for, want)

SAMPLE, METHOD, THREAD, REPEAT, PAUSE, MARK = 2, 3, 5, 12, 14, 66
WALL = 1
STATE = ["unknown", "running", "blocked", "waiting", "parked", "sleeping", "poll", "io", "futex",
         "disk", "other"]


class Seen:
    """Of a thread: ns by state, and by the name of a method of Wall on its stack."""

    def __init__(self):
        self.name = ""
        self.by_state, self.by_method = collections.Counter(), collections.Counter()
        self.samples, self.repeats, self.virtual = 0, 0, collections.Counter()
        self.last = None

    def total(self):
        return sum(self.by_state.values())

    def state(self):
        return self.by_state.most_common(1)[0]


def watched(path):
    """{thread's name: Seen} of a recording."""
    methods, found = {}, collections.defaultdict(Seen)
    for kind, record in records(path):
        body = record[8:]
        if kind == METHOD:
            number, in_class, in_name = struct.unpack_from("<IHH", body)
            methods[number] = (body[16:16 + in_class].decode(),
                               body[16 + in_class:16 + in_class + in_name].decode())
        elif kind == THREAD:
            tid, length, flags = struct.unpack_from("<IHH", body, 8)
            if not flags:
                found[tid].name = body[16:16 + length].decode()
        elif kind == SAMPLE:
            _, weight, virtual, _, tid, _, frames, event, state = struct.unpack_from(
                "<QQQQIIHBB", body)
            if event != WALL:
                continue
            names = [methods.get(word & 0xffffffff, ("", ""))
                     for word in struct.unpack_from("<%dQ" % frames, body, 48)
                     if 1 <= word >> 56 <= 5]
            t = found[tid]
            t.last = next((name for owner, name in names if owner == "Wall"), "")
            t.samples += 1
            t.virtual[virtual] += weight
            t.by_state[STATE[state]] += weight
            t.by_method[t.last] += weight
        elif kind == REPEAT:
            _, weight, tid, _, event, state = struct.unpack_from("<QQIIBB", body)
            want(found[tid].last is not None, "thread %d repeated before its first sample" % tid)
            found[tid].repeats += 1
            found[tid].by_state[STATE[state]] += weight
            found[tid].by_method[found[tid].last] += weight
    return {t.name: t for t in found.values()}


def coverage(path):
    """Of the last mark of the wall clock's engine: expected and covered ns."""
    found = (0, 0)
    for kind, record in records(path):
        body = record[8:]
        if kind == MARK:
            event = struct.unpack_from("<I", body, 8 + 8 + 8 * 32)[0]
            if event == WALL:
                found = struct.unpack_from("<QQ", body, 8 + 8 + 8 * 32 + 40)
    return found


def record(jvm, scratch, seconds, *options):
    path = os.path.join(scratch, "wall.rec")
    out = good("-d", seconds, "-e", "wall", *options, "--record", path, "-t", "-o", "collapsed",
               jvm.pid)
    return path, out


def truth(jvm):
    """{thread: (ns run, ns slept)}"""
    return {w[0]: (int(w[1]), int(w[2])) for w in (line.split() for line in jvm.ask("truth"))}


def shares(scratch):
    """300 threads: the share of its time that each of them ran, within 3 points."""
    with Jvm("Wall", 300, 110, 0) as jvm:
        before = truth(jvm)
        path, _ = record(jvm, scratch, 14, "-i", "5ms")
        after = truth(jvm)
        seen = watched(path)
    off, text = [], []
    for name, (run, slept) in after.items():
        run, slept = run - before[name][0], slept - before[name][1]
        want(name in seen, name + " was not seen")
        want(12e9 < seen[name].total() < 16e9, "%s: %.1f s" % (name, seen[name].total() / 1e9))
        real = 100.0 * run / (run + slept)
        # What was compiled before we came may give a pc in burn to mix: it is not in rest.
        off.append(100.0 - 100.0 * seen[name].by_method["rest"] / seen[name].total() - real)
        text.append("%s ran %.1f %%, seen %+.1f" % (name, real, off[-1]))
    print("# " + "; ".join(text[:12]))
    print("# worst %.2f points, on average %+.3f" % (max(off, key=abs), sum(off) / len(off)))
    expected, covered = coverage(path)
    print("# coverage %.1f %%" % (100.0 * covered / max(expected, 1)))
    # Where others keep the machine busy we come too late, and say so: what is not covered may be
    # anything.
    points = 3 + max(0, 0.95 - covered / max(expected, 1)) * 30
    want(max(map(abs, off)) <= points, max(zip(off, text), key=lambda o: abs(o[0]))[1])
    want(0.3 * expected <= covered <= expected > 0, "covered %d of %d" % (covered, expected))


def states(scratch):
    """What each thread waits for, and that it is there all the time."""
    with Jvm("Wall", 1, 5, 3) as jvm:
        path, out = record(jvm, scratch, 3)
        seen = watched(path)
        wait_for(lambda: not traces(jvm.pid), "traces to go: %s" % traces(jvm.pid), 8)
    wanted = {"wait-sleep": "sleeping", "wait-park": "parked", "wait-object": "waiting",
              "wait-monitor": "blocked", "wait-owner": "sleeping", "wait-socket": "io",
              "wait-poll": "poll", "wait-accept": "poll", "idle-0": "sleeping", "main": "io"}
    if "VM Thread" in seen:
        wanted["VM Thread"] = "futex"
    for name, state in wanted.items():
        want(name in seen, name + " was not seen: %s" % sorted(seen))
        most, ns = seen[name].state()
        want(most == state and ns > 0.9 * seen[name].total(),
             "%s: %s" % (name, dict(seen[name].by_state)))
        want(2.7e9 < seen[name].total() < 3.6e9, "%s: %d ns" % (name, seen[name].total()))
    want(seen["idle-0"].repeats >= 2, "a sleeper was heard of %d times" % seen["idle-0"].repeats)
    # The profile says the same as the stream: three seconds of each thread.
    weights = collections.Counter()
    for frames, count in collapsed(out):
        weights[re.sub(r"^\[(.*) tid=\d+\]$", r"\1", frames[0])] += count
    looks = weights["wait-park"]
    want(0.7 * 60 <= looks <= 1.3 * 72, "wait-park counts %d samples" % looks)
    want(0.7 * looks <= weights["wait-poll"] <= 1.4 * looks,
         "wait-poll counts %d samples, wait-park %d" % (weights["wait-poll"], looks))


def task(pid, tid, file):
    return read("/proc/%d/task/%d/%s" % (pid, tid, file))


def crowd(scratch):
    """2,000 threads that sleep: nobody wakes them, and looking at them is cheap."""
    def idle(pid):
        return [t for t, name in threads(pid).items() if name.startswith("idle-")]

    def runs(pid):
        return {t: task(pid, t, "schedstat").split()[2] for t in idle(pid)}

    def own_cpu(pid):
        return sum(int(task(pid, t, "schedstat").split()[0])
                   for t, name in threads(pid).items() if name.startswith("jtop"))

    with Jvm("Wall", 0, 0, 2000) as jvm:
        before = runs(jvm.pid)
        with Prof(scratch, "-d", 60, "-e", "wall", "-t", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: "jtop-wall" in threads(jvm.pid).values(), "sampling")
            time.sleep(2)
            began, cpu = time.monotonic(), own_cpu(jvm.pid)
            time.sleep(5)
            share = (own_cpu(jvm.pid) - cpu) / 1e9 / (time.monotonic() - began)
            p.process.send_signal(2)
            want(p.process.wait(20) == 0, p.stderr())
            sleepers = {f[0] for f, _ in collapsed(p.stdout()) if f[0].startswith("[idle-")}
        woken = [t for t, n in runs(jvm.pid).items() if n != before.get(t)]
        want(len(sleepers) == 2000, "only %d of 2000 sleepers seen" % len(sleepers))
        want(not woken, "%d of 2000 sleepers were woken" % len(woken))
        print("# 2000 sleepers cost %.2f %% of a processor" % (100 * share))


def virtual_threads(scratch):
    """A virtual thread's time is its own while it runs; its carrier waits for work afterwards."""
    with Jvm("Wall", 1, 1, 0, options=["-Djdk.virtualThreadScheduler.parallelism=1"]) as jvm:
        jvm.ask("virtual")
        path, _ = record(jvm, scratch, 4, "-i", "10ms")
        seen = watched(path)
    carriers = [t for t in seen.values() if set(t.virtual) - {0}]
    want(len(carriers) >= 1, "no virtual thread was seen")
    theirs = collections.Counter()
    for t in carriers:
        theirs.update({v: ns for v, ns in t.virtual.items() if v})
    want(len(theirs) == 3, "virtual threads: %s" % theirs)
    ran = sum(t.by_method["burn"] for t in carriers)
    want(0.7 * ran <= sum(theirs.values()) <= 1.6 * ran,
         "virtual threads have %d ns, %d in burn" % (sum(theirs.values()), ran))


def pauses(scratch):
    """Garbage collections are told, with their length."""
    path = os.path.join(scratch, "pauses.rec")
    with Jvm("Wall", 1, 1, 0) as jvm, Prof(scratch, "-d", 60, "-e", "wall", "--record", path,
                                           "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: "jtop-wall" in threads(jvm.pid).values(), "sampling")
        began = time.monotonic_ns()
        jvm.ask("collect")
        ended = time.monotonic_ns()
        p.process.send_signal(2)
        want(p.process.wait(20) == 0, p.stderr())
    told = [struct.unpack_from("<QQI", r, 8) for kind, r in records(path) if kind == PAUSE]
    collections_told = [(b, e) for b, e, kind in told if kind == 1 and b >= began]
    want(len(collections_told) >= 5, "%d of 5 collections told" % len(collections_told))
    for b, e in collections_told:
        want(began <= b < e <= ended, "from %d to %d, not in %d to %d" % (b, e, began, ended))


def reader_dies(scratch):
    """Our thread ends with the lease, and nothing of ours stays."""
    with Jvm("Wall", 2, 20, 20) as jvm:
        caught, open_files = status(jvm.pid, "SigCgt"), fds(jvm.pid)
        with Prof(scratch, "-d", 60, "-e", "wall", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: "jtop-wall" in threads(jvm.pid).values(), "sampling")
            p.process.kill()
            wait_for(lambda: not traces(jvm.pid), "the agent to let go", 15)
        want(status(jvm.pid, "SigCgt") == caught, "signals handled: %s, before %s" % (
            status(jvm.pid, "SigCgt"), caught))
        want(len(fds(jvm.pid)) <= len(open_files) + 1, "descriptors: %s" % fds(jvm.pid))
        good("-d", 1, "-e", "wall", jvm.pid)


def on_this_jdk(checks, scratch):
    checks.run("states", states, scratch)
    checks.run("pauses", pauses, scratch)
    checks.run("shares", shares, scratch)
    if java_version() >= 21:
        checks.run("virtual threads", virtual_threads, scratch)
    else:
        print("ok virtual threads # SKIP there are none before JDK 21", flush=True)


def main():
    checks = Checks(fast=("states", "pauses", "reader dies"))
    with tempfile.TemporaryDirectory() as scratch:
        on_this_jdk(checks, scratch)
        checks.run("crowd", crowd, scratch)
        checks.run("reader dies", reader_dies, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
