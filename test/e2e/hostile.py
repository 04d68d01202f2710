#!/usr/bin/env python3
"""The walker on the hostile mix: nearly every walk is whole, and the JVM lives."""
# timeout: 240
import re
import sys

from lib import Checks, Jvm, good, want

MOST_FAILED = 1.0  # percent


def walked(engine, interval, options):
    with Jvm("Hostile", options=options) as jvm:
        text = good("-d", 8, "-e", engine, "-i", interval, "-o", "summary", jvm.pid)
        samples = int(re.search(r"Total samples +: (\d+)", text).group(1))
        failed = sum(int(n) for name, n in re.findall(r"^(\w+) +: (\d+) \(", text, re.M)
                     if name not in ("truncated", "dropped"))
        want(samples > 500, "only %d samples" % samples)
        want(100.0 * failed <= MOST_FAILED * samples, text)
        want(jvm.alive() and jvm.end() == 0, "the JVM did not end well")


def main():
    checks = Checks()
    checks.run("100 us", walked, "cpu", "100us", [])
    checks.run("ctimer", walked, "ctimer", "100us", [])
    checks.run("interpreted", walked, "cpu", "200us", ["-Xint"])
    checks.run("C1 only", walked, "cpu", "200us", ["-XX:TieredStopAtLevel=1"])
    checks.run("C2 only", walked, "cpu", "200us", ["-XX:-TieredCompilation"])
    checks.run("parallel collector, wide pointers", walked, "cpu", "200us",
               ["-XX:+UseParallelGC", "-XX:-UseCompressedOops"])
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
