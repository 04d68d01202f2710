#!/usr/bin/env python3
# timeout: 120, tier: fast
"""Profiles that begin with the JVM (-agentpath:...=start,...,file=...): the file is complete when the
JVM ends, however it ends."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from lib import (AGENT, CLASSES, PROF, Checks, Jvm, collapsed, good, java_tool, java_version,
                 prof, readers, self_percent, status, total, traces, wait_for, want, within)

TRUTH = {"a50": 50, "b25": 25, "c15": 15, "d10": 10}


def agent(*options):
    return ["-agentpath:%s=start,event=cpu,interval=1ms,%s" % (AGENT, ",".join(options))]


def exits(jvm):
    """main returns."""
    want(jvm.end() == 0, "exit code")


def system_exit(jvm):
    jvm.say("exit")
    want(jvm.process.wait(20) == 0, "exit code")


def terminated(jvm):
    jvm.process.send_signal(signal.SIGTERM)
    want(jvm.process.wait(20) == 143, "exit code")


def killed(jvm):
    jvm.process.kill()
    jvm.process.wait()


def complete(name, path, burned):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    if name.endswith(".svg"):
        xml.etree.ElementTree.fromstring(text)
        want("a50" in text, "a50 is not in the picture")
        return
    stacks = collapsed(text)
    want(total(stacks) >= 0.8 * burned / 1e6,
         "%d samples in %.2f s" % (total(stacks), burned / 1e9))
    # The JVM's start is in there too; the shares are of what came after it.
    shares = {n: p for n, p in self_percent(stacks).items() if n in TRUTH}
    within(6, TRUTH, {n: 100 * p / sum(shares.values()) for n, p in shares.items()})


def report(name, how):
    """The file is where the JVM was started, there at the end, whole, alone."""
    with tempfile.TemporaryDirectory() as place, Jvm(
            "Shares", "single", options=agent("file=" + name), cwd=place) as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 2e9, "two seconds of CPU time")
        burned = sum(jvm.truth().values())
        path, pid = os.path.join(place, name), jvm.pid
        want(not os.path.exists(path), "the file is there before the end")
        began = time.monotonic()
        how(jvm)
        if how is killed:
            wait_for(lambda: os.path.exists(path), "the file", 10)
        else:
            want(time.monotonic() - began < 8, "the end took %.1f s" % (time.monotonic() - began))
            want(os.path.exists(path), "no file when the JVM has ended")
        complete(name, path, burned)
        wait_for(lambda: not readers(pid), "the reader to end", 10)
        want(os.listdir(place) == [name], "left behind: %s" % os.listdir(place))


def several_events():
    """Each in a file of its own; what the agent cannot start by itself is asked for by its reader.
    """
    with tempfile.TemporaryDirectory() as place, Jvm(
            "Shares", "single", cwd=place,
            options=["-agentpath:%s=start,event=cpu,wall=20ms,page-faults,interval=1ms,"
                     "file=x.collapsed" % AGENT]) as jvm:
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        want(jvm.end() == 0, "exit code")
        names = sorted(os.listdir(place))
        want(names == ["x-cpu.collapsed", "x-page-faults.collapsed", "x-wall.collapsed"],
             str(names))
        for name in names:
            with open(os.path.join(place, name), encoding="utf-8") as f:
                want(total(collapsed(f.read())) > 0, "%s is empty" % name)


def turns():
    """loop= writes a file each time, the last one when the JVM ends."""
    with tempfile.TemporaryDirectory() as place, Jvm(
            "Shares", "single", options=agent("file=t%n.collapsed", "loop=1s"), cwd=place) as jvm:
        pid = jvm.pid
        wait_for(lambda: os.path.exists(os.path.join(place, "t1.collapsed")), "the second turn")
        want(jvm.end() == 0, "exit code")
        wait_for(lambda: not readers(pid), "the reader to end", 10)
        names = sorted(os.listdir(place))
        want(len(names) >= 2 and names[0] == "t0.collapsed", str(names))
        for name in names[:2]:
            with open(os.path.join(place, name), encoding="utf-8") as f:
                want(total(collapsed(f.read())) > 0, "%s is empty" % name)


def reader_killed():
    """Without its reader the JVM runs on, and ends."""
    with tempfile.TemporaryDirectory() as place, Jvm(
            "Shares", "single", options=agent("file=never.svg"), cwd=place) as jvm:
        for pid in wait_for(lambda: readers(jvm.pid), "the reader"):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not traces(jvm.pid), "traces to go: %s" % traces(jvm.pid), 6)
        # It can be watched again, by somebody else.
        want(total(collapsed(good("-d", 1, "-o", "collapsed", jvm.pid))) > 0, "no samples")
        began = time.monotonic()
        want(jvm.end() == 0, "exit code")
        want(time.monotonic() - began < 5, "the end took %.1f s" % (time.monotonic() - began))


def no_file():
    """start without file=: sampling goes on, and a shell asks for what there is."""
    with Jvm("Shares", "single",
             options=["-agentpath:%s=start,event=cpu,interval=1ms" % AGENT]) as jvm:
        wait_for(lambda: "is running" in prof("status", jvm.pid).stdout, "the reader")
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        first = total(collapsed(good("dump", "-o", "collapsed", jvm.pid)))
        second = total(collapsed(good("stop", "-o", "collapsed", jvm.pid)))
        want(500 < first <= second, "%d samples, then %d" % (first, second))
        want("is not active" in good("status", jvm.pid), "it goes on")
        good("resume", jvm.pid)
        burned = sum(jvm.truth().values())
        wait_for(lambda: sum(jvm.truth().values()) > burned + 0.5e9, "half a second more")
        third = total(collapsed(good("stop", "-o", "collapsed", jvm.pid)))
        want(third > second + 200, "%d samples, and %d when it was resumed" % (second, third))
        stacks = collapsed(good("-d", 1, "-i", "1ms", "-o", "collapsed", jvm.pid))
        want(total(stacks) > 100, "%d samples of another profile" % total(stacks))
        pid = jvm.pid
        want(jvm.end() == 0, "exit code")
        wait_for(lambda: not readers(pid), "the reader to end", 10)


def start_with(library, place, **kwargs):
    """(the number of samples in the file or None, what was said)"""
    done = subprocess.run(
        [java_tool("java"), "-agentpath:%s=start,event=cpu,interval=1ms,collapsed,file=out" % library,
         "-cp", CLASSES, "Idle"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=30, check=False, cwd=place, **kwargs)
    want(done.returncode == 0 and done.stdout == "ready\n", "the JVM: %s" % (done,))
    path = os.path.join(place, "out")
    if not os.path.exists(path):
        return None, done.stderr
    with open(path, encoding="utf-8") as f:
        return total(collapsed(f.read())), done.stderr


def found():
    """The library under another name, in another folder; and without its program."""
    real, program = os.path.realpath(AGENT), os.path.dirname(os.path.realpath(PROF))
    bare = {**os.environ, "PATH": os.path.dirname(shutil.which("sh"))}
    beside = {**os.environ, "PATH": program + ":" + os.environ["PATH"]}
    ways = (("a link", os.symlink, "x/libasyncProfiler.so", bare),
            ("a relative path", os.symlink, "./x/l.so", bare),
            ("a copy, the program on the PATH", shutil.copy, "x/libcopy.so", beside))
    for name, make, library, env in ways:
        with tempfile.TemporaryDirectory() as place:
            os.mkdir(os.path.join(place, "x"))
            make(real, os.path.join(place, library))
            os.chmod(os.path.join(place, "x"), 0o555)
            samples, said = start_with(library, place, env=env)
            want(samples and not said, "%s: %s samples, said %r" % (name, samples, said))
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(real, os.path.join(place, "alone.so"))
        samples, said = start_with("./alone.so", place, env=bare)
        want(samples is None and len(said.splitlines()) == 1 and "jtop-prof" in said and
             "PATH" in said, "without the program: %s, %r" % (samples, said))


def in_its_place():
    """Put where async-profiler was: lib/libasyncProfiler.so and bin/asprof, and nothing else."""
    bare = {**os.environ, "PATH": os.path.dirname(shutil.which("sh"))}
    with tempfile.TemporaryDirectory() as place:
        for directory, name, file in (("lib", "libasyncProfiler.so", AGENT), ("bin", "asprof", PROF)):
            os.mkdir(os.path.join(place, directory))
            shutil.copy(os.path.realpath(file), os.path.join(place, directory, name))
        samples, said = start_with("lib/libasyncProfiler.so", place, env=bare)
        want(samples and not said, "%s samples, said %r" % (samples, said))
        with Jvm("Shares", "single") as jvm:
            done = subprocess.run([os.path.join(place, "bin", "asprof"), "-d", "1", "-i", "1ms", "-o",
                                   "collapsed", str(jvm.pid)], stdin=subprocess.DEVNULL, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            want(done.returncode == 0 and total(collapsed(done.stdout)) > 100, done.stderr)


def first_objects():
    """Each object is seen from the first one of the program on, where each is asked for."""
    if java_version() < 11:
        return print("# before JDK 11 it takes debug symbols")
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "out.collapsed")
        java = [java_tool("java"), "-XX:-UseTLAB", "-Xmx256m", "-agentpath:%s=start,event=alloc,alloc=1,"
                "total,file=%s" % (AGENT, out), "-cp", CLASSES, "FirstObjects"]
        done = subprocess.run(java, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              timeout=60, check=True)
        with open(out, encoding="utf-8") as f:
            stacks = collapsed(f.read())
    seen = sum(n for frames, n in stacks if frames[-1] == "byte[]_[i]" and
               frames[-2].endswith("FirstObjects.main"))
    # The VM itself allocates a little, too, for what main refers to.
    want(0 <= seen - int(done.stdout) < 1000, "%d bytes of %s" % (seen, done.stdout))
    want(any("LauncherHelper" in f for frames, _ in stacks for f in frames), "nothing before main")
    want(any("JNI_CreateJavaVM" in frames for frames, _ in stacks), "nothing of the VM's start")


def renamed():
    """A thread has the name that it had last, however short its life."""
    with tempfile.TemporaryDirectory() as place:
        out = os.path.join(place, "out.collapsed")
        subprocess.run([java_tool("java"), *agent("threads", "file=" + out), "-cp", CLASSES, "Renamed"],
                       stdin=subprocess.DEVNULL, check=True, timeout=60)
        with open(out, encoding="utf-8") as f:
            stacks = collapsed(f.read())
    seen = total([s for s in stacks if s[0][0].startswith("[the new name ")])
    want(seen, "no samples of it, but of: %s" % {s[0][0] for s in stacks})
    want(not any("old name" in s[0][0] for s in stacks), "its old name is there")


def still_starting():
    """A JVM that is asked while it touches its heap answers when it has started."""
    with subprocess.Popen([java_tool("java"), "-XX:+AlwaysPreTouch", "-Xms1g", "-Xmx1g", "-cp",
                           CLASSES, "Idle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as java:
        catches = lambda: int(status(java.pid, "SigCgt"), 16) >> 2 & 1
        wait_for(catches, "a handler of SIGQUIT")
        good("-d", 1, "-o", "summary", java.pid)
        java.communicate(timeout=30)


def short_lives():
    """Twenty JVMs that end as soon as they have begun: each has its file when it has ended."""
    with tempfile.TemporaryDirectory() as place:
        for i in range(20):
            samples, said = start_with(AGENT, place)
            want(samples and not said, "%d: %s samples, said %r" % (i, samples, said))
            os.unlink(os.path.join(place, "out"))


def pipe_ends():
    """A reader that stays for a while after the JVM, for more reports, does not keep the pipe open
    that the application wrote to."""
    with subprocess.Popen(
            [java_tool("java"), "-agentpath:%s=start,event=cpu,interval=1ms" % AGENT, "-cp", CLASSES,
             "Idle"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True) as java:
        wait_for(lambda: readers(java.pid), "the reader")
        said, _ = java.communicate(timeout=30)
    for pid in readers(java.pid):
        os.kill(pid, signal.SIGTERM)
    want(java.returncode == 0 and said == "ready\n", "exit %d: %s" % (java.returncode, said))


def bad_options(options, says):
    """A wrong option is named on stderr, and does not keep the application from running."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [java_tool("java"), "-agentpath:%s=start,%s" % (AGENT, options), "-cp", CLASSES,
             "Idle"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=30, check=False, cwd=place)
    want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
    want(done.stdout == "ready\n", "on the application's stdout: " + done.stdout)
    want(says in done.stderr, "does not say %s: %s" % (says, done.stderr))


def watched_as_well():
    """A live look at a JVM whose own reader writes a file is refused, and the file comes all the
    same."""
    with tempfile.TemporaryDirectory() as place, Jvm(
            "Shares", "single", options=agent("file=out.collapsed"), cwd=place) as jvm:
        wait_for(lambda: readers(jvm.pid), "the reader")
        wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
        done = prof("-d", 1, "-o", "collapsed", jvm.pid)
        want(done.returncode == 200 and len(done.stderr.splitlines()) == 1,
             "exit %d: %s" % (done.returncode, done.stderr))
        want(jvm.end() == 0, "exit code")
        complete("out.collapsed", os.path.join(place, "out.collapsed"), 1e9)


def main():
    checks = Checks(fast=("out.svg, exits", "out.collapsed, killed", "several events", "turns",
                          "no file", "found", "pipe ends", "unknown option", "unwritable file",
                          "in its place", "first objects", "renamed"))
    for how in (exits, system_exit, terminated, killed):
        checks.together(*[("%s, %s" % (name, how.__name__), report, name, how)
                          for name in ("out.svg", "out.collapsed")])
    checks.together(("several events", several_events), ("turns", turns),
                    ("reader killed", reader_killed), ("no file", no_file),
                    ("watched as well", watched_as_well), ("found", found),
                    ("short lives", short_lives), ("pipe ends", pipe_ends),
                    ("in its place", in_its_place), ("first objects", first_objects),
                    ("renamed", renamed),
                    ("still starting", still_starting))
    checks.together(("unknown option", bad_options, "event=cpu,nonsense=1,file=x.svg", "nonsense"),
                    ("unknown event", bad_options, "event=nonsense,file=x.svg", "nonsense"),
                    ("unwritable file", bad_options, "event=cpu,file=/nowhere/x.svg", "/nowhere"))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
