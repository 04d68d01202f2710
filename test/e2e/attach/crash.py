#!/usr/bin/env python3
# tier: fast, timeout: 300
"""A JVM that crashes while it is profiled ends, and its report of the error is whole: no sample
interrupts it. The VM takes any signal of a fault, and SIGTRAP, for another error then."""
import glob
import os
import signal
import sys
import tempfile

from lib import Checks, Jvm, Prof, read, sampling, wait_for, want

TIMES = 5


def crash(how, *arguments):
    for _ in range(TIMES):
        with tempfile.TemporaryDirectory() as scratch:
            once(scratch, how, arguments)


def once(scratch, how, arguments):
    # The agent's own thread has its turns meanwhile.
    options = ["-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=%s/hs_err_%%p.log" % scratch,
               "-XX:OnError=sleep 0.5"]
    if how == "memory":
        options.append("-XX:+CrashOnOutOfMemoryError")
    with Jvm("Crash", options=options, cwd=scratch) as jvm, \
            Prof(scratch, "-d", 60, *arguments, "-o", "flat=1", jvm.pid) as profiler:
        wait_for(lambda: sampling(jvm.pid), "sampling")
        if how == "signal":
            os.kill(jvm.pid, signal.SIGSEGV)
        else:
            jvm.say(how)
        jvm.process.wait(30)
        want(profiler.process.wait(20) == 0, profiler.stderr())
        reports = glob.glob(scratch + "/hs_err_*.log")
        want(reports, "no report of the error")
        text = read(reports[0])
    # A thread that ends while the VM prints all threads may be an error of its own: SIGSEGV.
    odd = [line for line in text.splitlines() if "also had an error" in line or
           ("during error reporting" in line and "printing all threads" not in line)]
    want(not odd, "%d times: %s" % (len(odd), odd[:2]))
    want(text.rstrip().endswith("END."), "the report breaks off, exit %s: %s"
         % (jvm.process.returncode, text[-200:]))


def main():
    checks = Checks()
    for how in ("signal", "unsafe", "memory"):
        checks.run("%s, cpu" % how, crash, how, "-e", "cpu", "-i", "100us")
    checks.run("signal, by a signal of ours", crash, "signal", "-e", "cpu", "-i", "100us",
               "--signal", 27)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
