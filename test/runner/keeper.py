#!/usr/bin/env python3
"""Runs one test program and ends whatever it started: with its time, with its memory, and when the
runner dies.

    keeper.py SECONDS MEGABYTES LOG COMMAND...

Prints one line of JSON: "code" of the program (null: it had to be ended), "seconds", "late" (it ran
longer than SECONDS), "megabytes" (the most that it and its children had in private memory at a time),
"large" (that was more than MEGABYTES), "left" (command lines of what it left running).
"""
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LOOK = 0.5   # seconds between two looks at the memory
GRACE = 2.0  # seconds in which a process that is just ending is not "left running"


def read(path):
    with open(path, "rb") as f:
        return f.read()


def children(pid):
    """Pids, of all its threads. A process that has ended has none."""
    found = []
    with contextlib.suppress(OSError):
        for tid in os.listdir("/proc/%d/task" % pid):
            found += map(int, read("/proc/%d/task/%s/children" % (pid, tid)).split())
    return found


def descendants(pid):
    found, todo = [], children(pid)
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children(pid)
    return found


def private_kb(pid):
    with contextlib.suppress(OSError):
        for line in read("/proc/%d/status" % pid).splitlines():
            if line.startswith(b"RssAnon:"):
                return int(line.split()[1])
    return 0


def end_all():
    """Kills all that descends from us; what it leaves behind becomes our child, and is next."""
    for _ in range(200):
        running = descendants(os.getpid())
        if not running:
            return
        for pid in running:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        reap()
        time.sleep(0.01)


def reap():
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def reap_orphans(program):
    """All of our children that have ended but the program itself: what waits for the end of a process
    whose parent was faster (runc, of a container's first one) waits for us."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if not ended or ended.si_pid == program.pid:
                return
            os.waitpid(ended.si_pid, 0)


def left_running():
    """Command lines of our children: as a subreaper we inherit what the program left behind."""
    end = time.monotonic() + GRACE
    while True:
        reap()
        running = children(os.getpid())
        if not running or time.monotonic() > end:
            break
        time.sleep(0.02)
    lines = []
    for pid in running:
        with contextlib.suppress(OSError):
            line = read("/proc/%d/cmdline" % pid).replace(b"\0", b" ").decode(errors="replace")
            lines.append("%d %s" % (pid, line.strip()[:150]))
    return lines


def main():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, lambda *_: (end_all(), os._exit(1)))
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    limit, megabytes, log = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    began = look = time.monotonic()
    with open(log, "wb") as f:
        program = subprocess.Popen(sys.argv[4:], stdin=subprocess.DEVNULL, stdout=f, stderr=f,
                                   start_new_session=True)
    most, late, large, code = 0, False, False, None
    while code is None and not late and not large:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = program.wait(0.1)
        reap_orphans(program)
        now = time.monotonic()
        late = now - began > limit
        if now - look > LOOK:
            look = now
            most = max(most, sum(map(private_kb, descendants(os.getpid()))) >> 10)
            large = most > megabytes
    seconds = time.monotonic() - began
    left = [] if code is None else left_running()
    end_all()
    print(json.dumps({"code": code, "seconds": seconds, "late": late and code is None,
                      "large": large, "megabytes": most, "left": left}))


if __name__ == "__main__":
    main()
