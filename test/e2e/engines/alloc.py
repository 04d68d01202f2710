#!/usr/bin/env python3
# timeout: 150, tier: fast
"""Allocation: the bytes of known classes, by each collector and with few, many and large objects;
several threads; nothing left behind.

JDK 8 needs debug symbols: they are taken from beside it (JAVA_HOME-dbg), as their package has them,
mounted where they belong in a mount namespace of this script's own."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import (Checks, Jvm, Prof, ROOT, Skip, collapsed, good, java_tool, java_version, status, traces,
                 wait_for, want)

POINTS = 3.0  # by which a share may be off
TOTAL = 10.0  # percent
DEBUG = os.environ.get("JAVA_HOME", "") + "-dbg"
BUILD_IDS = "usr/lib/debug/.build-id"

OFFSETS = r"""
#include "core/wire/layout.h"
#include <stdio.h>
int main(void) {
    printf("%zu\n", WIRE_HEADER_BYTES + offsetof(struct wire_control, status.state));
}
"""


def find_state(scratch):
    """Where in the mapping the agent says what it is doing."""
    source, program = os.path.join(scratch, "offsets.c"), os.path.join(scratch, "offsets")
    with open(source, "w", encoding="ascii") as f:
        f.write(OFFSETS)
    subprocess.run(["cc", "-I", ROOT, "-o", program, source], check=True)
    return int(subprocess.check_output([program]))


def sampling(pid, state_at):
    """Whether the agent in this process runs engines."""
    for fd in glob.glob("/proc/%d/fd/*" % pid):
        try:
            if "memfd:jtop-prof" in os.readlink(fd):
                with open(fd, "rb") as f:
                    f.seek(state_at)
                    return int.from_bytes(f.read(4), "little") == 1  # WIRE_STATE_RUNNING
        except OSError:
            pass
    return False


def code_of(pid, library):
    """The code of a library in memory."""
    found = []
    with open("/proc/%d/maps" % pid, encoding="ascii", errors="replace") as maps, \
            open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        for line in maps:
            if re.match(r"\S+ r.x", line) and line.rstrip().endswith("/" + library):
                begin, end = (int(x, 16) for x in line.split()[0].split("-"))
                memory.seek(begin)
                while begin < end:
                    part = memory.read(min(end - begin, 1 << 20))
                    found.append(part)
                    begin += len(part)
    want(found, "no code of " + library)
    return b"".join(found)


def profile_of(scratch, state_at, jvm, word, *options):
    """Runs the profiler while the workload does what it is asked: (answer, stacks)."""
    with Prof(scratch, "-d", 60, "-o", "collapsed", "--total", *options, jvm.pid) as p:
        wait_for(lambda: sampling(jvm.pid, state_at) or p.process.poll() is not None, "sampling")
        want(p.process.poll() is None, "the profiler ended: " + p.stderr())
        answer = jvm.ask(word)
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
        return answer, collapsed(p.stdout())


def by_class(stacks):
    """Bytes by the class on top."""
    found = {}
    for frames, weight in stacks:
        name = re.sub(r"_\[[ik]\]$", "", frames[-1])
        found[name] = found.get(name, 0) + weight
    return found


def shares(scratch, state_at, work, options=(), jvm_options=()):
    with Jvm("AllocShares", options=("-XX:+EnableDynamicAgentLoading", *jvm_options)) as jvm:
        before = code_of(jvm.pid, "libjvm.so")
        answer, stacks = profile_of(scratch, state_at, jvm, "run " + work, "-e", "alloc", *options)
        wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
        want(code_of(jvm.pid, "libjvm.so") == before, "the VM's code is not as it was")
    truth = {line.split(" ", 1)[1].replace("/", "."): int(line.split()[0]) for line in answer}
    seen = by_class(stacks)
    everything, total = sum(truth.values()), sum(seen.values())
    print("# %s %s: %s" % (work, " ".join((*options, *jvm_options)), ", ".join(
        "%s %.1f/%.1f" % (n, 100 * seen.get(n, 0) / total, 100 * truth[n] / everything)
        for n in truth)), "total %+.1f %%" % (100 * total / everything - 100))
    want(abs(total / everything - 1) * 100 <= TOTAL,
         "%d bytes of %d" % (total, everything))
    for name, weight in truth.items():
        percent, truly = 100 * seen.get(name, 0) / total, 100 * weight / everything
        want(abs(percent - truly) <= POINTS,
             "%s is %.1f %%, seen as %.1f %%" % (name, truly, percent))
    for frames, weight in stacks:
        if frames[-1].startswith("AllocShares$Middle") and weight > total / 100:
            want(frames[-2:-1] == ["AllocShares.middle"], "allocated by %s" % frames)


def reader_dies(scratch, state_at):
    """The VM goes on without us, and can be profiled again."""
    with Jvm("AllocShares", options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        before, handled = code_of(jvm.pid, "libjvm.so"), status(jvm.pid, "SigCgt")
        with Prof(scratch, "-d", 60, "-e", "alloc", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid, state_at), "sampling")
            p.process.kill()
            jvm.ask("run 2 500000 10")
        wait_for(lambda: not traces(jvm.pid), "the lease to end")
        want(code_of(jvm.pid, "libjvm.so") == before, "the VM's code is not as it was")
        want(status(jvm.pid, "SigCgt") == handled, "another set of signals is handled")
        _, stacks = profile_of(scratch, state_at, jvm, "run 2 500000 10", "-e", "alloc")
        want(by_class(stacks).get("byte[]", 0) > 0, "nothing was sampled: %s" % stacks)


def outside(scratch):
    """--tlab tells objects that were allocated outside of TLABs from new TLABs, in JFR as well."""
    with Jvm("AllocShares", options=("-XX:+EnableDynamicAgentLoading",)) as jvm:
        path = os.path.join(scratch, "tlab.jfr")
        with Prof(scratch, "-d", 60, "-e", "alloc", "--tlab", "-f", path, jvm.pid) as p:
            wait_for(lambda: sampling(jvm.pid, find_state(scratch)), "sampling")
            jvm.ask("run 2 2000000 50")
            p.process.send_signal(signal.SIGINT)
            want(p.process.wait(30) == 0, p.stderr())
        if "needs libjvm.so's symbols" in good("-o", "summary", path) + p.stderr():
            raise Skip("no symbols of libjvm.so")
    leaves = {f[-1] for f, _ in collapsed(good("-o", "collapsed", path))}
    want({"byte[]_[k]", "AllocShares$Middle_[i]"} <= leaves, "leaves: %s" % leaves)
    said = subprocess.run([java_tool("jfr"), "summary", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout
    for kind in ("InNewTLAB", "OutsideTLAB"):
        want(re.search(r"jdk\.ObjectAllocation%s +[1-9]" % kind, said), "none " + kind)


def runs():
    """(name, function, arguments) for the JDK this is."""
    with tempfile.TemporaryDirectory(prefix="jtop-alloc-") as scratch:
        state_at = find_state(scratch)
        checks = Checks()
        checks.run("outside TLABs", outside, scratch)
        checks.run("small and large objects, 2 threads", shares, scratch, state_at,
                   "2 6000000 10")
        checks.run("no large objects, 1 thread", shares, scratch, state_at, "1 15000000 0",
                   ("--alloc", "256k"))
        checks.run("large objects above all, 4 threads", shares, scratch, state_at,
                   "4 400000 100")
        for collector in ("G1", "Parallel", "Serial"):
            checks.run("-XX:+Use%sGC" % collector, shares, scratch, state_at, "2 4000000 10", (),
                       ("-XX:+Use%sGC" % collector,))
        checks.run("the profiler is killed", reader_dies, scratch, state_at)
        return checks.code()


def with_debug_symbols():
    """This script again, where the system has JDK 8's debug symbols."""
    ids = os.path.join(DEBUG, BUILD_IDS)
    if os.geteuid() != 0 or not os.path.isdir(ids) or not shutil.which("unshare"):
        print("ok # SKIP no debug symbols of JDK 8 in " + DEBUG)
        return 0
    os.makedirs("/" + BUILD_IDS, exist_ok=True)
    return subprocess.call(["unshare", "-m", "sh", "-c",
                            'mount --bind "$1" "$2" && exec python3 "$3"', "sh", ids,
                            "/" + BUILD_IDS, os.path.abspath(__file__)],
                           env={**os.environ, "JTOP_ALLOC_INNER": "1"})


def main():
    if java_version() < 11 and not os.environ.get("JTOP_ALLOC_INNER"):
        return with_debug_symbols()
    return runs()


if __name__ == "__main__":
    sys.exit(main())
