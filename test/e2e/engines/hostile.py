#!/usr/bin/env python3
# timeout: 900, tier: fast, runs: alone
"""The walker on the hostile mix: nearly every walk is whole and true, and the JVM lives.

MATRIX=1 adds every collector, pointer width and object layout that this JDK has."""
import os
import re
import subprocess
import sys

from lib import Checks, Jvm, collapsed, good, java_tool, total, want

MOST_FAILED = 1.0  # percent, with the reason given
MOST_TORN = 0.2    # percent, without: frames are missing or were never called by one another
DEEP = 1900        # frames of the recursion that some stacks must have

# Who calls whom in Hostile.java.
CALLERS = {
    "Hostile.deep": ("Hostile.deep", "Hostile.once"),
    "Hostile.throwing": ("Hostile.throwing", "Hostile.exceptions"),
    "Hostile$Payload.run": ("Hostile.once",),
    "Hostile$Payload.work": ("Hostile$Payload.run",),
    "Callbacks.work": ("Hostile.callbacks",),
}
for method in ("deflate", "copy", "strings", "exceptions", "megamorphic", "faults", "callbacks",
               "collections", "locks", "digest", "handles"):
    CALLERS["Hostile." + method] = ("Hostile.once",)


def torn(frames):
    """Whether a stack without an error frame cannot be true."""
    ours = [f.startswith(("Hostile", "Callbacks")) for f in frames]
    if any(ours) and "java/lang/Thread.run" not in frames[:frames.index("Hostile.once")
                                                          if "Hostile.once" in frames else None]:
        return frames[0] not in ("Hostile.main", "java/lang/Thread.run")
    return any(callee in CALLERS and caller not in CALLERS[callee]
               for caller, callee in zip(frames, frames[1:]))


def failures(stacks):
    found = {}
    for frames, count in stacks:
        if re.fullmatch(r"\[\w+\]", frames[0]) and frames[0] not in ("[truncated]",
                                                                      "[no_Java_frame]"):
            found[frames[0]] = found.get(frames[0], 0) + count
    return found


def walked(engine, interval, options, mode="vm", seconds=6):
    with Jvm("Hostile", options=options) as jvm:
        stacks = collapsed(good("-d", seconds, "-e", engine, "-i", interval, "--cstack", mode,
                                "-o", "collapsed", jvm.pid))
        want(jvm.alive() and jvm.end() == 0, "the JVM did not end well")
    samples = total(stacks)
    failed = failures(stacks)
    unlike = [(frames, n) for frames, n in stacks if frames[0] not in failed and torn(frames)]
    print("# %d samples, failed: %s; torn: %d"
          % (samples, ", ".join("%s %d" % f for f in failed.items()) or "none", total(unlike)))
    want(samples > 50, "only %d samples" % samples)  # a timer is bound to the kernel's tick
    want(100.0 * sum(failed.values()) <= MOST_FAILED * samples, str(failed))
    want(100.0 * total(unlike) <= MOST_TORN * samples,
         "%d stacks cannot be true, as %s" % (total(unlike), unlike and ";".join(unlike[0][0])))
    deepest = max(frames.count("Hostile.deep") for frames, _ in stacks)
    want(samples < 2000 or deepest > DEEP,
         "no stack has more than %d frames of the recursion" % deepest)


def has(*options):
    """Whether this JVM knows them."""
    return subprocess.run([java_tool("java"), "-Xmx256m", *options, "-version"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


MATRIX = [
    ["-XX:+UseSerialGC"],
    ["-XX:+UseParallelGC"],
    ["-XX:+UseG1GC"],
    ["-XX:+UseZGC"],
    ["-XX:+UseZGC", "-XX:+ZGenerational"],
    ["-XX:+UseShenandoahGC"],
    ["-XX:-UseCompressedOops"],
    ["-XX:-UseCompressedClassPointers"],
    ["-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders"],
    ["-XX:-TieredCompilation", "-XX:+UseSerialGC"],
    ["-XX:+DeoptimizeALot", "-XX:+UnlockDiagnosticVMOptions"],
    ["-XX:+PreserveFramePointer"],
]


def main():
    checks = Checks(fast=("100 us",))
    checks.run("100 us", walked, "cpu", "100us", [])
    checks.run("ctimer", walked, "ctimer", "100us", [])
    checks.run("interpreted", walked, "cpu", "200us", ["-Xint"])
    checks.run("C1 only", walked, "cpu", "200us", ["-XX:TieredStopAtLevel=1"])
    checks.run("C2 only", walked, "cpu", "200us", ["-XX:-TieredCompilation"])
    checks.run("parallel collector, wide pointers, short exceptions", walked, "cpu", "200us",
               ["-XX:+UseParallelGC", "-XX:-UseCompressedOops", "-XX:MaxJavaStackTraceDepth=5"])
    for mode in ("vmx", "dwarf", "fp"):
        checks.run(mode, walked, "cpu", "200us", [], mode)
    for options in MATRIX if os.environ.get("MATRIX") else []:
        if has(*options):
            checks.run(" ".join(options), walked, "cpu", "200us", options, "vm", 4)
            checks.run(" ".join(options) + ", vmx", walked, "cpu", "200us", options, "vmx", 4)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
