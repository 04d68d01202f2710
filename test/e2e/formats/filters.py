#!/usr/bin/env python3
# timeout: 120
"""What -I, -X, --thread, --filter, --from, --to and -e leave of a profile, taken live and read from
a file: the rest adds up to what there was.
"""
import os
import re
import sys
import tempfile

from lib import Checks, Jvm, collapsed, good, prof, total, want


def stacks(*args):
    return collapsed(good("-o", "collapsed", *args))


def having(whole, *names):
    """Samples with one of these frames on the stack."""
    return sum(n for frames, n in whole if any(f in frames for f in names))


def patterns(path):
    whole = stacks(path)
    some, burn = total(whole), having(whole, "Shares$P.p50")
    want(0 < burn < some, "%d of %d" % (burn, some))
    for pattern, name in (("Shares$P.p50", r"Shares\$P\.p50"), ("*.p50", r".*\.p50"),
                          ("Shares$P.*", r"Shares\$P\..*"), ("*P.p5*", r".*P\.p5.*")):
        inside, outside = stacks("-I", pattern, path), stacks("-X", pattern, path)
        n = sum(n for frames, n in whole if any(re.fullmatch(name, f) for f in frames))
        want(total(inside) == n >= burn, "-I %s: %d of %d" % (pattern, total(inside), n))
        want(total(outside) == some - n, "-X %s: %d of %d" % (pattern, total(outside), some - n))
    for pattern in ("p50", "Shares$P", "P.p50", "shares$p.p50"):
        want(not stacks("-I", pattern, path), "-I %s is no whole name" % pattern)
    both = stacks("-I", "Shares$P.p50", "-I", "Shares$Q.q16", "-X", "Shares$Q.*", path)
    want(total(both) == burn, "%d of %d" % (total(both), burn))
    want(total(stacks("-I", "java/lang/Thread.run", path)) ==
         total(stacks("-I", "java.lang.Thread.run", path)) > 0, "dots and slashes differ")
    want(total(stacks("-s", "-I", "Thread.run", path)) ==
         total(stacks("-I", "java.lang.Thread.run", path)), "simple names")


def every_format(path, scratch):
    """The same question for formats that ask the profile once more."""
    burn = total(stacks("-I", "*.p50", path))
    for name in ("a.pb.gz", "a.jfr", "a.jtop"):
        file = os.path.join(scratch, name)
        done = prof("convert", path, file, "-I", "*.p50")
        if name == "a.jtop":
            want(done.returncode == 100 and "a.jtop" in done.stderr, done.stderr)
            continue
        want(done.returncode == 0, done.stderr)
        back = stacks(file)
        want(total(back) == burn and total(stacks("-I", "*.p50", file)) == burn,
             "%s: %d of %d" % (name, total(back), burn))


def threads(path):
    whole = collapsed(good("-o", "collapsed", "-t", path))
    mixed = sum(n for frames, n in whole if frames[0].startswith("[mixed tid="))
    tid = next(re.search(r"tid=(\d+)", f[0]).group(1) for f, _ in whole if "[mixed tid" in f[0])
    want(0 < mixed < total(whole) or len({f[0] for f, _ in whole}) == 1, "only one thread")
    for args in (("--thread", "^mixed$"), ("--filter", tid)):
        want(total(stacks(*args, path)) == mixed, "%s: %d of %d" %
             (args, total(stacks(*args, path)), mixed))
    want(not stacks("--thread", "nobody", path), "a thread that there is not")


def times(path, scratch):
    """Pieces of any length, which add up."""
    some = total(stacks(path))
    pieces = [total(stacks("--to", "350ms", path))]
    pieces += [total(stacks("--from", "%dms" % a, "--to", "%dms" % (a + 350), path))
               for a in (350, 700)]
    rest = total(stacks("--from", "1050ms", path))
    want(sum(pieces) + rest == some, "%s and %d of %d" % (pieces, rest, some))
    want(sum(0 < p < some for p in pieces) >= 2, "no samples: %s of %d" % (pieces, some))
    piece = os.path.join(scratch, "piece.jtop")
    good("convert", path, piece, "--from", "350ms", "--to", "700ms")
    want(total(stacks(piece)) == pieces[1], "%d of %d" % (total(stacks(piece)), pieces[1]))
    want(not stacks("--from", "1h", path), "samples after the end")


def events(path):
    for args in (("-o", "flat"), ("--batch", "-n", "1")):
        done = prof("-e", "lock", *args, path)
        want(done.returncode == 100 and "lock" in done.stderr and "cpu" in done.stderr and
             len(done.stderr.splitlines()) == 1, "exit %d: %s" % (done.returncode, done.stderr))
    for event in ("cpu", "wall"):
        want(total(stacks("-e", event, path)) > 0, event)


def live(jvm):
    found = stacks("-d", 1, "-i", "1ms", "-I", "*.p50", jvm.pid)
    want(found and all("Shares$P.p50" in frames for frames, _ in found), "live: %s" % found[:3])
    found = stacks("-d", 1, "-i", "1ms", "-X", "*.p50", jvm.pid)
    want(found and having(found, "Shares$P.p50") == 0, "live: %s" % found[:3])


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        path, several = os.path.join(scratch, "r.jtop"), os.path.join(scratch, "several.jtop")
        with Jvm("Shares", "eight") as jvm:
            good("-d", 3, "-i", "1ms", "--record", path, "-o", "flat", jvm.pid)
            good("-d", 1, "-e", "cpu,wall", "--record", several, "-o", "text", jvm.pid)
            checks.run("live", live, jvm)
        checks.run("patterns", patterns, path)
        checks.run("every format", every_format, path, scratch)
        checks.run("threads", threads, path)
        checks.run("times", times, path, scratch)
        checks.run("events", events, several)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
