#!/usr/bin/env python3
# timeout: 240, tier: fast
"""JVMs in containers, profiled from the host by root, with nothing prepared in them. Each profile
must be right, and nothing of ours is left. From inside: containers_inside.py."""
import re
import sys

from contained import nothing_left, number, outside, right, warm
from lib import Checks, collapsed, good, prof, threads, want
from oci import DOCKER, Container, rootfs

OWN_JDK = "/opt/vm"  # where no JDK is on the host


def tmpfs(where, *options):
    return {"destination": where, "type": "tmpfs", "source": "tmpfs",
            "options": ["mode=1777", *options]}


# What is special of each; all have pid, mount, ipc, uts, network and cgroup namespaces of their
# own.
KINDS = (
    ("own user namespace", {"userns": True}),
    ("root of a user namespace", {"userns": True, "user": 0, "caps": DOCKER}),
    ("read-only root", {"userns": True, "readonly": True}),
    ("no programs in /tmp", {"userns": True, "tmp": "noexec"}),
    ("read-only root, no programs in /tmp, some in /dev/shm",
     {"readonly": True, "tmp": "noexec", "mounts": [tmpfs("/dev/shm")]}),
    ("read-only root, no programs in /tmp, some in its directory",
     {"readonly": True, "tmp": "noexec", "mounts": [tmpfs("/work")]}),
    ("/tmp in its root", {"tmp": None}),
    ("/tmp is a link", {"tmp": None, "links": {"tmp": "work"}}),
    ("no shell", {"bare": True, "readonly": True, "userns": True}),
    ("no perf_event_open, Docker's capabilities",
     {"deny": ["perf_event_open"], "caps": DOCKER}),
    ("half a CPU", {"quota": 0.5}),
)


def kind(more):
    with Container("Shares", "single", **more) as c:
        right(warm(c), outside(c))
        nothing_left(c)


def nowhere():
    """HotSpot's socket is in /tmp, always."""
    with Container("Shares", "single", readonly=True, tmp=None, mounts=[tmpfs("/work")]) as c:
        done = prof("-d", 1, c.pid)
        want(done.returncode == 1 and "/tmp" in done.stderr, done.stderr)
        warm(c)
        nothing_left(c)


def native_names():
    """They come from the container's files: of the host none is at these paths."""
    vm = {"destination": OWN_JDK, "type": "bind", "options": ["rbind", "ro"],
          "source": rootfs() + "/usr/lib/jvm/java-17-openjdk-amd64"}
    with Container("Shares", "threads", userns=True, mounts=[vm], deny=["perf_event_open"],
                   command=[OWN_JDK + "/bin/java", "-cp", "/app", "Shares", "threads"]) as c:
        stacks = collapsed(good("-d", 1, "-e", "wall", "-t", "-o", "collapsed", c.pid))
        own = [f for f, _ in stacks if f[0] == "[VM Thread tid=%d]" % number(c, "VM Thread")]
        want(own and all("VMThread::run" in f for f in own), "VM Thread: %s" % own)
        names = {f[0].rsplit(" tid", 1)[0][1:16] for f, _ in stacks}
        missing = {n[:15] for n in threads(c.pid).values()} - names
        want(len(missing) <= 2, "threads not seen: %s" % missing)
        nothing_left(c)


def kernel_frames():
    """The JVM may not open perf_events, in whatever way; root on the host may."""
    with Container("Shares", "threads", userns=True, deny=["perf_event_open"]) as c:
        stacks = collapsed(good("-d", 1, "-e", "context-switches", "-i", 1, "-o", "collapsed",
                                c.pid))
        kernel = [f for f, _ in stacks if f[-1].endswith("_[k]") or f[-1] == "[kernel]"]
        want(kernel, "no kernel frames: %s" % stacks[:3])
        want(any("Shares.alone" in " ".join(f) for f in kernel), "none of the workload's")
        nothing_left(c)


def main():
    checks = Checks(fast=("own user namespace", "native names"))
    rootfs()
    checks.together(
        *((name, kind, more) for name, more in KINDS),
        ("nowhere to attach", nowhere),
        ("native names", native_names),
        ("kernel frames", kernel_frames))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
