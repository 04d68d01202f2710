#!/usr/bin/env python3
"""What is handed to others works where it lands: `make dist` unpacked anywhere and in a root file
system with nothing in it, `make deb` by its dependencies, `make install` and `make uninstall`."""
# timeout: 600
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile

from lib import BUILD, ROOT, Checks, Jvm, collapsed, self_percent, want


def call(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **kwargs)
    want(done.returncode == 0, "%s: %s" % (" ".join(map(str, command)), done.stdout[-500:]))
    return done.stdout


def make(*arguments):
    return call("make", "--no-print-directory", "-j", os.cpu_count() or 1, "BUILD=" + BUILD,
                *arguments, cwd=ROOT)



def files(place):
    return sorted(os.path.relpath(os.path.join(d, f), place)
                  for d, _, names in os.walk(place) for f in names)


def right(output):
    """A collapsed profile of Shares."""
    share = self_percent(collapsed(output)).get("a50", 0)
    want(30 <= share <= 70, "a50 has %.1f %%: %s" % (share, output[-300:]))


@contextlib.contextmanager
def profiled():
    with Jvm("Shares", "single") as jvm:
        yield jvm.pid


@contextlib.contextmanager
def hidden_proc(place):
    """/proc in a root file system; a mount of this test's only."""
    where = os.path.join(place, "proc")
    os.makedirs(where)
    call("mount", "-t", "proc", "proc", where)
    try:
        yield
    finally:
        call("umount", where)


def dist(scratch):
    make("dist")
    tar = glob.glob(os.path.join(BUILD, "jtop-prof-*-linux-*.tar.gz"))
    want(len(tar) == 1, "there are %s" % tar)
    place = os.path.join(scratch, "some where")
    os.makedirs(place)
    call("tar", "-xzf", tar[0], "-C", place, "--strip-components=1")
    found = files(place)
    for name in ("bin/jtop-prof", "lib/jtop-prof/libjtop-agent.so", "LICENSE", "README.md",
                 "share/man/man1/jtop-prof.1", "share/jtop-prof/themes/light.theme",
                 "share/bash-completion/completions/jtop-prof"):
        want(name in found, "%s is missing: %s" % (name, found))
    program = os.path.join(place, "bin", "jtop-prof")
    want("statically" in call(program, "--version"), "the frontend is not static")
    needed = call("readelf", "-dW", program)
    want("NEEDED" not in needed, needed)
    with profiled() as pid:
        right(call(program, "-d", 2, "-o", "collapsed", pid, cwd="/"))
    return place


def empty(scratch, place):
    """No library, no /etc, no terminfo: only the tar's content and /proc."""
    root = os.path.join(scratch, "root")
    shutil.copytree(place, os.path.join(root, "opt"))
    with profiled() as pid, hidden_proc(root):
        right(call("chroot", root, "/opt/bin/jtop-prof", "-d", 2, "-o", "collapsed", pid))


def installed(scratch):
    place = os.path.join(scratch, "installed")
    make("install", "DESTDIR=" + place, "PREFIX=/opt/jtop")
    found = files(place)
    want("opt/jtop/bin/jtop-prof" in found and
         "opt/jtop/share/man/man7/jtop-prof.7" in found, str(found))
    with profiled() as pid:
        right(call(place + "/opt/jtop/bin/jtop-prof", "-d", 2, "-o", "collapsed", pid))
    make("uninstall", "DESTDIR=" + place, "PREFIX=/opt/jtop")
    want(not files(place), "uninstall left " + str(files(place)))


def deb(scratch):
    if not shutil.which("dpkg-deb"):
        print("# no dpkg here")
        return
    make("deb")
    package = glob.glob(os.path.join(BUILD, "jtop-prof_*.deb"))
    want(len(package) == 1, "there are %s" % package)
    depends = call("dpkg-deb", "-f", package[0], "Depends")
    for library in ("libc6 (>= ", "libelf1", "libtinfo6", "libzip4", "zlib1g"):
        want(library in depends, "%s is not in: %s" % (library, depends))
    if shutil.which("lintian"):
        told = call("lintian", package[0])
        want("E: " not in told, told)
    # dpkg keeps its books in an empty root, and unpacks there.
    root = os.path.join(scratch, "debian")
    os.makedirs(os.path.join(root, "var/lib/dpkg/updates"))
    os.makedirs(os.path.join(root, "var/lib/dpkg/info"))
    for name in ("status", "available"):
        with open(os.path.join(root, "var/lib/dpkg", name), "w", encoding="ascii"):
            pass
    dpkg = ("dpkg", "--root=" + root, "--force-depends", "--force-not-root", "--log=/dev/null",
            "--force-script-chrootless")
    call(*dpkg, "--install", package[0])
    program = os.path.join(root, "usr/bin/jtop-prof")
    with profiled() as pid:
        right(call(program, "-d", 2, "-o", "collapsed", pid))
    call(*dpkg, "--purge", "jtop-prof")
    left = [f for f in files(root) if not f.startswith("var/lib/dpkg/")]
    want(not left, "removal left " + str(left))


def main():
    checks = Checks()
    scratch = tempfile.mkdtemp()
    os.chmod(scratch, 0o755)
    try:
        place = []
        checks.run("make dist, unpacked", lambda: place.append(dist(scratch)))
        if place:
            checks.run("in an empty root file system", empty, scratch, place[0])
        checks.run("make install and uninstall", installed, scratch)
        checks.run("make deb, installed and removed", deb, scratch)
    finally:
        shutil.rmtree(scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
