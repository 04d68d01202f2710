"""JVMs in containers: real ones, made by runc on a root file system of the distribution's packages.

    with oci.Container("Shares", "single", userns=True) as c:
        good("-d", 1, c.pid)                  # from the host
        done = c.run("/opt/jtop/jtop-prof", "-d", "1", "1", user=1000)   # inside

The root file system is made once a build directory, in BUILD/oci; each container gets its own
view of it, and nothing that it does there outlives it. Whatever is left running ends with the
container, and what a script left that was killed goes when the next one begins.
"""
import contextlib
import fcntl
import glob
import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile

from lib import BUILD, CLASSES, PROF, AGENT, ROOT, WAIT, Jvm, read, want, wait_for

PLACE = os.path.join(BUILD, "oci")
JAVA = "/usr/lib/jvm/java-17-openjdk-amd64/bin/java"
# What the JVM and the profiler need; nothing is configured, only unpacked.
PACKAGES = ("openjdk-17-jre-headless libc6 zlib1g libgcc-s1 libncursesw6 libtinfo6 libelf1 libzip4 "
            "libinih1 libprotobuf-c1 busybox-static bash coreutils").split()
INSIDE = "/opt/jtop"  # the profiler, where a container has it
USER = 1000
MAPPED = 100000  # the host's number of uid 0 in a user namespace of ours
# A command that does nothing, until its input ends.
STAY = ["/bin/busybox", "sh", "-c", "echo ready; exec /bin/busybox cat"]
HOTSPOTS = r"/hsperfdata|/\.java_pid|/\d{4}(_\d\d){5}_\d+$"  # the last is its flight recorder's
NUMBERS = itertools.count(1)
OURS = re.compile(r"/(jtop-test-(\d+)-\d+)(?![^/-])")
# What Docker and the runtimes of Kubernetes let container processes keep.
DOCKER = ("CHOWN DAC_OVERRIDE FSETID FOWNER MKNOD NET_RAW SETGID SETUID SETFCAP SETPCAP "
          "NET_BIND_SERVICE SYS_CHROOT KILL AUDIT_WRITE").split()


def suite():
    with open("/etc/os-release", encoding="utf-8") as f:
        return next(line.split("=", 1)[1].strip().strip('"') for line in f
                    if line.startswith("VERSION_CODENAME="))


def rootfs():
    """The path of the root file system; made where it is not there yet."""
    kind = hashlib.sha256(" ".join([suite(), *PACKAGES]).encode()).hexdigest()[:12]
    path = os.path.join(PLACE, "root-" + kind)
    if os.path.isdir(path):
        return path
    os.makedirs(PLACE, exist_ok=True)
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(path):
            make_rootfs(path)
    return path


def make_rootfs(path):
    making = path + ".making"
    shutil.rmtree(making, ignore_errors=True)
    mirror = subprocess.run([os.path.join(ROOT, ".ci", "mirror")], capture_output=True, text=True,
                            check=False)
    want(mirror.returncode == 0, mirror.stderr)
    done = subprocess.run(
        ["mmdebstrap", "--quiet", "--variant=extract", "--mode=root",
         "--include=" + ",".join(PACKAGES), suite(), making, mirror.stdout.strip()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    want(done.returncode == 0, "mmdebstrap: " + done.stdout[-400:])
    os.chmod(making, 0o755)
    for name in ("app", "opt/jtop", "work"):
        os.makedirs(os.path.join(making, name), exist_ok=True)
    os.rename(making, path)


def left_behind(paths):
    """(container, directory of it) of those that a script which is gone has left."""
    found = [(OURS.search(path), path) for path in paths]
    return {(m.group(1), path[:m.start()] + re.match("/[^/]*", path[m.start():]).group())
            for m, path in found if m and not os.path.exists("/proc/" + m.group(2))}


def sweep():
    """Ends and removes containers of scripts that were killed."""
    for name, _ in left_behind(glob.glob("/run/runc/jtop-test-*")):
        subprocess.run(["runc", "delete", "--force", name], capture_output=True, check=False)
    mounts = [line.split()[4] for line in read("/proc/self/mountinfo").splitlines()]
    for path in sorted((m for m in mounts if left_behind([m])), reverse=True):
        subprocess.run(["umount", "-l", path], capture_output=True, check=False)
    bundles = glob.glob(os.path.join(tempfile.gettempdir(), "jtop-test-*"))
    for _, path in left_behind(mounts + bundles):
        shutil.rmtree(path, ignore_errors=True)
        with contextlib.suppress(OSError):  # a scratch directory that could not go with it in
            os.rmdir(os.path.dirname(path))
    for _, path in left_behind(glob.glob("/sys/fs/cgroup/*/jtop-test-*") +
                               glob.glob("/sys/fs/cgroup/jtop-test-*")):
        with contextlib.suppress(OSError):
            os.rmdir(path)


class Container(Jvm):
    """A workload of test/java in a container, as its process 1.

    userns    its uids are others to the host (0 is MAPPED there)
    user      uid and gid in it
    readonly  its root; /tmp stays a tmpfs unless tmp=None
    tmp       options of the tmpfs at /tmp ("noexec" …); None: no file system of its own there
    mounts    more of them, as the OCI runtime specification has them
    deny      system calls that a seccomp filter answers with EPERM, or with the number `errno`
    quota     CPUs it may use
    caps      capabilities of its processes, with and without "CAP_"; DOCKER: the usual ones
    inside    the profiler is at INSIDE
    join      namespaces not of its own: {"pid": "/proc/1/ns/pid"}; None: the host's
    links     symbolic links in its root, in place of what is there: {"tmp": "work"}
    bare      its root has no shell and no other program
    named     its user has a name, "app": only then HotSpot publishes performance data
    command   the whole command line, in place of java's; it has to say "ready"
    """

    def __init__(self, main, *args, options=(), userns=False, user=USER, readonly=False, tmp="",
                 mounts=(), deny=(), quota=None, caps=(), inside=False, join=None, links=None,
                 bare=False, named=False, command=None, env=(), errno=1):
        self.name = "jtop-test-%d-%d" % (os.getpid(), next(NUMBERS))
        sweep()
        self.base = rootfs()
        # Not in the build directory: the way there has to be open to whoever runs inside.
        self.bundle = tempfile.mkdtemp(prefix=self.name + "-")
        os.chmod(self.bundle, 0o755)
        java = [JAVA, "-Xmx256m", "-XX:+IgnoreUnrecognizedVMOptions", *options, "-cp", "/app", main,
                *map(str, args)]
        capabilities = ["CAP_" + c.removeprefix("CAP_") for c in caps]
        config = {
            "ociVersion": "1.0.2",
            "process": {
                "terminal": False, "user": {"uid": user, "gid": user}, "cwd": "/work",
                "args": list(command or java), "env": ["PATH=/usr/bin:/bin", *env],
                "capabilities": {k: capabilities for k in ("bounding", "effective", "permitted")},
                "noNewPrivileges": not caps},
            "root": {"path": self.own_root(inside, links or {}, bare, named, mounts),
                     "readonly": readonly}, "hostname": "container",
            "mounts": self.mounts(tmp) + list(mounts),
            "linux": {
                "cgroupsPath": "/" + self.name,
                "namespaces": self.namespaces(userns, join or {}),
                "resources": {"cpu": {"quota": int(quota * 100000), "period": 100000}
                              if quota else {}}}}
        if userns:
            ids = [{"containerID": 0, "hostID": MAPPED, "size": 65536}]
            config["linux"]["uidMappings"] = config["linux"]["gidMappings"] = ids
        if deny:
            config["linux"]["seccomp"] = {
                "defaultAction": "SCMP_ACT_ALLOW",
                "syscalls": [{"names": list(deny), "action": "SCMP_ACT_ERRNO", "errnoRet": errno}]}
        with open(os.path.join(self.bundle, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)
        self.begin()

    def own_root(self, inside, links, bare, named, mounts):
        """A view of the root file system that may be written to, with the workload in it."""
        merged, layers = os.path.join(self.bundle, "root"), os.path.join(self.bundle, "layers")
        upper, work = os.path.join(layers, "upper"), os.path.join(layers, "work")
        os.makedirs(merged)
        os.makedirs(layers)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", layers], check=True)
        for path in (upper, work, os.path.join(upper, "work")):
            os.makedirs(path)
        os.chmod(os.path.join(upper, "work"), 0o777)
        shutil.copytree(CLASSES, os.path.join(upper, "app"))
        for m in mounts:
            os.makedirs(upper + m["destination"], exist_ok=True)
        if named:
            os.makedirs(os.path.join(upper, "etc"))
            with open(os.path.join(upper, "etc", "passwd"), "w", encoding="ascii") as f:
                f.write("root:x:0:0::/root:/bin/sh\napp:x:%d:%d::/work:/bin/sh\n" % (USER, USER))
        for name, target in links.items():
            os.symlink(target, os.path.join(upper, name))
        for name in ("bin", "sbin", "usr/bin", "usr/sbin") if bare else ():
            os.makedirs(os.path.join(upper, name))
            os.setxattr(os.path.join(upper, name), "trusted.overlay.opaque", b"y")
        if inside:
            os.makedirs(upper + INSIDE)
            for path in (PROF, AGENT):
                shutil.copy(path, upper + INSIDE)
        subprocess.run(["mount", "-t", "overlay", "-o", "lowerdir=%s,upperdir=%s,workdir=%s" %
                        (self.base, upper, work), "overlay", merged], check=True)
        return merged

    @staticmethod
    def mounts(tmp):
        def mount(where, kind, *options):
            return {"destination": where, "type": kind, "source": kind, "options": list(options)}
        found = [mount("/proc", "proc"),
                 mount("/dev", "tmpfs", "nosuid", "mode=755", "size=65536k"),
                 mount("/dev/shm", "tmpfs", "nosuid", "nodev", "noexec", "mode=1777")]
        if tmp is not None:
            found.append(mount("/tmp", "tmpfs", "mode=1777", *filter(None, tmp.split(","))))
        return found

    @staticmethod
    def namespaces(userns, join):
        kinds = ["pid", "mount", "ipc", "uts", "network", "cgroup"] + (["user"] if userns else [])
        return [{"type": k, "path": join[k]} if k in join else {"type": k}
                for k in kinds if join.get(k, "") is not None]

    def begin(self):
        self.rest = b""
        self.process = subprocess.Popen(
            ["runc", "run", "--bundle", self.bundle, self.name], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, bufsize=0, start_new_session=True)
        try:
            self.pid = wait_for(self.find_pid, "the container")
            self.line("ready")
        except BaseException:
            self.kill()
            raise

    def find_pid(self):
        done = subprocess.run(["runc", "state", self.name], capture_output=True, text=True,
                              check=False)
        want(self.process.poll() is None, "runc ended with %s" % self.process.returncode)
        return done.returncode == 0 and json.loads(done.stdout).get("pid")

    def run(self, *args, user=USER, caps=(), timeout=60):
        """Runs a command inside, in all its namespaces."""
        more = [w for c in caps for w in ("--cap", "CAP_" + c.removeprefix("CAP_"))]
        return subprocess.run(
            ["runc", "exec", "--user", "%d:%d" % (user, user), *more, self.name, *map(str, args)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False)

    def files(self):
        """What lies in the directories of its own that a program may write to, beside HotSpot's."""
        found = []
        for place in ("/tmp", "/dev/shm", "/var/tmp", "/work", "/run"):
            with contextlib.suppress(OSError):
                found += [os.path.join(place, n)
                          for n in os.listdir("/proc/%d/root%s" % (self.pid, place))]
        return sorted(f for f in found if not re.search(HOTSPOTS, f))

    def tidy(self):
        subprocess.run(["runc", "kill", self.name, "KILL"], capture_output=True, check=False)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(WAIT)
        subprocess.run(["runc", "delete", "--force", self.name], capture_output=True, check=False)
        for name in ("root", "layers"):
            subprocess.run(["umount", "-l", os.path.join(self.bundle, name)], capture_output=True,
                           check=False)
        shutil.rmtree(self.bundle, ignore_errors=True)

    def kill(self):
        subprocess.run(["runc", "kill", self.name, "KILL"], capture_output=True, check=False)
        super().kill()
        self.tidy()
