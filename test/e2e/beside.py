#!/usr/bin/env python3
# timeout: 300, tier: fast, runs: alone
"""Beside other profilers and crash reporters, and after them: whose handlers are in place, or were
left behind, in any order. We sample all the same, unbiased, and they get what is theirs."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import (WAIT, Checks, Jvm, Prof, collapsed, cpu_seconds, good, java_tool, java_version, prof,
                 read, sampling, status, total, wait_for, want)

NATIVE = r"""
#define _GNU_SOURCE
#include <jni.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
static struct { volatile long seen; struct sigaction first, before; int there; } of[65];
static void count(int signo, siginfo_t *info, void *context) { of[signo].seen++; }
static void go_on(int signo, siginfo_t *info, void *context) {
    struct sigaction *to = &of[signo].before;
    of[signo].seen++;
    if (to->sa_flags & SA_SIGINFO) to->sa_sigaction(signo, info, context);
    else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) to->sa_handler(signo);
}
static void put(int signo, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction now, ours;
    sigaction(signo, NULL, &now);
    if (!of[signo].there) of[signo].first = now;
    of[signo].there = 1;
    of[signo].before = now;
    ours = now;
    ours.sa_flags |= SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK;
    ours.sa_sigaction = handler;
    sigaction(signo, &ours, NULL);
}
JNIEXPORT void JNICALL Java_Beside_take(JNIEnv *e, jclass c, jint n) { put(n, count); }
JNIEXPORT void JNICALL Java_Beside_chain(JNIEnv *e, jclass c, jint n) { put(n, go_on); }
JNIEXPORT void JNICALL Java_Beside_drop(JNIEnv *e, jclass c, jint n) {
    sigaction(n, &of[n].before, NULL);
}
JNIEXPORT void JNICALL Java_Beside_timer(JNIEnv *e, jclass c, jint us) {
    struct itimerval t = {{0, us}, {0, us}};
    setitimer(ITIMER_PROF, &t, NULL);
}
JNIEXPORT jlong JNICALL Java_Beside_seen(JNIEnv *e, jclass c, jint n) { return of[n].seen; }
"""
PROF, VTALRM, SEGV, TRAP = (int(s) for s in (signal.SIGPROF, signal.SIGVTALRM, signal.SIGSEGV,
                                             signal.SIGTRAP))


def build(scratch):
    home = os.path.dirname(os.path.dirname(os.path.realpath(subprocess.check_output(
        ["sh", "-c", "command -v javac"], text=True).strip())))
    source, library = os.path.join(scratch, "beside.c"), os.path.join(scratch, "libbeside.so")
    with open(source, "w", encoding="ascii") as f:
        f.write(NATIVE)
    subprocess.run(["cc", "-O1", "-I", home + "/include", "-I", home + "/include/linux", "-shared",
                    "-fPIC", "-o", library, source], check=True)
    return library


def seen(jvm, signo):
    return int(jvm.ask("seen %d" % signo)[0])


def burner(jvm):
    return int(jvm.ask("truth")[0]) / 1e9


def profile(jvm, scratch, event):
    """(share of the burner's CPU time that is in samples, what was said): until it has had some."""
    with Prof(scratch, "-d", 120, "-e", event, "-i", "2ms", "-t", "-o", "collapsed", "--total",
              jvm.pid) as p:
        wait_for(lambda: sampling(jvm.pid) or p.process.poll() is not None, "sampling")
        before = burner(jvm)
        wait_for(lambda: burner(jvm) > before + 0.7 or p.process.poll() is not None, "work")
        used = burner(jvm) - before
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(WAIT) == 0, p.stderr())
        stacks = [(f, n) for f, n in collapsed(p.stdout()) if f[0].startswith("[burner ")]
    return total(stacks) / 1e9 / used, p.stderr()


def unbiased(jvm, scratch, *events):
    for event in events:
        share, said = profile(jvm, scratch, event)
        want("BIASED" not in said, said)
        want(0.7 < share and (share < 1.4 or event == "wall"), "%s: %.2f of the CPU time is in samples; %s" % (event, share, said))


def left_behind(scratch, library):
    """Handlers of the usual signals that nobody uses any more."""
    with Jvm("Beside", library) as jvm:
        for signo in (PROF, VTALRM):
            jvm.ask("take %d" % signo)
        burner(jvm)  # the JDK's network code has a handler as well
        caught = status(jvm.pid, "SigCgt")
        unbiased(jvm, scratch, "cpu", "ctimer", "itimer", "wall")
        want(seen(jvm, PROF) == seen(jvm, VTALRM) == 0, "they got signals of ours")
        want(status(jvm.pid, "SigCgt") == caught, "handled: %s, now %s" % (
            caught, status(jvm.pid, "SigCgt")))
        done = prof("-d", 1, "-e", "cpu", "--signal", PROF, "-o", "summary", jvm.pid)
        want("signal %d has a handler" % PROF in done.stdout + done.stderr, done.stdout + done.stderr)
        want(jvm.end() == 0, "the JVM did not end well")


def comes_later(scratch, library):
    """Another one takes the signal we use: we go on with another, and it gets none of ours."""
    with Jvm("Beside", library) as jvm, \
            Prof(scratch, "-d", 120, "-e", "cpu,wall", "-i", "2ms", "-o", "collapsed", "--total",
                 "-f", os.path.join(scratch, "later.collapsed"), jvm.pid) as p:
        wait_for(lambda: sampling(jvm.pid), "sampling")
        for signo in (PROF, VTALRM):
            jvm.ask("take %d" % signo)

        def quiet():
            before = seen(jvm, PROF), seen(jvm, VTALRM)
            at = burner(jvm)
            wait_for(lambda: burner(jvm) > at + 0.3, "work")
            return (seen(jvm, PROF), seen(jvm, VTALRM)) == before
        wait_for(quiet, "signals to come to us again")
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(WAIT) == 0, p.stderr())
        unbiased(jvm, scratch, "cpu", "wall")
        want(jvm.end() == 0, "the JVM did not end well")


def faults(scratch, library):
    """Crash handlers that come before, between and during; each passes on to who was there."""
    with Jvm("Beside", library, options=["-Xint"]) as jvm:
        def npe():
            before = seen(jvm, SEGV)
            want(jvm.ask("npe 200") == ["200"], "null pointers got lost")
            return seen(jvm, SEGV) - before
        want(npe() == 0, "nobody is there yet")
        unbiased(jvm, scratch, "cpu")
        jvm.ask("chain %d" % SEGV)  # between
        there = npe()
        want(there >= 200, "%d faults of 200" % there)
        unbiased(jvm, scratch, "cpu")
        want(npe() == there, "they are not as they were")
        with Prof(scratch, "-d", 120, "-i", "1ms", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid), "sampling")
            want(npe() == there, "while we sample")
            jvm.ask("chain %d" % SEGV)  # once more, in front of ours: who was there first is forgotten
            want(jvm.ask("npe 200") == ["200"], "null pointers got lost in a circle")
            at = cpu_seconds(jvm.pid)
            wait_for(lambda: cpu_seconds(jvm.pid) > at + 0.3, "work")
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(WAIT) == 0, p.stderr())
        for _ in range(3):
            want(jvm.ask("npe 200") == ["200"], "null pointers got lost after it")
            unbiased(jvm, scratch, "cpu")
        want(jvm.end() == 0, "the JVM did not end well")


def traps(scratch, library):
    """A handler of breakpoints that was put in front of ours stays there."""
    with Jvm("Beside", library) as jvm:
        for _ in range(2):
            good("-d", 1, "-e", "cpu", "--ttsp", "-o", "summary", jvm.pid)
            jvm.ask("chain %d" % TRAP)
        before = seen(jvm, TRAP)
        text = good("-d", 2, "-e", "cpu", "--ttsp", "-o", "summary", jvm.pid)
        want("Total samples" in text, text)
        want(seen(jvm, TRAP) == before, "they got breakpoints of ours")
        want(jvm.end() == 0, "the JVM did not end well")


def at_work(scratch, library):
    """One that samples all the time, as APM agents do: both get what is theirs, all the time."""
    with Jvm("Beside", library) as jvm:
        alloc = ",alloc" if java_version() >= 11 else ""
        jvm.ask("take %d" % PROF)
        jvm.ask("timer 4000")

        def period():
            before, at = seen(jvm, PROF), burner(jvm)
            wait_for(lambda: burner(jvm) > at + 0.7, "work")
            return (burner(jvm) - at) / max(seen(jvm, PROF) - before, 1)
        alone = period()
        unbiased(jvm, scratch, "cpu", "ctimer", "wall")
        with Prof(scratch, "-d", 120, "-e", "cpu,wall,lock" + alloc, "-f",
                  os.path.join(scratch, "at-work.jfr"), jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid), "sampling")
            during = period()
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(WAIT) == 0, p.stderr())
        after = period()
        want(0.5 < during / alone < 2 and 0.5 < after / alone < 2,
             "ms between its signals: %.1f alone, %.1f beside us, %.1f after us" % (
                 alone * 1e3, during * 1e3, after * 1e3))
        done = prof("-d", 1, "-e", "itimer", "-o", "summary", jvm.pid)
        want(done.returncode != 0 and done.stderr.count("\n") == 1 and "ITIMER_PROF" in done.stderr,
             "exit %d: %s" % (done.returncode, done.stderr))
        want(0.5 < period() / alone < 2, "the timer is not what it was")
        want(jvm.end() == 0, "the JVM did not end well")


def checked(scratch, library):
    """-Xcheck:jni has nothing to say of anything we do."""
    path = os.path.join(scratch, "jvm.err")
    with open(path, "wb") as err, \
            Jvm("EventLoad", "mixed", stderr=err, options=[
                "-Xcheck:jni", "-XX:+EnableDynamicAgentLoading"]) as jvm:
        alloc = ("alloc",) if java_version() >= 11 else ()  # before, it needs debug symbols
        for events in ("cpu", "wall", "lock", "nativemem", "nativelock", "EventLoad.compute",
                       "java.lang.Thread.*", ",".join(("cpu", "lock", "wall") + alloc), *alloc):
            good("-d", 1, "-e", events, "-f", os.path.join(scratch, "checked.jfr"), jvm.pid)
        if alloc:
            good("-d", 1, "-e", "alloc", "--live", "-o", "summary", jvm.pid)
        good("-d", 1, "-e", "cpu", "--cstack", "asgct", "-o", "summary", jvm.pid)
        good("-d", 1, "-e", "safepoint", "-o", "summary", jvm.pid)
        jvm.process.stdin.close()
        said = jvm.process.stdout.read().decode()  # it checks by writing there
        jvm.process.wait(WAIT)
    said += read(path)
    # That the handlers of SIGSEGV and SIGBUS are ours meanwhile is true, and it says so.
    want(not re.search("(WARNING|FATAL).*(JNI|native method)|local refs|xception", said), said[-600:])


def debugged(scratch, library):
    """gdb is attached and lets the JVM run, as one who waits for a crash."""
    if not shutil.which("gdb"):
        return print("# there is no gdb")
    log = os.path.join(scratch, "gdb.log")
    with Jvm("Beside", library) as jvm, open(log, "wb") as out:
        gdb = subprocess.Popen(["gdb", "-q", "-nx", "-p", str(jvm.pid)], stdin=subprocess.PIPE,
                               stdout=out, stderr=out, text=True, start_new_session=True)
        try:
            gdb.stdin.write("set confirm off\nset pagination off\n"
                            "handle SIGSEGV SIGQUIT nostop noprint pass\ncontinue\n")
            gdb.stdin.flush()
            wait_for(lambda: "Continuing." in read(log), "gdb")
            jvm.ask("seen 1")
            unbiased(jvm, scratch, "cpu", "wall", "cpu")
        finally:
            gdb.kill()  # the kernel detaches: by its own way out gdb may leave a SIGINT
            gdb.wait(WAIT)
        want("SIGTRAP" not in read(log) and "SIGPROF" not in read(log), read(log)[-800:])
        unbiased(jvm, scratch, "cpu")
        want(jvm.end() == 0, "the JVM did not end well")


def jdk_sampler(scratch, library):
    """The JDK's own CPU-time sampling (JDK 25): both have the CPU time, before, during and after."""
    if java_version() < 25:
        return print("# JDK %d has none" % java_version())
    path = os.path.join(scratch, "own.jfr")
    with Jvm("Beside", library, options=[
            "-XX:StartFlightRecording=jdk.CPUTimeSample#enabled=true,"
            "jdk.CPUTimeSample#throttle=5ms,filename=" + path]) as jvm:
        began = burner(jvm)
        wait_for(lambda: burner(jvm) > began + 1, "work")
        unbiased(jvm, scratch, "cpu", "ctimer", "wall")
        at = burner(jvm)
        wait_for(lambda: burner(jvm) > at + 1, "work")
        used = burner(jvm) - began
        want(jvm.end() == 0, "the JVM did not end well")
    done = subprocess.run([java_tool("jfr"), "summary", path], text=True, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    own = int(re.search(r"jdk\.CPUTimeSample +(\d+)", done.stdout).group(1))
    want(0.6 < own * 0.005 / used < 1.5, "it has %d samples of %.1f s" % (own, used))


def main():
    checks = Checks(fast=("left behind", "comes later", "faults"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-beside-") as scratch:
        library = build(scratch)
        checks.run("left behind", left_behind, scratch, library)
        checks.run("comes later", comes_later, scratch, library)
        checks.run("faults", faults, scratch, library)
        checks.run("breakpoints", traps, scratch, library)
        checks.run("at work", at_work, scratch, library)
        checks.run("-Xcheck:jni", checked, scratch, library)
        checks.run("gdb", debugged, scratch, library)
        checks.run("the JDK's own", jdk_sampler, scratch, library)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
