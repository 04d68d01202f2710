#!/usr/bin/env python3
"""What an attach takes and costs: time until the first samples are on the screen, and what the
target pays for it in CPU time and memory. Each run has a fresh, busy JVM.

The target, Shares, says how much CPU time its own work took; the rest of what the process used is
the cost. The same stretch of time before the attach shows what it is without us.

Usage: attach_bench.py [RUNS]"""
import os
import re
import select
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from lib import PROF, Jvm, memory_kb, wait_for  # noqa: E402
from tui_bench import cpu_seconds  # noqa: E402

STRETCH = 1.0  # seconds that are compared


def state(jvm):
    own = sum(jvm.truth().values())
    return 1e9 * cpu_seconds(jvm.pid) - own, memory_kb(jvm.pid)


def shown(text):
    """Samples that the last whole header speaks of."""
    found = re.findall(r"\bsamples\s+(\d+)\b.*\n.*\n", text)
    return int(found[-1]) if found else 0


def first_samples(jvm):
    """(seconds from exec to a frame with samples, the running profiler)"""
    began = time.monotonic()
    p = subprocess.Popen([PROF, "--batch", "--refresh", "100ms", str(jvm.pid)],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, bufsize=0)
    text = ""
    while time.monotonic() < began + 20:
        select.select([p.stdout], [], [], 1)
        part = os.read(p.stdout.fileno(), 65536)
        if not part:
            break
        text += part.decode(errors="replace")
        if shown(text):
            return time.monotonic() - began, p
    p.kill()
    raise SystemExit("no samples within 20 s: " + text[-500:])


def one():
    with Jvm("Shares", "threads") as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        before = state(jvm)
        time.sleep(STRETCH)
        alone = state(jvm)
        took, p = first_samples(jvm)
        time.sleep(max(0, STRETCH - took))
        watched = state(jvm)
        p.terminate()
        p.stdout.close()
        p.wait(20)
        return {"first samples, ms": took * 1e3,
                "target's CPU, ms": (watched[0] - alone[0]) / 1e6,
                "  undisturbed, ms": (alone[0] - before[0]) / 1e6,
                "target's memory, MB": (watched[1] - alone[1]) / 1e3,
                "  undisturbed, MB": (alone[1] - before[1]) / 1e3}


def main():
    runs = [one() for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 15)]
    print("attach to a fresh busy JVM, %d runs, each watched for %g s" % (len(runs), STRETCH))
    print("%-22s %8s %8s %8s" % ("", "least", "median", "most"))
    for name in runs[0]:
        values = [r[name] for r in runs]
        print("%-22s %8.1f %8.1f %8.1f" % (name, min(values), statistics.median(values),
                                           max(values)))


if __name__ == "__main__":
    main()
