#!/usr/bin/env python3
# timeout: 240
"""One session of a JVM for everybody who wants to know of it: their engines together, others'
processes, JVMs that hang or die, and the end of all of it.
"""
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from lib import (AGENT, BUILD, Checks, Jvm, Prof, links, prof, read, sampling, threads,
                 traces, wait_for, want)

FLEETER = os.path.join(BUILD, "test", "e2e", "lib", "fleeter")
RUNNING, STOPPED, GONE = 0, 1, 2


class Fleet:
    """test/e2e/lib/fleeter.c at work."""

    def __init__(self, scratch, linger_ms=0):
        self.out = os.path.join(scratch, "fleeter-%d-%d" % (os.getpid(), time.monotonic_ns()))
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen([FLEETER, AGENT, str(linger_ms)],
                                            stdin=subprocess.PIPE, stdout=out,
                                            start_new_session=True)
        self.pid = self.process.pid
        self.seen = 0

    def say(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()

    def hear(self, begin):
        """The next line that begins so; the others are left for who waits for them."""
        def found():
            want(self.process.poll() is None or begin == "ended", "fleeter: %s" % self.process.poll())
            return re.search(r"(?m)^%s\b(.*)\n" % begin, read(self.out)[self.seen:])
        match = wait_for(found, begin)
        return match.group(1).strip()

    def ask(self, *words):
        """Says it and hears the answer; one at a time."""
        self.seen = len(read(self.out))
        self.say(*words)
        return self.hear(words[1] if len(words) > 1 else words[0])

    def good(self, *words):
        answer = self.ask(*words)
        want(answer in ("ok", "left"), "%s: %s" % (words, answer))

    def show(self, user):
        """({"users": 1 …}, {event: (interval, samples)})"""
        answer = self.ask("show", user)
        engines = {name: (int(interval), int(samples)) for name, interval, samples in
                   re.findall(r" ([-\w]+)=(\d+):(\d+)", " " + answer)}
        facts = {name: int(n) for name, n in re.findall(r"(?:^| )(\w+)=(\d+)(?= |$)", answer)}
        return facts, engines

    def intervals(self, user):
        return {name: interval for name, (interval, _) in self.show(user)[1].items()}

    def held(self):
        return [int(pid) for pid in self.ask("held").split()]

    def end(self):
        """Returns how long it took to let go of all, in ms."""
        self.say("end")
        self.process.wait(60)
        want(self.process.returncode == 0, "exit %s" % self.process.returncode)
        return int(re.search(r"ended (\d+) ms", read(self.out)).group(1))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(30)
        self.process.stdin.close()


def jvm():
    return Jvm("Shares", "threads", options=("-Xmx64m", "-XX:+UseSerialGC"))


def attaches(j):
    """How often an agent made a mapping for a reader: one is there at a time."""
    return sum("/memfd:jtop-prof" in target for _, target in links(j.pid))


def gone(j):
    wait_for(lambda: not traces(j.pid), "the agent to let go: %s" % traces(j.pid))
    answer = prof("status", j.pid)
    want("Profiler is not active" in answer.stdout + answer.stderr,
         answer.stdout + answer.stderr)


def users_share(scratch):
    with jvm() as j, Fleet(scratch) as f:
        want(j.pid in [int(pid) for pid in f.ask("jvms").split()], "it is not among the JVMs")
        want(f.ask("as-is", "x", j.pid).startswith("error 2 "), "nobody profiles it yet")
        f.good("enter", "a", j.pid, "cpu=10000000")
        facts, engines = f.show("a")
        want(facts == {"users": 1, "looks_on": 0, "phase": RUNNING, "since": 0}, facts)
        want({name: i for name, (i, _) in engines.items()} == {"cpu": 10000000}, engines)
        entered = time.clock_gettime(time.CLOCK_MONOTONIC)
        f.good("enter", "b", j.pid, "cpu=2000000", "wall=20000000")
        facts, engines = f.show("b")
        want(facts["users"] == 2 and facts["since"] > int(entered), facts)
        want(f.intervals("b") == {"cpu": 2000000, "wall": 20000000}, engines)
        want(f.show("a")[0]["since"] == 0 and attaches(j) == 1, "it was begun anew")
        wait_for(lambda: f.show("b")[1]["wall"][1] > 50, "samples")
        f.good("as-is", "c", j.pid)
        f.good("rewant", "b", "cpu=5000000", "wall=20000000")
        want(f.intervals("a") == {"cpu": 5000000, "wall": 20000000}, f.intervals("a"))
        f.good("leave", "b")
        want(f.intervals("a") == {"cpu": 10000000}, f.intervals("a"))
        f.good("leave", "a")
        want(f.intervals("c") == {"cpu": 10000000}, "who takes it as it is has it as it was")
        want(f.held() == [j.pid], "it is held")
        f.good("leave", "c")
        wait_for(lambda: f.held() == [], "it to be let go")
        gone(j)
        f.good("enter", "d", j.pid, "cpu=10000000")
        for _ in range(3):  # one after another, each with a profile of its own
            f.good("renew", "d", j.pid, "cpu=10000000")
            want(f.show("d")[0]["since"] == 0, "the last one's profile goes on")
        f.end()
        gone(j)


def wrong_wants(scratch):
    """What one cannot have does not disturb the other."""
    with jvm() as j, Fleet(scratch) as f:
        f.good("enter", "a", j.pid, "cpu=10000000")
        f.good("enter", "m", j.pid, "Shares.noSuchMethod", "cpu=10000000")
        for user, events in (("b", ["Shares.other", "cpu=1000000"]), ("c", ["cpu", "cpu"])):
            answer = f.ask("enter", user, j.pid, *events)
            want(re.match(r"error (16|22) \S", answer), answer)
        want("cpu" in f.intervals("a") and f.intervals("a")["cpu"] == 10000000, f.intervals("a"))
        want(f.show("a")[0]["users"] == 2, "who was refused is no user")
        answer = f.ask("rewant", "a", "Shares.other")
        want(answer.startswith("error 16 ") and "noSuchMethod" in answer, answer)
        want(f.intervals("a")["cpu"] == 10000000, "as before")
        answer = f.ask("enter", "d", os.getpid(), "cpu")
        want(answer.startswith("error "), answer)
        want(f.ask("enter", "e", 2 ** 22 - 1, "cpu").startswith("error 3 "), "no such process")
        f.end()
        gone(j)


def looks_on(scratch):
    """Somebody else's profile: we look on, add to it, give that back, and go on when he ends."""
    with jvm() as j, Fleet(scratch) as f, \
            Prof(scratch, "-d", 600, "-i", "20ms", "-o", "collapsed", j.pid) as other:
        wait_for(lambda: sampling(j.pid) and prof("status", j.pid).returncode == 0, "it to begin")
        f.good("enter", "a", j.pid, "wall=20000000")
        facts, _ = f.show("a")
        want(facts["looks_on"] == 1 and facts["since"] > 0, facts)
        wait_for(lambda: f.intervals("a") == {"cpu": 20000000, "wall": 20000000}, "both events")
        f.good("enter", "b", j.pid, "cpu=5000000")
        wait_for(lambda: f.intervals("a") == {"cpu": 5000000, "wall": 20000000}, "the finer one")
        f.good("leave", "b")
        wait_for(lambda: f.intervals("a") == {"cpu": 20000000, "wall": 20000000}, "it to be taken back")
        f.good("leave", "a")
        wait_for(lambda: f.held() == [], "it to be let go")
        f.good("as-is" if f.held() else "enter", "c", j.pid, "cpu=20000000")
        wait_for(lambda: f.intervals("c") == {"cpu": 20000000}, "the other one to have it as it was")
        want(other.process.poll() is None and attaches(j) == 1, "the other one goes on")
        other.process.kill()
        other.process.wait(30)
        wait_for(lambda: f.show("c")[0]["looks_on"] == 0, "it to be ours")
        before = f.show("c")[1].get("cpu", (0, 0))[1]
        wait_for(lambda: f.show("c")[1].get("cpu", (0, 0))[1] > before, "samples")
        f.end()
        gone(j)


def looked_on(scratch):
    """A screen looks on at ours; what it adds is not ours to take away."""
    with jvm() as j, Fleet(scratch) as f:
        f.good("enter", "a", j.pid, "cpu=10000000")
        with Prof(scratch, "--batch", "-n", 1000, "--refresh", "300ms", "-e", "wall", j.pid) as two:
            wait_for(lambda: " sampled by %d" % f.pid in two.stdout(), "it looks on")
            wait_for(lambda: set(f.intervals("a")) == {"cpu", "wall"}, "its event")
            f.good("enter", "b", j.pid, "cpu=5000000")
            f.good("leave", "b")
            want(set(f.intervals("a")) == {"cpu", "wall"} and f.intervals("a")["cpu"] == 10000000,
                 f.intervals("a"))
        f.end()
        gone(j)


def lingers(scratch):
    with jvm() as j, Fleet(scratch, linger_ms=3000) as f:
        f.good("enter", "a", j.pid, "cpu=10000000")
        wait_for(lambda: f.show("a")[1]["cpu"][1] > 20, "samples")
        seen = f.show("a")[1]["cpu"][1]
        f.good("leave", "a")
        want(f.held() == [j.pid], "it is let go at once")
        f.good("enter", "b", j.pid, "cpu=10000000")
        facts, engines = f.show("b")
        want(engines["cpu"][1] >= seen and facts["since"] > 0, "it was begun anew")
        f.good("leave", "b")
        wait_for(lambda: f.held() == [], "it to be let go")
        gone(j)
        f.good("enter", "c", j.pid, "cpu=10000000")
        want(f.show("c")[0]["since"] == 0, "a new one")
        f.good("leave", "c")
        # What cannot be had, or nobody wants any more, is in nobody's way.
        want(re.match(r"error (?!16 )\d", f.ask("enter", "d", j.pid, "trace:999999")), read(f.out))
        for event in ("Shares$A.a50", "Shares$B.b25"):
            f.good("enter", "e", j.pid, event)
            f.good("leave", "e")
        f.end()
        gone(j)


def jvm_dies(scratch):
    with jvm() as j, jvm() as other, Fleet(scratch) as f:
        f.good("enter", "a", j.pid, "cpu=10000000")
        f.good("enter", "o", other.pid, "cpu=10000000")
        wait_for(lambda: f.show("a")[1]["cpu"][1] > 20, "samples")
        j.kill()
        wait_for(lambda: f.show("a")[0]["phase"] == GONE, "it to be noticed")
        want(f.ask("enter", "b", j.pid, "cpu").startswith("error 3 "), "it is gone")
        f.good("as-is", "c", j.pid)
        want(f.show("c")[0]["users"] == 2, "its profile is there")
        f.good("leave", "c")
        f.good("leave", "a")
        wait_for(lambda: f.held() == [other.pid], "it to be let go")
        want(f.show("o")[0]["phase"] == RUNNING, "the other one goes on")
        f.end()
        gone(other)


def deafen(stack, j):
    """Whoever wants to attach to it waits behind us, who say nothing."""
    with Fleet(tempfile.gettempdir()) as f:  # so that it listens
        stack.callback(os.unlink, f.out)
        f.good("enter", "a", j.pid, "cpu")
        f.end()
    gone(j)
    s = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
    s.connect("/tmp/.java_pid%d" % j.pid)


def hung(scratch):
    """One JVM does not answer: the others do not wait for that, nor does the end."""
    with contextlib.ExitStack() as stack:
        one, two, deaf, later = (stack.enter_context(jvm()) for _ in range(4))
        f = stack.enter_context(Fleet(scratch))
        deafen(stack, deaf)
        f.good("enter", "l", later.pid, "cpu=10000000")
        f.seen = len(read(f.out))
        f.say("enter", "s", deaf.pid, "cpu")
        f.say("enter", "a", one.pid, "cpu")
        f.say("enter", "b", two.pid, "cpu")
        want(f.hear("a") == "ok" and f.hear("b") == "ok", read(f.out))
        f.say("held")
        want(f.hear("held").split() == sorted(map(str, (one.pid, two.pid, later.pid)), key=int),
             read(f.out))
        f.say("jvms")
        want(str(deaf.pid) in f.hear("jvms").split(), read(f.out))
        want(not re.search(r"(?m)^s ", read(f.out)), "they waited for the one that does not answer")
        answer = f.hear("s")
        want(answer.startswith("error "), answer)
        begin = time.monotonic()
        want(f.ask("enter", "s", deaf.pid, "cpu") == answer, "it is another error now")
        want(time.monotonic() - begin < 5, "a JVM that did not answer was asked again at once")
        f.end()
        gone(one)
        gone(two)
        gone(later)


def stop(j):
    """Each thread of it stands still."""
    os.kill(j.pid, signal.SIGSTOP)
    wait_for(lambda: all(re.search(r"^State:\tT", read("/proc/%d/task/%d/status" % (j.pid, tid)), re.M)
                         for tid in threads(j.pid)), "it to stop")


def end_with_hung(scratch, *jvms):
    """How long it takes to let go of JVMs that are stopped, in ms."""
    with Fleet(scratch) as f:
        for i, j in enumerate(jvms):
            f.good("enter", "u%d" % i, j.pid, "cpu=10000000")
        for j in jvms:
            stop(j)
        try:
            took = f.end()
        finally:
            for j in jvms:
                os.kill(j.pid, signal.SIGCONT)
    for j in jvms:
        gone(j)
    return took


def many_end(scratch):
    """To let go of four that hang takes as long as to let go of one."""
    with contextlib.ExitStack() as stack:
        jvms = [stack.enter_context(jvm()) for _ in range(4)]
        one, four = end_with_hung(scratch, jvms[0]), end_with_hung(scratch, *jvms)
        want(four < 2 * one, "%d ms for one, %d ms for four" % (one, four))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        for name, check in (("users share one session", users_share),
                            ("what cannot be had", wrong_wants),
                            ("another process profiles it", looks_on),
                            ("another process looks on", looked_on),
                            ("it lingers", lingers), ("the JVM dies", jvm_dies),
                            ("a JVM hangs", hung), ("many hang at the end", many_end)):
            checks.run(name, check, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
