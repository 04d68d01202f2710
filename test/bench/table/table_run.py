"""How the rows of `make bench` are measured: the two profilers, JVMs of which only one runs at a
time, and turns."""
import contextlib
import ctypes
import os
import pwd
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e", "lib"))
from lib import PROF, WAIT, Jvm, Wrong, read, readers, wait_for, want  # noqa: E402
from table_rows import OFF, OURS, PEER  # noqa: E402

COMMAND = 60.0  # seconds that a command of a profiler may take
FAILURES = 2
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def die_with_parent(number):
    """This process gets the signal when its parent ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, number)


class Profiler:
    """A command line like jtop-prof's; the peer has the same one."""

    def __init__(self, side, program):
        self.side, self.program = side, program

    def version(self):
        done = subprocess.run([self.program, "--version"], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WAIT,
                              check=False)
        found = re.search(r"\d+\.\d+[\w.+-]*", done.stdout)
        want(done.returncode == 0 and found, "%s --version: %s" % (self.program, done.stdout.strip()))
        return done.stdout.split()[0], found.group()

    def call(self, *args):
        """Milliseconds from its start to its exit; it must succeed."""
        began = time.monotonic()
        with subprocess.Popen([self.program, *map(str, args)], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as process:
            try:
                out, err = process.communicate(timeout=COMMAND)
            except BaseException as e:  # with what it started
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if isinstance(e, subprocess.TimeoutExpired):
                    raise Wrong("%s takes more than %g s" % (args[0], COMMAND)) from None
                raise
        took = 1e3 * (time.monotonic() - began)
        want(process.returncode == 0, "%s: exit %d: %s" % (args[0], process.returncode,
                                                           (err or out).strip()))
        return took

    def keeper(self, jvm):
        """The process that has the profile."""
        found = readers(jvm.pid) if self.side == OURS else [jvm.pid]
        want(found, "no reader")
        return found[0]


class Target(Jvm):
    """A JVM that is used by one profiler only. It runs only during its turns: others are measured
    in between. It ends with us, also where it is stopped."""

    def __init__(self, *args, **kwargs):
        try:
            super().__init__(*args, preexec_fn=lambda: die_with_parent(signal.SIGKILL), **kwargs)
        except BaseException:  # also where the run is stopped before it is ready
            if hasattr(self, "process"):
                self.kill()
            raise

    @contextlib.contextmanager
    def turn(self):
        os.kill(self.pid, signal.SIGCONT)
        try:
            yield self
        finally:
            if self.alive():
                os.kill(self.pid, signal.SIGSTOP)

    def kill(self):
        """A reader stays for a while to be asked, where the profile was not stopped; and a JVM that
        is killed leaves its performance data."""
        super().kill()
        for number in (signal.SIGTERM, signal.SIGKILL):
            for reader in readers(self.pid):
                with contextlib.suppress(OSError):
                    os.kill(reader, number)
            with contextlib.suppress(Wrong):
                wait_for(lambda: not readers(self.pid), "the end of its readers", 5)
        with contextlib.suppress(OSError):
            os.unlink("/tmp/hsperfdata_%s/%d" % (pwd.getpwuid(os.getuid()).pw_name, self.pid))


class Bench:
    """sides: the profilers; pairs: how many of each figure; scratch: a folder for files. A side
    that fails has a note in all rows of the group; after FAILURES of them it has no more turns."""

    def __init__(self, sides, pairs, scratch, progress):
        self.sides, self.pairs, self.scratch, self.progress = sides, pairs, scratch, progress
        self.failed = {}  # side: why, each time

    def path(self, name):
        return os.path.join(self.scratch, name)

    def attempt(self, side, function, *args):
        """None if it does not work."""
        try:
            return function(*args)
        except (Wrong, OSError, ValueError, KeyError, IndexError) as e:
            self.failed.setdefault(side, []).append(str(e) or type(e).__name__)
            return None

    def turns(self, what, pairs=None):
        """Each of the profilers in turn, as often as there are pairs, first one first, then the
        other."""
        pairs = pairs or self.pairs
        for n in range(pairs):
            for profiler in self.sides if n % 2 == 0 else self.sides[::-1]:
                if len(self.failed.get(profiler.side, ())) < FAILURES:
                    self.progress("%s: pair %d of %d, %s" % (what, n + 1, pairs, profiler.side))
                    yield n, profiler

    @contextlib.contextmanager
    def targets(self, *args, **kwargs):
        """{side: a Target that waits for its turn}"""
        with contextlib.ExitStack() as stack:
            found = {}
            for profiler in self.sides:
                self.progress("starts a JVM for " + profiler.side)
                target = stack.enter_context(Target(*args, **kwargs))
                found[profiler.side] = target
                os.kill(target.pid, signal.SIGSTOP)
            yield found

    def finish(self, rows):
        """The rows of a group, with what failed."""
        for side, reasons in self.failed.items():
            for row in rows:
                row.note(side, "failed %d times, at last: %s" % (len(reasons), reasons[-1]))
        self.failed = {}
        return rows


def running_for(jvm, seconds):
    """Until a program has run for that long."""
    with jvm.turn():
        time.sleep(seconds)  # the time is what is meant


def process_cpu_ns(pid):
    return time.clock_gettime_ns(~pid << 3 | 2)  # as clock_getcpuclockid has it


def memory_mb(pid, field="Rss"):
    """What /proc/PID/smaps_rollup says."""
    return int(re.search(r"^%s:\s*(\d+)" % field, read("/proc/%d/smaps_rollup" % pid),
                         re.M).group(1)) / 1024


def peak_mb(pid):
    return int(re.search(r"^VmHWM:\s*(\d+)", read("/proc/%d/status" % pid), re.M).group(1)) / 1024


def forget_peak(pid):
    with open("/proc/%d/clear_refs" % pid, "w", encoding="ascii") as f:
        f.write("5")


def machine():
    """What the figures were measured on."""
    cpu = re.search(r"^(?:model name|CPU part)\s*: (.*)", read("/proc/cpuinfo"), re.M)
    java = subprocess.run(["java" if not os.environ.get("JAVA_HOME") else os.path.join(
        os.environ["JAVA_HOME"], "bin", "java"), "-version"], stderr=subprocess.PIPE, text=True,
        stdin=subprocess.DEVNULL, check=True).stderr
    return {"cpu": cpu.group(1) if cpu else os.uname().machine,
            "cores": len(os.sched_getaffinity(0)),
            "kernel": os.uname().release,
            "jdk": re.search(r'version "([^"]+)', java).group(1),
            "date": time.strftime("%Y-%m-%d")}


def profilers(peer):
    return [Profiler(OURS, PROF)] + ([Profiler(PEER, os.path.abspath(peer))] if peer else [])


__all__ = ["OFF", "OURS", "PEER", "Bench", "Profiler", "Target", "Wrong", "die_with_parent",
           "forget_peak", "machine", "memory_mb", "peak_mb", "process_cpu_ns", "profilers",
           "running_for", "want"]
