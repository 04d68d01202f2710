#!/usr/bin/env python3
"""JVMs that differ from us in one thing only: a namespace, or the root directory."""
import os
import shutil
import subprocess
import sys
import tempfile

from contained import outside, right, warm
from lib import CLASSES, Checks, Jvm, read, traces, wait_for, want
from oci import JAVA, Container, rootfs

OWN_TMP = ["sh", "-c", 'mount --bind %s /mnt && mount -t tmpfs -o mode=1777 tmpfs /tmp && exec "$@"'
           % CLASSES, "sh"]


def profiled(jvm):
    right(warm(jvm), outside(jvm))
    wait_for(lambda: not traces(jvm.pid), "it to be gone: %s" % traces(jvm.pid), 8)


def one(*before, classes=CLASSES):
    with Jvm("Shares", "single", before=before, classes=classes) as jvm:
        profiled(jvm)


def other_tmp():
    one("unshare", "--mount", *OWN_TMP, classes="/mnt")


def child(pid):
    return int(read("/proc/%d/task/%d/children" % (pid, pid)).split()[0])


def within_a_container():
    """A pid namespace in that of a container: its pid is three numbers."""
    nested = ["/bin/busybox", "unshare", "--pid", "--fork", "--mount", "--mount-proc", JAVA, "-cp",
              "/app", "Shares", "single"]
    with Container("", command=nested, user=0, caps=["SYS_ADMIN"]) as c:
        outer, c.pid = c.pid, child(c.pid)
        numbers = read("/proc/%d/status" % c.pid).split("NSpid:")[1].split("\n")[0].split()
        want(len(numbers) == 3 and numbers[2] == "1", "its pids: %s" % numbers)
        profiled(c)
        want(not c.files(), "left: %s" % c.files())
        c.pid = outer


def other_root():
    """chroot: no namespace differs. Its /tmp is its own."""
    top = tempfile.mkdtemp()
    os.chmod(top, 0o755)
    merged, layers = os.path.join(top, "root"), os.path.join(top, "layers")
    mounts = []
    try:
        for path in (merged, layers):
            os.mkdir(path)
        mount(mounts, "tmpfs", layers)
        for path in ("upper", "work"):
            os.mkdir(os.path.join(layers, path))
        shutil.copytree(CLASSES, layers + "/upper/app")
        mount(mounts, "overlay", merged, "lowerdir=%s,upperdir=%s/upper,workdir=%s/work" %
              (rootfs(), layers, layers))
        mount(mounts, "proc", merged + "/proc")
        with Chrooted(merged) as jvm:
            profiled(jvm)
            want([n for n in os.listdir(merged + "/tmp") if "jtop" in n] == [], "left in /tmp")
    finally:
        for path in reversed(mounts):
            subprocess.run(["umount", "-l", path], check=False)
        shutil.rmtree(top, ignore_errors=True)


def mount(done, kind, where, options="mode=755"):
    subprocess.run(["mount", "-t", kind, *(["-o", options] if kind != "proc" else []), kind, where],
                   check=True)
    done.append(where)


class Chrooted(Jvm):
    def __init__(self, root):
        self.process = subprocess.Popen(
            ["chroot", "--userspec=1000:1000", root, JAVA, "-Xmx256m", "-cp", "/app", "Shares",
             "single"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            start_new_session=True)
        self.pid = self.process.pid
        self.rest = b""
        self.line("ready")


def main():
    checks = Checks()
    rootfs()
    checks.together(
        ("user", one, "unshare", "--user", "--map-root-user"),
        ("network", one, "unshare", "--net"),
        ("mount, another /tmp", other_tmp),
        ("cgroup and ipc", one, "unshare", "--cgroup", "--ipc"),
        ("pid in pid", within_a_container),
        ("root directory", other_root))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
