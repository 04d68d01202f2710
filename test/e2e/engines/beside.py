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

from lib import (WAIT, Checks, Jvm, Prof, Skip, collapsed, cpu_seconds, good, java_tool, java_version, prof,
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
CALLS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Compiled with -fno-plt: calls go by the slots that these tell. */
#define SLOT(name) \
    void **slot_of_##name(void) { \
        void **slot; \
        __asm__("leaq " #name "@GOTPCREL(%%rip), %0" : "=r"(slot)); \
        return slot; \
    }
SLOT(malloc)
SLOT(free)
SLOT(pthread_mutex_lock)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void allocate_here(int n) {
    for (int i = 0; i < n; i++) {
        void *volatile p = malloc(4096);
        free(p);
    }
}
/* A function of the C library in its oldest version, as libraries have it that were not linked with it.
 * It is another address than that of today, and nobody's hook. */
extern int oldest_wait(pthread_cond_t *, pthread_mutex_t *);
__asm__(".symver oldest_wait, pthread_cond_wait@GLIBC_2.2.5");
__attribute__((noinline)) void copy_here(int n) {
    static char text[4096];
    memset(text, 'x', sizeof text - 1);
    for (int i = 0; i < n; i++)
        free(strdup(text));
    if (n < 0)
        oldest_wait(NULL, NULL);
}
static void *give(void *none) { usleep(20000); pthread_mutex_unlock(&lock); return none; }
/* The C library's mutexes do not mind who gives them back. */
__attribute__((noinline)) void wait_here(int n) {
    for (int i = 0; i < n; i++) {
        pthread_t t;
        pthread_mutex_lock(&lock);
        pthread_create(&t, NULL, give, NULL);
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
        pthread_join(t, NULL);
    }
}
"""
HOOKS = r"""
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
extern void **slot_of_malloc(void), **slot_of_free(void), **slot_of_pthread_mutex_lock(void);
extern void allocate_here(int n), copy_here(int n), wait_here(int n);
static volatile long mallocs, frees, locks;
/* What was in its own import table, as async-profiler has it. */
static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static int (*next_lock)(pthread_mutex_t *);
static void *hook_malloc(size_t n) { __atomic_add_fetch(&mallocs, n == 4096, 0); return next_malloc(n); }
static void hook_free(void *p) { __atomic_add_fetch(&frees, 1, 0); next_free(p); }
static int hook_lock(pthread_mutex_t *m) { __atomic_add_fetch(&locks, 1, 0); return next_lock(m); }
static void lead(void **slot, void *hook) {
    mprotect((void *)((size_t)slot & -4096ul), 4096, PROT_READ | PROT_WRITE); /* and so it stays */
    *slot = hook;
}
JNIEXPORT void JNICALL Java_Beside_hook(JNIEnv *e, jclass c) {
    next_malloc = malloc, next_free = free, next_lock = pthread_mutex_lock;
    lead(slot_of_malloc(), (void *)hook_malloc);
    lead(slot_of_free(), (void *)hook_free);
    lead(slot_of_pthread_mutex_lock(), (void *)hook_lock);
}
JNIEXPORT jboolean JNICALL Java_Beside_isHook(JNIEnv *e, jclass c) {
    return *slot_of_malloc() == (void *)hook_malloc && *slot_of_pthread_mutex_lock() == (void *)hook_lock;
}
JNIEXPORT jlong JNICALL Java_Beside_hooked(JNIEnv *e, jclass c, jint which) {
    return which == 0 ? mallocs : which == 1 ? frees : locks;
}
JNIEXPORT void JNICALL Java_Beside_allocate(JNIEnv *e, jclass c, jint n) { allocate_here(n); }
JNIEXPORT void JNICALL Java_Beside_copy(JNIEnv *e, jclass c, jint n) { copy_here(n); }
JNIEXPORT void JNICALL Java_Beside_contend(JNIEnv *e, jclass c, jint n) { wait_here(n); }
"""
INTEL = os.uname().machine == "x86_64"  # the slots are found in its way
PROF, VTALRM, SEGV, TRAP = (int(s) for s in (signal.SIGPROF, signal.SIGVTALRM, signal.SIGSEGV,
                                             signal.SIGTRAP))


def build(scratch):
    home = os.path.dirname(os.path.dirname(os.path.realpath(subprocess.check_output(
        ["sh", "-c", "command -v javac"], text=True).strip())))
    library = os.path.join(scratch, "libbeside.so")
    for name, text in [("calls", CALLS), ("beside", NATIVE + HOOKS)] if INTEL else [("beside", NATIVE)]:
        with open(os.path.join(scratch, name + ".c"), "w", encoding="ascii") as f:
            f.write(text)
        subprocess.run(["cc", "-O1", "-g0", "-fno-omit-frame-pointer", "-fno-plt", "-I", home + "/include", "-I",
                        home + "/include/linux", "-shared", "-fPIC", "-Wl,-z,now,-rpath," + scratch,
                        "-o", "%s/lib%s.so" % (scratch, name), "%s/%s.c" % (scratch, name),
                        *(["-L", scratch, "-lcalls"] if INTEL and name == "beside" else []),
                        "-lpthread"], check=True)
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
            done = prof("-d", 1, "-e", "cpu", "--ttsp", "-o", "summary", jvm.pid)
            if "has no function" in done.stderr:
                raise Skip("no symbols of libjvm.so")
            want(done.returncode == 0, done.stderr)
            jvm.ask("chain %d" % TRAP)
        before = seen(jvm, TRAP)
        text = good("-d", 2, "-e", "cpu", "--ttsp", "-o", "summary", jvm.pid)
        want("Total samples" in text, text)
        want(seen(jvm, TRAP) == before, "they got breakpoints of ours")
        want(jvm.end() == 0, "the JVM did not end well")


def hooks(scratch, library):
    """One that leads calls of malloc and of mutexes through functions of his, and leaves them there
    (async-profiler does): he sees each call, and so do we, whoever came first."""
    if not INTEL:
        raise Skip("the test finds import slots on x86-64 only")
    n = 500

    def counts(jvm):
        return [int(jvm.ask("hooked %d" % i)[0]) for i in range(3)]

    def look(event, word, jvm, first, least, most):
        path = os.path.join(scratch, "hooks.collapsed")
        with Prof(scratch, "-d", 300, "-e", event, "-i", 1, "--total", "-f", path, jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid), "sampling")
            if not first:
                jvm.ask("hook 0")
                wait_for(lambda: jvm.ask("ishook 0") == ["false"], "hooks in front of his")
            before = counts(jvm)
            jvm.ask(word)
            after = counts(jvm)
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(WAIT) == 0 and "not seen" not in p.stderr(), p.stderr())
        stacks = [(f, n) for f, n in collapsed(read(path)) if re.search("(allocate|copy|wait)_here", ";".join(f))]
        want(least <= total(stacks) <= most, "%s: %d of %d to %d" % (event, total(stacks), least, most))
        want(not any("hook" in f for frames, _ in stacks for f in frames), stacks)
        want(jvm.ask("ishook 0") == ["true"], "his hooks are gone")
        return [b - a for a, b in zip(before, after)]

    for first in (True, False):
        with Jvm("Beside", library) as jvm:
            if first:
                jvm.ask("hook 0")
            for _ in range(2):
                had = look("nativemem", "allocate %d" % n, jvm, first, n * 4096, n * 4096)
                want(had[0] == n and had[1] >= n, "he has seen %s of %d" % (had, n))
                had = look("nativelock", "contend 10", jvm, first, 10 * 15e6, 10 * 500e6)
                want(had[2] >= 20, "he has seen %s of 20" % had)
                look("nativemem", "copy %d" % n, jvm, True, n * 4096, n * 4096)
                first = True
            before = counts(jvm)
            jvm.ask("allocate %d" % n)
            want(counts(jvm)[0] == before[0] + n, "he sees nothing more")
            want(jvm.end() == 0, "the JVM did not end well")


def one_timer(scratch, library):
    """There is one ITIMER_PROF: whoever comes later has it, and keeps it; we say so. Then, with his
    handler in front of ours that goes on to us, it can be had again."""
    with Jvm("Beside", library) as jvm:
        with Prof(scratch, "-d", 120, "-e", "itimer", "-i", "4ms", "-o", "summary", jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid), "sampling")
            used = burner(jvm)
            wait_for(lambda: burner(jvm) > used + 0.3, "work")
            jvm.ask("chain %d" % PROF)
            jvm.ask("timer 4000")
            used = burner(jvm)
            wait_for(lambda: burner(jvm) > used + 0.7, "the end of ours")
            before, used = seen(jvm, PROF), burner(jvm)
            wait_for(lambda: burner(jvm) > used + 0.7, "work")
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(WAIT) == 0, p.stderr())
            want("itimer ended before the profile did: another profiler" in p.stderr(), p.stderr())
            want(seen(jvm, PROF) - before > 50, "he has %d signals" % (seen(jvm, PROF) - before))
        before, used = seen(jvm, PROF), burner(jvm)
        wait_for(lambda: burner(jvm) > used + 0.7, "work")
        want(seen(jvm, PROF) - before > 50, "he has %d signals after us" % (seen(jvm, PROF) - before))
        jvm.ask("timer 0")
        unbiased(jvm, scratch, "itimer", "cpu", "itimer")
        os.kill(jvm.pid, PROF)  # not the timer's: it goes to him, who goes on to us, and there it ends
        want(jvm.ask("npe 3") == ["3"] and jvm.end() == 0, "the JVM did not end well")


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
        checks.run("hooks", hooks, scratch, library)
        checks.run("one timer", one_timer, scratch, library)
        checks.run("at work", at_work, scratch, library)
        checks.run("-Xcheck:jni", checked, scratch, library)
        checks.run("gdb", debugged, scratch, library)
        checks.run("the JDK's own", jdk_sampler, scratch, library)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
