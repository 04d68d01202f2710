#!/usr/bin/env python3
# runs: alone
"""Where perf_events cannot be had, CPU time is sampled by timers all the same, and it is said why:
on the screen, in the status view, on stderr and in the summary. The profiler is in the container and
has no more rights than the JVM, so that nobody opens the events for it."""
import os
import re
import subprocess
import sys

import oci
from lib import Checks, WALKS, collapsed, links, self_percent, total, want

PROF = oci.INSIDE + "/jtop-prof"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
NO_PERF = "ctimer: no perf_events: "


def profile(c, *args, user=oci.USER):
    done = c.run(PROF, "-d", 1, *args, 1, user=user)
    want(done.returncode == 0, done.stderr)
    return done


def screen(c, view, *args, user=oci.USER):
    """The second picture, blanks and line ends made one."""
    done = c.run(PROF, "--batch", "-n", 2, "--refresh", 400, "--view", view, *args, 1, user=user)
    want(done.returncode == 0, done.stderr)
    return " ".join(done.stdout.rsplit("jtop-prof  ", 1)[1].split())


def told(c, why, *args, user=oci.USER):
    """By ctimer, and why, wherever somebody may look."""
    done = profile(c, *args, "-o", "summary", user=user)
    WALKS.note(args, done.stdout)
    want("jtop-prof: cpu by " + NO_PERF + why in done.stderr, "stderr: " + done.stderr)
    want("sampled by          : " + NO_PERF + why in done.stdout, "summary: " + done.stdout)
    status = screen(c, "status", *args, user=user)
    want(" cpu ctimer 10ms " in status and " no perf_events: " + why in status, status)
    want("! ctimer is used: no perf_events: " + why in status, "screen: " + status)


def right(c, *args):
    shares = self_percent(collapsed(profile(c, *args, "-o", "collapsed").stdout))
    want(shares.get("a50", 0) + shares.get("b25", 0) > 50, str(shares))


def seccomp(errno, why):
    with oci.Container("Shares", "single", inside=True, deny=["perf_event_open"],
                       errno=errno) as c:
        told(c, why)
        right(c)
        subprocess.run(["taskset", "-acp", "0", str(c.pid)], check=True, stdout=subprocess.DEVNULL)
        for cpu, there in ((0, True), (1, False)):
            stacks = collapsed(profile(c, "--target-cpu", cpu, "-o", "collapsed").stdout)
            want(bool(stacks) == there, "processor %d: %d samples" % (cpu, total(stacks)))


def paranoid():
    with open(PARANOID, encoding="ascii") as f:
        level = int(f.read())
    with oci.Container("Shares", "single", inside=True) as c:
        if level > 1:
            told(c, "denied, kernel.perf_event_paranoid is %d (kernel stacks: <= 1)" % level)
            right(c)
        # Debian's and Android's kernels have levels beyond 2, which deny this one's way.
        for beyond in (3, 4) if level > 1 else ():
            with open("/proc/%d/root/work/level" % c.pid, "w", encoding="ascii") as f:
                f.write("%d\n" % beyond)
            if beyond == 3:
                subprocess.run(["nsenter", "-t", str(c.pid), "-m", "/bin/busybox", "mount", "-o",
                                "bind", "/work/level", PARANOID], check=True)
            want("denied, kernel.perf_event_paranoid is %d (kernel stacks: <= 1)" % beyond in
                 profile(c, "-o", "summary").stdout, "not of level %d" % beyond)


def locked():
    """Each thread's buffer is locked memory. Of the program alone everybody may have events."""
    java = "ulimit -l 0; exec %s -Xmx256m -cp /app Threads 300" % oci.JAVA
    with oci.Container("", inside=True, command=["/bin/bash", "-c", java]) as c:
        told(c, "no locked memory for the buffers of all threads (errno 1: "
             "kernel.perf_event_mlock_kb, memlock limit)", "--all-user")
        left = [target for _, target in links(c.pid) if "perf" in target]
        want(not left, "%d events are left" % len(left))


def no_names():
    """Kernel stacks without the right to know where the kernel's functions are."""
    why = "no kernel names: /proc/kallsyms hides the addresses (/proc/sys/kernel/kptr_restrict is "
    with oci.Container("PerfEvents", "/work/file", inside=True, user=0, caps=["PERFMON"]) as c:
        c.say("system 2500")
        done = profile(c, "-o", "collapsed", user=0)
        want(why in done.stderr, "stderr: " + done.stderr)
        frames = [f for stack, _ in collapsed(done.stdout) for f in stack]
        kernel = {f for f in frames if f.endswith("_[k]") or re.match(r"\[?(0x)?[0-9a-f]{8}", f)}
        want(kernel == {"[kernel]_[k]"}, str(kernel))
        want(re.search(" cpu perf\\S* 10ms ", screen(c, "status", user=0)), "not by perf_events")
        want("! " + why in screen(c, "methods", user=0), "the screen does not say why")


def no_pmu():
    """Of what has no other way to be sampled the reason is all there is."""
    with oci.Container("Shares", "single", inside=True, user=0, caps=["PERFMON"]) as c:
        done = c.run(PROF, "-d", 1, "-e", "cycles", 1, user=0)
        want(done.returncode == 0 or "cycles: no PMU: " in done.stderr, done.stderr)


checks = Checks()
checks.together(
    ("perf_event_paranoid", paranoid),
    ("seccomp, EPERM", seccomp, 1, "denied: a container's seccomp filter, or CAP_PERFMON missing"),
    ("seccomp, ENOSYS", seccomp, 38,
     "this kernel has no perf_event_open, or a seccomp filter hides it"),
    ("locked memory", locked),
    ("kernel names are hidden", no_names),
    ("no PMU", no_pmu))
sys.exit(checks.code())
