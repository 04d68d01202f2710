#!/usr/bin/env python3
# tier: fast
"""Files that may not grow, disks that are full, pipes that nobody reads: one line, an exit code, and
the JVM runs on as if nothing had been."""
import os
import resource
import subprocess
import sys
import tempfile

from lib import PROF, WAIT, Checks, Jvm, Skip, collapsed, good, read, total, traces, wait_for, want

FORMATS = ("jfr", "svg", "html", "collapsed", "pb.gz", "otlp", "json", "txt")


def limited(kilobytes):
    """As ulimit -f: of a child."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))
    return limit


def told(done, code, *words):
    lines = done.stderr.splitlines()
    want(done.returncode == code, "exit %d: %s" % (done.returncode, done.stderr))
    want(len(lines) == 1 and all(w in lines[0] for w in words), "stderr: %s" % done.stderr)


def run(*args, **kwargs):
    return subprocess.run([PROF, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=WAIT, check=False, **kwargs)


def runs_on(jvm):
    wait_for(lambda: not traces(jvm.pid), "nothing to be left behind")
    want(jvm.alive(), "the JVM is dead")


def own_files(jvm, scratch):
    """The profiler's."""
    for ending in FORMATS:
        path = os.path.join(scratch, "small." + ending)
        done = run("-d", 1, "-e", "cpu", "-i", "1ms", "-f", path, jvm.pid, preexec_fn=limited(1))
        told(done, 200, "small." + ending, "File too large", "ulimit -f")
        if ending != "jfr":
            want(not os.path.exists(path), "%s is there" % path)
    runs_on(jvm)


def recording(jvm, scratch):
    path = os.path.join(scratch, "small.jtop")
    done = run("-d", 1, "-i", "1ms", "--record", path, "-o", "collapsed", jvm.pid,
               preexec_fn=limited(1))
    want(done.returncode == 200 and "small.jtop" in done.stderr, str(done))
    want(total(collapsed(done.stdout)) > 20, "nothing on standard output")
    want(len(done.stderr.splitlines()) == 1, done.stderr)
    runs_on(jvm)


def jvms_files(scratch):
    """The JVM's own limit, below the size of what it shares with us."""
    with Jvm("shop.Demo", preexec_fn=limited(100)) as jvm:
        stacks = collapsed(good("-d", 1, "-i", "1ms", "-o", "collapsed", jvm.pid))
        want(total(stacks) > 20, "%d samples" % total(stacks))
        runs_on(jvm)


def full_disk(jvm, scratch):
    """A small file system of this test's own."""
    place = os.path.join(scratch, "small")
    os.mkdir(place)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise Skip("no right to mount")
    try:
        with open(os.path.join(place, "filler"), "wb") as f:
            f.write(bytes(60 << 10))
        for ending in FORMATS:
            path = os.path.join(place, "x." + ending)
            done = run("-d", 1, "-e", "cpu", "-i", "1ms", "-f", path, jvm.pid)
            told(done, 200, "x." + ending, "No space left")
            if os.path.exists(path):
                want(ending == "jfr", "%s was left" % path)
                os.unlink(path)
            want(os.listdir(place) == ["filler"], "left: %s" % os.listdir(place))
    finally:
        subprocess.run(["umount", place], check=True)
    runs_on(jvm)


def closed_pipe(jvm):
    for ending in ("collapsed", "flat", "svg"):
        read_end, write_end = os.pipe()
        os.close(read_end)
        try:
            done = subprocess.run([PROF, "-d", "1", "-o", ending, str(jvm.pid)], stdout=write_end,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  timeout=WAIT, check=False)
        finally:
            os.close(write_end)
        want(done.returncode == 0 and not done.stderr, "%s: %s" % (ending, done))
    runs_on(jvm)


def whole_again(jvm, scratch):
    path = os.path.join(scratch, "again.collapsed")
    good("-d", 1, "-i", "1ms", "-f", path, jvm.pid)
    want(total(collapsed(read(path))) > 20, "nothing is sampled any more")


def main():
    checks = Checks(long=("files of the profiler", "a full disk"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-limits-") as scratch, \
            Jvm("shop.Demo") as jvm:
        checks.run("files of the profiler", own_files, jvm, scratch)
        checks.run("recordings", recording, jvm, scratch)
        checks.run("files of the JVM", jvms_files, scratch)
        checks.run("a full disk", full_disk, jvm, scratch)
        checks.run("a closed pipe", closed_pipe, jvm)
        checks.run("as before", whole_again, jvm, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
