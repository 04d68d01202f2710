#!/usr/bin/env python3
# timeout: 480, tier: fast
"""Profiles that go on with no terminal: started in one shell, asked about in others; whatever ends
first, the samples are there and nothing is left behind."""
import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

from lib import (AGENT, PROF, WAIT, Checks, Jvm, Prof, Skip, armed, collapsed, cpu_seconds,
                 difference, fds, good, prof, read, readers, self_percent, total, traces, wait_for,
                 want, within)

TRUTH = {"a50", "b25", "c15", "d10"}


def work(jvm, seconds):
    """Lets it burn that much CPU time."""
    end = sum(jvm.truth().values()) + seconds * 1e9
    wait_for(lambda: sum(jvm.truth().values()) >= end, "%g s of work" % seconds)


def shell(directory, line, code=0):
    """A command line as people type it. Returns stdout and stderr."""
    done = subprocess.run(["/bin/sh", "-c", line], cwd=directory, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, PATH=os.path.dirname(PROF) + ":/usr/bin:/bin"),
                          check=False)
    want(done.returncode == code, "%s: exit %d: %s" % (line, done.returncode, done.stderr))
    return done.stdout, done.stderr


def sockets(pid):
    return [line for line in read("/proc/net/unix").splitlines()
            if "@jtop-prof/%d" % pid in line]


def alive(pid):
    with contextlib.suppress(OSError):
        return read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0] not in "ZX"
    return False


def reader_of(pid):
    found = re.search(r"^profiler process: (\d+)", good("status", pid), re.M)
    return int(found.group(1)) if found else 0


def nothing_left(pid, directory, names):
    wait_for(lambda: not traces(pid), "traces to go: %s" % traces(pid), 8)
    want(not sockets(pid), "a socket is left: %s" % sockets(pid))
    want(not readers(pid), "a reader is left: %s" % readers(pid))
    want(sorted(os.listdir(directory)) == sorted(names), "files: %s" % os.listdir(directory))
    want(good("status", pid) == "Profiler is not active\n", "status: " + good("status", pid))


def make_room(pid):
    """A profile of one's own makes a reader that waits go."""
    good("-d", "200ms", "-o", "collapsed", pid)


def two_shells(one, two):
    """start here, dump and stop there: counts grow, shares are right, resume adds."""
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        out, said = shell(one, "jtop-prof start -e cpu -i 1ms %d" % pid)
        want(said == "Profiling started\n" and not out, "said %r %r" % (out, said))
        reader = reader_of(pid)
        fields = read("/proc/%d/stat" % reader).rsplit(")", 1)[1].split()
        want(fields[4] == "0", "the reader has a terminal")
        null = [os.readlink("/proc/%d/fd/%d" % (reader, fd)) for fd in range(3)]
        want(null == ["/dev/null"] * 3, "the reader's descriptors: %s" % null)
        want(os.readlink("/proc/%d/cwd" % reader) == "/", "the reader holds a directory")
        before = jvm.truth()
        work(jvm, 2)
        out, said = shell(two, "jtop-prof dump -o collapsed -f d.collapsed %d" % pid)
        want(not out and not said, "said %r %r" % (out, said))
        first = total(collapsed(read(os.path.join(two, "d.collapsed"))))
        want(first > 150, "%d samples of 2 s" % first)
        work(jvm, 2)
        second = collapsed(shell(two, "jtop-prof dump -o collapsed %d" % pid)[0])
        burned = difference(before, jvm.truth())
        want(total(second) > first * 1.5, "%d, then %d" % (first, total(second)))
        within(6, burned, self_percent(second))
        out, said = shell(two, "jtop-prof stop -f x.svg -f 'y-%%p.txt' %d" % pid)
        want(not out, "stdout: %r" % out)
        xml.etree.ElementTree.parse(os.path.join(two, "x.svg"))
        want("a50" in read(os.path.join(two, "y-%d.txt" % pid)), "no a50 in the text")
        want(not os.listdir(one), "in the first shell's directory: %s" % os.listdir(one))
        want(not armed(pid), "it samples on")
        said = good("status", pid)
        want(re.match(r"Profiler is not active\n\d+ samples from .* are kept: ", said), said)
        still = total(collapsed(good("dump", "-o", "collapsed", pid)))
        want(still >= total(second), "%d samples after stop, %d before" % (still, total(second)))
        out, said = shell(one, "jtop-prof resume %d" % pid)
        want(said == "Profiling started\n", "said %r" % said)
        work(jvm, 1)
        text = good("stop", pid)
        want(int(re.search(r"Total samples +: (\d+)", text).group(1)) > still + 50, text[:200])
        make_room(pid)
        nothing_left(pid, two, ["d.collapsed", "x.svg", "y-%d.txt" % pid])


def wrong_moments(place):
    """What cannot be done now is said in one line, with the right exit code."""
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        for word in ("dump", "stop", "metrics"):
            out, said = shell(place, "jtop-prof %s %d" % (word, pid), 200)
            want(not out and re.fullmatch(r"jtop-prof: Profiler has not started: [^\n]*\n", said),
                 "%r %r" % (out, said))
        want(shell(place, "jtop-prof status %d" % pid) == ("Profiler is not active\n", ""), "status")
        shell(place, "jtop-prof start -e nosuch %d" % pid, 100)
        _, said = shell(place, "jtop-prof start -f /nosuch/x.svg %d" % pid, 100)
        want("/nosuch" in said and said.count("\n") == 1, said)
        want(not traces(pid) and not sockets(pid), "something was started")
        shell(place, "jtop-prof start -e cpu,wall %d" % pid)
        reader = reader_of(pid)
        want("a50" in good("-d", "500ms", "-o", "flat", pid), "a profile takes no samples from it")
        for line in ("start", "resume", "start -e wall"):
            _, said = shell(place, "jtop-prof %s %d" % (line, pid), 200)
            want(re.fullmatch(r"jtop-prof: Profiler already started: process %d .*since \d\d:\d\d:"
                              r"\d\d[^\n]*\n" % reader, said), said)
        _, said = shell(place, "jtop-prof stop -f /nosuch/x.svg %d" % pid, 100)
        shell(place, "jtop-prof stop -o svg %d" % pid, 100)  # two events, one picture
        want(good("status", pid).startswith("Profiling is running for "), "a bad name has stopped it")
        shell(place, "jtop-prof dump -o nosuch %d" % pid, 100)
        shell(place, "jtop-prof stop -q %d" % pid)
        shell(place, "jtop-prof start -q -e wall -i 5ms %d" % pid)
        want("wall: by " in good("status", pid), good("status", pid))
        shell(place, "jtop-prof stop -o collapsed %d >/dev/null" % pid)
        make_room(pid)
        nothing_left(pid, place, [])


def own_files(place, elsewhere):
    """The file of start is written by stop, by the time that was given, at each turn, at the JVM's
    end, and when the reader is asked to end."""
    file = os.path.join(place, "o.collapsed")
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        shell(place, "jtop-prof start -i 1ms -f o.collapsed %d" % pid)
        work(jvm, 0.5)
        want(file in good("status", pid), good("status", pid))
        _, said = shell(elsewhere, "jtop-prof stop %d" % pid)
        want(re.fullmatch(r"jtop-prof: Profiling stopped after \d+ seconds; written: %s\n"
                          % re.escape(file), said), said)
        want(total(collapsed(read(file))) > 30, "no samples")
        os.unlink(file)
        shell(place, "jtop-prof start -i 1ms --timeout 1 -f o.collapsed %d" % pid)
        wait_for(lambda: os.path.exists(file), "the file")
        wait_for(lambda: not sockets(pid), "the reader's end")
        want(total(collapsed(read(file))) > 5, "no samples")
        os.unlink(file)
        shell(place, "jtop-prof start -i 1ms --loop 1 -f 't%%n.txt' %d" % pid)
        wait_for(lambda: os.path.exists(os.path.join(place, "t1.txt")), "the second turn")
        wait_for(lambda: sockets(pid), "the third turn")
        os.kill(wait_for(lambda: reader_of(pid), "the reader"), signal.SIGTERM)
        wait_for(lambda: not sockets(pid), "the reader's end")
        names = sorted(os.listdir(place))
        want(names[:2] == ["t0.txt", "t1.txt"] and len(names) >= 3, str(names))
        for name in names:
            os.unlink(os.path.join(place, name))
        shell(place, "jtop-prof start -i 1ms -f o.collapsed %d" % pid)
        work(jvm, 0.5)
        reader = reader_of(pid)
        jvm.kill()
        wait_for(lambda: not alive(reader), "the reader's end")
        want(total(collapsed(read(file))) > 30, "no samples")
        want(os.listdir(place) == ["o.collapsed"] and not os.listdir(elsewhere),
             str(os.listdir(place)))


def jvm_killed(place):
    """Between start and stop: stop still writes everything."""
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        shell(place, "jtop-prof start -i 1ms %d" % pid)
        reader = reader_of(pid)
        before = jvm.truth()
        work(jvm, 2)
        burned = difference(before, jvm.truth())
        jvm.kill()
        wait_for(lambda: "not active" in good("status", pid), "the end to be seen")
        want("was killed" in good("status", pid), good("status", pid))
        dumped = collapsed(good("dump", "-o", "collapsed", pid))
        _, said = shell(place, "jtop-prof stop -f k.collapsed -f k.svg %d" % pid)
        want("was killed" in said, said)
        stacks = collapsed(read(os.path.join(place, "k.collapsed")))
        want(total(stacks) == total(dumped) > 150, "%d samples" % total(stacks))
        within(8, burned, self_percent(stacks))
        xml.etree.ElementTree.parse(os.path.join(place, "k.svg"))
        wait_for(lambda: not alive(reader), "the reader's end")
        want(not sockets(pid), "a socket is left")


def reader_killed(place):
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        before = fds(pid)
        shell(place, "jtop-prof start -e cpu,wall -f never.svg %d" % pid)
        wait_for(lambda: armed(pid), "sampling")
        os.kill(reader_of(pid), signal.SIGKILL)
        nothing_left(pid, place, [])
        new = [f for f in fds(pid) if f not in before and f != "socket"]
        want(not new, "descriptors: %s" % new)
        shell(place, "jtop-prof start %d" % pid)
        shell(place, "jtop-prof stop -o collapsed %d >/dev/null" % pid)
        make_room(pid)


# ---- metrics ----

LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*"'
SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\{(%s(?:,%s)*)\} ([0-9.e+-]+)" % (LABEL, LABEL))


def parse_metrics(text):
    """{name: {labels: value}}; as strict as a scraper: each family once, described before its
    samples, no line twice."""
    want(text.endswith("\n"), "no newline at the end")
    types, found, family = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# HELP "):
            family = line.split(" ", 3)[2]
            want(family not in types, "%s comes twice" % family)
            want(line.split(" ", 3)[3].strip(), "no help for %s" % family)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            want(name == family and kind in ("counter", "gauge"), line)
            want((kind == "counter") == name.endswith("_total"), line)
            types[name] = kind
        else:
            m = SAMPLE.fullmatch(line)
            want(m and m.group(1) == family and family in types, "not a sample of it: " + line)
            want(m.group(2) not in found.setdefault(family, {}), "twice: " + line)
            found[family][m.group(2)] = float(m.group(3))
    return found


def metrics(place):
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        shell(place, "jtop-prof start -e cpu,wall -i 1ms %d" % pid)
        jvms = 'pid="%d",jvm="Shares"' % pid
        work(jvm, 1)
        first = parse_metrics(good("metrics", pid))
        work(jvm, 1)
        second = parse_metrics(good("metrics", pid))
        cpu = "jtop_prof_samples_total", jvms + ',event="cpu"'
        want(second[cpu[0]][cpu[1]] > first[cpu[0]][cpu[1]] + 60 > 120, "samples do not grow")
        want(second["jtop_prof_running"][jvms] == 1, "not running")
        for name in ("agent_cpu_seconds_total", "frontend_cpu_seconds_total", "profile_seconds",
                     "frontend_resident_bytes", "jvm_resident_bytes"):
            want(second["jtop_prof_" + name][jvms] > 0, name + " is 0")
            if "seconds" in name:
                want(second["jtop_prof_" + name][jvms] >= first["jtop_prof_" + name][jvms],
                     name + " shrinks")
        shell(place, "jtop-prof stop -o collapsed %d >/dev/null" % pid)
        want(parse_metrics(good("metrics", pid))["jtop_prof_running"][jvms] == 0, "still running")
        make_room(pid)


# ---- those in the foreground ----

def foreground(place):
    """A batch profile answers too, and ends with its own files when it is told to."""
    with Jvm("Shares", "single") as jvm, \
            Prof(place, "-d", 60, "-i", "1ms", "-f", os.path.join(place, "f.txt"), jvm.pid) as p:
        pid = jvm.pid
        wait_for(lambda: sockets(pid), "the profile")
        work(jvm, 1)
        want("profiler process: %d, in the foreground" % p.pid in good("status", pid), good("status", pid))
        want(total(collapsed(good("dump", "-o", "collapsed", pid))) > 60, "no samples")
        _, said = shell(place, "jtop-prof start %d" % pid, 200)
        want("process %d " % p.pid in said, said)
        want(p.process.poll() is None, "it has ended")
        _, said = shell(place, "jtop-prof stop -f s.svg %d" % pid)
        want("process %d ends" % p.pid in said, said)
        want(p.process.wait(WAIT) == 0, p.stderr())
        want("a50" in read(os.path.join(place, "f.txt")), "no a50")
        xml.etree.ElementTree.parse(os.path.join(place, "s.svg"))
        want(good("status", pid) == "Profiler is not active\n", "status")


def screens(place):
    """A screen answers as well, but is not stopped by others; one that looks on disturbs nobody, and
    a profile that has ended gives way to it."""
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        with Prof(place, "--batch", "-n", 1000, pid) as p:
            wait_for(lambda: sockets(pid), "the screen")
            work(jvm, 1)
            want("profiler process: %d, with a live screen" % p.pid in good("status", pid),
                 good("status", pid))
            want(total(collapsed(good("dump", "-o", "collapsed", pid))) > 30, "no samples")
            for line in ("stop", "start", "resume"):
                _, said = shell(place, "jtop-prof %s %d" % (line, pid), 200)
                want(re.fullmatch(r"jtop-prof: JVM %d is on the screen of process %d: [^\n]*\n"
                                  % (pid, p.pid), said), said)
            want(p.process.poll() is None, "the screen has ended")
        wait_for(lambda: not sockets(pid), "the screen's end")
        shell(place, "jtop-prof start -i 1ms %d" % pid)
        reader = reader_of(pid)
        want("a50" in good("--batch", "-n", 3, pid), "the screen shows no a50")
        want(reader_of(pid) == reader and armed(pid), "the screen has ended the profile")
        work(jvm, 0.5)
        shell(place, "jtop-prof stop -f s.collapsed %d" % pid)
        want(total(collapsed(read(os.path.join(place, "s.collapsed")))) > 60, "no samples")
        want("a50" in good("--batch", "-n", 3, pid), "the screen shows no a50")
        nothing_left(pid, place, [n for n in os.listdir(place) if n.startswith(("prof-", "s."))])


def agents_own(place):
    """The reader of an agent that came with the JVM does what one of start does."""
    with Jvm("Shares", "single", cwd=place, options=[
            "-agentpath:%s=start,event=cpu,interval=1ms,frontend=%s,file=a.collapsed"
            % (AGENT, PROF)]) as jvm:
        pid, file = jvm.pid, os.path.join(place, "a.collapsed")
        wait_for(lambda: sockets(pid), "the reader")
        work(jvm, 1)
        want("Profiling is running" in good("status", pid), good("status", pid))
        want(total(collapsed(good("dump", "-o", "collapsed", pid))) > 60, "no samples")
        want(not os.path.exists(file), "written too early")
        good("stop", pid)
        stopped = total(collapsed(read(file)))
        want(stopped > 60, "%d samples" % stopped)
        good("resume", pid)
        work(jvm, 1)
        want(jvm.end() == 0, "exit code")
        wait_for(lambda: total(collapsed(read(file))) > stopped + 60, "the file at the end")
        wait_for(lambda: not sockets(pid), "the reader's end")


def of_another_user(place):
    """root profiles somebody's JVM: what is dumped is root's."""
    if os.getuid() != 0:
        raise Skip("needs root")
    with Jvm("Shares", "single", user=65534, group=65534, extra_groups=[], cwd="/") as jvm:
        shell(place, "jtop-prof start -i 1ms %d" % jvm.pid)
        work(jvm, 1)
        shell(place, "jtop-prof dump -f u.collapsed %d" % jvm.pid)
        path = os.path.join(place, "u.collapsed")
        want(os.stat(path).st_uid == 0 and total(collapsed(read(path))) > 100, "not root's, or empty")
        done = subprocess.run([PROF, "status", str(jvm.pid)], user=65534, group=65534,
                              extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False)
        want(done.returncode == 200 and not done.stdout and "its own user" in done.stderr, str(done))
        want(cpu_seconds(jvm.pid) > 0 and jvm.alive(), "the JVM is dead")
        shell(place, "jtop-prof stop %d" % jvm.pid)
        make_room(jvm.pid)


def two_starts(place):
    """At the same moment: one profile, and one message."""
    with Jvm("Shares", "single") as jvm:
        both = [Prof(place, "start", "-e", event, jvm.pid) for event in ("cpu", "wall")]
        codes = sorted(p.process.wait(WAIT) for p in both)
        said = sorted(p.stderr() for p in both)
        want(codes[0] == 0 and codes[1] in (1, 200), "%s %s" % (codes, said))
        want("Profiling started\n" in said and all(s.count("\n") == 1 for s in said), str(said))
        shell(place, "jtop-prof stop -o collapsed %d >/dev/null" % jvm.pid)
        make_room(jvm.pid)


def turns(place):
    """Who asks while one turn ends and the next begins gets an answer, not a connection that breaks."""
    with Jvm("Shares", "single") as jvm:
        pid = jvm.pid
        shell(place, "jtop-prof start -i 5ms --loop 300ms -f 't%%n.txt' %d" % pid)
        reader, stop, answers = reader_of(pid), threading.Event(), []

        def ask(*words):
            while not stop.is_set():
                answers.append((words[0], prof(*words, pid)))

        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            asking = [pool.submit(ask, *words) for words in
                      [("status",)] * 3 + [("metrics",), ("dump", "-o", "collapsed")]]
            try:
                wait_for(lambda: os.path.exists(os.path.join(place, "t12.txt")), "twelve turns")
            finally:
                stop.set()
            for a in asking:
                a.result()
        for word, done in answers:
            want(done.returncode == 0, "%s: exit %d: %s" % (word, done.returncode, done.stderr))
        want(reader_of(pid) == reader, "another reader")
        os.kill(reader, signal.SIGTERM)
        wait_for(lambda: not sockets(pid), "the reader's end")
        print("# %d answers" % len(answers))


def no_room(place):
    """A stop that cannot write its files says so each time, until it can."""
    into = os.path.join(place, "into")
    os.mkdir(into)
    with Jvm("Shares", "single") as jvm:
        shell(place, "jtop-prof start -i 1ms -f into/o.collapsed %d" % jvm.pid)
        work(jvm, 0.3)
        os.rmdir(into)
        for _ in range(2):
            _, said = shell(place, "jtop-prof stop %d" % jvm.pid, 200)
            want("into" in said and "written:" not in said, said)
        os.mkdir(into)
        _, said = shell(place, "jtop-prof stop %d" % jvm.pid)
        want("written: " in said, said)
        want(total(collapsed(read(os.path.join(into, "o.collapsed")))) > 30, "no samples")
        make_room(jvm.pid)


def main():
    check = Checks(fast=("two shells", "files of the start", "questions between turns",
                         "the JVM is killed", "the reader is killed", "metrics",
                         "a profile that began with the JVM"))
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        place = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(15)]
        check.run("two shells", two_shells, place[0], place[1])
        check.run("wrong moments", wrong_moments, place[2])
        check.run("files of the start", own_files, place[3], place[4])
        check.run("questions between turns", turns, place[14])
        check.run("no room for the files", no_room, place[13])
        check.run("the JVM is killed", jvm_killed, place[5])
        check.run("the reader is killed", reader_killed, place[6])
        check.run("metrics", metrics, place[7])
        check.run("a profile in the foreground", foreground, place[8])
        check.run("screens", screens, place[11])
        check.run("a profile that began with the JVM", agents_own, place[9])
        check.run("two starts at once", two_starts, place[12])
        check.run("another user's JVM", of_another_user, place[10])
    print("# %.0f s" % (time.monotonic() - began))
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
