"""The live screen: its own CPU time and what a redraw of a large profile takes (frame_bench)."""
import os
import re
import subprocess
import sys

from table_run import OURS, Target, want
from table_rows import Row

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from lib import BUILD  # noqa: E402
from tui_bench import SETTLE, Screen  # noqa: E402

STRETCH = 3.0  # seconds


def frames():
    """(ms: 99th percentile of all redraws, MB of the profile)"""
    done = subprocess.run([os.path.join(BUILD, "test", "bench", "frame_bench")], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    found = (re.search(r"99th percentile ([\d.]+) ms", done.stdout),
             re.search(r"memory: the profile (\d+) MB", done.stdout))
    want(done.returncode == 0 and all(found), "frame_bench says: " + done.stdout[-200:])
    return tuple(float(f.group(1)) for f in found)


def screen(bench):
    share = Row("screen-cpu", "live screen, 1,000 samples/s: one core", "%", "lower", 2)
    redraw = Row("screen-redraw", "redraw, 100,000 stacks: 99th percentile", "ms", "lower", 1)
    memory = Row("screen-memory", "profile of 100,000 stacks", "MB", "lower", 0)
    with Target("Shares") as jvm, Screen(jvm.pid) as shown:
        shown.read_for(SETTLE)
        for n in range(bench.pairs):
            bench.progress("screen: %d of %d" % (n + 1, bench.pairs))
            share.add(OURS, shown.stretch(STRETCH)[0])
    for n in range(bench.pairs):
        bench.progress("redraw: %d of %d" % (n + 1, bench.pairs))
        for row, value in zip((redraw, memory), bench.attempt(OURS, frames) or ()):
            row.add(OURS, value)
    return bench.finish([share, redraw, memory])
