#!/usr/bin/env python3
# timeout: 120
"""What a JVM can be sampled for: "list" and "check" say it, and it is so; several events at once, each
in a report or file of its own; wrong events are refused before anything is attached."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from lib import (PROF, Checks, Jvm, collapsed, good, mapped, prof, total, traces, wait_for, want)

ROW = re.compile(r"^  (\S+) +(yes|no )  (.*)$", re.M)
BASIC = ["cpu", "ctimer", "itimer", "wall", "alloc", "lock", "nativemem", "nativelock"]


def rows(text):
    return {name: (answer == "yes", why) for name, answer, why in ROW.findall(text)}


def attached(pid):
    return any("libjtop-agent" in name for name in mapped(pid))


def refused(jvm, code, says, *args):
    """One line, the right exit code, and the JVM is left alone."""
    done = prof(*args)
    lines = done.stderr.splitlines()
    want(done.returncode == code and not done.stdout, "%d: %s" % (done.returncode, done.stdout))
    want(len(lines) == 1 and re.search(says, lines[0]), "does not say %r: %s" % (says, lines))
    want(jvm.alive(), "the JVM is dead")


def listed(jvm):
    text = good("list", jvm.pid)
    found = rows(text)
    want(all(name in found for name in BASIC), text)
    want(found["cpu"][0] and found["page-faults"][0], text)
    want(all(why for _, why in found.values()), "without a reason: %s" % text)
    works, why = found["cycles"]
    want(works or "PMU" in why or "perf" in why, why)
    wait_for(lambda: not traces(jvm.pid), "traces to go: %s" % traces(jvm.pid))
    return found


def list_is_right(jvm):
    """What the list says of an event is what comes of it."""
    found = listed(jvm)
    for name in ("wall", "alloc", "nativemem", "cycles", "page-faults"):
        works, why = found[name]
        done = prof("check", "-e", name, jvm.pid)
        if works:
            want(done.returncode == 0 and done.stdout == "OK\n", "%s: %s" % (name, done.stderr))
        else:
            want(done.returncode in (100, 200) and why in done.stderr,
                 "%s: %s, wanted %s" % (name, done.stderr, why))


def private_tracefs(*args):
    """The profiler where tracefs is mounted, which nobody else sees."""
    return subprocess.run(
        ["unshare", "-m", "sh", "-c",
         "mount -t tracefs tracefs /sys/kernel/tracing && exec \"$@\"", "sh", PROF,
         *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, timeout=60, check=False)


def tracepoints(jvm):
    """By name with tracefs, and the same by number."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    done = private_tracefs("-d", "1", "-e", "sched:sched_switch", "-o", "summary", jvm.pid)
    if "mount:" in done.stderr:
        return  # no tracefs in this kernel
    want(done.returncode == 0, done.stderr)
    want(re.search(r"event +: sched:sched_switch, [1-9]\d* total", done.stdout), done.stdout)
    done = private_tracefs("-d", "1", "-e", "sched:nosuch", jvm.pid)
    want(done.returncode == 100 and "no such tracepoint" in done.stderr, done.stderr)


def several_files(jvm):
    """Each event in its own file; the names are told."""
    with tempfile.TemporaryDirectory() as place:
        done = prof("-d", "1", "-e", "cpu,wall", "--nativemem", "0", "-i", "1ms", "-f", "x.collapsed",
                    "-f", "%e.svg", jvm.pid, cwd=place)
        want(done.returncode == 0, done.stderr)
        names = sorted(os.listdir(place))
        want(names == ["cpu.svg", "leak.svg", "nativemem.svg", "wall.svg", "x-cpu.collapsed",
                       "x-leak.collapsed", "x-nativemem.collapsed", "x-wall.collapsed"], str(names))
        want("x-cpu.collapsed, x-wall.collapsed" in done.stderr, done.stderr)
        with open(os.path.join(place, "x-cpu.collapsed"), encoding="utf-8") as f:
            cpu = collapsed(f.read())
        with open(os.path.join(place, "x-wall.collapsed"), encoding="utf-8") as f:
            wall = collapsed(f.read())
        want(total(cpu) > 50, "%d samples of cpu" % total(cpu))
        # Sleeping threads are in one of them only.
        want(any("ReferenceHandler" in s for frames, _ in wall for s in frames), "no sleeper")
        want(not any("ReferenceHandler" in s for frames, _ in cpu for s in frames), "it slept")
        with open(os.path.join(place, "wall.svg"), encoding="utf-8") as f:
            want("<title>Wall clock profile" in f.read(), "the title is another event's")


def several_to_stdout(jvm):
    """One report after another, each with its event."""
    out = good("-d", "1", "-e", "cpu,wall", "-o", "summary", jvm.pid)
    want(re.findall(r"(?m)^event +: (\w+), \d+ ns$", out) == ["cpu", "wall"], out)
    out = good("-d", "1", "-e", "wall,cpu", "-o", "collapsed", jvm.pid)
    want(re.findall(r"(?m)^#.*", out) == ["# event: wall, samples", "# event: cpu, samples"], out)
    # One event alone is nothing but stacks.
    want(total(collapsed(good("-d", "1", "-e", "wall", "-o", "collapsed", jvm.pid))) > 0, "empty")


def recording(jvm):
    """A recording has all of them, and -e takes one out."""
    with tempfile.TemporaryDirectory() as place:
        record = os.path.join(place, "r.jtop")
        good("-d", "1", "-e", "cpu,wall", "-i", "1ms", "--record", record, "-f", "live.collapsed",
             jvm.pid, cwd=place)
        done = prof("-f", "again.collapsed", record, cwd=place)
        want(done.returncode == 0, done.stderr)
        for event in ("cpu", "wall"):
            texts = []
            for name in ("live", "again"):
                with open("%s/%s-%s.collapsed" % (place, name, event), encoding="utf-8") as f:
                    texts.append(f.read())
            want(texts[0] and texts[0] == texts[1], "%s differs" % event)
        want(good("-e", "wall", "-o", "collapsed", record) == texts[0], "-e wall differs")


def turns(jvm):
    """--loop writes a file each time; --timeout ends it."""
    with tempfile.TemporaryDirectory() as place:
        began = time.monotonic()
        good("--loop", "1s", "--timeout", "2500ms", "-i", "1ms", "-f", "t%n.collapsed", jvm.pid,
             cwd=place)
        want(time.monotonic() - began >= 2.5, "ended early")
        names = sorted(os.listdir(place))
        want(names[:2] == ["t0.collapsed", "t1.collapsed"], str(names))
        for name in names[:2]:
            with open(os.path.join(place, name), encoding="utf-8") as f:
                want(total(collapsed(f.read())) > 0, "%s is empty" % name)


def wrong_events(jvm):
    for code, says, *args in (
            (100, "unknown event \"cycels\"; nearest known one: cycles", "-e", "cycels"),
            (100, "unknown event \"nosuchfunction\" .*no function", "-e", "nosuchfunction"),
            (100, "cannot be sampled together", "-e", "cpu,itimer"),
            (100, "holds only one event", "-e", "cpu,wall", "-o", "svg"),
            (100, "no library libnosuch.so", "-e", "uprobe:libnosuch.so:f"),
            (100, "has no function \"nosuch\"", "-e", "mem:nosuch"),
            (100, "is not a function|is not the function that runs|no function", "-e", "strlen")):
        refused(jvm, code, says, "-d", "1", *args, jvm.pid)
    refused(jvm, 100, "cycels", "check", "-e", "cycels", jvm.pid)
    refused(jvm, 1, "which JVM", "list")
    want(not attached(jvm.pid), "the agent is there")


def old_alloc(jvm):
    """JDK 8: without symbols it says what to install, and never attached."""
    version = good("--list", "--json")
    found = re.search(r'"pid": %d, .*?"version": "([^"]*)"' % jvm.pid, version)
    if not found or not re.match(r"25\.\d+-b", found.group(1)):
        return
    done = prof("-d", "1", "-e", "alloc", "-o", "summary", jvm.pid)
    want(done.returncode == 0 or
         re.search("build-id [0-9a-f]{40}; install .*openjdk-8-dbg", done.stderr), done.stderr)


def main():
    check = Checks()
    with Jvm("Shares", "single") as jvm:
        check.run("wrong events", wrong_events, jvm)
        check.run("allocation before JDK 11", old_alloc, jvm)
        check.run("list and check agree", list_is_right, jvm)
        check.run("tracepoints", tracepoints, jvm)
        check.run("a file for each event", several_files, jvm)
        check.run("reports one after another", several_to_stdout, jvm)
        check.run("recording of several events", recording, jvm)
        check.run("turns", turns, jvm)
        check.run("nothing is left",
                  lambda: wait_for(lambda: not traces(jvm.pid), "that: %s" % traces(jvm.pid)))
        want(jvm.alive(), "the JVM is dead")
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
