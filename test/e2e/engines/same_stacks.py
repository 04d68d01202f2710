#!/usr/bin/env python3
# tier: fast, timeout: 240
"""Stacks that differ from the last one in one frame only. The walk takes unchanged frames from the
thread's last stack: each sample must still be a stack that the program can have."""
import collections
import os
import struct
import sys
import tempfile

from lib import Checks, Jvm, good, records, want

SAMPLE, METHOD = 2, 3  # core/wire/record.h
JAVA = range(1, 6)
DEPTH = 41
LEAST = 60  # samples of each stack
INEXACT = 0.02
# The VM describes only some places in inlined code, unless it is told to; and not quite all even then.
DESCRIBED = ("-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints")
CODE = {"interpreted": (("-Xint",), 0), "C1": (("-XX:TieredStopAtLevel=1",), INEXACT),
        "C1 and C2": (DESCRIBED, INEXACT), "without inlining": (("-XX:-Inline",), 0)}

Frame = collections.namedtuple("Frame", "kind method bci")


def stacks(path):
    """Each sample's frames, leaf first."""
    name = {}
    for kind, data in records(path):
        if kind == METHOD:
            number, of_class, of_name = struct.unpack_from("<IHH", data, 8)
            text = data[24:24 + of_class + of_name].decode()
            name[number] = text[:of_class].rpartition("$")[2] + "." + text[of_class:]
        elif kind == SAMPLE:
            words = struct.unpack_from("<%dQ" % struct.unpack_from("<H", data, 48)[0], data, 56)
            yield [Frame(w >> 56, name.get(w & 0xffffffff, "?") if w >> 56 in JAVA else "",
                         w >> 32 & 0xffff) for w in words]


def differ(samples, inexact):
    """Which stack each sample is, by its innermost method, and by the frame that differs. A part of
    them may be `inexact`."""
    seen, whole, odd = {}, 0, []
    for frames in samples:
        methods = [f.method for f in frames if f.kind in JAVA]
        leaf = {"SameStacks.first", "SameStacks.second"}.intersection(methods)
        if not leaf:
            continue  # between two stacks
        if methods.count("SameStacks.down") != DEPTH or methods[-1] != "java/lang/Thread.run":
            odd.append(methods)
            continue
        whole += 1
        way = next(f for f in frames if f.method in ("One.go", "Two.go", "SameStacks.places"))
        key = (way.method, way.bci if way.method == "SameStacks.places" else 0)
        seen.setdefault(key, collections.Counter()).update(leaf)
    print("#", {key: dict(leaves) for key, leaves in seen.items()})
    want(len(odd) <= inexact * whole, "%d of %d are odd: %s" % (len(odd), whole, odd[-1:]))
    want(len(seen) == 4, "%d stacks, not 4: %s" % (len(seen), seen))
    for key, leaves in seen.items():
        want(len(leaves) == 1, "%s are under %s" % (leaves, key))
        want(sum(leaves.values()) >= LEAST, "only %s under %s" % (leaves, key))


def look(jvm, checks, name, inexact, walker):
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "same.jtp")
        good("-e", "cpu", "-i", "1ms", "-d", 3, "--record", path, "-o", "collapsed", "--cstack",
             walker, jvm.pid)
        samples = list(stacks(path))
    checks.run("%s, %s" % (name, walker), differ, samples, inexact)


def main():
    checks = Checks()
    for name, (options, inexact) in CODE.items():
        with Jvm("SameStacks", options=options) as jvm:
            for walker in ("vm", "vmx"):
                look(jvm, checks, name, inexact, walker)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
