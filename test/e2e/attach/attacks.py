#!/usr/bin/env python3
# timeout: 240
"""What a hostile process can plant, and a root frontend that comes across it: it writes, reads and
executes nothing it did not mean to, ends in time, and its words cannot speak to a terminal."""
import contextlib
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from impostor import ESCAPE
from lib import CLASSES, PROF, ROOT, WAIT, Checks, Jvm, Wrong, prof, read, wait_for, want

USER = 12345  # of nobody here
SECRET = "a secret of root's"
OURS = r"jtop-prof|attach_pid|jtop_"
PYTHON = shutil.which("python3", path="/usr/bin:/bin:/usr/local/bin")  # that USER may run


def clean(text, but="\n\t"):
    """No control characters, of the second set neither, nor any that turn the line around."""
    for c in text:
        want(c in but or not (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u202e"),
             "a control character: %r" % text[max(0, text.index(c) - 60):][:160])


class Impostor:
    """impostor.py, run as another user in a directory of its own."""

    def __init__(self, answers=None, before=(), user=USER, words=(), **config):
        self.scratch = tempfile.mkdtemp(prefix="attack-")
        os.chown(self.scratch, user, user)
        config["answers"] = answers or {}
        # Its command line is part of the attack: a main class that is all of a program.
        code = "# " + ESCAPE + "\n" + read(os.path.join(ROOT, "test", "e2e", "lib", "impostor.py"))
        self.process = subprocess.Popen(
            [*before, PYTHON if before else "java", "-c", code + "\nmain()",
             json.dumps(config), *words], executable=None if before else PYTHON,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=user, group=user, extra_groups=[],
            cwd=self.scratch, text=True, encoding="utf-8", errors="surrogateescape")
        self.pid = self.process.pid
        if self.process.stdout.readline() != "ready\n":
            self.__exit__()
            raise Wrong("the impostor did not begin")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(WAIT)
        self.process.stdin.close()
        self.process.stdout.close()
        with contextlib.suppress(OSError):
            os.unlink("/tmp/.java_pid%d" % self.pid)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def left(self):
        """Files of ours."""
        places = (self.scratch, "/proc/%d/root/tmp" % self.pid)
        return [n for p in places for n in os.listdir(p)
                if re.search(OURS, n) and str(self.pid) in n]


def refused(*args, words, timeout=60):
    """One clear line, and no more."""
    done = prof(*args, timeout=timeout)
    want(done.returncode not in (0, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS),
         "exit %d: %s" % (done.returncode, done.stderr))
    want(re.search(words, done.stderr), "it said: " + done.stderr)
    want(done.stderr.count("\n") == 1, "more than a line: " + done.stderr)
    clean(done.stderr)
    clean(done.stdout)
    return done


def on_terminal(*args, keys=b"", seconds=WAIT, until=None):
    """All that it writes to a terminal."""
    master, slave = pty.openpty()
    env = dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8")
    process = subprocess.Popen([PROF, *map(str, args)], stdin=slave, stdout=slave, stderr=slave,
                               env=env, start_new_session=True)
    os.close(slave)
    seen, end = b"", time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if select.select([master], [], [], 0.1)[0]:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                seen += part
            if keys and until and re.search(until, seen):
                os.write(master, keys)
                keys = b""
        want(process.wait(WAIT) is not None, "it goes on")
    finally:
        process.kill()
        process.wait()
        os.close(master)
    return seen


# ---- what answers where a JVM would ----

def reply(how, words):
    with Impostor({"load": how}) as it:
        refused("-d", 1, it.pid, words=words)
        want(it.process.poll() is None and not it.left(), "left behind: %s" % it.left())


def replies_to_a_terminal():
    text = "0\n" + "h\u00e9llo " * 3000 + ESCAPE + "\u009b2J\r\n"
    with Impostor({"jcmd": "say " + text}) as it:
        seen = on_terminal("jcmd", it.pid).decode()
        clean(seen, "\r\n")
        want(seen.count("h\u00e9llo") == 3000, "text is missing: %r" % seen[:200])
        done = subprocess.run([PROF, "jcmd", str(it.pid)], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
        want(done.stdout.decode(errors="surrogateescape") ==
             text[2:].encode("utf-8", "surrogateescape").decode(errors="surrogateescape"),
             "a pipe gets every byte")


def memory(kind):
    with Impostor({"load": kind}) as it:
        refused("-d", 1, it.pid, words="shared memory|sample buffer of a different size|Operation not permitted")
        want(it.process.poll() is None and not it.left(), "left behind: %s" % it.left())


def agent(wild):
    """It obeys, and all that it says is a lie."""
    with Impostor({"load": "agent"}, wild=wild) as it:
        for args in (("-d", 1, "-o", "collapsed"), ("-d", 1, "-o", "flat"),
                     ("--batch", "-n", 2, "--refresh", "200ms")):
            done = prof(*args, it.pid, timeout=60)
            want(done.returncode >= 0, "died of signal %d" % -done.returncode)
            want(wild or done.returncode == 0, done.stderr)
            clean(done.stdout)
            clean(done.stderr)
            want(wild or "owned" in done.stdout + done.stderr, "nothing was shown: " + done.stdout)
        seen = on_terminal(it.pid, keys=b"q", until=rb"owned", seconds=4)
        want(b"]0;owned\x07" not in seen and b"\x1b]0;" not in seen, "it spoke to the terminal")


# ---- files ----

PLANTS = {
    "FIFO": "os.mkfifo(path)",
    "link": "os.symlink(config['secret'], path)",
    "sparse": "f = open(path, 'wb'); f.truncate(1 << 40)",
    "directory": "os.mkdir(path)",
    "leased": "open(path, 'wb').write(b'x'); fd = os.open(path, os.O_WRONLY); "
              "signal.signal(signal.SIGIO, signal.SIG_IGN); fcntl.fcntl(fd, fcntl.F_SETLEASE, "
              "fcntl.F_WRLCK); kept2 = fd; globals().update(kept2=fd)",
    "noise": "open(path, 'wb').write(b'\\xca\\xfe\\xc0\\xc0\\x01\\x02\\x00\\x01' + "
             "random.randbytes(4000))",
    "socket": "s = socket.socket(socket.AF_UNIX); s.bind(path)",
}


def performance_data():
    """In /tmp/hsperfdata_USER, of seven at once; the list of JVMs is drawn all the same."""
    with contextlib.ExitStack() as stack:
        place = tempfile.mkdtemp(prefix="attack-")
        stack.callback(shutil.rmtree, place)
        secret = os.path.join(place, "secret")
        with open(secret, "w", encoding="utf-8") as f:
            f.write(SECRET)
        os.chmod(secret, 0o600)
        names = ["/tmp/hsperfdata_%d" % USER]
        stack.callback(shutil.rmtree, names[0], True)
        them = [stack.enter_context(Impostor(comm="x" + ESCAPE[:9], plant=[
            "config = {'secret': %r}" % secret, "os.makedirs(%r, 0o755, exist_ok=True)" % names[0],
            "path = %r + '/%%d' %% os.getpid()" % names[0], plant])) for plant in PLANTS.values()]
        done = prof("--list", timeout=40)
        want(done.returncode == 0, done.stderr)
        clean(done.stdout)
        want(SECRET not in done.stdout, "it read the secret")
        for kind, it in zip(PLANTS, them):
            want(re.search(r"^ *%d\b" % it.pid, done.stdout, re.M), "%s is not listed" % kind)
        for it in them:
            examined(it.pid)
        shown = on_terminal(keys=b"q", until=rb"%d" % them[0].pid, seconds=6)
        want(b"\x1b]0;" not in shown and SECRET.encode() not in shown, "it spoke to the terminal")


def examined(pid, *ways, timeout=60):
    """The doctor looks at all of it, and touches nothing."""
    for args in ways or (("doctor", pid), ("doctor", "--json", pid)):
        done = prof(*args, timeout=timeout)
        want(done.returncode >= 0, "died of signal %d" % -done.returncode)
        clean(done.stdout)
        clean(done.stderr)
        want(str(pid) in done.stdout, "exit %d: %s" % (done.returncode, done.stdout + done.stderr))
        want(SECRET not in done.stdout, "it read the secret")
        if "--json" in args:
            json.loads(done.stdout)


def socket_file(plant, words):
    """Where the JVM's socket should be."""
    with Impostor(listen=False, plant=["path = '/tmp/.java_pid%d' % os.getpid()", plant]) as it:
        refused("-d", 1, it.pid, words=words)
        want(not it.left(), "left behind: %s" % it.left())


def other_listener():
    """The socket is another process's, though of the same user."""
    with Impostor({"load": "none"}) as other:
        link = "os.rename('/tmp/.java_pid%d', path)" % other.pid
        socket_file(link, "process %d listens there, not" % other.pid)


def trigger_file():
    """Where the file is made that asks a JVM to listen."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        victim = os.path.join(scratch, "made by root")
        with Impostor(listen=False, plant=[
                "os.symlink(%r, '.attach_pid%%d' %% os.getpid())" % victim]) as it:
            refused("-d", 1, it.pid, words="attach_pid")
            want(not os.path.lexists(victim), "the link was followed")
            want(it.process.poll() is None, "it was ended")


MOB = """
def mob():
    while True:
        try:
            os.kill(-1, %d)  # all of this user's, which are none but our children
        except OSError:
            pass
        time.sleep(0.0005)
threading.Thread(target=mob, daemon=True).start()
"""


def mobbed(number):
    """Who acts with the JVM's uid may be signalled by its user."""
    with Impostor({"load": "none"}, user=USER + 2 + number, plant=[MOB % number]) as it:
        refused("-d", 1, it.pid, words="JVM %d|/proc/%d/fd" % (it.pid, it.pid))
        want(it.process.poll() is None and not it.left(), "left behind: %s" % it.left())


SLOW = """
import mmap as m
def elf(path):
    names, sections = b"\\0.symtab\\0.strtab\\0", 64
    size = 64 << 20
    def section(name, kind, offset, size, link, entry):
        return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, link, 1, 8, entry)
    with open(path, "wb") as f:
        f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\\x7fELF\\2\\1\\1", 3, 62, 1, 0, 0, sections, 0, 64,
                            56, 0, 64, 3, 0))
        f.write(section(0, 0, 0, 0, 0, 0) + section(1, 2, 4096, size - 16, 2, 24) +
                section(9, 3, 4096 + size, size - 16, 0, 0))
        f.truncate(3 * size)
    fd = os.open(path, os.O_RDONLY)
    kept = m.mmap(fd, 4096, m.MAP_PRIVATE, m.PROT_READ | m.PROT_EXEC)
    os.close(fd)
    return kept
place = "/dev/shm/attack-%d" % os.getpid()
os.mkdir(place)
config_globals["kept3"] = [elf(place + "/slow%d.so" % i) for i in range(250)]
config_globals["config"]["addresses"] = [
    int(l.split("-")[0], 16) + 16 for l in open("/proc/self/maps") if "/slow" in l]
"""


def slow_files():
    """Hundreds of files whose symbol tables are endless holes: they go without names."""
    with Impostor({"load": "agent"}, plant=[SLOW]) as it:
        try:
            done = prof("-d", 1, "-o", "collapsed", it.pid)
            want(done.returncode == 0, done.stderr)
            want("[slow1.so]" in done.stdout, "no frame of theirs: " + done.stdout[:300])
        finally:
            shutil.rmtree("/dev/shm/attack-%d" % it.pid)


def own_mounts(*command):
    return ("unshare", "-Ur", "-m", "--propagation", "private", *command)


def may_unshare():
    done = subprocess.run(own_mounts("true"), user=USER, group=USER, extra_groups=[], check=False,
                          capture_output=True)
    return done.returncode == 0


def other_tmp():
    """The JVM's user has put a directory of root's over its /tmp, after it began to listen there.
    What --jfrsync makes there would be root's work."""
    with tempfile.TemporaryDirectory(prefix="attack-", dir="/var/tmp") as scratch:
        os.chmod(scratch, 0o755)
        classes = shutil.copytree(CLASSES, os.path.join(scratch, "classes"))
        target, out = os.path.join(scratch, "target"), os.path.join(scratch, "out.jfr")
        os.mkdir(target)
        os.chmod(target, 0o777)
        with Jvm("Idle", options=["-XX:+StartAttachListener"], classes=classes, cwd="/",
                 before=own_mounts("sh", "-c", "mount --bind %s /tmp && exec \"$@\"" % target, "sh"),
                 user=USER, group=USER, extra_groups=[]) as jvm:
            wait_for(lambda: any(n.startswith(".java_pid") for n in os.listdir(target)), "a socket")
            os.chmod(target, 0o755)
            before = sorted(os.listdir(target))
            seen = os.stat(target).st_mtime_ns
            refused("-d", 1, "--jfrsync", "default", "-f", out, jvm.pid,
                    words="--jfrsync needs a directory in the /tmp of JVM .*: Permission denied")
            want(sorted(os.listdir(target)) == before, "made there: %s" % os.listdir(target))
            want(os.stat(target).st_mtime_ns == seen, "something was made there for a while")
            want(not os.path.exists(out) and jvm.alive(), "a file of half a profile")


FUSE = """
def swallow(fd):
    while True:
        data = os.read(fd, 1 << 20)
        opcode, unique = struct.unpack_from("<IQ", data, 4)
        if opcode == 26:
            os.write(fd, struct.pack("<IiQ", 80, 0, unique) + struct.pack("<II", 7, 31) + b"\\0" * 56)
fd = os.open(%r, os.O_RDWR)
mount("fuse", "/tmp", "fuse", 0, "fd=%%d,rootmode=40000,user_id=0,group_id=0" %% fd)
threading.Thread(target=swallow, args=(fd,), daemon=True).start()
"""


def silent_file_system():
    """A /tmp whose file system takes every question and answers none, not even to a kill."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        os.chmod(scratch, 0o755)
        node = os.path.join(scratch, "fuse")
        try:
            os.mknod(node, 0o20666, os.makedev(10, 229))
            os.chmod(node, 0o666)
            os.close(os.open(node, os.O_RDWR))
        except OSError as e:
            print("# no FUSE here: %s" % e)
            return
        with Impostor({"load": "none"}, before=own_mounts(), plant=[FUSE % node]) as it:
            done = prof("--list", timeout=40)
            want(done.returncode == 0 and str(it.pid) in done.stdout, done.stdout + done.stderr)
            examined(it.pid, ("doctor", it.pid))
            refused("-d", 1, it.pid, words="JVM %d" % it.pid)


# ---- who shares a profile ----

SHARE = """
st = os.stat("/proc/self/ns/pid")
ticks = open("/proc/%d/stat" % jvm).read().rsplit(")", 1)[1].split()[19]
share = socket.socket(socket.AF_UNIX)
share.bind("\\0jtop-prof/%d-%s-%d" % (jvm, ticks, st.st_ino))
share.listen(5)
def frame(kind, data):
    return struct.pack("<II", kind, len(data)) + data
def lie():
    while True:
        c, _ = share.accept()
        try:
            c.recv(65536)
            c.send(frame(1, (ESCAPE + "\\n").encode("utf-8", "surrogateescape")))
            c.send(frame(3, evil.encode() + b"\\0" + b"* * * * * root id"))
            time.sleep(0.3)
        except OSError:
            pass
        c.close()
threading.Thread(target=lie, daemon=True).start()
"""


def sharing(user):
    """The JVM's own user is believed, who may say what he likes about his JVM; another is not. A
    file comes back from neither."""
    with tempfile.TemporaryDirectory(prefix="attack-") as scratch, Impostor(listen=False) as it:
        evil, good = os.path.join(scratch, "evil"), os.path.join(scratch, "good")
        with Impostor(listen=False, user=user, plant=[
                "jvm, evil = %d, %r" % (it.pid, evil), SHARE]):
            seen = on_terminal("dump", "-f", good, it.pid).decode(errors="surrogateescape")
            clean(seen, "\r\n")
            want(("is not being profiled" if user != USER else "was not requested") in seen, seen)
            want(not os.listdir(scratch), "written: %s" % os.listdir(scratch))


def main():
    checks = Checks()
    if os.geteuid() != 0:
        print("# only root has something to lose")
        return 0
    want(PYTHON, "no python3 that every user may run")
    inside = may_unshare()
    if not inside:
        print("# no user namespaces for users here")
    checks.together(
        *((("a file system that does not answer", silent_file_system),
           ("another directory for /tmp", other_tmp)) if inside else ()),
        ("an answer that never comes", reply, "silent", "did not answer|JVM \\d+"),
        ("an answer a byte at a time", reply, "drip", "JVM \\d+"),
        ("nothing is answered", reply, "close", "without an answer"),
        ("what is answered is nothing", reply, "say " + ESCAPE + "\n" + ESCAPE, "invalid answer"),
        ("a refusal that speaks", reply, "say 7\n" + ESCAPE, "owned"),
        ("an endless answer", reply, "flood", "larger than 16 MiB"),
        ("an agent that is none", reply, "none", "its shared memory is not among"),
        *(("memory: " + kind, memory, kind) for kind in (
            "unsealed", "short", "ring size", "huge", "odd", "old", "read only", "no header")),
        ("a FIFO for a socket", socket_file, "os.mkfifo(path)", "is not a socket"),
        ("a link for a socket", socket_file, "os.symlink('/run/x', path)", "is not a socket"),
        ("another's socket", other_listener),
        ("a link where a file is to be made", trigger_file),
        ("our children are stopped", mobbed, int(signal.SIGSTOP)),
        ("our children are killed", mobbed, int(signal.SIGKILL)),
        ("jcmd on a terminal", replies_to_a_terminal),
        ("an agent that lies", agent, False),
        ("an agent that lies about its ring", agent, True),
        ("performance data", performance_data),
        ("files that are slow to read", slow_files),
        ("the JVM's user shares a profile", sharing, USER),
        ("somebody else does", sharing, USER + 1))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
