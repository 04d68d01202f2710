#!/usr/bin/env python3
"""The cost of a walk over 60 Java frames in a real JVM, and of the whole handler around it (names
known, sample into the ring), in microseconds of wall time. The bar is a median of 6 us.

Usage: walk_bench.py"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import BUILD, CLASSES, java_tool  # noqa: E402

KINDS = (("C2", ()), ("C1", ("-XX:TieredStopAtLevel=1",)), ("interpreter", ("-Xint",)))


def main():
    library = os.path.join(BUILD, "test", "bench", "libwalk-probe.so")
    print("%-36s %13s %18s %8s %8s %7s" % (
        "stacks of 60 Java frames", "walk, us", "handler, us", "handler", "", ""))
    print("%-36s %6s %6s %11s %6s %8s %8s %7s" % (
        "", "median", "99 %", "median", "99 %", "/ walk", "walks", "failed"))
    for name, options in KINDS:
        done = subprocess.run(
            [java_tool("java"), "-Xmx256m", *options, "-cp", CLASSES, "bench.Walk", library, name],
            stdin=subprocess.DEVNULL, timeout=300, check=False)
        if done.returncode:
            return 1
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
