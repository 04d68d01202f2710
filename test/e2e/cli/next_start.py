#!/usr/bin/env python3
# timeout: 150, tier: fast
"""A start after a stop begins a new profile in the same process, which still has the agent: with its
own samples, options and files. In another situation than that process's, it takes a new one."""
import errno
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

from lib import (PROF, WAIT, Checks, Jvm, Prof, burn, collapsed, good, prof, read, readers, total,
                 traces, wait_for, want)


def reader(jvm):
    """The process that answers."""
    return int(re.search(r"^profiler process: (\d+)", good("status", jvm.pid), re.M).group(1))


def right(stacks):
    want(total(stacks) > 0, "no samples")
    want(any("Shares" in f for frames, _ in stacks for f in frames), "no method of the application")


def stopped(jvm, *args, **kwargs):
    """The stacks of the profile, which ends."""
    stacks = collapsed(good("stop", "-o", "collapsed", *args, jvm.pid, **kwargs))
    right(stacks)
    return stacks


def profile(jvm, *args, seconds=0.3, **kwargs):
    good("start", *args, jvm.pid, **kwargs)
    burn(jvm.pid, seconds)
    return stopped(jvm)


def same_process(jvm):
    long = total(profile(jvm, "-e", "cpu", "-i", "1ms", seconds=1.5))
    first = reader(jvm)
    for _ in range(3):
        short = total(profile(jvm, "-e", "cpu", "-i", "1ms"))
        want(reader(jvm) == first, "another process")
        want(short < long / 2, "%d samples, %d in the long profile before" % (short, long))
        want("cpu: by" in good("status", jvm.pid), "no engine")
    want(readers(jvm.pid) == [first], "more than one process")


def own_counters(jvm):
    """What was counted before does not belong to the new profile."""
    for _ in range(2):
        good("start", "-e", "cpu", "-i", "1ms", jvm.pid)
        burn(jvm.pid, 0.5)
        text = good("dump", "-o", "text", jvm.pid)
        samples = int(re.search(r"^Total samples +: (\d+)", text, re.M).group(1))
        stated = int(re.search(r"(\d+) samples, (\d+) dropped", good("status", jvm.pid)).group(1))
        want(samples <= stated < samples + 3000, "%d samples, status says %d" % (samples, stated))
        stopped(jvm)


def agent_seconds(jvm):
    return float(re.search(r"^\w+agent_cpu_seconds_total\S* (\S+)$", good("metrics", jvm.pid),
                           re.M).group(1))


def own_agent_time(jvm):
    good("start", "-e", "cpu", "-i", "100us", jvm.pid)
    burn(jvm.pid, 2)
    long = agent_seconds(jvm)
    stopped(jvm)
    good("start", "-e", "cpu", "-i", "10ms", jvm.pid)
    burn(jvm.pid, 0.1)
    short = agent_seconds(jvm)
    stopped(jvm)
    want(0 <= short < long / 2, "the agent used %g s, %g s in the profile before" % (short, long))


def own_options(jvm):
    profile(jvm, "-e", "cpu")
    first = reader(jvm)
    stacks = profile(jvm, "-e", "wall", "-i", "20ms", "-t", "-j", "3")
    want(all(frames[0].startswith("[") for frames, _ in stacks), "no threads")
    deepest = max(len([f for f in frames if not f.startswith("[")]) for frames, _ in stacks)
    want(deepest <= 3, "%d frames" % deepest)
    want("wall: by" in good("status", jvm.pid), "not wall")
    stacks = profile(jvm, "-e", "cpu")
    want(not any(f.startswith("[") and "tid=" in f for frames, _ in stacks for f in frames),
         "still by thread")
    want(reader(jvm) == first, "another process")


def own_files(jvm, scratch):
    """Names are relative to the directory of the start, not to that of the process."""
    profile(jvm, "-e", "cpu")
    first = reader(jvm)
    path = os.path.join(scratch, "mine.collapsed")
    good("start", "-e", "cpu", "-o", "collapsed", "-f", "mine.collapsed", jvm.pid, cwd=scratch)
    burn(jvm.pid, 0.3)
    good("stop", jvm.pid)
    with open(path, encoding="utf-8") as f:
        right(collapsed(f.read()))
    env = dict(os.environ, WHERE="there")
    profile(jvm, "-e", "cpu")
    good("start", "-e", "cpu", "--timeout", "1", "-o", "collapsed", "-f", "over-%{WHERE}-%p", jvm.pid,
         cwd=scratch, env=env)
    want(reader(jvm) == first, "another process")
    path = os.path.join(scratch, "over-there-%d" % jvm.pid)
    wait_for(lambda: os.path.exists(path), path)
    with open(path, encoding="utf-8") as f:
        right(collapsed(f.read()))
    wait_for(lambda: not readers(jvm.pid), "the process's end: its files are written")


def refused(jvm):
    """After a start that cannot be, the finished profile is still there, or the next one begins."""
    before = total(profile(jvm, "-e", "cpu"))
    for args in (("-f", "/no/such/directory/x.html"), ("-e", "no such event"), ("--cstack", "no way")):
        done = prof("start", *args, jvm.pid)
        want(done.returncode > 0 and done.stderr.count("\n") == 1, "%r: exit %d, %s" %
             (args, done.returncode, done.stderr))
    want(total(stopped(jvm)) == before, "the finished profile is gone")
    done = prof("start", "-e", "cpu", "--begin", "no_such_function_anywhere", jvm.pid)
    want(done.returncode > 0 and "no_such_function_anywhere" in done.stderr, done.stderr)
    profile(jvm, "-e", "cpu")
    good("start", "-e", "cpu", jvm.pid)
    done = prof("start", "-e", "cpu", jvm.pid)
    want(done.returncode == 200 and "already started" in done.stderr, done.stderr)
    burn(jvm.pid, 0.1)
    stopped(jvm)


def another_situation(jvm, scratch):
    profile(jvm, "-e", "cpu")
    first = reader(jvm)
    for change in ({"umask": 0o77}, {"env": dict(os.environ, TZ="Asia/Tokyo")}):
        profile(jvm, "-e", "cpu", **change)
        second = reader(jvm)
        want(second != first, "the same process for %r" % change)
        wait_for(lambda p=first: readers(jvm.pid).count(p) == 0, "the end of the process before")
        first = second
    path = os.path.join(scratch, "umask.collapsed")
    good("start", "-e", "cpu", "-o", "collapsed", "-f", path, jvm.pid, umask=0o27)
    burn(jvm.pid, 0.2)
    good("stop", jvm.pid)
    want(os.stat(path).st_mode & 0o777 == 0o640, "mode %o" % os.stat(path).st_mode)


def confined(jvm, scratch):
    """A process with fewer rights does not get its files written with more."""
    profile(jvm, "-e", "cpu")
    first = reader(jvm)
    for words in (("setpriv", "--no-new-privs"), ("unshare", "-m")):
        if not shutil.which(words[0]) or subprocess.run([*words, "true"], check=False,
                                                        stderr=subprocess.DEVNULL).returncode:
            continue
        subprocess.run([*words, PROF, "start", "-q", "-e", "cpu", str(jvm.pid)], check=True,
                       stdin=subprocess.DEVNULL, timeout=WAIT)
        want(reader(jvm) != first, "the same process with %r" % (words,))
        stopped_one = reader(jvm)
        burn(jvm.pid, 0.2)
        good("stop", jvm.pid)
        first = stopped_one


def hello_of(jvm):
    """What this program says first to a process that has a profile: it is sent to us."""
    start = read("/proc/%d/stat" % jvm.pid).rsplit(")", 1)[1].split()[19]
    name = "\0jtop-prof/%d-%s-%d" % (jvm.pid, start, os.stat("/proc/self/ns/pid").st_ino)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        listener.settimeout(WAIT)
        with subprocess.Popen([PROF, "stop", str(jvm.pid)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
            try:
                while True:  # the first connection may only look whether somebody is there
                    with listener.accept()[0] as peer:
                        peer.settimeout(WAIT)
                        head = peer.recv(8, socket.MSG_WAITALL)
                        if len(head) == 8:
                            return name, head + peer.recv(struct.unpack("<II", head)[1],
                                                          socket.MSG_WAITALL)
            finally:
                p.kill()


def stranger(jvm, scratch):
    """Who asks a process to begin a profile must be the same program with the same rights."""
    for pid in readers(jvm.pid):
        os.kill(pid, signal.SIGTERM)
    wait_for(lambda: not readers(jvm.pid), "the processes' end")
    name, hello = hello_of(jvm)
    profile(jvm, "-e", "cpu")
    path = os.path.join(scratch, "stranger.collapsed")
    words = [scratch, "jtop-prof", "begin-here", "start", "-e", "cpu", "-o", "collapsed", "-f", path,
             str(jvm.pid)]
    request = b"".join(w.encode() + b"\0" for w in words)
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(WAIT)
        s.connect(name)
        s.sendall(hello + struct.pack("<II", 17, len(request)) + request)
        kind, length = struct.unpack("<II", s.recv(8, socket.MSG_WAITALL))
        result = struct.unpack_from("<i", s.recv(length, socket.MSG_WAITALL))[0]
    want(kind == 4 and result == -errno.ENOTCONN, "answer %d, result %d" % (kind, result))
    want("not active" in good("status", jvm.pid), "a stranger's profile runs")
    good("stop", jvm.pid)
    want(not os.path.exists(path), "a stranger's file was written")


def recordings(jvm, scratch):
    """The same file twice; and one that only the process of the start has open."""
    path = os.path.join(scratch, "twice.jtop")
    sizes = []
    for seconds in (3, 0.2):
        good("start", "-e", "cpu", "-i", "200us", "--record", path, jvm.pid)
        burn(jvm.pid, seconds)
        stacks = stopped(jvm)
        sizes.append(os.path.getsize(path))
    profile(jvm, "-e", "cpu")  # the recording ends when the next profile begins
    sizes.append(os.path.getsize(path))
    want(max(sizes[1:]) < 0.6 * sizes[0], "bytes: %r" % sizes)
    again = collapsed(good("-i", "1ms", "-o", "collapsed", path))
    want(abs(total(again) - total(stacks)) <= 0.1 * total(stacks) + 20,
         "%d samples in the file, %d in the profile" % (total(again), total(stacks)))
    with open(os.path.join(scratch, "fd.jtop"), "wb") as f:
        done = prof("start", "-e", "cpu", "--record", "/dev/fd/%d" % f.fileno(), jvm.pid,
                    pass_fds=(f.fileno(),))
        want(done.returncode == 100 and "/dev/fd" in done.stderr, "exit %d: %s" %
             (done.returncode, done.stderr))


def in_a_loop(jvm, scratch):
    """Neither a start nor a status is answered by a turn that has ended."""
    good("start", "-e", "cpu", "-i", "1ms", "--loop", "1s", "-o", "collapsed", "-f",
         os.path.join(scratch, "turn-%n"), jvm.pid)
    def turns():
        return sorted(f for f in os.listdir(scratch) if f.startswith("turn-"))
    end = time.monotonic() + WAIT
    while len(turns()) < 3 and time.monotonic() < end:
        done = prof("start", "-e", "cpu", jvm.pid)
        want(done.returncode == 200 and "already started" in done.stderr, done.stderr)
        want("is running" in good("status", jvm.pid), "the profile does not run")
    good("stop", jvm.pid)
    want(len(turns()) >= 3, "turns: %r" % turns())
    for turn in turns()[:-1]:
        with open(os.path.join(scratch, turn), encoding="utf-8") as f:
            right(collapsed(f.read()))


def told_to_end(jvm, scratch):
    """A signal while it begins: the new profile ends as any other, with its files."""
    profile(jvm, "-e", "cpu")
    path = os.path.join(scratch, "told.jfr")
    for wait in (0, 0.005, 0.02, 0.1):
        profile(jvm, "-e", "cpu")
        old = reader(jvm)
        with Prof(scratch, "start", "-e", "cpu", "-f", path, jvm.pid) as p:
            time.sleep(wait)
            os.kill(old, signal.SIGTERM)
            code = p.process.wait(WAIT)
        wait_for(lambda r=old: r not in readers(jvm.pid), "the process's end")
        if readers(jvm.pid):  # the start found nobody, and began in a process of its own
            good("stop", jvm.pid)
            os.kill(reader(jvm), signal.SIGTERM)
            wait_for(lambda: not readers(jvm.pid), "the process's end")
        want(code in (0, 200, 255), "exit %d: %s" % (code, p.stderr()))
        wait_for(lambda: not traces(jvm.pid), "the end of sampling")
        profile(jvm, "-e", "cpu")


def at_once(jvm, scratch):
    """One of several starts at the same time wins; the others say so."""
    profile(jvm, "-e", "cpu")
    for _ in range(3):
        starts = [Prof(scratch, "start", "-e", "cpu", jvm.pid) for _ in range(4)]
        codes = sorted(p.process.wait(WAIT) for p in starts)
        want(codes == [0, 200, 200, 200], "exit codes %r: %s" %
             (codes, " ".join(p.stderr() for p in starts)))
        burn(jvm.pid, 0.2)
        stopped(jvm)


def ended(jvm):
    """A new profile in an old process ends as any other."""
    profile(jvm, "-e", "cpu")
    good("start", "-e", "cpu", jvm.pid)
    os.kill(reader(jvm), signal.SIGTERM)
    wait_for(lambda: not readers(jvm.pid), "the process's end")
    wait_for(lambda: not traces(jvm.pid), "the end of sampling")
    profile(jvm, "-e", "cpu")
    good("start", "-e", "cpu", jvm.pid)
    os.kill(reader(jvm), signal.SIGKILL)
    profile(jvm, "-e", "cpu")
    os.kill(reader(jvm), signal.SIGTERM)
    wait_for(lambda: not readers(jvm.pid), "the process's end")


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm("Shares", "single") as jvm:
        checks.run("the same process", same_process, jvm)
        checks.run("counters", own_counters, jvm)
        checks.run("the agent's time", own_agent_time, jvm)
        checks.run("options", own_options, jvm)
        checks.run("files", own_files, jvm, scratch)
        checks.run("refused", refused, jvm)
        checks.run("another situation", another_situation, jvm, scratch)
        checks.run("confined", confined, jvm, scratch)
        checks.run("a stranger", stranger, jvm, scratch)
        checks.run("recordings", recordings, jvm, scratch)
        checks.run("in a loop", in_a_loop, jvm, scratch)
        checks.run("told to end", told_to_end, jvm, scratch)
        checks.run("at once", at_once, jvm, scratch)
        checks.run("the end", ended, jvm)
        checks.run("the JVM works on", jvm.truth)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
