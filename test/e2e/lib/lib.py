"""What the end-to-end scripts share: workload JVMs, the profiler, and a look at /proc.

Every wait is for a condition and has an end; whatever a script starts ends with it.

JTOP_PROF names the program (else BUILD/jtop-prof, BUILD being build by default), JTOP_AGENT the
agent (else beside it), JAVA_HOME the JDK (else the one on the PATH).
"""
import concurrent.futures
import contextlib
import os
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
PROF = os.path.abspath(os.environ.get("JTOP_PROF", os.path.join(BUILD, "jtop-prof")))
AGENT = os.path.abspath(os.environ.get(
    "JTOP_AGENT", os.path.join(os.path.dirname(PROF), "libjtop-agent.so")))
CLASSES = os.path.join(BUILD, "java")
JAVA_BIN = os.path.join(os.environ["JAVA_HOME"], "bin") if os.environ.get("JAVA_HOME") else ""
WAIT = 30.0  # seconds after which something that should happen counts as not happening
THOROUGH = os.environ.get("TIER") != "fast"  # test/run --tier all, or called by hand
PERF_EVENT = "anon_inode:[perf_event]"  # a descriptor of it, in /proc/PID/fd
TICK = 1.0 / os.sysconf("SC_CLK_TCK")


class Skip(Exception):
    """A check that this machine cannot run, and why."""


class Wrong(Exception):
    """A check that did not hold."""


def want(condition, reason):
    if not condition:
        raise Wrong(reason)


def wait_for(condition, what, seconds=WAIT):
    """Returns the first true value of condition()."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Wrong("waited %g s for %s" % (seconds, what))
        time.sleep(0.02)


class Checks:
    """Runs checks, prints a TAP line each and how long it took; exit with .code(). Of a script with
    many variants the fast tier has only the checks named in `fast`, or not those in `long`."""

    def __init__(self, fast=None, long=()):
        self.failed = 0
        self.fast = fast
        self.long = long

    def together(self, *checks):
        """Runs checks of the form (name, function, argument...) at once: those that mostly wait."""
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(self.run, *c) for c in checks]:
                done.result()

    def wants(self, name):
        return THOROUGH or (name not in self.long if self.fast is None else name in self.fast)

    def run(self, name, function, *args):
        if not self.wants(name):
            return
        began = time.monotonic()
        try:
            function(*args)
        except Skip as e:
            print("ok %s # SKIP %s" % (name, e), flush=True)
        except Exception as e:  # a check that breaks has failed
            self.failed += 1
            if not isinstance(e, Wrong):
                traceback.print_exc(file=sys.stdout)
            reason = " ".join(str(e).split())[:600] or type(e).__name__
            print("not ok %s - %s" % (name, reason), flush=True)
        else:
            print("ok " + name, flush=True)
        print("# %.1f s: %s" % (time.monotonic() - began, name), flush=True)

    def code(self):
        WALKS.tell()
        return 1 if self.failed else 0


class Walks:
    """What all profiles of a script say of their walks, whatever they were taken for. Told at the
    end in a line of its own ("# walks 12345: no_caller 3"), which test/jdks gathers."""

    def __init__(self):
        self.samples, self.failed = 0, {}

    def reasons(self):
        """Names of failures; a stack that was cut or has no Java part has not failed."""
        names = re.findall(r'\[WIRE_FAILURE_(\w+)\] = "([^"]+)"',
                           read(os.path.join(ROOT, "core", "wire", "wire_names.c")))
        return {name for symbol, name in names if symbol not in ("TRUNCATED", "NO_JAVA")}

    def add(self, reason, n):
        self.failed[reason] = self.failed.get(reason, 0) + n

    def note(self, arguments, text):
        found = re.search(r"^Total samples +: (\d+)", text, re.M)
        if found:
            self.samples += int(found.group(1))
            for name, n in re.findall(r"^(\w+) +: (\d+) \(", text, re.M):
                if name in self.reasons():
                    self.add(name, int(n))
        elif "collapsed" in arguments and "--total" not in arguments:
            reasons = self.reasons()
            for stack, n in re.findall(r"^(.+) (\d+)$", text, re.M):
                self.samples += int(n)
                for reason in reasons.intersection(f[1:-1] for f in stack.split(";")):
                    self.add(reason, int(n))

    def tell(self):
        if self.samples:
            print("# walks %d: %s" % (self.samples, ", ".join(
                "%s %d" % r for r in sorted(self.failed.items(), key=lambda r: -r[1]))))


WALKS = Walks()


def java_tool(name):
    """The JDK's own; a JDK of few modules does not have them all, and others' serve as well."""
    own = os.path.join(JAVA_BIN, name)
    return own if not JAVA_BIN or os.path.exists(own) else name


def java_version():
    """The JDK's major number: 8, 11, 17 …"""
    done = subprocess.run([java_tool("java"), "-version"], stderr=subprocess.PIPE, text=True,
                          check=True)
    return int(re.search(r'version "(?:1\.)?(\d+)', done.stderr).group(1))


class Jvm:
    """A workload of test/java. Its input is a pipe of ours: it ends when we do."""

    def __init__(self, main, *args, options=(), before=(), classes=CLASSES, **kwargs):
        self.process = subprocess.Popen(
            [*before, java_tool("java"), "-Xmx256m", "-XX:+IgnoreUnrecognizedVMOptions", *options,
             "-cp", classes, main,
             *map(str, args)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True,
            **kwargs)
        self.pid = self.process.pid
        self.rest = b""
        self.line("ready")

    def line(self, expected=None):
        """The next line of output, or the one that is expected (whatever comes before it)."""
        end = time.monotonic() + WAIT
        while True:
            if b"\n" in self.rest:
                line, self.rest = self.rest.split(b"\n", 1)
                text = line.decode()
                if expected in (None, text):
                    return text
                continue
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            part = os.read(self.process.stdout.fileno(), 4096) if ready else b""
            want(part, "the workload said nothing more (exit %s)" % self.process.poll())
            self.rest += part

    def say(self, word):
        self.process.stdin.write((word + "\n").encode())

    def ask(self, word):
        """Sends a line; returns those of the answer, which a "." ends."""
        self.say(word)
        lines = []
        while True:
            line = self.line()
            if line == ".":
                return lines
            lines.append(line)

    def truth(self):
        """Shares: CPU time in ns by method, so far."""
        return {w[1]: int(w[2]) for w in (line.split() for line in self.ask("truth"))}

    def alive(self):
        return self.process.poll() is None

    def end(self):
        """Lets it end in an orderly way; returns its exit code."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        code = self.process.wait(WAIT)
        self.tidy()
        return code

    def kill(self):
        if self.alive():
            self.process.kill()
        self.process.wait(WAIT)
        self.tidy()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()

    def tidy(self):
        """A JVM that is killed leaves the socket it listened on."""
        with contextlib.suppress(OSError):
            os.unlink("/tmp/.java_pid%d" % self.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def prof(*args, timeout=90, **kwargs):
    """Runs the profiler to its end."""
    done = subprocess.run([PROF, *map(str, args)], stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                          check=False, **kwargs)
    if done.returncode == 0:
        WALKS.note([str(a) for a in args], done.stdout)
    return done


def good(*args, **kwargs):
    """The same, and it must succeed. Returns its stdout."""
    done = prof(*args, **kwargs)
    want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
    return done.stdout


class Prof:
    """The profiler in the background; its output goes to files."""

    def __init__(self, scratch, *args, **kwargs):
        own = tempfile.mkdtemp(prefix="prof-", dir=scratch)
        self.out_path, self.err_path = os.path.join(own, "stdout"), os.path.join(own, "stderr")
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen([PROF, *map(str, args)], stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err, start_new_session=True,
                                            **kwargs)
        self.pid = self.process.pid

    def stdout(self):
        return read(self.out_path)

    def stderr(self):
        return read(self.err_path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def quoted_messages(of):
    """The messages that TROUBLESHOOTING in the manual page quotes, of "jtop-prof" or "push"."""
    page = read(os.path.join(ROOT, "man", "jtop-prof.1"))
    part = page.split("\n.Sh TROUBLESHOOTING\n", 1)[1].split("\n.Ss Messages of %s\n" % of, 1)[1]
    part = re.split(r"\n\.S[sh] ", part, maxsplit=1)[0]
    return [m.replace("\\-", "-") for m in re.findall(r'^\.It Ql "(.+)"$', part, re.M)]


# ---- what comes out ----

# core/wire/record.h
FILE_HEADER, DEFLATE = 16, 68


def records(path):
    """(type, bytes) of each whole record of a recording."""
    with open(path, "rb") as f:
        data = f.read()[FILE_HEADER:]
    if data[:8] == struct.pack("<Q", DEFLATE << 32 | 8):
        data = zlib.decompressobj().decompress(data[8:])
    at = 0
    while at + 8 <= len(data):
        word = struct.unpack_from("<Q", data, at)[0]
        length = word & 0xffffffff
        if length < 8 or at + length > len(data):
            return
        yield word >> 32 & 0xffff, data[at:at + length]
        at += length


def occurrences(record):
    """How many a WIRE_SAMPLE stands for: a counter may overflow again before its signal comes."""
    return struct.unpack_from("<I", record, 44)[0] or 1


def collapsed(text):
    """[(frames, count)] of a collapsed file; every line must be well formed."""
    stacks = []
    for line in text.splitlines():
        found = re.fullmatch(r"(.+) (\d+)", line)
        want(found, "not a collapsed line: %r" % line)
        stacks.append((found.group(1).split(";"), int(found.group(2))))
    return stacks


def total(stacks):
    return sum(count for _, count in stacks)


def self_percent(stacks):
    """Self share by method name, in percent; what the kernel did for a method is the method's."""
    shares = {}
    for frames, count in stacks:
        leaf = next((f for f in reversed(frames) if not f.endswith("_[k]")), frames[-1])
        name = leaf.rsplit(".", 1)[-1]
        shares[name] = shares.get(name, 0) + count
    everything = total(stacks) or 1
    return {name: 100.0 * count / everything for name, count in shares.items()}


def difference(before, after):
    """Percent by name between two answers of Jvm.truth()."""
    burned = {name: after[name] - before[name] for name in after}
    everything = sum(burned.values()) or 1
    return {name: 100.0 * ns / everything for name, ns in burned.items()}


def within(points, truth, seen):
    for name, percent in truth.items():
        want(abs(seen.get(name, 0) - percent) <= points,
             "%s is %.1f %%, seen as %.1f %%" % (name, percent, seen.get(name, 0)))


# ---- what /proc says ----

def links(pid):
    """(path, target) of each of the process's descriptors; some may be closed meanwhile."""
    for fd in os.listdir("/proc/%d/fd" % pid):
        path = "/proc/%d/fd/%s" % (pid, fd)
        with contextlib.suppress(OSError):
            yield path, os.readlink(path)


def fds(pid):
    """What the process's descriptors point to, sorted; socket and pipe numbers taken away. Not the
    files of its cgroup, which a JVM opens for a moment now and then, to see what it may use."""
    return sorted(re.sub(r":\[\d+\]", "", target) for _, target in links(pid)
                  if not target.startswith("/sys/fs/cgroup/"))


def threads(pid):
    """{tid: kernel's name}"""
    found = {}
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(OSError):
            found[int(tid)] = read("/proc/%d/task/%s/comm" % (pid, tid)).rstrip("\n")
    return found


def sampling(pid):
    """Whether an agent in the process says that its engines run (core/wire/layout.h)."""
    with contextlib.suppress(OSError):
        for path, target in links(pid):
            if "/memfd:jtop-prof" in target:
                with open(path, "rb", 0) as f:
                    f.seek(4096 + 9472)  # the status: generation, state
                    words = f.read(8)  # none where it has no size yet
                    return len(words) == 8 and struct.unpack("<II", words)[1] == 1
    return False


def mapped(pid):
    """Names of mapped files, each as often as it is mapped."""
    return [line.split(None, 5)[5] for line in read("/proc/%d/maps" % pid).splitlines()
            if len(line.split(None, 5)) == 6]


def timers(pid):
    return re.findall(r"^ID: (\d+)", read("/proc/%d/timers" % pid), re.M)


def status(pid, field):
    return re.search(r"^%s:\s*(\S+)" % field, read("/proc/%d/status" % pid), re.M).group(1)


def memory_kb(pid):
    return int(status(pid, "VmRSS"))


def cpu_seconds(pid):
    """User and system time of a process so far."""
    fields = read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK


def burn(pid, seconds):
    """Waits until the process has used that much more processor time: a fair sample of it on a
    busy machine too."""
    enough = cpu_seconds(pid) + seconds
    wait_for(lambda: cpu_seconds(pid) >= enough, "%g s of processor time of %d" % (seconds, pid))


def connections(port):
    """How many clients are connected to this TCP port of 127.0.0.1."""
    here, established = "0100007F:%04X" % port, "01"
    rows = [line.split() for line in read("/proc/net/tcp").splitlines()[1:]]
    return sum(r[1] == here and r[3] == established for r in rows)


def perf_fds(pid):
    return fds(pid).count(PERF_EVENT)


def armed(pid):
    """Whether the agent samples now: perf descriptors, timers, or (all that shows of an itimer) a
    handler for SIGPROF, which HotSpot itself does not have."""
    handled = int(status(pid, "SigCgt"), 16) >> (signal.SIGPROF - 1) & 1
    return perf_fds(pid) > 0 or len(timers(pid)) > 0 or handled == 1


def is_agent(name):
    """The library among the mapped files: where it was built, or a copy that is no file any more."""
    return os.path.basename(name) == os.path.basename(AGENT) or re.search(
        r"/\.jtop-prof-[0-9a-f]+-[0-9a-f]+\.so \(deleted\)$", name)


def traces(pid):
    """What of ours is in the process beyond the library itself; empty after a detach."""
    def ours(path):  # by its own name: the folder of a test is named after us too
        return "jtop" in os.path.basename(path)
    found = [link for link in fds(pid) if ours(link) or link == PERF_EVENT]
    found += ["mapping " + name for name in mapped(pid)
              if ours(name) and not is_agent(name)]
    found += ["thread " + name for name in threads(pid).values() if "jtop" in name.lower()]
    return found + ["timer " + t for t in timers(pid)]


def readers(pid):
    """Profiler processes that read this JVM."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/cmdline" % p, "rb") as f:
                words = f.read().split(b"\0")
            if words and b"jtop-prof" in words[0] and str(pid).encode() in words:
                found.append(int(p))
    return found
