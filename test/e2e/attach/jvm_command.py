#!/usr/bin/env python3
# timeout: 120
"""jcmd, threaddump, inspectheap, dumpheap and load: what the JVM answers, on stdout, with its words
for what went wrong; on this JDK, and on 8 and 25 where they are at hand (.ci/jdks)."""
import os
import re
import subprocess
import sys
import tempfile

import lib
from lib import AGENT, WAIT, Checks, Jvm, Prof, good, mapped, prof, wait_for, want

JDKS = os.environ.get("JDKS_DIR", os.path.expanduser("~/.cache/jtop-prof/jdks"))


def refused(says, *args, **kwargs):
    r = prof(*args, **kwargs)
    want(r.returncode == 1 and re.search(says, r.stderr), "exit %d: %s" % (r.returncode, r.stderr))
    want(len(r.stderr.splitlines()) == 1, r.stderr)
    return r.stdout


def asked(jvm):
    """The JVM is the first word, as asprof has it, or comes before the action, as jattach has it."""
    for words in (("jcmd", jvm.pid, "VM.command_line"), (jvm.pid, "jcmd", "VM.command_line"),
                  ("jcmd", "VM.command_line", jvm.pid)):
        want("java_command: Shares" in good(*words), "%s: no command line" % (words,))
    want("Thread.print" in good("jcmd", jvm.pid), "jcmd alone lists what there is")
    # -l is the JVM's, not ours: "Locked ownable synchronizers".
    for words in (("jcmd", jvm.pid, "Thread.print", "-l"), ("threaddump", jvm.pid, "-l")):
        want("ownable synchronizers" in good(*words), "%s: no locks" % (words,))
    dump = good("threaddump", jvm.pid)
    want("Full thread dump" in dump and "Shares" in dump, dump[:300])
    for words in ((), ("-all",), ("-live",)):
        rows = re.findall(r"(?m)^ +\d+: +\d+ +\d+ +(\S+)", good("inspectheap", jvm.pid, *words))
        want("java.lang.String" in rows and "[B" in rows + ["[B"], str(rows[:10]))


def named(jvm):
    """-q changes nothing of the answer."""
    want("java_command: Shares" in good("-q", "jcmd", jvm.pid, "VM.command_line"), "no answer")


def closed_pipe(jvm):
    """What "| head -1" does is no failure."""
    p = subprocess.Popen([lib.PROF, "inspectheap", str(jvm.pid)], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.close()
    said = p.stderr.read()
    p.stderr.close()
    want(p.wait(WAIT) == 0 and not said, "exit %d: %s" % (p.returncode, said))


def wrong(jvm, scratch):
    refused("refused 'jcmd'.*Unknown diagnostic command", "jcmd", jvm.pid, "No.such")
    refused("dumpheap: into which file", "dumpheap", jvm.pid)
    refused("load: which library", "load", jvm.pid)
    refused("threaddump: unexpected word \"x\"", "threaddump", jvm.pid, "-l", "x")
    refused("not one of: -live -all", "dumpheap", jvm.pid, "x", "y")
    refused("which JVM", "threaddump")
    refused("did not load the agent.*/nosuch.so", "load", jvm.pid, "/nosuch.so")
    refused("has 2000 bytes", "jcmd", jvm.pid, "x" * 2000)
    os.makedirs(os.path.join(scratch, "is-a-directory"), exist_ok=True)
    refused("no heap dump was written to /nosuch/x: the JVM itself writes", "dumpheap", jvm.pid,
            "/nosuch/x")
    refused("exists already", "dumpheap", jvm.pid, "is-a-directory", cwd=scratch)
    want(jvm.alive(), "the JVM is dead")


def heap(jvm, scratch):
    """Into the caller's directory, not the JVM's; never over something."""
    for words, name in ((("live.hprof",), "live.hprof"), (("all.hprof", "-all"), "all.hprof")):
        said = good("dumpheap", jvm.pid, *words, cwd=scratch)
        want("created" in said, said)
        with open(os.path.join(scratch, name), "rb") as f:
            want(f.read(12) == b"JAVA PROFILE", "no heap dump in " + name)
    size = os.path.getsize(os.path.join(scratch, "live.hprof"))
    refused("live.hprof exists already", "dumpheap", jvm.pid, "live.hprof", cwd=scratch)
    want(os.path.getsize(os.path.join(scratch, "live.hprof")) == size, "it was changed")


def loaded(jvm):
    """A library of ours by a relative path, ahead of the JVM; one of the JDK's own by its name."""
    out = good("load", "./" + os.path.basename(AGENT), jvm.pid, cwd=os.path.dirname(AGENT))
    want("Loaded " in out, out)
    want(any(os.path.basename(name) == os.path.basename(AGENT) for name in mapped(jvm.pid)),
         "the library is not mapped")
    refused("Agent_OnAttach returned 1", "load", jvm.pid, "instrument", "false", "/nosuch.jar")


def patient(jvm, scratch):
    """A JVM that takes its time is waited for; one that is stopped is not."""
    os.kill(jvm.pid, 19)
    try:
        refused("stopped", "jcmd", jvm.pid, "VM.version")
    finally:
        os.kill(jvm.pid, 18)
    with Prof(scratch, "jcmd", jvm.pid, "VM.version") as p:
        want(p.process.wait(WAIT) == 0 and "JDK" in p.stdout(), p.stderr())
    wait_for(jvm.alive, "the JVM")


def main():
    check = Checks()
    homes = [("", lib.JAVA_BIN)] + [
        (" on JDK " + n, os.path.join(JDKS, n, "bin")) for n in ("8", "25")
        if os.path.exists(os.path.join(JDKS, n, "bin", "java"))]
    for name, lib.JAVA_BIN in homes:
        with tempfile.TemporaryDirectory(prefix="jtop-jcmd-") as scratch, \
                Jvm("Shares", "single", stderr=subprocess.DEVNULL) as jvm:
            check.run("answers" + name, asked, jvm)
            check.run("quietly" + name, named, jvm)
            check.run("closed pipe" + name, closed_pipe, jvm)
            check.run("what goes wrong" + name, wrong, jvm, scratch)
            check.run("heap dumps" + name, heap, jvm, scratch)
            check.run("libraries" + name, loaded, jvm)
            check.run("a stopped JVM" + name, patient, jvm, scratch)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
