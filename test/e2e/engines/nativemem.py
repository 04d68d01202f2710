#!/usr/bin/env python3
# tier: fast
"""Native memory: allocations and leaks of known size at their call paths, libraries loaded later,
and import tables that are afterwards what they were, byte for byte."""
import os
import re
import struct
import sys
import tempfile

from lib import CLASSES, Checks, Jvm, Prof, collapsed, good, read, wait_for, want

BLOCK = 4096
LEAKED = 2000
LATE = 500
CHURNED = 1000


def java():
    return Jvm("NativeMemory")


def site_bytes(text, site):
    return sum(n for frames, n in collapsed(text) if any(f.endswith("." + site) for f in frames))


def close_to(seen, truth, percent, what):
    want(abs(seen - truth) <= truth * percent / 100,
         "%s: %d bytes seen, %d are true" % (what, seen, truth))


def start(scratch, jvm, *options):
    """A profile that lasts until it is interrupted, and runs."""
    p = Prof(scratch, "collect", "-d", "300", "-e", "nativemem", "-b", "64m", *options, jvm.pid)
    wait_for(lambda: sampling(jvm.pid), "the hooks in the import tables")
    return p


def hooked(pid):
    """How many words in writable and relocated data of libraries point into the agent's code."""
    return sum(1 for _, value in slots(pid) if value)


def agent_code(pid):
    for line in read("/proc/%d/maps" % pid).splitlines():
        if "libjtop-agent" in line and " r-xp " in line:
            low, high = (int(x, 16) for x in line.split()[0].split("-"))
            return low, high
    return None


def slots(pid):
    """Words of mapped libraries' data that point into the agent's code."""
    code = agent_code(pid)
    if not code:
        return
    with open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in read("/proc/%d/maps" % pid).splitlines():
            found = re.match(r"(\w+)-(\w+) (r\S)-p \S+ \S+ \d+ +(/\S+\.so\S*|/\S+/java)$", line)
            if not found or "libjtop-agent" in line:
                continue
            low, high = int(found.group(1), 16), int(found.group(2), 16)
            mem.seek(low)
            data = mem.read(high - low)
            for i, (word,) in enumerate(struct.iter_unpack("<Q", data[:len(data) // 8 * 8])):
                if code[0] <= word < code[1]:
                    yield low + 8 * i, word


def sampling(pid):
    return agent_code(pid) and hooked(pid) > 3


def tables(pid):
    """The relocated data of every library: protection and content."""
    found = {}
    with open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in read("/proc/%d/maps" % pid).splitlines():
            w = line.split(None, 5)
            if len(w) < 6 or ".so" not in w[5] or "libjtop" in w[5] or w[1][:2] != "r-" or \
                    w[1][2] == "x":
                continue
            low, high = (int(x, 16) for x in w[0].split("-"))
            mem.seek(low)
            found[(w[0], w[1], w[5])] = hash(mem.read(high - low))
    return found


def leaks(scratch):
    """What is kept is found at its call path within 2 %, what is given back is not a leak; so is
    what a library allocates that was not there at the start."""
    out = os.path.join(scratch, "mem.collapsed")
    with java() as jvm:
        with start(scratch, jvm, "--total", "-f", out) as p:
            jvm.ask("leak %d %d" % (LEAKED, BLOCK))
            jvm.ask("hold %d %d" % (LEAKED, BLOCK))
            jvm.ask("churn %d %d" % (CHURNED, BLOCK))
            jvm.ask("load")  # and what is called in it at once is seen
            jvm.ask("late %d %d" % (LATE, BLOCK))
            os.kill(p.pid, 2)
            p.process.wait(30)
            want(p.process.returncode == 0, "exit %d: %s" % (p.process.returncode, p.stderr()))
        allocated, leaked = (read(os.path.join(scratch, f))
                             for f in ("mem.collapsed", "mem-leak.collapsed"))
    close_to(site_bytes(allocated, "leakSite"), LEAKED * BLOCK, 2, "allocated at leakSite")
    close_to(site_bytes(allocated, "churnSite"), 7 * CHURNED * BLOCK, 2, "allocated at churnSite")
    close_to(site_bytes(allocated, "holdSite"), LEAKED * BLOCK, 2, "allocated at holdSite")
    want(site_bytes(leaked, "holdSite") == 0, "holdSite leaks nothing: %d"
         % site_bytes(leaked, "holdSite"))
    close_to(site_bytes(leaked, "leakSite"), LEAKED * BLOCK, 2, "leaked at leakSite")
    close_to(site_bytes(leaked, "lateSite"), LATE * BLOCK, 2, "leaked at lateSite")
    want(site_bytes(leaked, "churnSite") <= CHURNED * BLOCK // 50, "churnSite leaks nothing: %d"
         % site_bytes(leaked, "churnSite"))
    leaf = [f[-1] for f, _ in collapsed(leaked) if any(x.endswith(".leakSite") for x in f)]
    want("malloc" in leaf, "malloc is the leaf: %s" % leaf)


def sampled(scratch):
    """With an interval the bytes still add up."""
    out = os.path.join(scratch, "sampled.collapsed")
    with java() as jvm:
        with start(scratch, jvm, "-i", "64k", "--nofree", "--total", "-f", out) as p:
            jvm.ask("leak 20000 1000")
            jvm.ask("churn 3000 1000")
            os.kill(p.pid, 2)
            p.process.wait(30)
        text = read(out)
    close_to(site_bytes(text, "leakSite"), 20000 * 1000, 5, "leakSite")
    close_to(site_bytes(text, "churnSite"), 7 * 3000 * 1000, 10, "churnSite")
    want(not os.path.exists(os.path.join(scratch, "sampled-leak.collapsed")), "--nofree, no leaks")


def restored(scratch):
    """Every slot and every page's protection is as it was."""
    with java() as jvm:
        good("-e", "cpu", "-d", "200ms", "-o", "collapsed", jvm.pid)  # what an attach changes
        jvm.ask("churn 10 100")
        before = tables(jvm.pid)
        for _ in range(3):
            good("-e", "nativemem", "-d", "300ms", "-o", "collapsed", jvm.pid)
        want(hooked(jvm.pid) == 0, "%d slots still lead to the agent" % hooked(jvm.pid))
        jvm.ask("churn 10 100")
        after = tables(jvm.pid)
        changed = [k for k in before if after.get(k) != before[k]]
        want(not changed, "not as before: %s" % changed)
        want(jvm.end() == 0, "the JVM ends well")


def coming_and_going(scratch):
    """Libraries that are loaded and unloaded all the time while others are being changed."""
    with java() as jvm:
        good("-e", "cpu", "-d", "200ms", "-o", "collapsed", jvm.pid)
        jvm.ask("churn 10 100")
        before = tables(jvm.pid)
        jvm.say("reload 20000")
        for _ in range(5):
            with Prof(scratch, "-e", "nativemem,nativelock", "-d", "300ms", "-o", "collapsed",
                      jvm.pid) as p:
                p.process.wait(30)
                want(p.process.returncode == 0, p.stderr())
        jvm.line(".")
        want(hooked(jvm.pid) == 0, "%d slots still lead to the agent" % hooked(jvm.pid))
        after = tables(jvm.pid)
        changed = [k for k in before if after.get(k) != before[k]]
        want(not changed, "not as before: %s" % changed)
        want(jvm.end() == 0, "the JVM ends well")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        if not os.path.exists(os.path.join(CLASSES, "libmemory-early.so")):
            print("ok native memory # SKIP no native workload was built")
            return 0
        checks.run("leaks at their call paths", leaks, scratch)
        checks.run("sampled bytes add up", sampled, scratch)
        checks.run("libraries come and go", coming_and_going, scratch)
        checks.run("import tables are restored", restored, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
