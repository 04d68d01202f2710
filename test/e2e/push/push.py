#!/usr/bin/env python3
# timeout: 300, tier: fast
"""Continuous profiling of real JVMs. What a receiver got is read with OpenTelemetry's own definitions:
windows follow each other, their weights add up to the CPU time that the JVM used by its own clock,
and neither a receiver that is killed for a while, nor the end of the JVM or ours, loses or doubles
one. SECONDS_DEAD says how long the receiver is away (6)."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import otlp_official
from lib import Checks, Jvm, Prof, burn, difference, wait_for, want
from push_receiver import Receiver

DEAD = float(os.environ.get("SECONDS_DEAD", "6"))
EVERY = 1  # seconds
NS = 10 ** 9
SUM_PERCENT = 4.0
POINTS = 4.0


class Clock(threading.Thread):
    """A process's CPU clock, noted all the time beside the clock that samples are stamped with."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.clock = ~pid << 3 | 2  # as clock_getcpuclockid has it
        self.notes, self.going = [], True
        self.start()

    def run(self):
        while self.going:
            try:
                self.notes.append((time.clock_gettime_ns(time.CLOCK_MONOTONIC),
                                   time.clock_gettime_ns(self.clock)))
            except OSError:
                return
            time.sleep(0.005)

    def at(self, when):
        """CPU time used until then, between two notes."""
        for (t, used), (later, more) in zip(self.notes, self.notes[1:]):
            if t <= when <= later:
                return used + (more - used) * (when - t) / (later - t)
        return self.notes[-1][1]

    def end(self):
        self.going = False
        self.join()
        return self


class Window:
    """What one message says of CPU time."""

    def __init__(self, post):
        request = otlp_official.request(post.body)
        want(not otlp_official.unknown(request), "fields that OTLP does not have")
        want(post.path == "/v1development/profiles", "to " + post.path)
        want(post.headers["content-type"] == "application/x-protobuf", str(post.headers))
        found = otlp_official.profiles(request)
        self.who = found[0][0]
        want(all(who == self.who for who, _ in found), "several resources")
        cpu = [p for _, p in found if otlp_official.kind(request, p) == ("cpu", "nanoseconds")]
        want(len(cpu) == 1, "kinds: %s" % [otlp_official.kind(request, p) for _, p in found])
        self.start = cpu[0].time_unix_nano
        self.end = self.start + cpu[0].duration_nano
        self.weight = sum(s.values[0] for s in cpu[0].samples)
        self.shares = {}
        for s in cpu[0].samples:
            for name in otlp_official.stack(request, s):
                hot = re.fullmatch(r"Shares\$\w\.([a-d]\d\d)", name)
                if hot:
                    self.shares[hot[1]] = self.shares.get(hot[1], 0) + s.values[0]


def windows(receiver, pid=None):
    all_of_them = [Window(p) for p in receiver.posts()]
    return sorted((w for w in all_of_them if pid in (None, w.who["process.pid"])),
                  key=lambda w: w.start)


def follow_each_other(found):
    for a, b in zip(found, found[1:]):
        want(a.end == b.start, "a window ends at %d, the next begins at %d"
             % (a.end // NS, b.start // NS))


def samples_clock(day):
    """A window's time of day as the clock of samples has it: they differ by whole seconds."""
    now = time.clock_gettime_ns(time.CLOCK_REALTIME)
    return day - round((now - time.clock_gettime_ns(time.CLOCK_MONOTONIC)) / NS) * NS


def add_up(found, clock):
    """From the second window on, all of which were sampled from their beginning to their end."""
    whole = found[1:-1]
    used = clock.at(samples_clock(whole[-1].end)) - clock.at(samples_clock(whole[0].start))
    sent = sum(w.weight for w in whole)
    off = 100.0 * (sent - used) / used
    print("# %d windows, %.2f s of CPU time, sent %+.2f %%" % (len(whole), used / NS, off))
    want(abs(off) <= SUM_PERCENT, "%.3f s were used, %.3f s sent" % (used / NS, sent / NS))


def shares_are(found, truth):
    seen = {}
    for w in found:
        for name, weight in w.shares.items():
            seen[name] = seen.get(name, 0) + weight
    total = sum(seen.values())
    for name, percent in truth.items():
        want(abs(100.0 * seen.get(name, 0) / total - percent) <= POINTS,
             "%s is %.1f %%, seen %.1f %%" % (name, percent, 100.0 * seen.get(name, 0) / total))


def push(scratch, receiver, *args, every=EVERY):
    return Prof(scratch, "push", "--to", receiver.url(), "--every", "%ds" % every, "-i", "2ms",
                *args)


def posts(receiver, more_than=0):
    return wait_for(lambda: len(receiver.posts()) > more_than and len(receiver.posts()),
                    "more than %d windows" % more_than, 60)


def ends_well(p, what):
    wait_for(lambda: p.process.poll() is not None, "push to end " + what, 60)
    want(p.process.returncode == 0, "exit %s: %s" % (p.process.returncode, p.stderr()))


def dead_receiver(scratch):
    """Killed in the middle, between two windows; what was sampled meanwhile arrives later."""
    with Receiver(os.path.join(scratch, "dead")) as receiver, Jvm("Shares", "single") as jvm:
        clock = Clock(jvm.pid)
        with push(scratch, receiver, "--spool", os.path.join(scratch, "spool"), jvm.pid) as p:
            posts(receiver)
            before = jvm.truth()
            n = posts(receiver, 3)
            posts(receiver, n)  # one came this moment: the next is most of a second away
            receiver.kill()
            time.sleep(DEAD)
            had = len(receiver.posts())
            receiver.start()
            posts(receiver, int(had + DEAD / EVERY + 3))
            truth = difference(before, jvm.truth())
            p.process.send_signal(signal.SIGTERM)
            ends_well(p, "when told to")
            said = p.stderr()
        clock.end()
        found = windows(receiver)
        follow_each_other(found)
        add_up(found, clock)
        shares_are(found, truth)
        told = [line for line in said.splitlines()
                if receiver.url() in line and "pushing" not in line]
        want(1 <= len(told) <= 3, "of the receiver: %s" % told)
        want("%d sent, 0 refused, 0 lost" % len(found) in said, said)


def jvm_killed(scratch):
    """kill -9: what it had sampled is sent, and push of that one JVM is over."""
    with Receiver(os.path.join(scratch, "killed")) as receiver, Jvm("Shares", "single") as jvm:
        clock = Clock(jvm.pid)
        with push(scratch, receiver, jvm.pid) as p:
            posts(receiver, 2)
            burn(jvm.pid, 0.5)
            jvm.process.kill()
            end = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            jvm.process.wait()
            ends_well(p, "with the JVM")
        clock.end()
        found = windows(receiver)
        follow_each_other(found)
        last = samples_clock(found[-1].end)
        want(abs(last - end) <= 3 * NS, "the last window ends %.2f s off" % ((last - end) / NS))
        used = clock.notes[-1][1] - clock.at(samples_clock(found[1].start))
        sent = sum(w.weight for w in found[1:])
        print("# to the end: %.2f s of CPU time, sent %+.2f %%"
              % (used / NS, 100.0 * (sent - used) / used))
        want(abs(sent - used) <= 0.08 * used + NS / 20, "%.3f s were used, %.3f s sent"
             % (used / NS, sent / NS))


def labels(scratch):
    """What the JVM says of itself, and what the user says, who has the last word. The window is an
    hour long: what there is of it is sent when push is told to end."""
    environment = dict(os.environ, OTEL_SERVICE_NAME="shop",
                       OTEL_RESOURCE_ATTRIBUTES="deployment.environment=test,team=a%2Cb")
    with Receiver(os.path.join(scratch, "labels")) as receiver, \
            Jvm("Shares", "single", env=environment) as jvm:
        with push(scratch, receiver, "--label", "team=c", "--label", "pod=web-1", jvm.pid,
                  every=3600) as p:
            wait_for(lambda: "): profiled" in p.stderr(), "it to be profiled")
            burn(jvm.pid, 2)
            p.process.send_signal(signal.SIGINT)
            ends_well(p, "when told to")
        found = windows(receiver)
        want(found and sum(w.weight for w in found) > NS / 20, "what there was is not sent")
        who = found[0].who
    expected = {"service.name": "shop", "deployment.environment": "test", "team": "c",
                "k8s.pod.name": "web-1", "process.pid": jvm.pid}
    want(expected.items() <= who.items(), "labels: %s" % who)
    want("process.runtime.version" in who and "host.name" in who, "labels: %s" % who)


def come_and_go(scratch):
    """Every JVM: one that comes is taken up, one that ends is let go of with its last samples."""
    with Receiver(os.path.join(scratch, "roster")) as receiver, Jvm("Shares", "single") as first, \
            push(scratch, receiver, "--all-jvms") as p:
        wait_for(lambda: windows(receiver, first.pid), "the first JVM", 60)
        with Jvm("Shares", "single") as second:
            wait_for(lambda: len(windows(receiver, second.pid)) > 2, "the second JVM", 60)
            second.process.kill()
            killed = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        wait_for(lambda: "pid %d): ended" % second.pid in p.stderr(), "its end to be said", 30)
        n = len(windows(receiver, first.pid))
        wait_for(lambda: len(windows(receiver, first.pid)) > n, "the first to go on", 30)
        p.process.send_signal(signal.SIGTERM)
        told = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        ends_well(p, "when told to")
        for pid, end in ((first.pid, told), (second.pid, killed)):
            found = windows(receiver, pid)
            follow_each_other(found)
            last = samples_clock(found[-1].end)
            want(abs(last - end) <= 3 * NS, "%d: %.2f s off" % (pid, (last - end) / NS))


def no_library(scratch):
    """What cannot be attached to is said, also where something is missing that is not the JVM."""
    with Receiver(os.path.join(scratch, "none")) as receiver, Jvm("Shares", "single") as jvm, \
            push(scratch, receiver, "--all-jvms", "--libpath", scratch + "/none.so") as p:
        wait_for(lambda: "pid %d): not profiled: " % jvm.pid in p.stderr(), "why it is not", 60)
        p.process.send_signal(signal.SIGTERM)
        ends_well(p, "when told to")


def alone():
    """With a process table of our own: other JVMs of this machine are none of our business."""
    return subprocess.run(["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc",
                           sys.executable, os.path.abspath(__file__), "--alone"],
                          check=False).returncode


def main():
    checks = Checks(fast=("a receiver that is killed for a while", "labels"))
    with tempfile.TemporaryDirectory(prefix="jtop-push-") as scratch:
        if "--alone" in sys.argv:
            checks.run("every JVM: they come and go", come_and_go, scratch)
            checks.run("a JVM that cannot be profiled", no_library, scratch)
            return checks.code()
        otlp_official.module()
        checks.run("a receiver that is killed for a while", dead_receiver, scratch)
        checks.run("a JVM that is killed", jvm_killed, scratch)
        checks.run("labels", labels, scratch)
        other = alone()
    return checks.code() or other


if __name__ == "__main__":
    sys.exit(main())
