#!/usr/bin/env python3
# tier: fast
"""Native locks: the time threads waited for pthread mutexes, read/write locks and conditions, as
the program measured it itself; nothing where nobody waited; import tables that are afterwards what
they were, byte for byte."""
import os
import signal
import sys
import tempfile

from lib import (CLASSES, Checks, Jvm, Prof, collapsed, good, mapped, read, sampling, wait_for,
                 want)
from nativemem import hooked, tables

HELD = 2000000  # ns
POINTS = 10     # percent


class Watch:
    """A profile while the workload does what it is asked to."""

    def __init__(self, scratch, jvm, *options):
        self.out = os.path.join(scratch, "locks-%d.collapsed" % id(self))
        self.jvm = jvm
        self.prof = Prof(scratch, "collect", "-d", "300", "-e", "nativelock", "--total", *options,
                         "-f", self.out, jvm.pid)
        wait_for(lambda: self.prof.process.poll() is not None or
                 (sampling(jvm.pid) and hooked(jvm.pid)), "the hooks in the import tables")
        want(self.prof.process.poll() is None, self.prof.stderr())

    def end(self, method):
        """[(frames, ns)] of the stacks with that method in them."""
        self.prof.process.send_signal(signal.SIGINT)
        self.prof.process.wait(30)
        want(self.prof.process.returncode == 0, self.prof.stderr())
        return [(frames, n) for frames, n in collapsed(read(self.out))
                if any(f.endswith("." + method) for f in frames)]


def waited(jvm, *words):
    return int(jvm.ask(" ".join(map(str, words)))[0].split()[1])


def close_to(stacks, truth, leaf):
    seen = sum(n for _, n in stacks)
    print("# %s: %d ns seen, %d are true" % (leaf, seen, truth))
    want(abs(seen - truth) <= truth * POINTS / 100, "%d ns seen, %d are true" % (seen, truth))
    want(all(frames[-1] == leaf for frames, _ in stacks),
         "the leaves: %s" % {frames[-1] for frames, _ in stacks})


def contended(scratch, command, leaf, *options):
    with Jvm("NativeMemory") as jvm:
        w = Watch(scratch, jvm, *options)
        truth = waited(jvm, command, 150, HELD)
        close_to(w.end("contendEarly"), truth, leaf)
        want(jvm.end() == 0, "the JVM ends well")


def conditions(scratch):
    """Its slot is looked for once it has been called."""
    with Jvm("NativeMemory") as jvm:
        w = Watch(scratch, jvm)
        before = hooked(jvm.pid)
        jvm.ask("condition 1 1000")
        # musl fills in all slots when it loads a library.
        wait_for(lambda: hooked(jvm.pid) > before or any("musl" in m for m in mapped(jvm.pid)),
                 "the hook of pthread_cond_timedwait")
        truth = waited(jvm, "condition", 100, HELD)
        close_to(w.end("awaitEarly"), truth, "pthread_cond_timedwait")


def uncontended(scratch):
    with Jvm("NativeMemory") as jvm:
        w = Watch(scratch, jvm)
        jvm.ask("free 100")
        stacks = w.end("contendEarly")
        want(not stacks, "nobody waited: %s" % stacks)


def restored():
    with Jvm("NativeMemory") as jvm:
        good("-e", "cpu", "-d", "200ms", "-o", "collapsed", jvm.pid)  # what an attach changes
        jvm.ask("mutex 2 1000")
        jvm.ask("rwlock 2 1000")
        jvm.ask("condition 1 1000")
        before = tables(jvm.pid)
        for _ in range(3):
            good("-e", "nativelock,nativemem", "-d", "300ms", "-o", "collapsed", jvm.pid)
        want(hooked(jvm.pid) == 0, "%d slots still lead to the agent" % hooked(jvm.pid))
        after = tables(jvm.pid)
        changed = [k for k in before if after.get(k) != before[k]]
        want(not changed, "not as before: %s" % changed)
        waited(jvm, "mutex", 20, 1000)
        want(jvm.end() == 0, "the JVM ends well")


def main():
    checks = Checks()
    if not os.path.exists(os.path.join(CLASSES, "libmemory-early.so")):
        print("ok native locks # SKIP no native workload was built")
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        checks.run("waits for a mutex", contended, scratch, "mutex", "pthread_mutex_lock")
        checks.run("waits for a read/write lock", contended, scratch, "rwlock",
                   "pthread_rwlock_wrlock")
        checks.run("with an interval", contended, scratch, "mutex", "pthread_mutex_lock", "-i",
                   "5ms")
        checks.run("waits for a condition", conditions, scratch)
        checks.run("nothing where nobody waits", uncontended, scratch)
        checks.run("import tables are restored", restored)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
