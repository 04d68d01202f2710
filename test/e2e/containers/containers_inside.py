#!/usr/bin/env python3
# timeout: 240
"""JVMs in containers, profiled from inside a container: their own (docker exec, kubectl exec) or
another one that shares their pid namespace (a sidecar, an ephemeral container). Each profile must
be right, and leaves nothing. The other way, from the host, is containers.py."""
import os
import re
import subprocess
import sys
import tempfile

from contained import PROFILE, inside, nothing_left, outside, right, warm
from lib import PROF as HOST_PROF, WAIT, Checks, Prof, sampling, traces, wait_for, want
from oci import DOCKER, INSIDE, STAY, Container, rootfs

PROF = INSIDE + "/jtop-prof"
ADMIN = DOCKER + ["SYS_ADMIN", "SYS_PTRACE", "PERFMON", "DAC_READ_SEARCH", "SYSLOG"]
LOCKED = {"caps": DOCKER, "deny": ["perf_event_open"]}  # as Docker's defaults are


def own_user():
    with Container("Shares", "single", inside=True, userns=True) as c:
        right(warm(c), inside(c))
        nothing_left(c)


def read_only():
    with Container("Shares", "single", inside=True, readonly=True, **LOCKED) as c:
        right(warm(c), inside(c))
        nothing_left(c)


def container_root():
    """As most images are: everything is root's."""
    with Container("Shares", "single", inside=True, user=0, **LOCKED) as c:
        right(warm(c), inside(c, user=0))
        nothing_left(c)


def said_to_root():
    """Docker's root may become another user, but not look at its processes."""
    with Container("Shares", "single", inside=True, **LOCKED) as c:
        done = c.run(PROF, "-d", 1, 1, user=0)
        want(done.returncode == 1 and "CAP_SYS_PTRACE" in done.stderr, done.stderr)
        as_user = re.search(r"\((setpriv .*) jtop-prof", done.stderr).group(1).split()
        done = c.run("/usr/bin/" + as_user[0], *as_user[1:], PROF, *PROFILE, 1, user=0)
        want(done.returncode == 0 and "Shares.mixed" in done.stdout, done.stderr)
        right(warm(c), inside(c, user=0, caps=["SYS_PTRACE"]))
        nothing_left(c)


def known_to_root():
    """Who it is, its performance data say; the rest is asked as its user."""
    with Container("Shares", "single", inside=True, named=True, **LOCKED) as c:
        right(warm(c), inside(c, user=0))
        nothing_left(c)


def background():
    """start, dump and stop, each a program of its own; files are the user's, in its directory."""
    with Container("Shares", "single", inside=True, userns=True, named=True, **LOCKED) as c:
        for words in (["start", "-i", "1ms"], ["dump", "-f", "a.jfr"], ["stop", "-f", "b.html"]):
            done = c.run(PROF, *words, 1)
            want(done.returncode == 0, "%s: %s" % (words, done.stderr))
            if words[0] == "start":
                warm(c)
        want(c.files() == ["/work/a.jfr", "/work/b.html"], "files: %s" % c.files())
        done = c.run(PROF, "a.jfr", "-o", "collapsed")
        want("Shares.mixed;Shares$A.run;Shares$A.a50" in done.stdout, done.stdout + done.stderr)
        c.run(PROF, "-d", "200ms", 1)  # the reader that keeps what was stopped goes
        wait_for(lambda: not traces(c.pid), "traces to go: %s" % traces(c.pid), 8)


def from_the_start():
    """A JVM that is process 1 takes the whole container with it: it waits for its file."""
    work = {"destination": "/work", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]}
    option = "-agentpath:%s/libjtop-agent.so=start,interval=1ms,file=/work/out.collapsed" % INSIDE
    with Container("Shares", "single", inside=True, readonly=True, mounts=[work],
                   options=[option], **LOCKED) as c:
        warm(c)
        place = os.open("/proc/%d/root/work" % c.pid, os.O_RDONLY | os.O_DIRECTORY)
        try:
            c.process.stdin.close()
            want(c.process.wait(WAIT) == 0, "exit %s" % c.process.returncode)
            want(os.listdir(place) == ["out.collapsed"], "files: %s" % os.listdir(place))
            with open(os.open("out.collapsed", os.O_RDONLY, dir_fd=place), encoding="utf-8") as f:
                want("Shares.mixed" in f.read(), "nothing of the workload")
        finally:
            os.close(place)


class Pod:
    """A JVM and another container that share a pid namespace and the network, as Kubernetes'
    shareProcessNamespace makes them; the JVM's files are not the profiler's."""

    def __init__(self, **more):
        self.pause = Container("", command=STAY)
        self.jvm = self.side = None
        join = {kind: "/proc/%d/ns/%s" % (self.pause.pid, file)
                for kind, file in (("pid", "pid"), ("network", "net"), ("ipc", "ipc"))}
        try:
            self.jvm = Container("Shares", "single", join=join, **LOCKED, **more)
            self.side = Container("", command=STAY, join=join, inside=True, user=0, **LOCKED)
            warm(self.jvm)
        except BaseException:
            self.kill()
            raise
        with open("/proc/%d/status" % self.jvm.pid, encoding="ascii") as f:
            self.pid = int(re.search(r"^NSpid:.*\t(\d+)$", f.read(), re.M).group(1))

    def kill(self):
        for c in (self.side, self.jvm, self.pause):
            if c:
                c.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def out_of_sight(pod):
    """What the host does is not to be asked about from a container, but it is seen."""
    with tempfile.TemporaryDirectory() as scratch, Prof(scratch, "-d", 60, pod.jvm.pid):
        wait_for(lambda: sampling(pod.jvm.pid), "the profile")
        done = pod.side.run(PROF, "status", pod.pid, user=1000)
        want("is not visible from here" in done.stdout, done.stdout + done.stderr)
        for words in ["stop"], ["-d", "1"]:
            done = pod.side.run(PROF, *words, pod.pid, user=1000)
            want(done.returncode != 0 and "is not visible from here" in done.stderr, done.stderr)


def sidecar(**more):
    with Pod(**more) as pod:
        for who in ({"user": 1000}, {"user": 0, "caps": ["SYS_PTRACE"]}):
            right(pod.jvm, inside(pod.side, pid=pod.pid, **who))
            nothing_left(pod.jvm, pod.side)
        done = pod.side.run(PROF, "--list", user=1000)
        want(re.search(r"^ +%d +1000 .*Shares \(container\)$" % pod.pid, done.stdout, re.M),
             done.stdout + done.stderr)
        right(pod.jvm, outside(pod.jvm))
        nothing_left(pod.jvm, pod.side)
        out_of_sight(pod)
        nothing_left(pod.jvm, pod.side)


def sidecar_kernel():
    """One capability more, and it opens perf_events for a JVM that may not."""
    with Pod() as pod, Container("", command=STAY, inside=True, user=0, caps=DOCKER,
                                 join={"pid": "/proc/%d/ns/pid" % pod.pause.pid}) as side:
        done = side.run(PROF, "-d", 1, "-e", "context-switches", "-i", 1, "-o", "collapsed",
                        pod.pid, user=0, caps=["SYS_PTRACE", "PERFMON"])
        want("_[k]" in done.stdout or "[kernel]" in done.stdout, "no kernel frames: %s%s" %
             (done.stdout[-300:], done.stderr))
        nothing_left(pod.jvm, side)


def sidecar_killed():
    """With all that is in it, while it profiles: the agent misses it."""
    with Pod() as pod:
        with subprocess.Popen(
                ["runc", "exec", "--user", "1000:1000", pod.side.name, PROF, "-d", "60",
                 str(pod.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL) as run:
            wait_for(lambda: sampling(pod.jvm.pid), "the profile")
            subprocess.run(["runc", "kill", "--all", pod.side.name, "KILL"], check=True)
            want(run.wait(30) != 0, "it has not been killed")
        nothing_left(pod.jvm)
        right(pod.jvm, outside(pod.jvm))
        nothing_left(pod.jvm)


def node():
    """A container on the host's processes and with its rights, as kubectl debug node/NAME makes
    one with the profile sysadmin: its files are neither the host's nor the JVM's."""
    with Container("Shares", "single", userns=True, **LOCKED) as jvm, \
            Container("", command=STAY, inside=True, user=0, caps=ADMIN,
                      join={"pid": None, "network": None, "ipc": None}) as c:
        right(warm(jvm), inside(c, pid=jvm.pid, user=0))
        done = c.run(PROF, "-d", 1, "-e", "context-switches", "-i", 1, "-o", "collapsed", jvm.pid,
                     user=0)
        want("_[k]" in done.stdout or "[kernel]" in done.stdout, "no kernel frames: %s%s" %
             (done.stdout[-300:], done.stderr))
        nothing_left(jvm, c)


def rootless():
    """As podman unshare: root of the user namespace, and of nothing else."""
    with Container("Shares", "single", userns=True, **LOCKED) as c:
        enter = ["nsenter", "--user", "--setuid=0", "--setgid=0", "--target", str(c.pid), HOST_PROF]
        def take():
            return subprocess.run(enter + list(map(str, (*PROFILE, c.pid))), check=True, text=True,
                                  stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout
        right(warm(c), take)
        nothing_left(c)


def main():
    checks = Checks()
    rootfs()
    checks.together(
        ("own user, user namespace", own_user),
        ("own user, read-only root, Docker's limits", read_only),
        ("root of a container", container_root),
        ("root, of another user's JVM", said_to_root),
        ("root, of a JVM with performance data", known_to_root),
        ("in the background", background),
        ("from the start", from_the_start),
        ("sidecar", sidecar),
        ("sidecar, kernel frames", sidecar_kernel),
        ("sidecar that is killed", sidecar_killed),
        ("node", node),
        ("rootless", rootless))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
