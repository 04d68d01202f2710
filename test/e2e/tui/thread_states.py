#!/usr/bin/env python3
# timeout: 240, tier: fast
"""Java states and full names in the threads view, compared with a thread dump of the JDK, for every
JDK that is installed here."""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import CLASSES, JAVA_BIN, Checks, good, records, want, wait_for
from tui import screen

LONG = "invoice-archive-writer-that-has-a-name-of-sixty-characters-1"
STATES = {"spins": "RUNNABLE", "blocks": "BLOCKED", "waits": "WAITING", "sleeps": "TIMED_WAITING",
          LONG: "TIMED_WAITING"}
JAVA_STATE = 16  # core/wire/record.h
WIDE = dict(COLUMNS="240", LINES="60")


def jdks():
    """The JDK in use, and those installed beside it: (version, path)."""
    places = [os.path.dirname(JAVA_BIN)] if JAVA_BIN else []
    places += [p for p in sorted(glob.glob("/usr/lib/jvm/*")) if not os.path.islink(p)]
    if not places:
        places = [os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("java"))))]
    found = {}
    for place in map(os.path.realpath, places):
        java = os.path.join(place, "bin", "java")
        if not os.path.exists(java) or not os.path.exists(os.path.join(place, "bin", "jcmd")):
            continue
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
        version = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
        if version:
            found.setdefault(int(version.group(1)), place)
    return sorted(found.items())


@contextlib.contextmanager
def workload(jdk, *options):
    with subprocess.Popen([os.path.join(jdk, "bin", "java"), "-Xmx128m", *options, "-cp", CLASSES,
                           "ThreadStates"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                          stderr=subprocess.DEVNULL) as jvm:
        try:
            want(jvm.stdout.readline() == b"ready\n", "the workload did not start")
            yield jvm
            want(jvm.poll() is None, "the JVM died")
        finally:
            jvm.kill()


def dumped(jdk, pid):
    """The states that the JDK's own dump shows, by name."""
    dump = subprocess.run([os.path.join(jdk, "bin", "jcmd"), str(pid), "Thread.print"],
                          capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r'^"(.*)" #\d.*\n +java\.lang\.Thread\.State: (\w+)', dump, re.M))


def shown(frame):
    """The states in a frame, by name."""
    head = next(line for line in frame.splitlines() if "JAVA STATE" in line)
    state, name, top = (head.index(word) for word in ("JAVA STATE", " NAME", " TOP METHOD"))
    return {row[name + 1:top].strip(): row[state:].split()[0]
            for row in frame.split(head, 1)[1].splitlines() if row[name:top].strip()}


def every_thread(jdk, pid):
    """The application's threads have the states of the dump, and their whole names."""
    frame = good("--batch", "-n", 1, "--refresh", "2s", "-t", pid, env=dict(os.environ, **WIDE))
    seen, truth = shown(frame), dumped(jdk, pid)
    for name, state in STATES.items():
        want(truth.get(name) == state, "the dump has %s of %s" % (truth.get(name), name))
    own = [name for name in truth if name in STATES or name.startswith("pool-worker-")]
    want(len(own) == 20, "threads of the dump: %s" % sorted(truth))
    for name in own + ["main"]:
        want(seen.get(name) == truth[name], "%s is %s, the dump says %s, in\n%s" %
             (name, seen.get(name), truth[name], frame))


def follows(jvm):
    """A screen shows a change of state soon, pools count their threads, and another screen of the
    same profile shows the same."""
    with screen(220, 50) as s, screen(220, 50) as viewer:
        s.start("--view threads %d" % jvm.pid)
        s.wait(r"^[> ].* (sleep|run) +WAITING .* waits\b")
        jvm.stdin.write(b"run\n")
        s.wait(r"^[> ].* (sleep|run) +RUNNABLE .* waits\b")
        s.keys("d")
        s.wait(r"^[> ] +\(15\) .* 12 WAITING, 3 TIMED_WAITING|"
               r"^[> ] +\(15\) .* 12 WAIT, 3 TIMED .*pool-worker-#")
        viewer.start("--view threads %d" % jvm.pid)
        viewer.wait(r"sampled by \d+")
        viewer.wait(r"^[> ].* RUNNABLE .* waits\b")
        jvm.stdin.write(b"wait\n")
        viewer.wait(r"^[> ].* WAITING .* waits\b")
        s.keys("q")
        viewer.keys("q")
        want(s.code() == 0 and viewer.code() == 0, "exit codes")


def recording(jvm):
    """States are not recorded, and a recording has no column for them."""
    with tempfile.TemporaryDirectory() as place:
        path = os.path.join(place, "a.jtop")
        with screen(220, 50) as s:
            s.start("--view threads --record %s %d" % (path, jvm.pid))
            s.wait(r" BLOCKED .* blocks\b")
            s.keys("q")
            want(s.code() == 0, "exit code")
        types = {kind for kind, _ in records(path)}
        want(2 in types and JAVA_STATE not in types, "types of records: %s" % sorted(types))
        frame = good("--batch", "-n", 1, "-t", path, env=dict(os.environ, **WIDE))
        want("spins" in frame and "JAVA STATE" not in frame, frame)


def main():
    newest = jdks()[-1][0]
    checks = Checks(fast=["states of a thread dump, JDK %d" % version for version, _ in jdks()] +
                    ["a screen and its viewer, JDK %d" % newest, "a recording, JDK %d" % newest])
    if not shutil.which("tmux"):
        print("ok Java states # SKIP needs tmux")
        return 0
    for version, jdk in jdks():
        with workload(jdk) as jvm:
            checks.run("states of a thread dump, JDK %d" % version, every_thread, jdk, jvm.pid)
            checks.run("a screen and its viewer, JDK %d" % version, follows, jvm)
            checks.run("a recording, JDK %d" % version, recording, jvm)
    version, jdk = jdks()[-1]
    for collector in ("-XX:+UseZGC", "-XX:+UseShenandoahGC", "-XX:+UseSerialGC"):
        said = subprocess.run([os.path.join(jdk, "bin", "java"), collector, "-version"],
                              capture_output=True, check=False)
        if said.returncode == 0:
            with workload(jdk, collector) as jvm:
                checks.run("states of a thread dump, %s" % collector, every_thread, jdk, jvm.pid)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
