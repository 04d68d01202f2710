#!/usr/bin/env python3
# timeout: 120
"""Scripts written for asprof and profiler.sh: start, status, dump, stop and resume by those names,
with what they print, where they print it, and their exit codes."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from lib import (PROF, Checks, Jvm, collapsed, read, readers, sampling, self_percent, total, wait_for,
                 want)


def work(jvm, seconds):
    end = sum(jvm.truth().values()) + seconds * 1e9
    wait_for(lambda: sum(jvm.truth().values()) >= end, "%g s of work" % seconds)


def run(place, line, code, out, err):
    """A line of a script; `out` and `err` are what stdout and stderr are, as expressions."""
    done = subprocess.run(["/bin/sh", "-c", line], cwd=place, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          env=dict(os.environ, PATH=os.path.join(place, "bin") + ":/usr/bin:/bin"),
                          check=False)
    want(done.returncode == code, "%s: exit %d: %s" % (line, done.returncode, done.stderr))
    want(re.fullmatch(out, done.stdout, re.S), "%s: stdout %r" % (line, done.stdout[:300]))
    want(re.fullmatch(err, done.stderr, re.S), "%s: stderr %r" % (line, done.stderr[:300]))
    return done.stdout


def links(place):
    os.mkdir(os.path.join(place, "bin"))
    for name in ("asprof", "profiler.sh"):
        os.symlink(PROF, os.path.join(place, "bin", name))


def interrupted(place, program, jvm):
    """A signal for the command ends the profile, and the command when all is written; one that dies
    at once leaves nobody behind who samples."""
    words = [os.path.join(place, "bin", program), "-d", "60", "-i", "1ms", "-o", "collapsed", "-f"]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        path = os.path.join(place, "interrupted-%d" % number)
        with subprocess.Popen(words + [path, str(jvm.pid)], stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as command:
            wait_for(lambda: sampling(jvm.pid), "sampling")
            work(jvm, 0.3)
            command.send_signal(number)
            code = command.wait(20)
        want(code == (-9 if number == signal.SIGKILL else 0), "exit %d" % code)
        wait_for(lambda p=path: os.path.exists(p) and total(collapsed(read(p))) > 100, "the file")
        wait_for(lambda: not sampling(jvm.pid), "the end of sampling", 10)


def session(program, place):
    links(place)
    with Jvm("Shares", "single") as jvm:
        def line(words, code=0, out="", err=""):
            return run(place, "%s %s %d" % (program, words, jvm.pid), code, out, err)
        inactive = "Profiler is not active\n"
        line("status", out=inactive)
        line("stop", 200, err=r"[^\n]*Profiler has not started[^\n]*\n")
        line("dump -o collapsed", 200, err=r"[^\n]*Profiler has not started[^\n]*\n")
        line("start -e nosuch", 100, err=r"[^\n]*nosuch[^\n]*\n")
        line("start -e cpu -i 1ms", err="Profiling started\n")
        line("start -e cpu", 200, err=r"[^\n]*Profiler already started[^\n]*\n")
        line("resume", 200, err=r"[^\n]*Profiler already started[^\n]*\n")
        line("status", out=r"Profiling is running for \d+ seconds\n")
        work(jvm, 1)
        first = collapsed(line("dump -o collapsed", out=".*"))
        want(self_percent(first).get("a50", 0) > 30, "no a50")
        line("dump -f d-%p.svg")
        xml.etree.ElementTree.parse(os.path.join(place, "d-%d.svg" % jvm.pid))
        line("stop", out=r"--- Execution profile ---\n.*a50.*", err=".*")
        line("status", out=inactive)
        line("stop -o summary", out=r"--- Execution profile ---\nTotal samples .*", err=".*")
        line("resume -e cpu -i 1ms", err="Profiling started\n")
        work(jvm, 1)
        line("stop -f r.collapsed", err=".*")
        want(total(collapsed(read(os.path.join(place, "r.collapsed")))) > total(first) + 50,
             "resume has lost what there was")
        line("start -q -i 1ms")
        work(jvm, 0.3)
        again = collapsed(line("stop -o collapsed", out=".*", err=".*"))
        want(total(again) < total(first) + 100, "start has not begun anew")
        # What -d has collected stays, and can be had in another form.
        once = collapsed(line("-d 1 -i 1ms -o collapsed", out=".+", err=".*Done\n"))
        line("status", out=inactive)
        want(collapsed(line("dump -o collapsed", out=".+", err=".*")) == once, "not the same")
        line("stop -f once-%p.html", err=".*")
        want("a50" in read(os.path.join(place, "once-%d.html" % jvm.pid)), "no a50 in the page")
        line("resume -i 1ms", err="Profiling started\n")
        line("stop -o flat", out=".*", err=".*")
        line("-d 1 -f s.txt -o summary --record s.jtop", err=".*Done\n")
        run(place, PROF + " -o summary s.jtop", 0, "--- Execution profile ---.*", "")
        line("-d 1 -o summary -f /nowhere/x.txt", 100, err=".*/nowhere.*")
        run(place, program + " status 4194304", 1, "", r"[^\n]+\n")
        interrupted(place, program, jvm)
        pid = jvm.pid
        want(jvm.end() == 0, "exit code")
        wait_for(lambda: not readers(pid), "what stayed to go with the JVM", 10)


def main():
    check = Checks()
    for program in ("asprof", "profiler.sh"):
        with tempfile.TemporaryDirectory() as place:
            check.run(program, session, program, place)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
