#!/usr/bin/env python3
# timeout: 150, tier: fast
"""Files into files: every format that can be read, into every one that can be written, and back
without a sample lost; recordings cut anywhere.
"""
import os
import re
import subprocess
import sys
import tempfile

from lib import BUILD, Checks, Jvm, PROF, collapsed, good, prof, read, total, want

EXTENSIONS = ("svg", "html", "jfr", "collapsed", "pb.gz", "txt", "json", "md", "jtop")


def stacks(path):
    return sorted(collapsed(good("-o", "collapsed", path)))


def by_extension(path, scratch):
    """One command a format, and all of them with one."""
    together = []
    for extension in EXTENSIONS:
        out = os.path.join(scratch, "one." + extension)
        done = prof("convert", path, out)
        want(done.returncode == 0 and not done.stdout, "%s: %s" % (extension, done.stderr))
        want(os.path.getsize(out) > 100, "%s is empty" % out)
        together += ["-f", os.path.join(scratch, "all." + extension)]
    good("convert", path, *together)
    want(all(os.path.getsize(f) > 100 for f in together[1::2]), "not all were written")
    want(not [f for f in os.listdir(scratch) if f.startswith(".")], "left: %s" %
         os.listdir(scratch))


def to_stdout(path, _):
    want(collapsed(good("convert", path, "-", "-o", "collapsed")) ==
         collapsed(good("convert", path, "-o", "collapsed")) ==
         collapsed(good("-o", "collapsed", path)), "stdout")
    want("Total samples" in good("convert", path, "-"), "text is what one gets unasked")


def there_and_back(path, scratch):
    """Stacks and counts come back as they went."""
    whole = stacks(path)
    for extension in ("jtop", "collapsed", "pb.gz", "jfr"):
        out = os.path.join(scratch, "back." + extension)
        good("convert", path, out)
        want(total(stacks(out)) == total(whole), "%s: %d of %d" % (extension, total(stacks(out)),
                                                                   total(whole)))
        again = os.path.join(scratch, "again.jtop")
        good("convert", out, again)
        want(stacks(again) == stacks(out), extension + " as a recording is another profile")
        if extension in ("jtop", "collapsed"):
            want(stacks(out) == whole, extension + " has other stacks")


def in_place(path, scratch):
    """What is read is never written over."""
    copy = os.path.join(scratch, "copy.jtop")
    good("convert", path, copy)
    with open(copy, "rb") as f:
        before = f.read()
    for line in (["convert", copy, copy], ["convert", copy, "-f", copy, "-o", "collapsed"],
                 [copy, "-f", copy], ["diff", "-f", copy, "-o", "text", copy, path]):
        r = prof(*line)
        want(r.returncode == 100 and "is the input file" in r.stderr, "%r" % r)
        with open(copy, "rb") as f:
            want(f.read() == before, "%s changed it" % line)


def cut(path, scratch):
    """What is before the cut is there, and the cut is told."""
    with open(path, "rb") as f:
        data = f.read()
    out, seen = os.path.join(scratch, "cut.jtop"), 0
    for length in sorted({*range(24, len(data), max(1, len(data) // 20)), len(data) - 1}):
        with open(out, "wb") as f:
            f.write(data[:length])
        done = prof("-o", "collapsed", out)
        want(done.returncode == 0, "%d bytes: %s" % (length, done.stderr))
        want("recording" in done.stderr, "%d bytes of %d, and nothing is said" % (length,
                                                                                 len(data)))
        n = total(collapsed(done.stdout))
        want(n >= seen, "%d samples in %d bytes, %d before" % (n, length, seen))
        seen = n
    want(not prof("-o", "collapsed", path).stderr, "a whole one is complained of")


def environment(path, _):
    """The recording says where and of what it was made."""
    raw = subprocess.run([sys.executable, "-c", "import sys, zlib\n"
                          "data = open(sys.argv[1], 'rb').read()\n"
                          "sys.stdout.buffer.write(zlib.decompressobj().decompress(data[24:]))",
                          path], stdout=subprocess.PIPE, check=True).stdout
    for line in (b"host=", b"kernel=", b"profiler=jtop-prof ", b"profiler.command=", b"command="):
        want(b"\n" + line in raw or line in raw, "%r is not in it" % line)
    want(re.search(rb"\ncommand=.*Shares", raw), "the JVM's command line is not in it")


def refused(path, scratch):
    missing = os.path.join(scratch, "missing")
    for code, args in ((1, ()), (1, (path,)), (1, (path, "a", "b")), (1, (missing, "a.svg")),
                       (100, (path, "a.unknown")), (100, (path, missing + "/a.svg")),
                       (100, (path, missing + "/a.jtop")),
                       (1, (os.path.join(BUILD, "java", "Shares.class"), "a.svg")),
                       (100, ("-e", "lock", path, "a.svg"))):
        done = prof("convert", *args, cwd=scratch)
        want(done.returncode == code and len(done.stderr.splitlines()) == 1,
             "%s: exit %d, %s" % (args, done.returncode, done.stderr))
    want("svg" not in read(os.path.join(scratch, "list")), "files were left")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "r.jtop")
        with Jvm("Shares", "eight") as jvm:
            good("-d", 2, "-i", "1ms", "--record", path, "-o", "flat", jvm.pid)
        for name, check in (("by extension", by_extension), ("stdout", to_stdout),
                            ("there and back", there_and_back), ("in place", in_place),
                            ("cut", cut), ("environment", environment)):
            own = os.path.join(scratch, name)
            os.mkdir(own)
            checks.run(name, check, path, own)
        own = os.path.join(scratch, "refused")
        os.mkdir(own)
        with open(os.path.join(own, "list"), "w", encoding="utf-8") as f:
            subprocess.run(["ls", own], stdout=f, check=True)
        checks.run("refused", refused, path, own)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
