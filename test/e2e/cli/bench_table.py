#!/usr/bin/env python3
# timeout: 240, tier: fast
"""The table and the JSON file of `make bench`: from numbers that are known; that profilers take
turns; that one which fails has a note in its rows; and that a run which is stopped leaves nothing."""
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile

from lib import ROOT, Checks, Wrong, read, readers, wait_for, want

TABLE = os.path.join(ROOT, "test", "bench", "table")
sys.path.insert(0, TABLE)
import table_rows  # noqa: E402
from table_run import Bench, Profiler  # noqa: E402
from table_rows import OFF, OURS, PEER, Row  # noqa: E402


def known():
    ratio = Row("cpu-1ms", "throughput kept, 1 ms", "%", "higher")
    for side, values in ((OURS, (96, 95, 97)), (PEER, (94.5, 90, 95.25)), (OFF, (100, 99, 101.5))):
        for value in values:
            ratio.add(side, value)
    slow = Row("dump", "dump of many stacks into a file of a format", "s", "lower", 2)
    slow.add(OURS, 1234.5678)
    slow.note(PEER, "takes\n  too long")
    return [ratio, slow]


def table():
    ratio, slow = known()
    want(table_rows.text(ratio) == "throughput kept, 1 ms, %".ljust(43) + " " + "96.0 (95.5-96.5)".rjust(18)
         + " " + "94.5 (92.2-94.9)".rjust(18) + " " + "100.0 (99.5-100.8)".rjust(18),
         table_rows.text(ratio))
    lines = table_rows.text(slow).split("\n")
    want(lines[:2] == ["dump of many stacks into a file of a",
                       "  format, s".ljust(43) + " " + "1235".rjust(18) + 2 * (" " + "-".rjust(18))],
         lines)
    want(lines[2:] == ["  peer: takes too long"], lines)
    want(table_rows.text(slow, {(PEER, "takes too long")}).split("\n") == lines[:2], "said twice")
    for peer in (None, "Async-profiler 4.5", "a profiler with a long name " + 9 * "1.2"):
        lines = table_rows.heading(peer).split("\n") + lines
    want(all(len(line) <= 100 for line in lines), lines)


def as_json(scratch):
    path = os.path.join(scratch, "figures.json")
    host = {"cpu": "a processor", "cores": 2, "kernel": "6.1", "jdk": "17", "date": "2026-01-02"}
    table_rows.write(path, table_rows.document(host, {"version": "0.1.0", "commit": "abc"},
                                               {"name": "Peer", "version": "9.9"}, 3, known()))
    found = json.loads(read(path))
    want(found["machine"] == host and found["pairs"] == 3 and found["peer"]["version"] == "9.9", found)
    ratio, slow = found["rows"]
    want(ratio["jtop_prof"] == {"median": 96, "low": 95.5, "high": 96.5, "values": [96, 95, 97]}, ratio)
    want(ratio["unprofiled"]["median"] == 100 and ratio["unit"] == "%", ratio)
    want(slow["peer"] == {"note": "takes too long"} and slow["unprofiled"] is None, slow)
    want(os.listdir(scratch) == ["figures.json"], os.listdir(scratch))
    alone = table_rows.document(host, {}, None, 1, [])
    want(alone["peer"] is None, alone)


def turns(scratch):
    """Each pair has both, and which one is first changes; one that fails twice has no more turns."""
    said = []
    bench = Bench([Profiler(OURS, "ours"), Profiler(PEER, "theirs")], 4, scratch, said.append)

    def fails():
        raise Wrong("does not start")

    seen = []
    for n, profiler in bench.turns("it"):
        seen.append((n, profiler.side))
        if n in (1, 2) and profiler.side == PEER:
            want(bench.attempt(PEER, fails) is None, "it has a value")
    want(seen == [(0, OURS), (0, PEER), (1, PEER), (1, OURS), (2, OURS), (2, PEER), (3, OURS)], seen)
    want(said[1] == "it: pair 1 of 4, peer", said)
    row = Row("it", "it", "ms", "lower")
    bench.finish([row])
    want(row.notes == {PEER: "failed 2 times, at last: does not start"} and not bench.failed, row.notes)


def program(scratch, script):
    path = os.path.join(scratch, "peer")
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(path, stat.S_IRWXU)
    return path


def ignores():
    """As in a shell's background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def begun(scratch, *args):
    os.makedirs(os.path.join(scratch, "tmp"))
    return subprocess.Popen([sys.executable, os.path.join(TABLE, "table.py"), "--pairs", "1", *args],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, preexec_fn=ignores,
                            env=dict(os.environ, TMPDIR=os.path.join(scratch, "tmp")))


def measured(scratch):
    """A peer that knows less: its rows say why they are empty, the others have their figures."""
    peer = program(scratch, 'test "$1" = --version && echo Peer 9.9 && exit\necho no such thing; exit 1\n')
    path = os.path.join(scratch, "out.json")
    with begun(scratch, "--peer", peer, "--json", path, "commands") as p:
        out = p.communicate(timeout=150)[0]
    want(p.returncode == 0, "exit %d: %s" % (p.returncode, out[-500:]))
    want("peer: Peer 9.9" in out and "start: exit 1: no such thing" in out, out)
    found = json.loads(read(path))
    want([r["id"] for r in found["rows"]] == ["attach", "start", "stop", "duration"], found["rows"])
    for row in found["rows"]:
        want(row["jtop_prof"]["median"] > 0 and "no such thing" in row["peer"]["note"], row)
    want(os.listdir(os.path.join(scratch, "tmp")) == [], "files are left")


def children(pid):
    return [int(word) for word in read("/proc/%d/task/%d/children" % (pid, pid)).split()]


def java(pid):
    """The JVM that this process started, if there is one that runs."""
    for child in children(pid):
        with open("/proc/%d/cmdline" % child, "rb") as f:
            if b"bench.Paths" in f.read():
                return child
    return None


def stopped(scratch, number, begin):
    """begin(process): waits until it has come so far; returns the JVM."""
    with begun(scratch, "commands") as p:
        jvm = begin(p)
        p.send_signal(number)
        out = p.communicate(timeout=60)[0]
    want(p.returncode == 130 and re.search("^stopped; not measured: commands$", out, re.M), out)
    want(not os.path.exists("/proc/%d" % jvm), "the JVM still runs")
    want(not readers(jvm), "a reader is left")
    want(os.listdir(os.path.join(scratch, "tmp")) == [], "files are left")


def starting(p):
    return wait_for(lambda: java(p.pid), "a JVM")


def profiling(p):
    while "pair 1 of 1" not in p.stdout.readline():
        want(p.poll() is None, "it has ended")
    return wait_for(lambda: readers(java(p.pid)) and java(p.pid), "a reader")


def killed(scratch):
    with begun(scratch, "commands") as p:
        jvm = starting(p)
        p.kill()
    wait_for(lambda: not os.path.exists("/proc/%d" % jvm), "the JVM's end")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-bench-") as scratch:
        def own(name):
            os.makedirs(os.path.join(scratch, name))
            return os.path.join(scratch, name)

        checks.run("table", table)
        checks.run("JSON", as_json, own("json"))
        checks.run("turns", turns, own("turns"))
        checks.run("a peer that fails", measured, own("measured"))
        checks.run("stopped by SIGTERM", stopped, own("term"), signal.SIGTERM, starting)
        checks.run("stopped by SIGINT", stopped, own("int"), signal.SIGINT, profiling)
        checks.run("killed", killed, own("killed"))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
