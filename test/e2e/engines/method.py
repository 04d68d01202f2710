#!/usr/bin/env python3
# tier: fast
"""Calls of Java methods: counted to the last one with their call paths and times, by exceptions
too, in recursions, in classes loaded later and in virtual threads; and nothing is left of it."""
import os
import signal
import sys
import tempfile

from lib import (Checks, Jvm, Prof, collapsed, good, java_version, prof, read, sampling, wait_for,
                 want)


class Calls:
    """A profile of one method while the workload does what it is asked to."""

    def __init__(self, scratch, jvm, event, *options):
        self.scratch, self.jvm = scratch, jvm
        self.files = [os.path.join(scratch, "calls-%d.%s" % (id(self), x))
                      for x in ("collapsed", "txt")]
        self.prof = Prof(scratch, "collect", "-d", "300", "-e", event, *options,
                         "-f", self.files[0], "-f", self.files[1], jvm.pid)
        wait_for(lambda: self.prof.process.poll() is not None or sampling(jvm.pid), "the start")
        want(self.prof.process.poll() is None, self.prof.stderr())

    def end(self):
        self.prof.process.send_signal(signal.SIGINT)
        self.prof.process.wait(30)
        want(self.prof.process.returncode == 0, self.prof.stderr())
        return collapsed(read(self.files[0])), read(self.files[1])


def count(stacks, *names):
    """Calls whose stack has these methods, callee last, one called by the one before."""
    def fits(frames):
        ends = [f.rsplit(".", 1)[-1] for f in frames]
        return any(tuple(ends[i:i + len(names)]) == names for i in range(len(ends)))
    return sum(n for frames, n in stacks if fits(frames))


def expect(seen, truth, what):
    want(seen == truth, "%s: %d calls seen, %d are true" % (what, seen, truth))


def paths(scratch):
    """Every call, by who called it; and the time in it."""
    with Jvm("MethodCalls") as jvm:
        jvm.ask("calls 20 20")
        c = Calls(scratch, jvm, "MethodCalls.target")
        ns = int(jvm.ask("calls 300 100")[0].split()[1])
        stacks, text = c.end()
        expect(count(stacks, "one", "target"), 300, "from one")
        expect(count(stacks, "two", "target"), 100, "from two")
        want(all(frames[-1].endswith(".target") for frames, _ in stacks), "the method is the leaf")
        seen = sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("--- ")
                   and " ns (" in line and "profile" not in line)
        want(ns <= seen <= ns * 1.05 or abs(seen - ns) < ns * 0.05,
             "%d ns in the method, %d are true" % (seen, ns))
        jvm.ask("calls 3 3")
        want(jvm.end() == 0, "the JVM ends well")


def threshold(scratch):
    """Only calls that take as long."""
    with Jvm("MethodCalls") as jvm:
        c = Calls(scratch, jvm, "MethodCalls.target:300us")
        jvm.ask("calls 50 60")
        stacks, _ = c.end()
        seen = count(stacks, "one", "target")
        want(seen <= 25, "%d of 50 calls of 200 us are above 300 us" % seen)
        expect(count(stacks, "two", "target"), 60, "of 400 us")


def thrown(scratch):
    with Jvm("MethodCalls") as jvm:
        c = Calls(scratch, jvm, "MethodCalls.thrower")
        jvm.ask("throws 1000")
        stacks, _ = c.end()
        expect(count(stacks, "thrower"), 1000, "half of which throw")


def recursion(scratch):
    with Jvm("MethodCalls") as jvm:
        c = Calls(scratch, jvm, "MethodCalls.deep")
        jvm.ask("deep 20")
        stacks, _ = c.end()
        seen = sum(n for _, n in stacks)
        expect(seen, 20, "one in another")


def fast(scratch):
    """So many calls that not each can have a sample: their number is right all the same."""
    with Jvm("MethodCalls") as jvm:
        jvm.ask("fast 100000")
        c = Calls(scratch, jvm, "MethodCalls.fast")
        jvm.ask("fast 3000000")
        stacks, _ = c.end()
        seen = sum(n for _, n in stacks)
        want(abs(seen - 3000000) < 150000, "%d of 3000000 calls seen" % seen)


def late(scratch):
    """A class that is loaded while we look on."""
    with Jvm("MethodCalls") as jvm:
        c = Calls(scratch, jvm, "MethodCalls$Late.called")
        jvm.ask("late 200")
        stacks, _ = c.end()
        expect(count(stacks, "called"), 200, "in the class loaded late")


def virtual(scratch):
    with Jvm("MethodCalls") as jvm:
        c = Calls(scratch, jvm, "MethodCalls.target")
        jvm.ask("virtual 50")
        stacks, _ = c.end()
        expect(count(stacks, "one", "target"), 50, "in virtual threads")


def refused(scratch):
    """What cannot be counted is said."""
    with Jvm("MethodCalls") as jvm:
        for event, reason in (("MethodCalls.nothing", "has no method nothing"),
                              ("java.lang.Thread.currentThread", "native or abstract")):
            done = prof("-e", event, "-d", "1", jvm.pid)
            want(done.returncode == 200 and reason in done.stderr,
                 "%s: exit %d, %r" % (event, done.returncode, done.stderr))
        want(jvm.ask("deep 3") == [], "it works on")


def again(scratch):
    """Twenty times in one JVM; afterwards the code is what it was: it runs as fast."""
    with Jvm("MethodCalls") as jvm:
        def ns(n):
            return min(int(jvm.ask("fast %d" % n)[0].split()[1]) for _ in range(5))
        jvm.ask("fast 3000000")
        before = ns(3000000)
        for _ in range(20):
            good("-e", "MethodCalls.fast", "-d", "100ms", "-o", "collapsed", jvm.pid)
        jvm.ask("fast 3000000")
        after = ns(3000000)
        print("# fast() takes %d ns before, %d ns afterwards" % (before, after))
        want(after < 3 * before, "calls cost %d ns, before %d ns" % (after, before))
        want(jvm.end() == 0, "the JVM ends well")


VERIFYING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+BytecodeVerificationRemote",
             "-XX:+BytecodeVerificationLocal")


def every(scratch):
    """All methods of a class at once, each with its own calls."""
    with Jvm("MethodCalls", options=VERIFYING) as jvm:
        c = Calls(scratch, jvm, "MethodCalls.*")
        jvm.ask("calls 30 10")
        jvm.ask("throws 100")
        jvm.ask("deep 20")
        stacks, _ = c.end()
        for names, truth in ((("one", "target"), 30), (("two", "target"), 10), (("thrower",), 100)):
            expect(count(stacks, *names), truth, ".".join(names))
        leaves = [frames[-1] for frames, n in stacks for _ in range(n)]
        expect(leaves.count("MethodCalls.deep"), 20, "deep")
        expect(leaves.count("MethodCalls.one") + leaves.count("MethodCalls.two"), 2, "one, two")
        want(jvm.end() == 0, "the JVM ends well")


def several(scratch):
    """Two methods, each with a time of its own; the same as with --trace, and in a recording."""
    record = os.path.join(scratch, "several.jtop")
    for option in ("-e", "--trace"):
        with Jvm("MethodCalls", options=VERIFYING) as jvm:
            c = Calls(scratch, jvm, "MethodCalls.target:300us", option, "MethodCalls.deep",
                      option, "MethodCalls.thrower(J)I:3600s", "--record", record)
            jvm.ask("calls 20 60")
            jvm.ask("deep 20")
            jvm.ask("throws 100")
            stacks, _ = c.end()
            expect(count(stacks, "two", "target"), 60, "of 400 us")
            want(count(stacks, "one", "target") <= 10, "of 200 us")
            expect(sum(n for f, n in stacks if f[-1].endswith(".deep")), 20, "deep")
            expect(count(stacks, "thrower"), 0, "calls of an hour")
            for name in ("MethodCalls.target", "MethodCalls.deep"):
                want(collapsed(good("-e", name, "-o", "collapsed", record)) == stacks, name)
            want(jvm.end() == 0, "the JVM ends well")


def inlined(scratch):
    """Calls in a method that is compiled meanwhile, inlined into it, and constructors that fail."""
    with Jvm("MethodCalls", options=VERIFYING) as jvm:
        c = Calls(scratch, jvm, "MethodCalls.loop", "-e", "MethodCalls.fast:60s", "-e",
                  "MethodCalls$Failing.<init>:60s")
        jvm.ask("loops 20")
        stacks, _ = c.end()
        expect(count(stacks, "loop"), 20, "loops")
        want(jvm.end() == 0, "the JVM ends well")


def patterns(scratch):
    """Of methods, of classes, of all there are; what comes later too. And no trace is left."""
    with Jvm("MethodCalls", options=VERIFYING) as jvm:
        c = Calls(scratch, jvm, "Method*.ca*")
        jvm.ask("late 200")
        jvm.ask("deep 20")
        stacks, _ = c.end()
        expect(count(stacks, "called"), 200, "in the class loaded late")
        want({f[-1] for f, _ in stacks} <= {"MethodCalls$Late.called", "MethodCalls.calls"},
             "others: %s" % {f[-1] for f, _ in stacks})
        c = Calls(scratch, jvm, "*.<init>")
        jvm.ask("map 100")
        stacks, _ = c.end()
        leaves = {f[-1] for f, _ in stacks}
        want(leaves and all(f.endswith(".<init>") for f in leaves), "others: %s" % leaves)
        want("java/util/HashMap.<init>" in leaves, "no HashMap: %s" % leaves)
        c = Calls(scratch, jvm, "*.*")
        jvm.ask("deep 20")
        jvm.ask("map 100")
        stacks, _ = c.end()
        leaves = {f[-1] for f, _ in stacks}
        want("MethodCalls.deep" in leaves and "java/util/HashMap.put" in leaves, "leaves: %s" % leaves)
        jvm.ask("calls 3 3")
        c = Calls(scratch, jvm, "MethodCalls.target")
        jvm.ask("calls 3 3")
        stacks, _ = c.end()
        expect(sum(n for _, n in stacks), 6, "afterwards")
        want(jvm.end() == 0, "the JVM ends well")


def each_third(scratch):
    with Jvm("MethodCalls") as jvm:
        for option, every in (("MethodCalls.target", 3), ("MethodCalls.target:300us", 4)):
            c = Calls(scratch, jvm, option, "-i", every)
            jvm.ask("calls 0 60")
            stacks, _ = c.end()
            expect(sum(n for _, n in stacks), 60 // every, "each %d" % every)


def busy(scratch):
    """All methods of a class of all sorts, and of one of the VM's own."""
    with Jvm("Hostile", options=VERIFYING) as jvm:
        for _ in range(2):
            stacks = collapsed(good("-e", "Hostile.*", "-d", "2", "-o", "collapsed", jvm.pid))
            seen = {frames[-1] for frames, _ in stacks}
            want(len(seen) >= 4, "seen: %s" % seen)
        want(jvm.alive() and jvm.end() == 0, "the JVM ends with %s" % jvm.process.poll())
    with Jvm("MethodCalls", options=VERIFYING) as jvm:
        c = Calls(scratch, jvm, "java.util.HashMap.*")
        jvm.ask("map 100")
        stacks, _ = c.end()
        seen = count([(f[-2:], n) for f, n in stacks if f[-1].endswith(".put")], "map", "put")
        expect(seen, 100, "HashMap.put")
        want(jvm.end() == 0, "the JVM ends well")


def main():
    checks = Checks(long=("every method of busy classes",))
    with tempfile.TemporaryDirectory() as scratch:
        checks.run("calls by path and time", paths, scratch)
        checks.run("threshold", threshold, scratch)
        checks.run("exceptions", thrown, scratch)
        checks.run("recursion", recursion, scratch)
        checks.run("a very fast method", fast, scratch)
        checks.run("a class loaded later", late, scratch)
        if java_version() >= 21:
            checks.run("virtual threads", virtual, scratch)
        checks.run("every method of a class", every, scratch)
        checks.run("every method of busy classes", busy, scratch)
        checks.run("several methods", several, scratch)
        checks.run("inlined in each other", inlined, scratch)
        checks.run("patterns", patterns, scratch)
        checks.run("each so manyth call", each_third, scratch)
        checks.run("refused with the reason", refused, scratch)
        checks.run("removed completely", again, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
