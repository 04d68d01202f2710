#!/usr/bin/env python3
# timeout: 240, tier: fast, runs: alone
"""Events that send SIGTRAP: they are used where the kernel can, another signal is used where it
cannot or under a debugger, and no SIGTRAP is left that would end the JVM."""
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import (PROF, WAIT, Checks, Jvm, Prof, Skip, burn, collapsed, good, read, status, total, traces,
                 wait_for, want)

CYCLES = 40
SIGNAL = 27  # SIGPROF: with a signal of the user's choice, no SIGTRAP
OLD = ("setarch", platform.machine(), "--uname-2.6")  # what the profiler sees of the kernel


def handles(pid, signo):
    return int(status(pid, "SigCgt"), 16) >> (signo - 1) & 1


def mechanism(jvm):
    found = re.search(r"^cpu: by (\S+), ", good("status", jvm.pid), re.M)
    return found and found.group(1)


def started(jvm, *more, before=()):
    """The mechanism while it samples, and which of both signals is handled."""
    subprocess.run([*before, PROF, "start", "-e", "cpu", "-i", "1ms", *map(str, more), str(jvm.pid)],
                   check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=WAIT)
    said = mechanism(jvm)
    handled = [s for s in (signal.SIGTRAP, signal.SIGPROF) if handles(jvm.pid, s)]
    good("stop", "-o", "summary", jvm.pid)
    return said, handled


def chosen(jvm):
    said = started(jvm)
    if said == ("perf", [signal.SIGPROF]):
        raise Skip("no perf_events here that send SIGTRAP")
    want(said == ("perf-trap", [signal.SIGTRAP]), str(said))


def by_signal(jvm, why, *more, **kwargs):
    """The agent keeps its handler of SIGTRAP as long as it is attached."""
    said, handled = started(jvm, *more, **kwargs)
    want(said == "perf" and signal.SIGPROF in handled, "%s: %s, %s" % (why, said, handled))


def replaced(jvm):
    by_signal(jvm, "--signal", "--signal", SIGNAL)
    by_signal(jvm, "--all-user", "--all-user")
    if shutil.which("setarch"):
        by_signal(jvm, "on an old kernel", before=OLD)


def cycles(jvm):
    """Threads are interrupted and sent to sleep at any line while it starts and stops."""
    before = status(jvm.pid, "SigCgt")
    for i in range(CYCLES):
        out = good("-d", "100ms" if i % 2 else "300ms", "-i", ("100us", "1ms", "20us")[i % 3], "-e", "cpu",
                   "-o", "collapsed", jvm.pid)
        want(jvm.alive(), "the JVM ended with %s after %d cycles" % (jvm.process.poll(), i))
    want(total(collapsed(out)) > 0, "no samples")
    wait_for(lambda: not traces(jvm.pid), "the end of sampling")
    # Where a thread did not get to run for half a second, the handler stays until the next time.
    for _ in range(5):
        if status(jvm.pid, "SigCgt") != before:
            good("-d", 1, "-o", "summary", jvm.pid)
    want(status(jvm.pid, "SigCgt") == before, "a handler is left")


def with_breakpoints(jvm):
    """The other user of the signal, in functions of the VM that the walk may call."""
    window = ("--begin", "VM_Operation::evaluate", "--end", "VM_Operation::evaluate")
    for more in ((), ("--cstack", "asgct"), window):
        out = good("-d", 2, "-i", "1ms", "-e", "cpu", *more, "-o", "collapsed", jvm.pid)
        want(jvm.alive(), "the JVM ended with %s" % jvm.process.poll())
        want(more == window or total(collapsed(out)) > 0, "no samples")


def debugger_comes(jvm, scratch):
    """It would stop the JVM at each SIGTRAP: after some of them, it is another signal."""
    if not shutil.which("gdb"):
        raise Skip("there is no gdb")
    log = os.path.join(scratch, "gdb.log")
    with Prof(scratch, "-d", 60, "-e", "cpu", "-i", "10ms", "-o", "collapsed", jvm.pid) as p, \
            open(log, "wb") as out:
        wait_for(lambda: mechanism(jvm) == "perf-trap", "SIGTRAP")
        gdb = subprocess.Popen(["gdb", "-q", "-nx", "-p", str(jvm.pid)], stdin=subprocess.PIPE,
                               stdout=out, stderr=out, text=True, start_new_session=True)
        try:
            gdb.stdin.write("set confirm off\nset pagination off\n"
                            "handle SIGSEGV SIGQUIT SIGTRAP SIGPROF nostop noprint pass\ncontinue\n")
            gdb.stdin.flush()
            wait_for(lambda: "Continuing." in read(log), "gdb")
            wait_for(lambda: mechanism(jvm) == "perf", "another signal")
        finally:
            gdb.kill()
            gdb.wait(WAIT)
        burn(jvm.pid, 0.5)
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(WAIT) == 0, p.stderr())
    want(jvm.alive(), "the JVM ended with %s" % jvm.process.poll())
    want(started(jvm)[0] == "perf-trap", "the first choice afterwards")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm("shop.Demo") as jvm:
        checks.run("first choice", chosen, jvm)
        checks.run("where it cannot be", replaced, jvm)
        checks.run("started and stopped", cycles, jvm)
        checks.run("with breakpoints", with_breakpoints, jvm)
        if mechanism_works(jvm):
            checks.run("a debugger comes", debugger_comes, jvm, scratch)
    return checks.code()


def mechanism_works(jvm):
    return jvm.alive() and started(jvm)[0] == "perf-trap"


if __name__ == "__main__":
    sys.exit(main())
