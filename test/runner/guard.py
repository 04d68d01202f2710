"""What of the machine must be after a test program as it was before: the clock, sysctls, mounts,
control groups, network devices and namespaces, shared memory, free disk."""
import glob
import os
import subprocess
import threading
import time

SYSCTLS = ("kernel/perf_event_paranoid", "kernel/kptr_restrict", "kernel/perf_event_mlock_kb",
           "kernel/perf_event_max_stack", "kernel/yama/ptrace_scope", "kernel/core_pattern",
           "kernel/randomize_va_space", "kernel/pid_max", "kernel/threads-max", "vm/max_map_count",
           "vm/overcommit_memory", "fs/file-max", "fs/nr_open", "user/max_user_namespaces",
           "user/max_mnt_namespaces", "kernel/unprivileged_userns_clone")
CLOCK_SECONDS = 2  # what a time daemon may correct meanwhile
DISK_MB = 512      # what logs and other people may write meanwhile
# Control groups that others make and remove all the time.
OTHERS_GROUPS = ("process_api", "system.slice", "user.slice", "init.scope")


def sysctls():
    found = {}
    for name in SYSCTLS:
        try:
            with open("/proc/sys/" + name, encoding="ascii", errors="replace") as f:
                found[name] = f.read().strip()
        except OSError:
            pass
    return found


def mounts():
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as f:
        return [line.split()[4] for line in f]


def groups():
    """Directories down to the third level of each hierarchy."""
    found = [p for depth in ("*", "*/*", "*/*/*") for p in glob.glob("/sys/fs/cgroup/%s/" % depth)]
    return [p for p in found if not any(o in p.split("/") for o in OTHERS_GROUPS)]


def listed(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def free_mb(path="/"):
    s = os.statvfs(path)
    return s.f_bavail * s.f_frsize >> 20


def look():
    """A set of lines, one a thing that could be left behind."""
    found = {"sysctl %s: %s" % item for item in sysctls().items()}
    found |= {"mount %s" % m for m in mounts()}
    found |= {"control group %s" % g for g in groups()}
    found |= {"network namespace %s" % n for n in listed("/run/netns")}
    found |= {"network device %s" % n for n in listed("/sys/class/net")}
    found |= {"shared memory /dev/shm/%s" % n for n in listed("/dev/shm")}
    return found


class Guard:
    """Compares after each program. Where several ran since a thing was seen first, it counts as
    left behind once all of them have ended, and the last one's failure names them all."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lines, self.sysctls = look(), sysctls()
        self.clock = self.offset()
        self.disk = free_mb()
        self.running, self.since = set(), set()  # names: now, and at any time since the last look
        self.pending = {}                        # line -> names that it may be of

    @staticmethod
    def offset():
        return time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)

    def begin(self, name):
        with self.lock:
            self.running.add(name)
            self.since.add(name)

    def end(self, name):
        """What is not as it was before, for which this program is the last possible reason."""
        with self.lock:
            self.running.discard(name)
            differences = self.differences()
            for line in [line for line in self.pending if line not in differences]:
                del self.pending[line]
            for line in differences:
                self.pending.setdefault(line, set(self.since))
            self.since = set(self.running)
            found = []
            for line, names in list(self.pending.items()):
                if not names & self.running:
                    found.append(line if names == {name} else
                                 "%s (one of %s)" % (line, ", ".join(sorted(names))))
                    self.put_back(line)
                    del self.pending[line]
            if found:
                self.lines, self.clock, self.disk = look(), self.offset(), free_mb()
            return found

    def differences(self):
        now = look()
        found = {"left behind: " + line for line in now - self.lines}
        found |= {"is gone: " + line for line in self.lines - now}
        moved = self.offset() - self.clock
        if abs(moved) > CLOCK_SECONDS:
            found.add("the machine's clock was set")
        if self.disk - free_mb() > DISK_MB:
            found.add("left behind: %d MB or more on the disk" % DISK_MB)
        return found

    def put_back(self, line):
        """The machine is to be usable after a failure, too."""
        if line.startswith("left behind: mount "):
            subprocess.run(["umount", "-l", line[len("left behind: mount "):]], check=False,
                           stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if line.startswith("is gone: sysctl "):
            name = line[len("is gone: sysctl "):].split(":")[0]
            try:
                with open("/proc/sys/" + name, "w", encoding="ascii") as f:
                    f.write(self.sysctls[name])
            except OSError:
                pass
