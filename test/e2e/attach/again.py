#!/usr/bin/env python3
# timeout: 120, tier: fast
"""What the first session learned about the JVM's libraries is used by later ones: unwind tables, in
the cache. A table that cannot be trusted is built and kept again, and the profile is right anyway."""
import os
import signal
import sys
import tempfile

from lib import (WAIT, Checks, Jvm, Prof, collapsed, good, mapped, prof, sampling, total, wait_for,
                 want)

CACHE = os.path.join(os.environ["XDG_CACHE_HOME"], "jtop-prof", "unwind")


def table_of(jvm):
    """The table of its libjvm.so."""
    library = next(m for m in mapped(jvm.pid) if m.endswith("/libjvm.so"))
    st = os.stat(library)
    return os.path.join(CACHE, "unwind-%x-%x" % (st.st_dev, st.st_ino))


def number(path):
    return os.stat(path).st_ino if os.path.lexists(path) else 0


def right(stacks):
    want(total(stacks) > 0, "no samples")
    want(any("Shares" in f for frames, _ in stacks for f in frames), "no method of the application")


def until_kept(jvm, scratch, path, before):
    """A session in which a table is written."""
    with Prof(scratch, "-d", 60, "-e", "cpu", "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: number(path) not in (0, before), "a new table")
        wait_for(lambda: sampling(jvm.pid), "sampling")
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(WAIT) == 0, p.stderr())


def unchanged(jvm, path):
    before = number(path)
    want(before, "no table")
    right(collapsed(good("-d", 1, "-e", "cpu", "-o", "collapsed", jvm.pid)))
    want(number(path) == before, "the table was built again")
    want(os.stat(path).st_mode & 0o777 == 0o600, "others may read or write it")


def first(jvm, scratch):
    path = table_of(jvm)
    want(not os.path.exists(path), "there is a table before the first session")
    until_kept(jvm, scratch, path, 0)
    unchanged(jvm, path)


def damaged(jvm, scratch):
    path = table_of(jvm)
    for damage in (lambda: os.truncate(path, 1000), lambda: os.chmod(path, 0o622),
                   lambda: (os.rename(path, path + "-real"), os.symlink(path + "-real", path))):
        before = number(path)
        damage()
        until_kept(jvm, scratch, path, os.lstat(path).st_ino if os.path.islink(path) else before)
        want(not os.path.islink(path), "a link was followed")
        unchanged(jvm, path)


def in_background(jvm):
    """Each start ends the reader that waits for more requests after the stop."""
    for _ in range(3):
        good("start", "-e", "cpu", jvm.pid)
        out = good("status", jvm.pid)
        want("running" in out, out)
        good("stop", "-o", "collapsed", jvm.pid)


def another(path):
    """Another JVM of the same JDK: nothing of the first one but the tables is used."""
    with Jvm("Shares", "single") as jvm:
        want(table_of(jvm) == path, "another libjvm.so")
        unchanged(jvm, path)
        jvm.truth()


def nowhere(jvm):
    """Without a place for the cache."""
    for place in ("/proc/nowhere", "relative"):
        done = prof("-d", 1, "-e", "cpu", "-o", "collapsed", jvm.pid,
                    env=dict(os.environ, XDG_CACHE_HOME=place, HOME="/nowhere"))
        want(done.returncode == 0, done.stderr)
        right(collapsed(done.stdout))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm("Shares", "single") as jvm:
        checks.run("kept by the first session", first, jvm, scratch)
        checks.run("in the background", in_background, jvm)
        checks.run("another JVM", another, table_of(jvm))
        checks.run("damaged or not to be trusted", damaged, jvm, scratch)
        checks.run("no place for it", nowhere, jvm)
        checks.run("the JVM works on", jvm.truth)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
