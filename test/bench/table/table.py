#!/usr/bin/env python3
"""What users compare profilers by, as one table and as JSON.

Usage: table.py [--peer ASPROF] [--pairs N] [--json FILE] [--list] [WORD...]

--peer: a profiler with asprof's command line, measured in the same run, by turns; each JVM is used
by one profiler only. --pairs: how often each figure is taken (default: 10). Only groups of rows
whose name contains one of the words. It can be stopped at any time: what is measured by then is
shown, and nothing is left behind.
"""
import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import rows_commands
import rows_dump
import rows_large
import rows_screen
import rows_shares
import rows_throughput
import table_rows
from table_run import Bench, die_with_parent, machine, profilers

GROUPS = (
    ("throughput", rows_throughput.throughput),
    ("deep", rows_throughput.deep),
    ("threads", rows_throughput.threads),
    ("commands", rows_commands.commands),
    ("dump", rows_dump.dumps),
    ("attach-memory", rows_large.large),
    ("screen-frame", rows_screen.screen),
    ("shares", rows_shares.shares),
)


class Progress:
    """On a terminal one line that is overwritten, else a line each, on stderr."""

    def __init__(self):
        self.began, self.group, self.terminal = time.monotonic(), "", sys.stderr.isatty()

    def __call__(self, words):
        seconds = int(time.monotonic() - self.began)
        said = "# %d:%02d %s %s" % (seconds // 60, seconds % 60, self.group, words)
        print("\r\033[K" + said[:99] if self.terminal else said, end="" if self.terminal else "\n",
              file=sys.stderr, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peer", help="a profiler with asprof's command line")
    parser.add_argument("--pairs", type=int, default=10, help="how often each figure is taken")
    parser.add_argument("--json", help="the same as a JSON file")
    parser.add_argument("--list", action="store_true", help="print the groups of rows")
    parser.add_argument("words", nargs="*", metavar="WORD")
    given = parser.parse_args(words)
    if given.pairs < 1:
        parser.error("--pairs must be at least 1")
    if given.peer and not os.access(given.peer, os.X_OK):
        parser.error("no program: " + given.peer)
    return given


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], text=True, check=False,
                          cwd=os.path.dirname(os.path.abspath(__file__)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip()


def measure(groups, bench, progress):
    """(rows, whether all groups were measured)"""
    rows, whole = [], True
    for n, (name, function) in enumerate(groups):
        progress.group = "[%d/%d]" % (n + 1, len(groups))
        progress(name)
        try:
            new = function(bench)
        except KeyboardInterrupt:
            progress.clear()
            print("stopped; not measured: %s" % ", ".join(g for g, _ in groups[n:]), flush=True)
            raise
        except Exception as e:  # the other groups are worth having
            progress.clear()
            print("%s: %s" % (name, " ".join(str(e).split())[:300]), flush=True)
            if os.environ.get("V"):
                traceback.print_exc()
            bench.failed, whole = {}, False
            continue
        progress.clear()
        notes = set()
        for row in new:
            print(table_rows.text(row, notes), flush=True)
            notes.update(row.notes.items())
            whole = whole and bool(row.values[table_rows.OURS])
        rows += new
    return rows, whole


def main():
    given = arguments(sys.argv[1:])
    groups = [g for g in GROUPS if not given.words or any(w in g[0] for w in given.words)]
    if given.list:
        print("\n".join(name for name, _ in GROUPS))
        return 0
    if not groups:
        return 0
    die_with_parent(signal.SIGTERM)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    sides, host = profilers(given.peer), machine()
    versions = [side.version() for side in sides]
    peer = dict(zip(("name", "version"), versions[1])) if given.peer else None
    ours = {"version": versions[0][1], "commit": commit()}
    print("%s, %d cores, kernel %s, JDK %s; jtop-prof %s (%s)%s; %d pairs" % (
        re.sub(r"\s+", " ", host["cpu"]), host["cores"], host["kernel"], host["jdk"], ours["version"],
        ours["commit"], "; peer: %s %s" % versions[1] if peer else "", given.pairs))
    print(table_rows.heading("%s %s" % versions[1] if peer else None), flush=True)
    with tempfile.TemporaryDirectory(prefix="jtop-prof-bench-") as scratch:
        progress = Progress()
        rows, whole = measure(groups, Bench(sides, given.pairs, scratch, progress), progress)
    if given.json:
        table_rows.write(given.json, table_rows.document(host, ours, peer, given.pairs, rows))
    return 0 if whole else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
