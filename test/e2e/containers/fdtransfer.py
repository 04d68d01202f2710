#!/usr/bin/env python3
# timeout: 180
"""perf_events that a privileged profiler opens for a JVM that may not: --fdtransfer, and
the same unasked. The JVMs live in containers whose seccomp filter denies perf_event_open."""
import contextlib
import ctypes
import os
import platform
import re
import signal
import sys
import tempfile
import time

from lib import (TICK, WAIT, Checks, Prof, collapsed, difference, fds, good, perf_fds, prof, read,
                 readers, self_percent, threads, total, traces, wait_for, want, within)
from oci import INSIDE, Container

LOCKED = {"userns": True, "deny": ["perf_event_open"]}
LIBC = ctypes.CDLL(None)
PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
POLL, FOREVER = "7", 0xffffffff  # the system call's number; without a timeout
LENT = "opened by jtop-prof; not allowed for the JVM: denied"
TRAPS = tuple(map(int, re.findall(r"\d+", platform.release())[:2])) >= (6, 15)  # sigtrap_proof.h


def sockets(jvm):
    return fds(jvm.pid).count("socket")


def status(jvm, event, samples=1):
    """What `status` says, once that many came by perf_events that were lent."""
    def enough():
        told = good("status", jvm.pid)
        found = re.search(r"(\d+) samples", told)
        return told if found and int(found.group(1)) >= samples else None
    said = wait_for(enough, "samples")
    how = "perf-trap" if event == "cpu" and TRAPS else "perf"
    want("%s: by %s, " % (event, how) in said and LENT in said, said)
    return said


def left(jvm, before):
    """Nothing of ours is in it any more but the library; one socket is its own, for attaching."""
    def ours():
        return [t for t in traces(jvm.pid) if not t.startswith("mapping")]
    wait_for(lambda: not ours(), "that it is clean")
    want(sockets(jvm) <= before + 1, "%d sockets, %d before" % (sockets(jvm), before))
    want(not [f for f in jvm.files() if "jtop" in f], str(jvm.files()))


def right_shares():
    with Container("Shares", "single", **LOCKED) as jvm, \
            tempfile.TemporaryDirectory() as scratch:
        before, path = sockets(jvm), os.path.join(scratch, "out.collapsed")
        truth = jvm.truth()
        good("-d", 4, "-i", "1ms", "-f", path, jvm.pid)
        truth = difference(truth, jvm.truth())
        stacks = collapsed(read(path))
        want(total(stacks) > 300, "%d samples" % total(stacks))
        within(6.0, truth, self_percent(stacks))
        left(jvm, before)


def kernel_frames():
    with Container("EventLoad", "mutexes", **LOCKED) as jvm:
        before = sockets(jvm)
        for event in ("cpu", "context-switches"):
            good("start", "-e", event, jvm.pid)
            status(jvm, event, samples=100)
            stacks = collapsed(good("stop", "-o", "collapsed", jvm.pid))
            seen = sum(n for frames, n in stacks if frames[-1].endswith("_[k]"))
            want(seen > 0, "no kernel frame in %d samples of %s" % (total(stacks), event))
            want(perf_fds(jvm.pid) == 0, "stopped, it has %d events" % perf_fds(jvm.pid))
        end_reader(jvm)
        left(jvm, before)


def end_reader(jvm):
    """The background reader stays for dumps; another start and the end of that are its end."""
    good("-d", "100ms", "-e", "wall", jvm.pid)


def later_threads():
    """They are armed by the agent's thread; and all goes on with another event."""
    with Container("Threads", 30, **LOCKED) as jvm:
        before = sockets(jvm)
        good("start", "-i", "2ms", jvm.pid)
        status(jvm, "cpu")
        for i in range(20):
            jvm.ask("start later-%d" % i)
        # Each thread but the agent's own has its event.
        wait_for(lambda: perf_fds(jvm.pid) == len(threads(jvm.pid)) - 1, "all events")
        said = status(jvm, "cpu")
        want("not sampled" not in said, said)
        for i in range(20):
            jvm.ask("end later-%d" % i)
        wait_for(lambda: perf_fds(jvm.pid) <= len(threads(jvm.pid)), "no event too many")
        stacks = collapsed(good("stop", "-t", "-o", "collapsed", jvm.pid))
        names = {frames[0].split(" tid=")[0][1:] for frames, _ in stacks}
        missing = [i for i in range(20) if "later-%d" % i not in names]
        want(len(missing) <= 4, "%s of 20 are in no sample" % missing)
        end_reader(jvm)
        left(jvm, before)


def agent_seconds(jvm):
    """What its agent's thread took of the processor so far."""
    [tid] = [t for t, name in threads(jvm.pid).items() if name == "jtop-prof"]
    stat = read("/proc/%d/task/%d/stat" % (jvm.pid, tid))
    user, kernel = stat.rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(kernel)) * TICK


@contextlib.contextmanager
def halted(pid):
    """That profiler's thread that opens events stands still: it polls two descriptors for ever."""
    def polls(tid):
        words = read("/proc/%d/task/%d/syscall" % (pid, tid)).split()
        return words[0] == POLL and words[2] == "0x2" and int(words[3], 16) & FOREVER == FOREVER
    tids = [tid for tid in threads(pid) if polls(tid)]
    for tid in tids:
        want(LIBC.ptrace(PTRACE_SEIZE, tid, None, None) == 0, "cannot trace %d" % tid)
        want(LIBC.ptrace(PTRACE_INTERRUPT, tid, None, None) == 0, "cannot stop %d" % tid)
        os.waitpid(tid, WALL)
    want(tids, "no thread of %d opens events" % pid)
    try:
        yield
    finally:
        for tid in tids:
            LIBC.ptrace(PTRACE_DETACH, tid, None, None)


def stopped_early():
    """A thread still waits for its event when sampling is stopped: nobody goes on asking for it."""
    with Container("Threads", 5, **LOCKED) as jvm:
        before = sockets(jvm)
        good("start", "-i", "5ms", jvm.pid)
        status(jvm, "cpu")
        [reader] = readers(jvm.pid)
        with halted(reader):
            jvm.ask("start later")
            wait_for(lambda: "later" in threads(jvm.pid).values(), "the later thread")
            good("stop", "-o", "summary", jvm.pid)
            used = agent_seconds(jvm)
            time.sleep(1)
            used = agent_seconds(jvm) - used
        want(used < 0.2, "stopped, its thread takes %.2f s of a second" % used)
        good("start", jvm.pid)
        wait_for(lambda: perf_fds(jvm.pid) == len(threads(jvm.pid)) - 1, "all events")
        good("stop", "-o", "summary", jvm.pid)
        end_reader(jvm)
        left(jvm, before)


def killed():
    """The reader is gone: what it opened goes with the lease."""
    with Container("Shares", "single", **LOCKED) as jvm, \
            tempfile.TemporaryDirectory() as scratch:
        before = sockets(jvm)
        with Prof(scratch, "-d", 60, "--fdtransfer", jvm.pid) as reader:
            wait_for(lambda: perf_fds(jvm.pid) > 5, "its events: " + reader.stderr())
            reader.process.kill()
        left(jvm, before)
        good("-d", "300ms", "--fdtransfer", jvm.pid)
        left(jvm, before)


def paused():
    """Stopped for longer than the lease it attaches again, and lends again."""
    with Container("Shares", "single", **LOCKED) as jvm, \
            tempfile.TemporaryDirectory() as scratch:
        before = sockets(jvm)
        with Prof(scratch, "-d", 60, jvm.pid) as reader:
            wait_for(lambda: perf_fds(jvm.pid) > 5, "its events")
            os.kill(reader.pid, signal.SIGSTOP)
            wait_for(lambda: perf_fds(jvm.pid) == 0, "the end of the lease")
            os.kill(reader.pid, signal.SIGCONT)
            wait_for(lambda: perf_fds(jvm.pid) > 5, "its events again")
            reader.process.send_signal(signal.SIGINT)
            want(reader.process.wait(WAIT) == 0, reader.stderr())
        left(jvm, before)


def no_right():
    """Not root, and not allowed itself: its own line with --fdtransfer, ctimer without."""
    with Container("Shares", "single", inside=True, **LOCKED) as jvm:
        before = sockets(jvm)
        done = jvm.run(INSIDE + "/jtop-prof", "-d", 1, "--fdtransfer", 1)
        want(done.returncode == 200 and "--fdtransfer: this jtop-prof (uid 1000) may not"
             in done.stderr, done.stderr)
        want(traces(jvm.pid) == [], "it was attached to")
        done = jvm.run(INSIDE + "/jtop-prof", "-d", 1, "-o", "summary", 1)
        want(done.returncode == 0, done.stderr)
        left(jvm, before)


def refused_events():
    """What is wrong with an event is said, not that the JVM has no right to it."""
    with Container("Shares", "single", **LOCKED) as jvm:
        done = prof("-d", 1, "-e", "mem:0x1001/4", jvm.pid)
        want(done.returncode != 0 and "cannot watch" in done.stderr, done.stderr)
        left(jvm, sockets(jvm))


def main():
    checks = Checks()
    checks.run("shares are right", right_shares)
    checks.together(
        ("kernel frames, of cpu and of context switches", kernel_frames),
        ("threads that start later", later_threads),
        ("stopped while a thread waits for its event", stopped_early),
        ("the profiler is killed", killed),
        ("the profiler is stopped, and goes on", paused),
        ("a profiler without the right", no_right),
        ("an event that cannot be", refused_events))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
