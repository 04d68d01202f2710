#!/usr/bin/env python3
# tier: fast
"""--live: of what was allocated, only what is still there at the end. JDK 11 and later."""
import sys
import tempfile

from alloc import by_class, find_state, profile_of
from lib import Checks, Jvm, java_version, traces, wait_for, want

OPTIONS = ("-XX:+EnableDynamicAgentLoading",)
LEAKED, DROPPED, GARBAGE = "AllocLive$Leaked", "AllocLive$Dropped", "AllocLive$Garbage"
OBJECTS = 400000


class Work:
    """The workload, as profile_of wants one: one word stands for several."""

    def __init__(self, jvm, *words):
        self.jvm, self.pid, self.words = jvm, jvm.pid, words

    def ask(self, _):
        return [self.jvm.ask(word) for word in self.words][0]


def live(scratch, state_at, collector, *options):
    with Jvm("AllocLive", options=(*OPTIONS, "-Xmx512m", collector)) as jvm:
        work = Work(jvm, "grow %d" % OBJECTS, "drop", "gc", "gc")
        answer, stacks = profile_of(scratch, state_at, work, "", "-e", "alloc", "--alloc", "16k",
                                    "--live", *options)
        wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
        kept, seen = int(answer[0]), by_class(stacks)
    print("# %s %s: kept %d, seen %s" % (collector, " ".join(options), kept, seen))
    want(abs(seen.get(LEAKED, 0) / kept - 1) <= 0.1,
         "%d bytes are kept, seen as %d" % (kept, seen.get(LEAKED, 0)))
    for name in (DROPPED, GARBAGE):
        want(seen.get(name, 0) <= kept / 20, "%s: %d bytes alive" % (name, seen.get(name, 0)))
    for frames, weight in stacks:
        if frames[-1].startswith(LEAKED) and weight > kept / 20:
            want("AllocLive.grow" in frames, "allocated by %s" % frames)


def everything(scratch, state_at):
    """Without it, all of it."""
    with Jvm("AllocLive", options=(*OPTIONS, "-Xmx512m")) as jvm:
        answer, stacks = profile_of(scratch, state_at, Work(jvm, "grow %d" % OBJECTS, "drop"), "",
                                    "-e", "alloc", "--alloc", "16k")
        each, seen = int(answer[0]), by_class(stacks)
    for name, times in ((LEAKED, 1), (DROPPED, 1), (GARBAGE, 5)):
        want(abs(seen.get(name, 0) / each / times - 1) <= 0.1,
             "%s: %d bytes, seen as %d" % (name, each * times, seen.get(name, 0)))


def bounded(scratch, state_at):
    """More objects than can be followed: the target goes on, and lets go of all."""
    with Jvm("AllocLive", options=(*OPTIONS, "-Xmx512m")) as jvm:
        work = Work(jvm, "grow 150000", "gc", "drop", "gc")
        profile_of(scratch, state_at, work, "", "-e", "alloc", "--alloc", "1", "--live")
        wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
        want(jvm.ask("gc") == [], "the workload does not answer")


def main():
    if java_version() < 11:
        print("ok # SKIP JDK 11 and later")
        return 0
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-live-") as scratch:
        state_at = find_state(scratch)
        for collector in ("-XX:+UseG1GC", "-XX:+UseSerialGC", "-XX:+UseZGC"):
            if collector == "-XX:+UseZGC" and java_version() < 17:
                continue
            checks.run("live, " + collector, live, scratch, state_at, collector)
        checks.run("not live", everything, scratch, state_at)
        checks.run("more than can be followed", bounded, scratch, state_at)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
