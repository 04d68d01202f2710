#!/usr/bin/env python3
# timeout: 240
"""Collapsed stacks and pprof files are read back as they were written: ours say the same again, and
of what Go's runtime writes we say what Go's pprof says."""
import os
import re
import subprocess
import sys
import tempfile

from lib import ROOT, Checks, Jvm, good, prof, want

EVENTS = ["cpu", "wall", "alloc", "lock", "nativemem"]


class Demo:
    """What the demo did, as a recording."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.recording = self.path("demo.jtop")
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 3, "-i", "2ms", "--wall", "20ms", "--alloc", "64k", "--lock", "1us",
                 "--nativemem", "4k", "-e", ",".join(EVENTS), "--record", self.recording,
                 "-o", "flat", jvm.pid)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def collapsed(self, event, *options):
        return good("-e", event, "-o", "collapsed", *options, self.recording)


def differing(a, b):
    a, b = a.splitlines(), b.splitlines()
    return "%d and %d lines: %s" % (len(a), len(b), sorted(set(a) ^ set(b))[:4])


def collapsed_again(demo, event):
    path = demo.path(event + ".collapsed")
    for options in ((), ("-t",), ("-s",), ("-g", "-l"), ("-a",), ("-t", "-g", "-a", "-l"),
                    ("--total",)):
        told = demo.collapsed(event, *options)
        want(told, "nothing was sampled")
        with open(path, "w", encoding="utf-8") as f:
            f.write(told)
        again = good("-o", "collapsed", *options, path)
        want(again == told, "%s: %s" % (" ".join(options), differing(told, again)))


def pprof_again(demo, event):
    path = demo.path(event + ".pb.gz")
    for options in ((), ("-t",), ("-a",), ("--total",)):
        good("-e", event, "-f", path, *options, demo.recording)
        told, again = demo.collapsed(event, *options), good("-o", "collapsed", *options, path)
        want(told and again == told, "%s: %s" % (" ".join(options), differing(told, again)))


def facts_of_pprof(demo):
    """What the report says of the whole is the same as well."""
    path = demo.path("cpu.pb.gz")
    good("-e", "cpu", "-f", path, demo.recording)
    told, again = (good("-e", "cpu", "-o", "flat=1000", p) for p in (demo.recording, path))
    rows = [sorted(re.findall(r"^ *\d+ +[\d.]+% +\d+  .+$", t, re.M)) for t in (told, again)]
    want(rows[0] and rows[0] == rows[1], "other rows: %s" % (differing(*map("\n".join, rows)),))


def a_cut_file_says_so(demo):
    whole, cut = demo.path("cpu.pb.gz"), demo.path("cut.pb.gz")
    good("-e", "cpu", "-f", whole, demo.recording)
    with open(whole, "rb") as f, open(cut, "wb") as g:
        g.write(f.read()[:os.path.getsize(whole) * 2 // 3])
    done = prof("convert", cut, "-o", "flat")
    want(done.returncode == 0 and "cut or damaged" in done.stderr, done.stderr)
    want("Total samples" in done.stdout and "Total samples       : 0" not in done.stdout,
         done.stdout[:200])


# ---- Go ----

class Go:
    def __init__(self, scratch):
        self.cpu, self.heap = (os.path.join(scratch, n) for n in ("go-cpu.pb.gz", "go-heap.pb.gz"))
        program = os.path.join(scratch, "profiled")
        env = dict(os.environ, GOCACHE=os.path.join(scratch, "gocache"), GOFLAGS="-mod=mod",
                   GOPROXY="off", CGO_ENABLED="0")
        for command in (["go", "build", "-o", program,
                         os.path.join(ROOT, "test", "e2e", "lib", "profiled.go")],
                        [program, self.cpu, self.heap]):
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=150, env=env,
                                  cwd=scratch, check=False)
            want(done.returncode == 0, "%s: %s" % (command[0], done.stdout[-400:]))


def top(path, index, unit):
    out = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-top", "-nodefraction=0",
                          "-edgefraction=0", "-nodecount=1000000", "-unit=" + unit,
                          "-sample_index=" + index, path], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                         check=True).stdout
    rows = re.findall(r"^ *(\d+)\w* +[\d.]+% +[\d.]+% +\d+\w* +[\d.]+%  (.+?)(?: \(inline\))?$",
                      out, re.M)
    return {name: int(flat) for flat, name in rows if int(flat)}


def flat(path, event, column):
    text = good("-e", event, "-o", "flat=100000", path)
    rows = re.findall(r"^ *(\d+) +[\d.]+% +(\d+)  (.+)$", text, re.M)
    return {r[2]: int(r[column]) for r in rows if int(r[column])}


def same_rows(told, got):
    want(told and told == got, "%d rows, %d here: %s" %
         (len(told), len(got), sorted(set(told.items()) ^ set(got.items()))[:6]))


def go_cpu(go):
    same_rows(top(go.cpu, "samples", "count"), flat(go.cpu, "cpu", 1))
    same_rows(top(go.cpu, "cpu", "ns"), flat(go.cpu, "cpu", 0))


def go_heap(go):
    same_rows(top(go.heap, "alloc_space", "bytes"), flat(go.heap, "alloc", 0))
    same_rows(top(go.heap, "alloc_objects", "count"), flat(go.heap, "alloc", 1))


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-import-") as scratch:
        demo = Demo(scratch)
        for event in EVENTS:
            check.run("collapsed %s: the same again" % event, collapsed_again, demo, event)
            check.run("pprof %s: the same again" % event, pprof_again, demo, event)
        check.run("pprof: the flat report", facts_of_pprof, demo)
        check.run("pprof: a cut file", a_cut_file_says_so, demo)
        go = Go(scratch)
        check.run("go: CPU time as go tool pprof has it", go_cpu, go)
        check.run("go: allocation as go tool pprof has it", go_heap, go)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
