#!/usr/bin/env python3
# timeout: 240
"""Command lines that people have in their fingers and scripts, against real JVMs: those of
async-profiler's documentation since 1.5, through links named profiler.sh and asprof, and every
option there is. Exit code, stdout, stderr and files are what such a script expects.

A case is a list of steps on one JVM, in a directory of its own; cases run on several JVMs at once.
"""
import concurrent.futures
import contextlib
import os
import queue
import re
import subprocess
import sys
import tempfile

from lib import (AGENT, PROF, WAIT, Checks, Jvm, Wrong, cpu_seconds, read, readers, sampling,
                 wait_for, want)

JVMS = 3

# ---- what may come out ----

NOTHING = r"\A\Z"
ANYTHING = r""
SAYS = r"\AProfiling for [\d.]+ seconds\nDone\n\Z"  # stderr of asprof and profiler.sh
TEXT = r"(?s)\A--- Execution profile ---\nTotal samples +: \d+\n"
FLAT = r"(?m)^ +ns +percent +samples +top$"
TRACES = r"(?m)^--- \d+ ns \(\d+\.\d\d%\), \d+ samples?$"
STACKS = r"\A([^\n]+ \d+\n)+\Z"
SVG = r"(?s)\A(<\?xml.*)?<svg .*</svg>\s*\Z"
PAGE = r"(?is)\A<!doctype html>.*</html>\s*\Z"
JFR = r"(?s)\AFLR\0"
GZIP = r"(?s)\A\x1f\x8b"
JSON = r"(?s)\A\{.*\}\s*\Z"
MARKDOWN = r"(?m)^#+ "
REMARK = r"\Ajtop-prof: [^\n]+\n"
ERROR = r"\Ajtop-prof: [^\n]+\n\Z"


class Step:
    """`line` is split at blanks, "_" in it stands for one; "{pid}" for the JVM."""

    def __init__(self, program, line, code=0, out=NOTHING, err=NOTHING, files=None):
        self.program, self.line, self.out, self.err = program, line, out, err
        self.codes = code if isinstance(code, tuple) else (code,)
        self.files = files or {}

    def run(self, programs, jvm, directory):
        before = set(os.listdir(directory))
        argv = [w.replace("_", " ").format(pid=jvm.pid) for w in self.line.split()]
        done = subprocess.run([programs[self.program], *argv], cwd=directory, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60, check=False,
                              env=dict(os.environ, WHERE="here"))
        said = "%s %s: exit %d, stderr %r, stdout %r" % (
            self.program, self.line, done.returncode, done.stderr[:500], done.stdout[:300])
        want(done.returncode in self.codes, "wanted exit %s: %s" % (self.codes, said))
        want(re.search(self.err, done.stderr), "wanted on stderr %r: %s" % (self.err, said))
        want(re.search(self.out, done.stdout), "wanted on stdout %r: %s" % (self.out, said))
        made = sorted(set(os.listdir(directory)) - before)
        for pattern, content in self.files.items():
            names = [n for n in made if re.fullmatch(pattern.replace("{pid}", str(jvm.pid)), n)]
            want(len(names) == 1, "wanted a file %s, there are %s: %s" % (pattern, made, said))
            made.remove(names[0])
            with open(os.path.join(directory, names[0]), encoding="latin-1", newline="") as f:
                text = f.read()
            want(re.search(content, text), "%s is no %r: %r" % (names[0], content, text[:300]))
        want(not made, "files nobody asked for, %s: %s" % (made, said))


def sh(line, *args, **kwargs):
    return [Step("profiler.sh", line, *args, **kwargs)]


def asprof(line, *args, **kwargs):
    return [Step("asprof", line, *args, **kwargs)]


def own(line, *args, **kwargs):
    return [Step("jtop-prof", line, *args, **kwargs)]


def report(line, out=TEXT, **kwargs):
    """For a moment, to stdout, in asprof's words."""
    return asprof("-d 300ms %s {pid}" % line, 0, out, kwargs.pop("err", SAYS), **kwargs)


def files(line, made, err=SAYS):
    return asprof("-d 300ms %s {pid}" % line, 0, NOTHING, err, made)


STARTED = r"\AProfiling started\n\Z"  # on stderr, as all that is no report
ACTIVE = r"\AProfiling is running for \d+ seconds\n"
INACTIVE = r"\AProfiler is not active\n\Z"

# The README of 1.5, in its order; a second where it says 30.
README_15 = [
    sh("start {pid}", 0, NOTHING, STARTED) + sh("status {pid}", 0, ACTIVE) + sh("stop {pid}", 0, TEXT) +
    sh("status {pid}", 0, INACTIVE),
    sh("-d 1 {pid}", 0, TEXT, SAYS),
    sh("start -e alloc {pid}", 0, NOTHING, STARTED) +
    sh("stop -o flat {pid}", 0, r"(?m)^ +bytes +percent +samples +top$"),
    sh("-d 1 -f flamegraph.svg {pid}", 0, NOTHING, SAYS, {"flamegraph.svg": SVG}),
    sh("start {pid}", 0, NOTHING, STARTED) + sh("resume {pid}", (0, 1, 200), ANYTHING, ANYTHING) +
    sh("stop -f a.txt {pid}", 0, ANYTHING, ANYTHING, {"a.txt": TEXT}),
    sh("list {pid}", 0, r"(?s)\ABasic events:\n  cpu.*Perf events:\n"),
    sh("check {pid}", 0, r"\AOK\n"),
    sh("check -e alloc {pid}", 0, r"\AOK\n"),
    sh("start -i 500us {pid}", 0, NOTHING, STARTED) + sh("stop -o summary,flat {pid}", 0, FLAT),
    sh("start -i 999000 {pid}", 0, NOTHING, STARTED) + sh("stop -o summary,flat {pid}", 0, FLAT),
    sh("-d 1 -i 500us {pid}", 0, TEXT, SAYS),
    sh("-d 1 -j 30 {pid}", 0, TEXT, SAYS),
    sh("-d 1 -b 5000000 {pid}", 0, TEXT, SAYS),
    sh("-d 1 -t {pid}", 0, r"(?m)\[\w[^\]]* tid=\d+\]", SAYS),
    sh("-d 1 -e java.util.Properties.getProperty {pid}", 0, ANYTHING, ANYTHING),
    sh("-d 1 -o collapsed -f traces-%t.txt {pid}", 0, NOTHING, SAYS,
       {r"traces-\d{8}-\d{6}\.txt": STACKS}),
    sh("-d 1 -f profile.svg --title Sample_CPU_profile --minwidth 0.5 {pid}", 0, NOTHING, SAYS,
       {"profile.svg": r"Sample CPU profile"}),
    sh("-d 1 --all-user {pid}", 0, TEXT, SAYS),
    sh("-d 1 --sync-walk {pid}", 0, TEXT, SAYS),
    sh("-v", 0, r"\Ajtop-prof \d"),
    sh("-v {pid}", 0, r"\Ajtop-prof \d"),
    sh("", 1, NOTHING, ERROR),
    sh("-x {pid}", 1, NOTHING, r"unknown option -x; nearest known one: "),
]

# Examples of later versions' usage and documentation.
LATER = [
    asprof("-d 1 -f profile.html {pid}", 0, NOTHING, SAYS, {"profile.html": PAGE}),
    asprof("start -i 1ms {pid}", 0, NOTHING, STARTED) + asprof("dump -o summary {pid}", 0, TEXT) +
    asprof("metrics {pid}", 0, r"(?m)^\w+(\{.*\})? [\d.e+]+$") +
    asprof("stop -o flat {pid}", 0, FLAT),
    asprof("-d 1 -e alloc {pid}", 0, r"(?m)^--- \d+ bytes", SAYS),
    asprof("-d 1 -e wall -t -i 5ms -f result.html {pid}", 0, NOTHING, SAYS, {"result.html": PAGE}),
    asprof("-d 1 -e lock --lock 10us -f l.collapsed {pid}", 0, NOTHING, SAYS,
           {"l.collapsed": ANYTHING}),
    asprof("-d 1 -e cpu,alloc,lock -f combined.jfr {pid}", 0, NOTHING, ANYTHING,
           {"combined.jfr": JFR}),
    asprof("-d 1 -e cpu --alloc 2m --lock 10ms -f profile.jfr {pid}", 0, NOTHING, ANYTHING,
           {"profile.jfr": JFR}),
    asprof("-d 1 -e nativemem --nativemem 1m -f app.jfr {pid}", 0, NOTHING, ANYTHING,
           {"app.jfr": JFR}),
    asprof("-d 1 -e cpu -o collapsed -f %p-%e-%{{WHERE}}-%n.txt {pid}", 0, NOTHING, SAYS,
           {"{pid}-cpu-here-0.txt": STACKS}),
    asprof("-d 1 --total -o collapsed -X *wait* -I *EventLoad* {pid}", 0, STACKS, SAYS),
    asprof("jcmd {pid} Thread.print -l", 0, "Full thread dump"),
    asprof("threaddump {pid}", 0, "Full thread dump"),
    asprof("inspectheap {pid}", 0, "java.lang.String"),
    asprof("dumpheap {pid} h.hprof", 0, "created", NOTHING, {"h.hprof": "JAVA PROFILE"}),
    asprof("load {pid} /nosuch.so", 1, NOTHING, "did not load"),
    asprof("-L warn -F vtable,comptask --safe-mode 6 -d 300ms {pid}", 0, TEXT, SAYS),
]

FORMATS = [
    report("-o summary", r"\A--- Execution profile ---\nTotal samples"),
    report("-o flat=3", FLAT), report("-o traces=3", TRACES), report("-o traces,flat", TRACES),
    report("-o collapsed", STACKS), report("-o collapsed=samples", STACKS),
    report("-o collapsed=total", r"\A([^\n]+ \d{6,}\n)+\Z"),
    report("-o svg", SVG), report("-o svg=total", SVG), report("-o flamegraph", PAGE),
    report("-o html", PAGE), report("-o tree", PAGE), report("-o tree=total", PAGE),
    files("-o jfr -f a.bin", {r"a\.bin": JFR}), files("-o pprof -f a.bin", {r"a\.bin": GZIP}),
    files("-f a.collapsed", {r"a\.collapsed": STACKS}), files("-f a.folded", {r"a\.folded": STACKS}),
    files("-f a.txt", {r"a\.txt": TEXT}), files("-f a.pb.gz", {r"a\.pb\.gz": GZIP}),
    files("-f a.pprof", {r"a\.pprof": GZIP}), files("-f a.otlp", {r"a\.otlp": ANYTHING}),
    files("-f a.speedscope.json", {r"a\.speedscope\.json": JSON}),
    files("-f a.json", {r"a\.json": JSON}), files("-f a.md", {r"a\.md": MARKDOWN}),
    files("-o tree -f t.html", {r"t\.html": PAGE}),
    files("-f a.svg -f b.collapsed -f c.jfr", {r"a\.svg": SVG, r"b\.collapsed": STACKS,
                                               r"c\.jfr": JFR}),
    asprof("-d 1 -o nosuch {pid}", 100, NOTHING, "unknown format \"nosuch\""),
]

OPTIONS = [
    report("-e itimer"), report("-e ctimer -i 1ms"), report("--event cpu --interval 2ms"),
    report("-e wall"), report("--wall 20ms"),
    report("-e nativelock", ANYTHING, err=ANYTHING), report("--nativelock 1us", ANYTHING,
                                                            err=ANYTHING),
    report("-e page-faults", r"Total samples +: \d+"),
    report("-e context-switches -o summary", r"Total samples +: \d+", err=ANYTHING),
    asprof("-d 300ms -e cycles {pid}", (0, 100, 200), ANYTHING, ANYTHING),
    asprof("-d 300ms -e cache-misses {pid}", (0, 100, 200), ANYTHING, ANYTHING),
    report("--alloc 64k -o summary", r"event +: alloc"),
    report("-e alloc --live -o summary", ANYTHING, err=ANYTHING),
    report("-e alloc --tlab -o summary", r"event +: alloc", err=ANYTHING),
    report("-e nativemem --nofree -o summary", r"event +: nativemem"),
    report("-j 2 -o collapsed", r"(?m)^(\[truncated\]|[^;]+;[^;]+) ?"),
    report("--jstackdepth 100000"), report("--framebuf 4m"),
    report("-s -o collapsed", r"(?m)EventLoad\."), report("--simple"), report("--norm"),
    report("-n"), report("-g -o collapsed", r"\.\w+\([^)]*\)\S* ?"), report("--sig"),
    report("-a -o collapsed", r"_\[[01ij]\]"), report("--ann"), report("-l"), report("--lib"),
    report("-t -o collapsed", r"(?m)^\[[^;]+ tid=\d+\];"), report("--threads"),
    report("--carriers -t"),
    report("-I *EventLoad* -o collapsed", r"\A([^\n]*EventLoad[^\n]*\n)+\Z"),
    report("--include *EventLoad* --exclude *nosuch*"),
    report("-X *EventLoad* -o collapsed", r"\A((?![^\n]*EventLoad)[^\n]*\n)*\Z"),
    report("--filter 1-999999"), report("--thread ."),
    report("--thread nosuch", r"Total samples +: 0",
           err=r"no thread with \"nosuch\" in its name"),
    report("--samples -o collapsed", STACKS), report("--total -o collapsed", STACKS),
    files("--title A_title --width 900 --height 18 --minwidth 1 --reverse --inverted -f a.svg",
          {r"a\.svg": "A title"}),
    report("--all-user"), asprof("-d 300ms --all-kernel {pid}", (0, 100, 200), ANYTHING, ANYTHING),
    report("-e wall --all-user", err=REMARK), report("--live", err=REMARK),
    report("--fdtransfer"),
    report("--cstack vm"), report("--cstack vmx"), report("--cstack fp"), report("--cstack dwarf"),
    report("--cstack no"), report("--call-graph fp"), report("--cstack default"),
    asprof("-d 1 --cstack lbr {pid}", 100, NOTHING, "there are: vm, vmx, fp, dwarf, no"),
    report("--clock tsc"), report("--clock monotonic"), report("--signal 30/31"),
    report("--sched -o collapsed", r"(?m)^\[SCHED_\w+\];"), report("--record-cpu -o collapsed",
                                                                   r"(?m)^\[CPU-\d+\];"),
    report("--target-cpu 0", ANYTHING),
    asprof("-d 1 --target-cpu 4096 {pid}", 100, NOTHING, "this machine has"),
    asprof("-d 1 --begin f_nosuch --end g_nosuch {pid}", (1, 100, 200), NOTHING, "f nosuch"),
    asprof("-d 300ms --ttsp {pid}", (0, 100, 200), ANYTHING, ANYTHING),
    asprof("--timeout 300ms -o summary {pid}", 0, TEXT, SAYS),
    asprof("--loop 300ms -d 4 -f %n{{2}}.collapsed {pid}", 0, NOTHING, ANYTHING,
           {r"0\.collapsed": STACKS, r"1\.collapsed": STACKS}),
    report("--memlimit 64m"), report("-e wall --nobatch"), report("--jfropts mem"),
    report("-e page-faults -i 1ms"),
    files("--all -f a.jfr", {r"a\.jfr": JFR}),
    asprof("-d 1 --trace foo {pid}", 100, NOTHING, "not a Java method"),
    files("--chunksize 32m --chunktime 1m -f a.jfr", {r"a\.jfr": JFR}),
    files("--jfrsync default -f a.jfr", {r"a\.jfr": JFR}, ANYTHING),
    report("-q", err=NOTHING), report("--log error", err=NOTHING), report("--log info"),
    report("--libpath " + AGENT), report("--precise", err=ANYTHING),
    files("--record r.jtop -o summary -f a.txt", {r"r\.jtop": ANYTHING, r"a\.txt": "Total"}),
    own("-d 300ms {pid}", 0, TEXT), own("collect -d 300ms -o flat {pid}", 0, FLAT),
    own("{pid}", 1, NOTHING, "not a terminal"), own("4194304", 1, NOTHING, "no process 4194304"),
    own("no.such.Main", 1, NOTHING, "no.such.Main"),
    own("-d 300ms -f a.xyz {pid}", 0, NOTHING, r"no format has the ending \.xyz, so text is written",
        {r"a\.xyz": "Execution profile"}), own("--list", 0, "EventLoad"),
    own("-d 0 {pid}", 1, NOTHING, ERROR), own("-i 0 -d 1 {pid}", 100, NOTHING, ERROR),
    own("--titel x {pid}", 1, NOTHING, "nearest known one: --title"),
    own("-e nosuch -d 1 {pid}", 100, NOTHING, "unknown event \"nosuch\""),
    own("--log loud -d 1 {pid}", 100, NOTHING, "not one of"),
    own("meminfo {pid}", 1, NOTHING, "not in this version"),
    own("serve {pid}", 1, NOTHING, r"/prof\?pid=PID"), own("push {pid}", 1, NOTHING, "where to"),
    own("doctor {pid}", 0, "can be profiled"),
]

RECORDINGS = [
    own("-q -d 500ms -i 1ms --record r.jtop -f a.jfr -f a.collapsed -f a.pb.gz {pid}", 0, NOTHING,
        NOTHING, {r"r\.jtop": ANYTHING, r"a\.jfr": JFR, r"a\.collapsed": STACKS,
                  r"a\.pb\.gz": GZIP}) +
    own("-o collapsed r.jtop", 0, STACKS) + own("-f b.svg r.jtop", 0, files={r"b\.svg": SVG}) +
    own("convert r.jtop c.html", 0, files={r"c\.html": PAGE}) +
    own("convert -o flat a.jfr", 0, FLAT) +
    own("convert a.collapsed d.svg", 0, files={r"d\.svg": SVG}) +
    own("convert a.pb.gz e.collapsed", 0, files={r"e\.collapsed": STACKS}) +
    own("-o flat a.jfr", 0, FLAT) +
    own("--from 0s --to 1s -I *EventLoad* -o collapsed r.jtop", 0, STACKS) +
    own("diff r.jtop a.jfr", 0, ANYTHING, ANYTHING) +
    own("diff -f d.md r.jtop a.collapsed", 0, ANYTHING, ANYTHING, {r"d\.md": ANYTHING}) +
    own("-o flat nosuch.jfr", 1, NOTHING, "nosuch.jfr: no such file") +
    own("convert nosuch.jfr x.svg", 1, NOTHING, "nosuch.jfr"),
]

# ---- with the JVM ----

STARTED_WITH = [
    ("start,event=cpu,interval=1ms,file=a.svg", {r"a\.svg": SVG}, NOTHING),
    ("start,event=cpu,alloc=64k,wall=20ms,lock=10us,file=%e.collapsed,collapsed,threads,simple,norm,"
     "sig,ann,lib,total", {r"cpu\.collapsed": STACKS, r"alloc\.collapsed": ANYTHING,
                           r"wall\.collapsed": ANYTHING, r"lock\.collapsed": ANYTHING}, ANYTHING),
    ("start,file=a.txt,flat=10,traces=5,jstackdepth=64,framebuf=4m,cstack=vm,loglevel=warn,"
     "log=/tmp/unused,include=*,clock=tsc,alluser,nosuch=1,filter=1-999999,features=vtable,mcache",
     {r"a\.txt": TEXT}, r"nosuch=1"),
    ("start,event=wall,interval=10ms,file=a.jfr,jfr,chunksize=32m,chunktime=1h,fdtransfer=@x,"
     "record-cpu,title=x", {r"a\.jfr": JFR}, ANYTHING),
]


def with_the_jvm(base, settings, made, says):
    directory = tempfile.mkdtemp(dir=base)
    stderr = os.path.join(base, os.path.basename(directory) + ".stderr")
    options = ["-agentpath:%s=frontend=%s,%s" % (AGENT, PROF, settings)]
    with open(stderr, "wb") as err, \
            Jvm("EventLoad", "mixed", cwd=directory, options=options, stderr=err) as jvm:
        wait_for(lambda: readers(jvm.pid) and sampling(jvm.pid), "that it is sampled")
        enough = cpu_seconds(jvm.pid) + 1.5
        wait_for(lambda: cpu_seconds(jvm.pid) > enough, "that it works")
        jvm.end()
    try:
        wait_for(lambda: len([n for n in os.listdir(directory) if n[0] != "."]) >= len(made),
                 "its files")
    except Wrong as e:
        raise Wrong("%s; %s are there; it said: %s" % (e, os.listdir(directory), read(stderr))
                    ) from e
    names = sorted(os.listdir(directory))
    for pattern, content in made.items():
        found = [n for n in names if re.fullmatch(pattern, n)]
        want(len(found) == 1, "no %s in %s" % (pattern, names))
        names.remove(found[0])
        with open(os.path.join(directory, found[0]), encoding="latin-1", newline="") as f:
            want(re.search(content, f.read()), "%s is no %r" % (found[0], content))
    want(not names, "more files: %s" % names)
    text = "".join(re.findall(r"(?m)^jtop-prof.*\n", read(stderr)))
    want(re.search(says, text), "stderr: %r" % text)


# ---- all together ----

def tidy(case, jvm):
    """What a case that fails may leave behind is not the next one's."""
    if any(step.line.startswith(("start", "resume")) for step in case):
        subprocess.run([PROF, "-q", "stop", "-o", "summary", str(jvm.pid)], check=False,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=WAIT)


def run_case(case, programs, jvms, base):
    jvm = jvms.get()
    try:
        directory = tempfile.mkdtemp(dir=base)
        for step in case:
            step.run(programs, jvm, directory)
        want(jvm.alive(), "the JVM is dead")
    finally:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            tidy(case, jvm)
        jvms.put(jvm)


def links(base):
    """What people call it."""
    programs = {"jtop-prof": PROF}
    for name in ("asprof", "profiler.sh"):
        programs[name] = os.path.join(base, name)
        os.symlink(PROF, programs[name])
    return programs


def wanted(name):
    """GOLDEN=WORD runs only the cases in whose first line that is found."""
    return os.environ.get("GOLDEN", "") in name


def main():
    check = Checks()
    cases = README_15 + LATER + FORMATS + OPTIONS + RECORDINGS
    with tempfile.TemporaryDirectory(prefix="jtop-golden-") as base:
        programs, jvms, started = links(base), queue.Queue(), []
        try:
            for _ in range(JVMS):
                started.append(Jvm("EventLoad", "mixed", stderr=subprocess.DEVNULL))
                jvms.put(started[-1])
            with concurrent.futures.ThreadPoolExecutor(JVMS) as pool:
                for case in cases:
                    name = ("%s %s" % (case[0].program, case[0].line)).strip()
                    if wanted(name):
                        pool.submit(check.run, name, run_case, case, programs, jvms, base)
                for settings, made, says in STARTED_WITH:
                    if wanted(settings):
                        pool.submit(check.run, "-agentpath " + settings[:50], with_the_jvm, base,
                                    settings, made, says)
        finally:
            for jvm in started:
                jvm.kill()
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
