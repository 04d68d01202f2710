#!/usr/bin/env python3
# timeout: 240, runs: alone
"""Events started, switched and stopped at runtime, every two of them together, again and again in
one JVM under load: it works on as before, and nothing of ours is left in it.

switching.py [ROUNDS]; 100 rounds where MATRIX is set."""
import os
import re
import signal
import subprocess
import sys

from lib import (AGENT, BUILD, Checks, Jvm, collapsed, fds, good, java_tool, mapped, memory_kb,
                 prof, status, threads, timers, total, traces, wait_for, want)
from nativemem import hooked, tables

SWITCHER = os.path.join(BUILD, "test", "e2e", "lib", "switcher")
EVENTS = ["cpu", "wall", "lock", "nativemem", "nativelock"]
MAY_LACK = ["alloc", "page-faults"]  # JDK 8 without symbols; no perf_events
ALWAYS_SOME = ["cpu", "wall", "nativemem"]
# Small classes: the VM keeps what it replaced until a collection that unloads classes.
METHOD = "Hostile$Loader.define"
VIRTUAL = "java.util.concurrent.SynchronousQueue.put"
AT_ONCE = 10  # rounds of one attach
HEAP = ("-Xms128m", "-Xmx128m", "-XX:+AlwaysPreTouch")  # what it takes it has from the start


def java_version():
    done = subprocess.run([java_tool("java"), "-version"], stderr=subprocess.PIPE, text=True,
                          check=True)
    major = done.stderr.split('"')[1].split(".")
    return int(re.match(r"\d+", major[1] if major[0] == "1" else major[0]).group())


def events_of(jvm, method):
    found = EVENTS + [method]
    for event in MAY_LACK:
        done = prof("-e", event, "-d", "100ms", "-o", "collapsed", jvm.pid)
        if done.returncode == 0:
            found.append(event)
        else:
            print("# without %s: %s" % (event, " ".join(done.stderr.split())))
    return found


def switch(jvm, rounds, events):
    """Samples by event; every step was as asked for."""
    done = subprocess.run([SWITCHER, str(jvm.pid), AGENT, str(rounds), *events], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0 or "wrong" in done.stdout:
        end = jvm.process.poll()
        want(end is None, "the JVM ended (%s): %s" % (end, done.stdout[-300:]))
        want(False, "exit %d: %s" % (done.returncode, done.stdout[-500:]))
    ms = sum(int(n) for n in re.findall(r"^pair .* (\d+) ms$", done.stdout, re.M))
    samples = dict(re.findall(r"^event (\S+) (\d+) samples$", done.stdout, re.M))
    print("# %d rounds of %d pairs in %.1f s; %s" % (
        rounds, len(re.findall("^pair", done.stdout, re.M)), ms / 1000,
        ", ".join("%s %s" % e for e in samples.items())))
    return {event: int(n) for event, n in samples.items()}


def switch_all(jvm, rounds, events):
    """The same for any number of rounds, after which the VM has taken its garbage away."""
    samples = dict.fromkeys(events, 0)
    for done in range(0, rounds, AT_ONCE):
        for event, n in switch(jvm, min(AT_ONCE, rounds - done), events).items():
            samples[event] += n
        subprocess.run([java_tool("jcmd"), str(jvm.pid), "GC.run"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True)
    return samples


def handlers(pid):
    return {field: status(pid, field) for field in ("SigCgt", "SigIgn", "SigBlk")}


def state(jvm):
    """All that must not change, when nobody is attached."""
    wait_for(lambda: not traces(jvm.pid), "the detach")
    return {
        "descriptors": fds(jvm.pid),
        "timers": timers(jvm.pid),
        "signal handlers": handlers(jvm.pid),
        "mappings": sorted(m for m in mapped(jvm.pid) if ".so" in m or "jtop" in m),
        "import slots that lead to the agent": hooked(jvm.pid),
        "import tables": tables(jvm.pid),
    }


def size_kb(jvm):
    return {"RSS": memory_kb(jvm.pid), "address space": int(status(jvm.pid, "VmSize"))}


def compare(before, after):
    for what, value in before.items():
        if value != after[what]:
            want(False, "%s: %s before, %s afterwards" % (what, value, after[what]))


def pairs(workload, method, rounds, always=()):
    with Jvm(workload, options=HEAP) as jvm:
        events = events_of(jvm, method)
        switch_all(jvm, 1, events)  # what comes once: the agent's library, a class, metaspace
        before, size, count = state(jvm), size_kb(jvm), len(threads(jvm.pid))
        samples = switch_all(jvm, rounds, events)
        compare(before, state(jvm))
        for what, kb in size_kb(jvm).items():
            print("# %s: %d KB, %d more than before" % (what, kb, kb - size[what]))
            # The VM keeps some 20 KB of every class it replaced, which method does often.
            limit = 48 + rounds << 10 if what == "RSS" else 512 << 10
            want(kb - size[what] < limit, "%s grew by %d KB" % (what, kb - size[what]))
        want(len(threads(jvm.pid)) <= count + 8, "threads: %s" % threads(jvm.pid))
        for event in always:
            want(samples[event] > 0, "%s: no samples" % event)
        want(total(collapsed(good("-d", "500ms", "-o", "collapsed", jvm.pid))) > 0,
             "it can be profiled")
        jvm.process.send_signal(signal.SIGQUIT)  # the VM's own dump of all threads
        wait_for(lambda: jvm.line().startswith("Full thread dump"), "a thread dump")
        want(jvm.end() == 0, "the JVM ends with %s" % jvm.process.poll())


def killed(method):
    """A reader that dies in the middle of it: the JVM is let alone all the same."""
    with Jvm("Hostile", options=HEAP) as jvm:
        events = EVENTS + [method]
        switch(jvm, 1, events)
        before = state(jvm)
        for seconds in (0.4, 0.7, 1.1):
            p = subprocess.Popen([SWITCHER, str(jvm.pid), AGENT, "1000", *events],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            wait_for(lambda: traces(jvm.pid), "the attach")
            try:
                p.wait(seconds)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
            compare(before, state(jvm))
        want(jvm.end() == 0, "the JVM ends with %s" % jvm.process.poll())


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100 if os.environ.get("MATRIX") else 3
    checks = Checks()
    checks.run("every two events, %d times" % rounds, pairs, "Hostile", METHOD, rounds,
               ALWAYS_SOME + [METHOD])
    if java_version() >= 21:
        checks.run("the same with virtual threads", pairs, "Switching", VIRTUAL,
                   max(rounds // 10, 1))
    checks.run("the reader is killed meanwhile", killed, METHOD)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
