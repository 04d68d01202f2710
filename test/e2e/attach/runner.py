#!/usr/bin/env python3
# tier: fast, runs: alone
"""The runner of the tests: what a program leaves running, leaves behind in the machine, or takes too
much of is a failure that names it, and the machine is as before."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile

from lib import BUILD, ROOT, Checks, read, wait_for, want

sys.path.insert(0, os.path.join(ROOT, "test", "runner"))
import guard  # noqa: E402
import program  # noqa: E402

SYSCTL = "vm/max_map_count"


def run(out, script, limit=20, watch=None):
    """Failures of a shell script that is run as a test program."""
    if watch:
        watch.begin("e2e/it")
    r = program.execute(out, "e2e/it", ["sh", "-c", script + "\necho ok 1"], {}, limit)
    return r.failures + (watch.end("e2e/it") if watch else [])


def nothing(out):
    want(run(out, "true", watch=guard.Guard()) == [], "a clean program has failed")


def a_process(out):
    failures = run(out, "setsid sleep 300 & echo $! >%s/pid" % out)
    want(len(failures) == 1 and "left running: " in failures[0] and "sleep 300" in failures[0],
         failures)
    want(not os.path.exists("/proc/" + read(out + "/pid").strip()), "it still runs")


def too_long(out):
    want(run(out, "sleep 300", limit=1) == ["still ran after 1 s"], "it was not ended")


def too_large(out):
    before, program.MEGABYTES = program.MEGABYTES, 200
    try:
        failures = run(out, "python3 -c 'import time; b = bytearray(300 << 20); time.sleep(60)'")
    finally:
        program.MEGABYTES = before
    want(len(failures) == 1 and "MB of memory, 200 at most" in failures[0], failures)


def a_mount(out):
    where = tempfile.mkdtemp(dir=out)
    failures = run(out, "mount -t tmpfs -o size=64k none " + where, watch=guard.Guard())
    want(failures == ["left behind: mount " + where], failures)
    want(not os.path.ismount(where), "it is still mounted")


def a_sysctl(out):
    old = read("/proc/sys/" + SYSCTL)
    try:
        failures = run(out, "echo %d >/proc/sys/%s" % (int(old) + 1, SYSCTL), watch=guard.Guard())
        want(any(SYSCTL in f for f in failures), failures)
        want(read("/proc/sys/" + SYSCTL) == old, "the old value was not put back")
    finally:
        with open("/proc/sys/" + SYSCTL, "w", encoding="ascii") as f:
            f.write(old)


def shared_memory(out):
    name = "/dev/shm/jtop-test-%d" % os.getpid()
    try:
        failures = run(out, "echo >%s" % name, watch=guard.Guard())
        want(failures == ["left behind: shared memory " + name], failures)
    finally:
        os.unlink(name)


def one_of_two(out):
    """What two programs may have left is no failure while one of them may still take it away."""
    where, watch = tempfile.mkdtemp(dir=out), guard.Guard()
    for name in ("e2e/a", "e2e/b"):
        watch.begin(name)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", where], check=True)
    want(watch.end("e2e/a") == [], "the first one is to blame, though the other still runs")
    watch.begin("e2e/c")
    failures = watch.end("e2e/b")
    want(failures == ["left behind: mount %s (one of e2e/a, e2e/b)" % where], failures)
    want(watch.end("e2e/c") == [] and not os.path.ismount(where), "it is not put right")


def the_runner_dies(out):
    code = """import sys; sys.path.insert(0, %r); import program
program.execute(%r, "e2e/it", ["sh", "-c", "setsid sleep 301 & echo $! >%s/two; wait"], {})
""" % (os.path.join(ROOT, "test", "runner"), out, out)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) as runner:
        pid = wait_for(lambda: os.path.exists(out + "/two") and read(out + "/two").strip(), "it")
        runner.send_signal(signal.SIGKILL)
    try:
        wait_for(lambda: not os.path.exists("/proc/" + pid), "the end of what its program started")
    finally:
        with contextlib.suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


def make(_):
    """Without a goal it makes the programs, and all of that is done."""
    done = subprocess.run(["make", "BUILD=" + os.path.relpath(BUILD, ROOT)], cwd=ROOT,
                          stdout=subprocess.PIPE, text=True, check=True)
    want(re.search("Nothing to be done for .all.", done.stdout), done.stdout)


def main():
    # What is changed for a check is put back when this is told to end, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-runner-") as out:
        for check in (nothing, a_process, too_long, too_large, shared_memory, the_runner_dies,
                      make):
            checks.run(check.__name__.replace("_", " "), check, out)
        for check in (a_mount, a_sysctl, one_of_two):
            if os.geteuid() == 0:
                checks.run(check.__name__.replace("_", " "), check, out)
            else:
                print("ok %s # SKIP only root may" % check.__name__.replace("_", " "))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
