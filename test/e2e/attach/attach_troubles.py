#!/usr/bin/env python3
# timeout: 240
"""What keeps a JVM from being attached, provoked for real: each has its one message, the JVM lives
on as it was, and can be attached once the trouble is gone."""
import contextlib
import ctypes
import glob
import mmap
import os
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from lib import (AGENT, CLASSES, PROF, Checks, Jvm, Prof, Skip, good, java_version, prof,
                 quoted_messages, read, readers, status, threads, wait_for, want)
from unsupported import Java

NOBODY = 65534
JDKS = os.environ.get("JDKS_DIR", os.path.expanduser("~/.cache/jtop-prof/jdks"))
# Threads that HotSpot starts and ends as it likes; "java" is one that has no name yet.
COMING_AND_GOING = re.compile(r"java$|Attach Listener|C[12] Compiler|G1 |GC Thread|Common-Cleaner")
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 17, 0x4206, 0x4207, 0x40000000


class Target(Jvm):
    """A workload that must be unharmed in the end."""

    def __init__(self, main="Idle", *args, **kwargs):
        self.before = self.strangers()
        super().__init__(main, *args, **kwargs)
        self.began_with = self.own_threads()

    @staticmethod
    def strangers():
        """What other sessions, of this machine or that were killed, have in the /tmp we share."""
        return set(glob.glob("/tmp/.jtop-prof*"))

    def own_threads(self):
        return {n for n in threads(self.pid).values() if not COMING_AND_GOING.match(n)}

    def inner_pid(self):
        return int(re.search(r"^NSpid:.*?(\d+)$", read("/proc/%d/status" % self.pid), re.M).group(1))

    def socket(self):
        return "/proc/%d/root/tmp/.java_pid%d" % (self.pid, self.inner_pid())

    def files(self):
        """What of ours lies about, in its directories."""
        places = ["/proc/%d/cwd" % self.pid, "/proc/%d/root/tmp" % self.pid]
        found = [f for p in places for kind in (".attach_pid%d" % self.inner_pid(), ".jtop-prof*")
                 for f in glob.glob(os.path.join(p, kind))]
        if os.path.exists(places[1]) and os.path.samefile(places[1], "/tmp"):
            others = {os.path.basename(f) for f in self.before}
            found = [f for f in found if os.path.basename(f) not in others]
        return found

    def printed(self):
        while select.select([self.process.stdout], [], [], 0)[0]:
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                break
            self.rest += part
        return self.rest.decode(errors="replace")

    def unharmed(self):
        want(self.alive(), "the JVM has ended")
        want("thread dump" not in self.printed(), "it printed: " + self.printed()[:200])
        wait_for(lambda: not self.files(), "no files: %s" % self.files())
        wait_for(lambda: not any("jtop" in n for n in self.own_threads()), "no thread of ours")
        ended = self.began_with - self.own_threads()
        want(not ended, "threads that ended: %s" % ended)

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                self.unharmed()
        finally:
            super().__exit__(kind, *rest)


def apart(script):
    """A mount namespace of its own, made ready by the script."""
    return ["unshare", "-m", "sh", "-c", script + '; exec "$@"', "sh"]


@contextlib.contextmanager
def for_anybody():
    """A directory that every user may read, with the workloads in it."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        shutil.copytree(CLASSES, os.path.join(place, "java"))
        yield place


def as_nobody(place):
    return {"classes": os.path.join(place, "java"), "cwd": place, "user": NOBODY, "group": NOBODY,
            "extra_groups": []}


def refused(message, *args, code=1, **kwargs):
    """One line that says so."""
    done = prof(*args, **kwargs)
    said = done.stderr.strip()
    want(done.returncode == code, "exit %d: %s" % (done.returncode, said))
    want(said.count("\n") == 0 and message in said, "said: " + said)
    return said


def run(*args, **kwargs):
    return subprocess.run([*map(str, args)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False, **kwargs)


def says(done, *parts):
    want(done.returncode == 1 and all(p in done.stderr for p in parts),
         "exit %d: %s" % (done.returncode, done.stderr))


def program(place):
    """The profiler where every user, and a container, finds it."""
    for path in (PROF, AGENT):
        shutil.copy(path, place)
    return os.path.join(place, os.path.basename(PROF))


def attach(pid, **kwargs):
    good("-d", "200ms", "-o", "summary", pid, **kwargs)


# ---- the socket ----

def removed(home):
    """Its name is gone, and asked again the JVM makes it anew."""
    with Java(home) if home else contextlib.nullcontext(), Target() as jvm:
        attach(jvm.pid)
        os.unlink(jvm.socket())
        attach(jvm.pid)


def left_by_another():
    """Nobody listens at the name, but the JVM at a socket that had it."""
    with Target() as jvm:
        attach(jvm.pid)
        os.unlink(jvm.socket())
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(jvm.socket())
        attach(jvm.pid)


def pretend(jvm, version):
    """The JVM's performance data says that it is of this version."""
    path = "/tmp/hsperfdata_%s/%d" % (os.environ.get("USER") or "root", jvm.pid)
    path = path if os.path.exists(path) else glob.glob("/tmp/hsperfdata_*/%d" % jvm.pid)[0]
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), 0) as data:
        at = data.find(b"java.property.java.vm.version\0")
        entry = at - 20
        size, name, length = struct.unpack_from("<III", data, entry)
        start = entry + struct.unpack_from("<I", data, entry + 16)[0]
        want(entry > 0 and name == 20 and length <= size, "not understood: %s" % path)
        data[start:start + length] = version.encode().ljust(length, b"\0")


def removed_for_good():
    """An old JDK would print a thread dump, so it is not asked."""
    with Target() as jvm:
        attach(jvm.pid)
        pretend(jvm, "11.0.2+9")
        os.unlink(jvm.socket())
        refused("was removed, perhaps by a cleaner of /tmp", "-d", 1, jvm.pid)
        refused("11.0.13", "-d", 1, jvm.pid)


def removed_without_signals():
    with Target(options=["-Xrs"]) as jvm:
        attach(jvm.pid)
        os.unlink(jvm.socket())
        # It may yet be young and get a handler, before.
        wait_for(lambda: "with -Xrs it creates no new one" in prof("-d", 1, jvm.pid).stderr, "the reason")
        refused("with -Xrs it creates no new one", "-d", 1, jvm.pid)


def not_a_socket():
    with Target() as jvm:
        with open(jvm.socket(), "x", encoding="ascii"):
            pass
        refused("is not a socket: remove it", "-d", 1, jvm.pid)
        os.unlink(jvm.socket())
        attach(jvm.pid)


def false_listener():
    with Target() as jvm, socket.socket(socket.AF_UNIX) as s:
        s.bind(jvm.socket())
        s.listen()
        refused("listens there, not JVM", "-d", 1, jvm.pid)
        os.unlink(jvm.socket())
        attach(jvm.pid)


def another_users_socket():
    """Left by root's JVM of that number: nobody's cannot put its own in that place."""
    with for_anybody() as place, Target(**as_nobody(place)) as jvm:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(jvm.socket())
        refused("remove it if an earlier process left it", "-d", 1, jvm.pid)
        os.unlink(jvm.socket())
        attach(jvm.pid)


def queue_full():
    """Somebody connects and says nothing, and more wait behind."""
    with Target() as jvm, contextlib.ExitStack() as stack:
        attach(jvm.pid)

        def connected():
            s = stack.enter_context(socket.socket(socket.AF_UNIX))
            s.setblocking(False)
            try:
                s.connect(jvm.socket())
            except BlockingIOError:
                return False
            return True

        connected()
        refused("accepted the connection but did not answer", "-d", 1, jvm.pid)
        while connected():
            continue
        refused("the queue of its socket is full", "-d", 1, jvm.pid)
        stack.close()
        attach(jvm.pid)


def connected(jvm):
    """How many sockets there are of the JVM's: the one that listens, and one for each client."""
    return len(re.findall(r"/\.java_pid%d\b" % jvm.inner_pid(), read("/proc/net/unix")))


def given_up():
    """Whom an attach makes wait may leave it: by one signal, or at once by two."""
    with Target() as jvm:
        attach(jvm.pid)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(jvm.socket())  # the JVM waits for what this one says
            for presses in (1, 2):
                p = subprocess.Popen([PROF, "-d", "30", "-o", "summary", str(jvm.pid)],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
                wait_for(lambda: connected(jvm) == 3, "it to wait for the JVM")
                for _ in range(presses):
                    p.send_signal(signal.SIGINT)
                    time.sleep(0.1)
                code = p.wait(60)
                want(code == -signal.SIGINT, "%d times SIGINT: exit %d" % (presses, code))
        wait_for(lambda: not jvm.files() and not readers(jvm.pid), "nothing to stay behind")
        attach(jvm.pid)


# ---- /tmp ----

def tmp_elsewhere():
    """The launcher's and Java's own ideas of it do not matter."""
    with for_anybody() as place, \
            Target(options=["-Djava.io.tmpdir=" + place], classes=os.path.join(place, "java"),
                   before=apart("mount -t tmpfs tmpfs /tmp && cd /tmp")) as jvm:
        attach(jvm.pid, env=dict(os.environ, TMPDIR="/nosuch"))
        want(os.path.exists(jvm.socket()), "no socket in its own /tmp")


def tmp_link():
    """In its root /tmp is a link, to what is somewhere else in ours."""
    script = """r=%s/root; mkdir $r; mount -t tmpfs tmpfs $r; mkdir $r/mine; ln -s /mine $r/tmp
        for f in /*; do
            if [ -L $f ]; then cp -P $f $r/
            elif [ -d $f ] && [ $f != /tmp ]; then mkdir $r$f; mount --rbind $f $r$f; fi
        done"""
    with for_anybody() as place, \
            Target(before=[*apart(script % place), "chroot", place + "/root"],
                   classes=os.path.join(place, "java")) as jvm:
        attach(jvm.pid)
        want(os.path.exists("/proc/%d/root/mine/.java_pid%d" % (jvm.pid, jvm.pid)), "not there")


def tmp_read_only():
    with for_anybody() as place, \
            Target(before=apart("mount -t tmpfs -o ro tmpfs /tmp; cd /dev/shm"),
                   classes=os.path.join(place, "java")) as jvm:
        refused("cannot use the /tmp of JVM", "-d", 1, jvm.pid)


def tmp_of_root():
    with for_anybody() as place, Target(
            before=apart("mount -t tmpfs -o mode=755 tmpfs /tmp") + [
                "setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups"],
            classes=os.path.join(place, "java"), cwd=place) as jvm:
        refused("cannot create .attach_pid", "-d", 1, jvm.pid)


# ---- a JVM that does not answer ----

def ptrace(request, tid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    want(libc.ptrace(request, tid, None, None) == 0,
         "ptrace %d: %s" % (request, os.strerror(ctypes.get_errno())))


@contextlib.contextmanager
def halted(tids):
    """These threads stand still, as under a debugger."""
    for tid in tids:
        ptrace(PTRACE_SEIZE, tid)
        ptrace(PTRACE_INTERRUPT, tid)
    for tid in tids:
        os.waitpid(tid, WALL)
    try:
        yield
    finally:
        for tid in tids:
            ptrace(PTRACE_DETACH, tid)


def debugged():
    with Target() as jvm:
        with halted(list(threads(jvm.pid))):
            said = refused("is held by a debugger", "-d", 1, jvm.pid)
            want("process %d (" % os.getpid() in said, "not by whom: " + said)
        attach(jvm.pid)


def freezer():
    """A new control group that can be frozen, and how."""
    v1 = "/sys/fs/cgroup/freezer"
    if os.path.exists(v1 + "/cgroup.procs"):
        return v1, "freezer.state", "FROZEN", "THAWED"
    v2 = "/sys/fs/cgroup/unified"
    v2 = v2 if os.path.exists(v2) else "/sys/fs/cgroup"
    return v2, "cgroup.freeze", "1", "0"


def frozen():
    place, file, freeze, thaw = freezer()
    group = "%s/jtop-test-%d" % (place, os.getpid())

    def tell(name, what):
        with open(os.path.join(group, name), "w", encoding="ascii") as f:
            f.write(what)

    os.mkdir(group)
    try:
        with Target() as jvm:
            tell("cgroup.procs", str(jvm.pid))
            tell(file, freeze)
            try:
                refused("is frozen with its control group", "-d", 1, jvm.pid)
            finally:
                tell(file, thaw)
            attach(jvm.pid)
    finally:
        wait_for(lambda: not read(group + "/cgroup.procs"), "the group to be empty")
        os.rmdir(group)


def long_safepoint():
    """A thread that does not come to it keeps the others waiting: before it listens, and after."""
    with Target("LongSafepoint") as jvm:
        def spinners():  # a thread gives itself its name, when it runs
            return [t for t, name in threads(jvm.pid).items() if name == "spinner"]
        wait_for(spinners, "the spinner")
        spinner = spinners()

        def collects():
            return "collector" in threads(jvm.pid).values()

        for message in ("did not begin to listen in time", "accepted the connection but did not answer"):
            for _ in range(20):  # it may have been halted where it does not matter
                with halted(spinner):
                    jvm.say("g")
                    time.sleep(0.5)
                    held = collects()
                    if held:
                        refused(message, "-d", 1, jvm.pid)
                wait_for(lambda: not collects(), "the collection")
                if held:
                    break
            want(held, "no thread kept it from its safepoint")
            wait_for(lambda: not jvm.files() and not readers(jvm.pid), "nothing to stay behind")
            attach(jvm.pid)


def quit_ignored():
    """As under nohup's kind: HotSpot has its own mind."""
    with Target(before=["sh", "-c", "trap '' QUIT; exec \"$@\"", "sh"]) as jvm:
        attach(jvm.pid)


def quit_blocked():
    with Target(preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK,
                                                          {signal.SIGQUIT})) as jvm:
        attach(jvm.pid)


def quit_uncaught():
    """A process with a libjvm.so that neither listens nor catches the signal."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "libjvm.so")
        with open(path, "wb") as f:
            f.write(b"\0" * 4096)
        code = ("import mmap,sys;f=open(%r,'rb');m=mmap.mmap(f.fileno(),0,prot=mmap.PROT_READ);"
                "print('ready',flush=True);sys.stdin.read()" % path)
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as other:
            want(other.stdout.readline() == b"ready\n", "it did not start")
            refused("has no handler for SIGQUIT", "-d", 1, other.pid)
            want(other.poll() is None, "it was killed")
            other.stdin.close()


def dying():
    """Killed at whatever moment of it."""
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(8):
            with Jvm("Idle") as jvm:
                with Prof(scratch, "-d", "2", "-o", "summary", jvm.pid) as p:
                    time.sleep(random.random() * 0.02 * (i + 1))
                    jvm.process.kill()
                    jvm.process.wait()
                    code = p.process.wait(30)
                    said = p.stderr().strip()
                want(code in (0, 1, 200) and said.count("\n") == 0, "%d: %s" % (code, said))
                want(code == 0 or said.startswith("jtop-prof: "), "%d: %s" % (code, said))
                left = glob.glob("/tmp/.attach_pid%d" % jvm.pid) + glob.glob("/tmp/.jtop-prof*%d*" %
                                                                            jvm.pid)
                want(not left, "left: %s" % left)


# ---- users ----

def no_setuid():
    """Root that may not become another user."""
    with for_anybody() as place, Target(**as_nobody(place)) as jvm:
        says(run("setpriv", "--bounding-set=-setuid,-setgid", "--inh-caps=-setuid,-setgid", PROF,
                 "-d", 1, jvm.pid), "root needs CAP_SETUID and CAP_SETGID", str(NOBODY))


def another_group():
    """HotSpot wants the group as well."""
    with for_anybody() as place, Target(**as_nobody(place)) as jvm:
        says(run(program(place), "-d", 1, jvm.pid, user=NOBODY, group=12345, extra_groups=[]),
             "closed the connection without an answer")


def credentials():
    """Only a child becomes the JVM's user, never a thread of the profiler."""
    with for_anybody() as place, Target(**as_nobody(place)) as jvm, \
            tempfile.TemporaryDirectory() as scratch, \
            Prof(scratch, "-d", 1, "-o", "summary", jvm.pid) as p:
        seen, cwd = set(), os.readlink("/proc/%d/cwd" % p.pid)
        while p.process.poll() is None:
            with contextlib.suppress(OSError):
                for task in os.listdir("/proc/%d/task" % p.pid):
                    text = read("/proc/%d/task/%s/status" % (p.pid, task))
                    seen.update(re.findall(r"^(?:Uid|Gid|Groups):.*", text, re.M))
                want(os.readlink("/proc/%d/cwd" % p.pid) == cwd, "its directory changed")
            time.sleep(0.002)
        own = set(re.findall(r"^(?:Uid|Gid|Groups):.*", read("/proc/self/status"), re.M))
        want(seen == own, "%s, not %s" % (sorted(seen), sorted(own)))
        want(p.process.returncode == 0, p.stderr())


def hidden():
    """The profiler where /proc shows a user only what is the user's."""
    with for_anybody() as place, Target() as jvm:
        nobody = apart("mount -t proc -o hidepid=2 proc /proc") + [
            "setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups",
            program(place)]
        says(run(*nobody, "-d", 1, jvm.pid), "is hidden from uid %d" % NOBODY)
        done = run(*nobody, "--list")
        want(done.returncode == 0 and str(jvm.pid) not in done.stdout.split(), done.stdout)


# ---- loading ----

def may_not_load(*options):
    if java_version() < 9:
        return
    with Target(options=options) as jvm:
        refused("-XX:-EnableDynamicAgentLoading", "-d", 1, jvm.pid)
        if options[0].endswith("Loading"):
            want(not os.path.exists(jvm.socket()), "it was asked to listen for nothing")


def may_not_load_by_file():
    """What a file says is not seen before: the JVM says it."""
    with tempfile.TemporaryDirectory() as place:
        flags = os.path.join(place, "flags")
        with open(flags, "w", encoding="ascii") as f:
            f.write("-EnableDynamicAgentLoading\n")
        may_not_load("-XX:Flags=" + flags)


def compiled(place, name, source, *flags):
    path, text = os.path.join(place, name), os.path.join(place, name + ".c")
    with open(text, "w", encoding="ascii") as f:
        f.write(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,now", "-o", path, text, *flags], check=True)
    return path


def changed(path, to, **bytes_at):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for at, value in bytes_at.items():
        data[int(at[1:])] = value
    with open(to, "wb") as f:
        f.write(data)
    return to


def wrong_libraries(place):
    """(library, what is said of it)"""
    plain = compiled(place, "plain.so", "int x;")
    part = compiled(place, "part.so", "int y;", "-Wl,-soname,libnosuch.so.9")
    needs = compiled(place, "needs.so", "int z;", "-Wl,--no-as-needed", part)
    undefined = compiled(place, "undefined.so", "void nosuch(void); void f(void) { nosuch(); }")
    arm = changed(plain, os.path.join(place, "arm.so"), _18=183)
    narrow = changed(plain, os.path.join(place, "narrow.so"), _4=1)
    text = os.path.join(place, "text.so")
    with open(text, "w", encoding="ascii") as f:
        f.write("no library\n" * 200)
    denied = shutil.copy(plain, os.path.join(place, "denied.so"))
    os.chmod(denied, 0)
    return [(plain, "the file is not an agent"), (needs, "a library that the agent needs"),
            (undefined, "its C library lacks"), (arm, "is built for another machine"),
            (narrow, "is built for another machine"), (text, "is not a shared library"),
            (denied, "the JVM's user may not read it"),
            ("/dev/shm/jtop-test/plain.so", "files in its directory may not be executed")]


def others_may_enter(path):
    """Whether a program in it runs for a user who is nobody."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def wrong_library(home=None):
    """JDK 8 does not say why: it is found out."""
    if home and not others_may_enter(os.path.realpath(home)):
        raise Skip("other users may not run the JDK in " + home)
    says_nothing = {"its C library lacks", "a library that the agent needs",
                    "the file is not an agent"}
    with for_anybody() as place, Java(home) if home else contextlib.nullcontext(), \
            Target(before=apart("mkdir -p /dev/shm; mount -t tmpfs -o noexec tmpfs /dev/shm; "
                                "mkdir /dev/shm/jtop-test") +
                   ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups"],
                   classes=os.path.join(place, "java"), cwd=place) as jvm:
        for library, message in wrong_libraries(place):
            if not os.path.exists(library):
                shutil.copy(os.path.join(place, "plain.so"),
                            "/proc/%d/root%s" % (jvm.pid, library))
            if home and message in says_nothing:
                message = "the reason is not known"
            refused(message, "-d", 1, "--libpath", library, jvm.pid)


def no_library():
    with Target(before=apart("mount -t tmpfs tmpfs /dev/shm")) as jvm:
        with tempfile.NamedTemporaryFile(dir="/dev/shm", suffix=".so") as f:
            refused("is the path of the agent library as the JVM sees it", "-d", 1, "--libpath", f.name, jvm.pid)


def narrow_process():
    """A 32-bit program that has a libjvm.so mapped: itself."""
    code = bytes.fromhex("b81d000000cd80ebf7")  # again: pause()
    base, size = 0x8048000, 84
    header = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 3, 1, base + size, 52, 0, 0,
                         52, 32, 1, 0, 0, 0)
    segment = struct.pack("<8I", 1, 0, base, base, size + len(code), size + len(code), 5, 4096)
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "libjvm.so")
        with open(path, "wb") as f:
            f.write(header + segment + code)
        os.chmod(path, 0o755)
        try:
            other = subprocess.Popen([path])
        except OSError:
            print("# this kernel runs no 32-bit programs", flush=True)
            return
        with other:
            try:
                wait_for(lambda: status(other.pid, "State") == "S", "the program")
                refused("is a 32-bit process", "-d", 1, other.pid)
                want(other.poll() is None, "it has ended")
            finally:
                other.kill()


# ---- process 1 ----

def first_process(*options):
    """Of a pid namespace, from outside and from inside."""
    with for_anybody() as place, \
            Jvm("Idle", options=options, classes=os.path.join(place, "java"),
                before=["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
                        "sh", "-c", 'mount -t tmpfs tmpfs /tmp; exec "$@"', "sh"]) as outer:
        pid = int(read("/proc/%d/task/%d/children" % (outer.pid, outer.pid)).split()[0])
        attach(pid)
        inside = ["nsenter", "-t", str(pid), "-m", "-p", program(place)]
        done = run(*inside, "-d", "200ms", "-o", "summary", "1")
        want(done.returncode == 0, "inside: exit %d: %s" % (done.returncode, done.stderr))
        done = run(*inside, "--list")
        want(re.search(r"^\s*1\s.*\bIdle\b", done.stdout, re.M), "inside: " + done.stdout)
        done = run(PROF, "--list")
        want(re.search(r"^\s*%d\s.*\bIdle\b" % pid, done.stdout, re.M), "outside: " + done.stdout)


def checks_of_jdks():
    """Of those that are here."""
    homes = sorted(h for h in glob.glob(os.path.join(JDKS, "*"))
                   if os.path.exists(os.path.join(h, "bin", "java")))
    chosen = homes if os.environ.get("MATRIX") else homes[:1] + homes[-1:]
    for home in chosen:
        yield "removed socket, JDK " + os.path.basename(home), removed, home
    eight = os.path.join(JDKS, "8")
    if eight in homes:
        yield "wrong libraries, JDK 8", wrong_library, eight


# What the manual page quotes, and what provokes it.
PROVOKED = {
    "was removed, perhaps by a cleaner of /tmp": [removed_for_good, removed_without_signals],
    "is not a socket: remove it": [not_a_socket],
    "listens there, not JVM": [false_listener],
    "remove it if an earlier process left it": [another_users_socket],
    "the queue of its socket is full": [queue_full],
    "cannot use the /tmp of JVM": [tmp_read_only],
    "cannot create .attach_pid": [tmp_of_root],
    "is held by a debugger": [debugged],
    "is frozen with its control group": [frozen],
    "did not begin to listen in time": [long_safepoint],
    "accepted the connection but did not answer": [long_safepoint],
    "has no handler for SIGQUIT": [quit_uncaught],
    "root needs CAP_SETUID and CAP_SETGID": [no_setuid],
    "closed the connection without an answer": [another_group],
    "is hidden from uid": [hidden],
    "-XX:-EnableDynamicAgentLoading": [may_not_load_by_file],
    "is built for another machine": [wrong_library],
    "files in its directory may not be executed": [wrong_library],
    "the JVM's user may not read it": [wrong_library],
    "its C library lacks": [wrong_library],
    "a library that the agent needs": [wrong_library],
    "is not a shared library": [wrong_library],
    "the file is not an agent": [wrong_library],
    "is the path of the agent library as the JVM sees it": [no_library],
    "is a 32-bit process": [narrow_process],
}


def main():
    if os.geteuid() != 0:
        print("ok # SKIP needs root")
        return 0
    checks = Checks()
    messages = quoted_messages("jtop-prof")
    for message in PROVOKED:
        checks.run("the manual has: " + message, lambda m=message: want(m in messages, "no entry"))
    functions = list(dict.fromkeys(f for found in PROVOKED.values() for f in found))
    functions.sort(key=lambda f: f not in (long_safepoint, queue_full))  # the longest first
    checks.together(
        *[(f.__name__, f) for f in functions],
        ("removed socket", removed, None), ("socket left by another", left_by_another),
        ("may not load, by the command line", may_not_load, "-XX:-EnableDynamicAgentLoading"),
        ("/tmp of its own", tmp_elsewhere), ("/tmp a link", tmp_link),
        ("SIGQUIT ignored", quit_ignored), ("SIGQUIT blocked", quit_blocked),
        ("dying", dying), ("given up", given_up), ("credentials", credentials),
        ("process 1", first_process), ("process 1 with -Xrs", first_process, "-Xrs"))
    for check in checks_of_jdks():
        checks.run(*check)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
