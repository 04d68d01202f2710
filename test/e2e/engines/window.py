#!/usr/bin/env python3
# runs: alone
"""Windows: sampling between two native functions only, or everywhere with the windows told; the
time to safepoint; and the code as it was before."""
import os
import re
import signal
import subprocess
import sys
import tempfile

from alloc import code_of, find_state, sampling
from lib import Checks, Jvm, Prof, collapsed, good, prof, status, traces, wait_for, want

# Functions that begin as compilers let them begin, and some whose first instruction cannot be
# done for the thread: then the breakpoints take turns.
NATIVE = r"""
#include <jni.h>
#if TURNS
__attribute__((noinline)) int window_begin(int x) { return x + 1; }
__attribute__((noinline)) int window_end(int x) { return x * 2 + 1; }
#else
volatile int calls;
__attribute__((noinline, noclone)) int window_other(int x) { return calls += x; }
__attribute__((noinline)) int window_begin(int x) { return window_other(x) + window_other(1); }
__attribute__((noinline)) int window_end(int x) { return window_other(x) - window_other(2); }
#endif
volatile int sink;
JNIEXPORT void JNICALL Java_AllocWindow_begin(JNIEnv *e, jclass c) { sink = window_begin(sink); }
JNIEXPORT void JNICALL Java_AllocWindow_end(JNIEnv *e, jclass c) { sink = window_end(sink); }
"""
NAMES = {0: "libwindow-steps.so", 1: "libwindow-turns.so"}


def build(scratch, turns):
    home = os.path.dirname(os.path.dirname(os.path.realpath(subprocess.check_output(
        ["sh", "-c", "command -v javac"], text=True).strip())))
    source = os.path.join(scratch, "window.c")
    library = os.path.join(scratch, NAMES[turns])
    with open(source, "w", encoding="ascii") as f:
        f.write(NATIVE)
    subprocess.run(["cc", "-O2", "-fno-semantic-interposition", "-fcf-protection=none",
                    "-DTURNS=%d" % turns, "-I", home + "/include", "-I", home + "/include/linux",
                    "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def told(jvm):
    inside, outside, windows = map(int, jvm.ask("")[0].split())
    return inside, outside, windows


def shares(scratch, state_at, turns):
    """Only what is inside, as much as there was, and each window."""
    library = build(scratch, turns)
    with Jvm("AllocWindow", library, options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        before, handled = code_of(jvm.pid, NAMES[turns]), status(jvm.pid, "SigCgt")
        with Prof(scratch, "-d", 60, "-e", "cpu", "-i", "1ms", "--begin", "window_begin", "--end",
                  "window_end", "-o", "collapsed", "--total", jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid, state_at), "sampling")
            first = told(jvm)
            wait_for(lambda: told(jvm)[2] >= first[2] + 200, "200 windows")
            during = code_of(jvm.pid, NAMES[turns])
            last = told(jvm)
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(30) == 0, p.stderr())
            stacks, says = collapsed(p.stdout()), p.stderr()
        wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
        want(during != before, "no breakpoint is in the code")
        want(code_of(jvm.pid, NAMES[turns]) == before, "the code is not as it was")
        want(status(jvm.pid, "SigCgt") == handled, "another set of signals is handled")
    ns = sum(count for _, count in stacks)
    out = sum(n for f, n in stacks if "AllocWindow.outside" in f)
    want(out <= 0.03 * ns, "outside: %d ns of %d" % (out, ns))
    inside = last[0] - first[0]
    want(abs(ns - inside) <= 0.15 * inside + 20e6, "%d ns were sampled of %d" % (ns, inside))
    windows = int(re.search(r"(\d+) windows", says).group(1))
    want(last[2] - first[2] - 2 <= windows <= last[2] - first[2] + 60,
         "%d windows, seen as %d" % (last[2] - first[2], windows))


def marks(scratch):
    """--nostop: everything is sampled, and the windows are counted."""
    options = ("-d", 3, "-e", "cpu", "-i", "1ms", "--begin", "window_begin", "--end", "window_end",
               "--nostop")
    with Jvm("AllocWindow", build(scratch, 0),
             options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        text = good(*options, "-o", "summary", jvm.pid)
        first = told(jvm)
        stacks = collapsed(good(*options, "-o", "collapsed", "--total", jvm.pid))
        last = told(jvm)
    want(int(re.search(r"^windows +: (\d+)", text, re.M).group(1)) > 20, text)
    ratio = (last[1] - first[1]) / (last[0] - first[0])
    seen = [sum(n for f, n in stacks if "AllocWindow." + where in f)
            for where in ("inside", "outside")]
    want(0.8 < seen[1] / seen[0] / ratio < 1.25, "%s; outside is %.2f of inside" % (seen, ratio))


def time_to_safepoint(state_at, scratch):
    """Each of the VM's safepoints is a window."""
    with Jvm("AllocLive", options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        before = code_of(jvm.pid, "libjvm.so")
        with Prof(scratch, "-d", 60, "-e", "cpu", "-i", "1ms", "--ttsp", "-o", "summary",
                  jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid, state_at) or p.process.poll() is not None,
                     "sampling")
            if "has no function" in p.stderr():
                print("# SKIP this VM's symbols are not here")
                return
            want(p.process.poll() is None, p.stderr())
            for _ in range(20):
                jvm.ask("gc")
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(30) == 0, p.stderr())
            found = re.search(r"^windows +: (\d+)", p.stdout(), re.M)
            want(found and int(found.group(1)) >= 20, p.stdout())
        wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
        want(code_of(jvm.pid, "libjvm.so") == before, "the VM's code is not as it was")


def reader_dies(scratch, state_at, turns):
    """Nothing stays in the code of a JVM whose profiler was killed."""
    with Jvm("AllocWindow", build(scratch, turns),
             options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        before, handled = code_of(jvm.pid, NAMES[turns]), status(jvm.pid, "SigCgt")
        with Prof(scratch, "-d", 60, "-e", "cpu", "--begin", "window_begin", "--end",
                  "window_end", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid, state_at), "sampling")
            want(code_of(jvm.pid, NAMES[turns]) != before, "no breakpoint is in the code")
            p.process.kill()
        wait_for(lambda: not traces(jvm.pid), "the lease to end")
        want(code_of(jvm.pid, NAMES[turns]) == before, "the code is not as it was")
        want(status(jvm.pid, "SigCgt") == handled, "another set of signals is handled")
        windows = told(jvm)[2]
        wait_for(lambda: told(jvm)[2] > windows + 20, "the workload to go on")


def refused():
    with Jvm("Idle", options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        done = prof("-d", 1, "--begin", "no_such_function_here", jvm.pid)
        want(done.returncode != 0 and "no_such_function_here" in done.stderr, done.stderr)
        done = prof("-d", 1, "--begin", "malloc", jvm.pid)
        want(done.returncode == 200 and "C library" in done.stderr, done.stderr)
        want(jvm.end() == 0, "the JVM did not end well")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-window-") as scratch:
        state_at = find_state(scratch)
        checks.run("inside only", shares, scratch, state_at, 0)
        checks.run("inside only, breakpoints in turns", shares, scratch, state_at, 1)
        checks.run("marks only", marks, scratch)
        checks.run("time to safepoint", time_to_safepoint, state_at, scratch)
        checks.together(*[("the profiler is killed, %d" % turns, reader_dies, scratch, state_at,
                           turns) for turns in (0, 1)])
        checks.run("a function that is not there", refused)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
