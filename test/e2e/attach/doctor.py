#!/usr/bin/env python3
# timeout: 240, tier: fast
"""jtop-prof doctor: each thing that keeps a JVM from being profiled is found with its fact and its
remedy, in the words of what fails then; and the JVM is not touched by it."""
import json
import os
import select
import signal
import subprocess
import sys
import tempfile

import lib
from lib import (Checks, Jvm, Prof, Skip, armed, fds, good, java_version, mapped, prof, status,
                 threads, wait_for, want)
import oci

NOBODY = 65534
JDKS = os.environ.get("JDKS_DIR", os.path.expanduser("~/.cache/jtop-prof/jdks"))
LEVELS = ("ok", "note", "warning", "failure")


class Report:
    """What it says of a JVM, or of the machine."""

    def __init__(self, done):
        want(done.returncode in (0, 1) and not done.stderr, "exit %d: %s" % (done.returncode,
                                                                            done.stderr))
        said = json.loads(done.stdout)
        self.verdict, self.all = said["verdict"], said["findings"]
        self.by_id = {f["id"]: f for f in self.all}
        want(len(self.by_id) == len(self.all), "an id comes twice")
        for f in self.all:
            want(f["title"] and f["fact"] and f["level"] in LEVELS, str(f))
            want(f["level"] in ("ok", "note") or f["remedy"] or f["id"] in ("process", "attach"),
                 "no remedy: %s" % f)
        count = {level: sum(f["level"] == level for f in self.all) for level in LEVELS}
        want((count["failure"], count["warning"]) == (said["failures"], said["warnings"]),
             str(said))
        want(said["can_be_profiled"] == (count["failure"] == 0) == (done.returncode == 0),
             str(said))

    def want(self, name, level, *parts):
        f = self.by_id.get(name)
        want(f, "no finding %s" % name)
        want(f["level"] in level.split("|"), "%s: %s" % (name, f))
        for part in parts:
            want(part in f["fact"] + " -> " + f["remedy"],
                 "%s: not in it: %s: %s" % (name, part, f))

    def only(self, *names):
        """No others fail."""
        failed = [f["id"] for f in self.all if f["level"] == "failure"]
        want(sorted(failed) == sorted(names), "failures: %s" % failed)


def doctor(*args, **kwargs):
    return Report(prof("doctor", "--json", *args, **kwargs))


def failing(pid, name):
    r = doctor(pid)
    return r.by_id[name]["level"] == "failure" and r


def same_words(report, pid, **kwargs):
    """What it said is what trying says."""
    done = prof("-d", 1, pid, **kwargs)
    reason = report.verdict.split(": ", 1)[1]
    want(done.returncode == 1 and reason in done.stderr, "%s\nis not: %s" % (reason, done.stderr))


def marks(jvm):
    """What an attach, or only asking for one, would change."""
    return {"fds": fds(jvm.pid), "threads": sorted(threads(jvm.pid).values()),
            "files": sorted(set(mapped(jvm.pid))), "caught": status(jvm.pid, "SigCgt"),
            "socket": os.path.exists("/tmp/.java_pid%d" % jvm.pid),
            "trigger": os.path.exists("/proc/%d/cwd/.attach_pid%d" % (jvm.pid, jvm.pid))}


def healthy():
    with Jvm("Idle", stderr=subprocess.STDOUT) as jvm:
        before = marks(jvm)
        r = doctor(jvm.pid)
        r.only()
        for name in ("process", "user", "proc-access", "architecture", "jdk", "attach-mechanism",
                     "tmp", "attach-listener", "agent-place", "signals"):
            r.want(name, "ok")
        r.want("jdk", "ok", str(java_version()))
        r.want("vm", "ok", "Server VM")
        r.want("libc", "ok", "glibc 2.", "libc.so.6")
        r.want("debug-info", "note", "DebugNonSafepoints", "--precise")
        text = good("doctor", jvm.pid)
        want(text.startswith("This machine\n") and "\nJVM %d Idle\n" % jvm.pid in text, text)
        want(text.splitlines()[-1].startswith("can be profiled"), text)
        want("\033" not in text, "colours in a pipe")
        after = marks(jvm)
        for what, was in before.items():
            want(what == "threads" or after[what] == was,
                 "%s: %s, was %s" % (what, after[what], was))
        want("Attach Listener" not in after["threads"], "it was asked to listen")
        want(not select.select([jvm.process.stdout], [], [], 0)[0], "it printed something")


def machine():
    r = doctor()
    want({f["about"] for f in r.all} == {"machine"}, "it is not about the machine")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        r.want("perf-paranoid", "ok|note|warning", f.read().strip(), "perf_event_paranoid)")
    for name in ("kernel", "agent-library", "perf-open", "perf-pmu", "kptr-restrict", "seccomp",
                 "yama", "hidepid", "clock", "tracefs", "security-modules", "output-directory"):
        want(name in r.by_id, "no " + name)
    want(lib.AGENT in r.by_id["agent-library"]["fact"], "another agent")
    want(r.verdict.startswith("JVMs can be profiled"), r.verdict)


def unprivileged():
    """Nobody's own view of the machine: no right to perf_events."""
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        strict = int(f.read()) > 1
    r = doctor(user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
    r.want("output-directory", "note", "Permission denied")
    r.want("self", "ok", "uid %d" % NOBODY)
    if strict:
        r.want("perf-paranoid", "warning", "sysctl kernel.perf_event_paranoid=1")
        r.want("perf-open", "warning", "errno 13")


def disabled():
    with Jvm("Idle", options=["-XX:+DisableAttachMechanism"]) as jvm:
        r = doctor(jvm.pid)
        r.only("attach-mechanism")
        r.want("attach-mechanism", "failure", "DisableAttachMechanism", "its command line")
        same_words(r, jvm.pid)
    environment = dict(os.environ, JAVA_TOOL_OPTIONS="-XX:+DisableAttachMechanism")
    with Jvm("Idle", stderr=subprocess.DEVNULL, env=environment) as jvm:
        doctor(jvm.pid).want("attach-mechanism", "failure", "JAVA_TOOL_OPTIONS")


def no_agents():
    """Also where a file says it that the command line names."""
    if java_version() < 9:
        raise Skip("JDK 8 has no such flag")
    with Jvm("Idle", options=["-XX:-EnableDynamicAgentLoading"]) as jvm:
        r = doctor(jvm.pid)
        r.only("agent-loading")
        r.want("agent-loading", "failure", "-XX:-EnableDynamicAgentLoading", "-agentpath")
        reason = "was started with -XX:-EnableDynamicAgentLoading: restart it without this flag, or"
        said = prof("-d", 1, jvm.pid).stderr
        want(reason in r.verdict and reason in said, "%s\n%s" % (r.verdict, said))
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "options")
        with open(path, "w", encoding="ascii") as f:
            f.write("-Xmx64m\n-XX:-EnableDynamicAgentLoading\n-XX:+UnlockDiagnosticVMOptions\n"
                    "-XX:+DebugNonSafepoints\n-XX:MaxJavaStackTraceDepth=0\n")
        with Jvm("Idle", options=["@" + path]) as jvm:
            r = doctor(jvm.pid)
            r.want("agent-loading", "failure", "a file its command line names")
            r.want("debug-info", "ok", "-XX:+DebugNonSafepoints")
            r.want("stack-depth", "note", "not above 0")


def no_data():
    with Jvm("Idle", options=["-XX:-UsePerfData"]) as jvm:
        r = doctor(jvm.pid)
        r.only()
        r.want("perf-data", "note", "-XX:-UsePerfData")
        r.want("jdk", "ok|note", "release file")


def stopped():
    with Jvm("Idle") as jvm:
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            wait_for(lambda: status(jvm.pid, "State") == "T", "the JVM to stand still")
            r = doctor(jvm.pid)
            r.only("process")
            r.want("process", "failure", "/proc/%d/stat" % jvm.pid, "kill -CONT %d" % jvm.pid)
            same_words(r, jvm.pid)
        finally:
            os.kill(jvm.pid, signal.SIGCONT)


def few_signals():
    """With -Xrs it listens from its start on; until somebody tidies its /tmp up."""
    with Jvm("Idle", options=["-Xrs"]) as jvm:
        doctor(jvm.pid).want("attach-listener", "ok", "listens at /tmp/.java_pid%d" % jvm.pid)
        os.unlink("/tmp/.java_pid%d" % jvm.pid)
        r = wait_for(lambda: failing(jvm.pid, "attach-listener"), "it to be old enough")
        r.only("attach-listener")
        r.want("attach-listener", "failure", "SIGQUIT", "SigCgt", "-Xrs in its command line")
        same_words(r, jvm.pid)
        want(jvm.alive(), "it is dead")


def removed():
    with Jvm("Idle") as jvm:
        good("jcmd", jvm.pid, "VM.version")
        os.unlink("/tmp/.java_pid%d" % jvm.pid)
        r = doctor(jvm.pid)
        r.want("attach-listener", "note|failure", "was removed", "/proc/%d/net/unix" % jvm.pid,
               "exclude /tmp/.java_pid*")
        want(prof("-d", 1, jvm.pid).returncode == (0 if "can be" in r.verdict else 1), r.verdict)


def not_a_socket():
    with Jvm("Idle") as jvm:
        with open("/tmp/.java_pid%d" % jvm.pid, "w", encoding="ascii"):
            pass
        r = doctor(jvm.pid)
        r.only("attach-listener")
        r.want("attach-listener", "failure", "is not a socket", "remove it")
        same_words(r, jvm.pid)


def other_user():
    nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
    with Jvm("Idle") as jvm:
        r = doctor(jvm.pid, **nobody)
        r.want("user", "failure", "uid 0", "uid %d" % NOBODY, "as root")
        r.want("proc-access", "failure", "Permission denied")
        r.want("architecture", "note", "not known", "Permission denied")
        r.want("attach-mechanism", "ok|note")
        want("runs as uid 0" in r.verdict and "uid %d" % NOBODY in r.verdict, r.verdict)
        rows = json.loads(good("--list", "--json", **nobody))
        row = next(j for j in rows if j["pid"] == jvm.pid)
        want(row["can_be_attached"] is False and "run as user" in row["reason"], str(row))


def others():
    """What is no JVM, or no more."""
    r = doctor(os.getpid())
    r.only("process")
    r.want("process", "failure", "is not a JVM")
    child = subprocess.Popen(["true"])
    try:
        wait_for(lambda: status(child.pid, "State") == "Z", "its end")
        doctor(child.pid).want("process", "failure", "has ended")
    finally:
        child.wait()
    doctor(child.pid).want("process", "failure", "no process %d" % child.pid)
    done = prof("doctor", "no-such-name")
    want(done.returncode == 1 and "jtop-prof: no" in done.stderr, done.stderr)


def held():
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        with Prof(scratch, "-d", 60, "-o", "flat", jvm.pid) as holder:
            wait_for(lambda: armed(jvm.pid), "sampling")
            doctor(jvm.pid).want("reader", "note", "process %d " % holder.pid, "joins as viewer")


def few_descriptors():
    with Jvm("Threads", 200, "busy-a", before=["prlimit", "--nofile=300:300"]) as jvm:
        doctor(jvm.pid).want("jvm-descriptors", "warning", "300 for 2", "ulimit -n")


def listed():
    """--list says why not, in short and at length."""
    with Jvm("Idle", options=["-XX:+DisableAttachMechanism"]) as jvm:
        text = good("--list")
        want(any(line.split()[0] == str(jvm.pid) and "[disabled]" in line
                 for line in text.splitlines()), text)
        want("[disabled] JVM %d (Idle) was started with" % jvm.pid in text, text)


def other_jdks():
    for number in (8, 21):
        if not os.path.exists(os.path.join(JDKS, str(number), "bin", "java")):
            print("# no JDK %d here (.ci/jdks %d sets one up)" % (number, number))
            continue
        before, lib.JAVA_BIN = lib.JAVA_BIN, os.path.join(JDKS, str(number), "bin")
        try:
            with Jvm("Idle", stderr=subprocess.DEVNULL) as jvm:
                r = doctor(jvm.pid)
        finally:
            lib.JAVA_BIN = before
        r.only()
        r.want("jdk", "ok", "%d (" % number)
        if number == 8:
            r.want("vm-symbols", "ok|warning", "libjvm.so")
        else:
            r.want("agent-loading", "note", "prints a warning", "-XX:+EnableDynamicAgentLoading")


# ---- containers ----

def another_user():
    """A container of its own user, and quota; its file system takes the agent."""
    with oci.Container("Shares", "single", userns=True, quota=0.5) as c:
        r = doctor(c.pid)
        r.only()
        r.want("namespaces", "ok", "pid, mnt, user, net", "process 1 there")
        r.want("user", "ok", "uid %d" % (oci.MAPPED + oci.USER), "may switch to it")
        r.want("agent-place", "ok", "a copy in its /tmp")
        r.want("tmp", "ok", "different from ours")
        r.want("cpu-quota", "ok|warning", "0.50 CPUs")
        r.want("perf-jvm", "ok", "opens perf_events for it")
        want(c.files() == [], "it left %s" % c.files())


def no_place():
    with oci.Container("Shares", "single", tmp="noexec") as c:
        doctor(c.pid).want("agent-place", "ok", "a copy in its /var/tmp", "/tmp: mounted noexec")
    with oci.Container("Shares", "single", readonly=True, tmp="noexec") as c:
        r = doctor(c.pid)
        r.only("agent-place")
        r.want("agent-place", "failure", "/tmp: mounted noexec", "/var/tmp: Read-only", "tmpfs")
        want("no directory where JVM" in r.verdict, r.verdict)
        want("no directory where JVM" in prof("-d", 1, c.pid).stderr, "trying says something else")
    with oci.Container("Shares", "single", readonly=True, tmp=None) as c:
        r = doctor(c.pid)
        r.only("agent-place", "tmp")
        r.want("tmp", "failure", "read-only", "a writable /tmp")


def inside():
    """From inside, as its own user, where a filter denies perf_event_open."""
    with oci.Container("Shares", "single", deny=["perf_event_open"], inside=True) as c:
        r = Report(c.run(oci.INSIDE + "/jtop-prof", "doctor", "--json", "1"))
        r.only()
        r.want("perf-open", "warning", "errno 1", "seccomp")
        r.want("seccomp", "note", "a filter", "perf_event_open")
        r.want("self-namespaces", "note", "pid")
        r.want("jvm-seccomp", "ok", "by a filter")
        r.want("perf-jvm", "warning|note", "ctimer")
        r.want("terminal", "note", "TERM=")
        r = doctor(c.pid)  # and from the host
        r.want("jvm-seccomp", "ok", "by a filter")
        r.want("perf-jvm", "ok", "opens perf_events for it")


DOCKERS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID", "KILL", "SYS_CHROOT")


def root_inside():
    """Root in a container has not all rights there: not that to look into another's process."""
    with oci.Container("Shares", "single", inside=True, caps=DOCKERS) as c:
        r = Report(c.run(oci.INSIDE + "/jtop-prof", "doctor", "--json", "1", user=0, caps=DOCKERS))
        r.only("proc-access")
        r.want("self", "ok", "uid 0 with CAP_SETUID")
        r.want("proc-access", "failure", "/proc/1/root: Permission denied", "CAP_SYS_PTRACE")
        r.want("perf-paranoid", "ok|warning", "perf_event_paranoid")
        want("belongs to uid 1000" in r.verdict and "CAP_SYS_PTRACE" in r.verdict, r.verdict)


def main():
    checks = Checks()
    checks.together(*[(f.__doc__ or f.__name__.replace("_", " "), f) for f in (
        few_signals, machine, unprivileged, disabled, no_agents, no_data, stopped, removed,
        not_a_socket, other_user, others, held, few_descriptors, listed)])
    checks.run("a healthy JVM is not touched", healthy)
    checks.run("other JDKs", other_jdks)
    checks.together(("a container of another user", another_user),
                    ("no place for the agent", no_place), ("inside a container", inside),
                    ("root inside a container", root_inside))
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
