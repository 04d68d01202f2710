#!/usr/bin/env python3
"""The agent in a JVM whose glibc is older than what the agent was built with: Debian 11's, 2.31, in
a container. From the host, and with the static frontend from inside."""
# timeout: 600
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
import oci  # noqa: E402
from lib import BUILD, ROOT, Checks, collapsed, good, self_percent, want  # noqa: E402

SUITE = "bullseye"
STATIC = os.path.join(BUILD, "static")


def shares(output):
    found = self_percent(collapsed(output))
    for name, share in (("a50", 50), ("b25", 25), ("c15", 15), ("d10", 10)):
        want(abs(found.get(name, 0) - share) <= 12, "%s: %s" % (name, found))


def is_old():
    found = os.listdir(os.path.join(oci.rootfs(), "lib/x86_64-linux-gnu"))
    want("libc-2.31.so" in found, str([f for f in found if f.startswith("libc-")]))


def from_host(pid):
    for event in ("cpu", "ctimer", "itimer"):
        shares(good("-d", 4, "-e", event, "-o", "collapsed", pid))
    done = good("-d", 2, "-e", "wall,nativemem,nativelock,lock", "-o", "flat=3", pid)
    want("event               : nativelock" in done, done[-400:])


def from_inside(container):
    place = "/proc/%d/root/work/static" % container.pid
    shutil.copytree(STATIC, place)
    done = container.run("/work/static/jtop-prof", "-d", 4, "-o", "collapsed", 1)
    want(done.returncode == 0, done.stderr[-400:])
    shares(done.stdout)


def main():
    checks = Checks()
    subprocess.run(["make", "--no-print-directory", "BUILD=" + BUILD, "static"], cwd=ROOT,
                   stdout=subprocess.DEVNULL, check=True)
    oci.suite = lambda: SUITE
    checks.run("Debian 11 has glibc 2.31", is_old)
    with oci.Container("Shares", "single") as container:
        checks.run("a JVM on it, from the host", from_host, container.pid)
        checks.run("and from inside, by the static frontend", from_inside, container)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
