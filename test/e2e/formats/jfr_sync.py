#!/usr/bin/env python3
# timeout: 240
"""--jfrsync: the JDK's own recorder never outlives the profile, whatever went wrong, and two
recordings are put together in plain files only."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from lib import AGENT, CLASSES, PROF, WAIT, Checks, Jvm, good, java_tool, prof, wait_for, want


def recorders(jvm):
    """The lines about ours."""
    return [line for line in good("jcmd", jvm.pid, "JFR.check").splitlines() if "jtop-prof-" in line]


def made(pid):
    return ["/tmp/" + n for n in os.listdir("/tmp") if re.match(r"jtop-prof-%d-\d+$" % pid, n)]


def start(jvm, path, *words):
    reader = subprocess.Popen([PROF, *words, "-f", path, str(jvm.pid)], stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True)
    wait_for(lambda: recorders(jvm), "the recorder")
    return reader


def no_place_to_write(scratch, jvm):
    """JFR.stop fails: the recorder is stopped all the same, and its limits are there."""
    path = os.path.join(scratch, "a.jfr")
    reader = start(jvm, path, "-d", "60", "--jfrsync", "+jdk.CPULoad")
    line = recorders(jvm)[0]
    want("maxsize=256" in line and "duration=" in line, line)
    directory = made(reader.pid)
    want(len(directory) == 1, "made: %s" % directory)
    shutil.rmtree(directory[0])
    reader.send_signal(signal.SIGINT)
    _, said = reader.communicate(timeout=WAIT)
    want(reader.returncode == 200 and "--jfrsync" in said, "exit %d: %s" % (reader.returncode, said))
    want(not recorders(jvm), "it goes on: %s" % recorders(jvm))
    want(not made(reader.pid), "left in /tmp")


def no_plain_file(scratch, jvm):
    """Nothing is profiled, nobody waits, and no file grows for ever."""
    path, pipe = os.path.join(scratch, "b.jfr"), os.path.join(scratch, "pipe.jfr")
    os.mkfifo(pipe)
    with open(path, "wb") as out:
        done = subprocess.run([PROF, "-d", "1", "-o", "jfr", "-f", "/dev/stdout", "--jfrsync",
                               "default", str(jvm.pid)], stdout=out, stderr=subprocess.PIPE,
                              text=True, timeout=60, check=False)
    want(os.path.getsize(path) == 0, "something was written")
    for answer in done, prof("-d", 1, "--jfrsync", "default", "-f", pipe, jvm.pid):
        want(answer.returncode == 100 and len(answer.stderr.splitlines()) == 1 and
             "not a regular file" in answer.stderr, "exit %d: %s" % (answer.returncode, answer.stderr))


def resumed(scratch, jvm):
    """The recorder does not go on, which is said; what it had stays in the file, once."""
    path = os.path.join(scratch, "c.jfr")
    good("start", "--jfrsync", "+jdk.CPULoad", "-f", path, jvm.pid)
    want(len(recorders(jvm)) == 1 and "duration=" not in recorders(jvm)[0], str(recorders(jvm)))
    good("stop", jvm.pid)
    want(not recorders(jvm), "it goes on")
    done = prof("resume", jvm.pid)
    want(done.returncode == 0 and "does not continue" in done.stderr, done.stderr)
    good("stop", jvm.pid)
    with open(path, "rb") as f:
        data = f.read()
    chunks = 0
    at = 0
    while at < len(data):
        want(data[at:at + 4] == b"FLR\0", "no chunk at %d of %d" % (at, len(data)))
        at += int.from_bytes(data[at + 8:at + 16], "big")
        chunks += 1
    want(chunks == 2 and at == len(data), "%d chunks" % chunks)


def with_the_jvm(scratch):
    """From the JVM's start to its end, however short."""
    path = os.path.join(scratch, "d.jfr")
    for _ in range(3):
        subprocess.run([java_tool("java"), "-agentpath:%s=start,event=cpu,interval=1ms,jfrsync,file=%s"
                        % (AGENT, path), "-cp", CLASSES, "Idle"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, check=True, timeout=60)
        said = subprocess.run([java_tool("jfr"), "summary", path], stdout=subprocess.PIPE, text=True,
                              check=True).stdout
        want("Chunks: 2" in said, said[:200])
        want(re.search(r"jdk\.ExecutionSample +[1-9]", said) and
             re.search(r"jdk\.InitialEnvironmentVariable +[1-9]", said), "not of both: " + said)
        os.unlink(path)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-jfr-sync-") as scratch:
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            checks.run("no place to write", no_place_to_write, scratch, jvm)
            checks.run("no plain file", no_plain_file, scratch, jvm)
            checks.run("stopped and resumed", resumed, scratch, jvm)
            good("-d", "200ms", "-o", "collapsed", jvm.pid)  # the reader that waits goes
        checks.run("with the JVM", with_the_jvm, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
