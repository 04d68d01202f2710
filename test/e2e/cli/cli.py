#!/usr/bin/env python3
# timeout: 300, tier: fast
"""The command line: bad input gets one line and the right exit code and leaves the JVM alone; good
input gets files that are what they should be; a JVM started with the agent gets its file."""
import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from lib import (AGENT, PROF, ROOT, THOROUGH, WAIT, Checks, Jvm, Prof, Wrong, collapsed, cpu_seconds,
                 fds, good, java_tool, prof, read, readers, status, total, wait_for, want)

MAN = os.path.join(ROOT, "man", "jtop-prof.1")
MAIN = "CliLoad%d" % os.getpid()  # found by name among whatever else runs here

# Burns CPU in hot() until its standard input ends.
SOURCE = """
public class MAIN {
    static volatile long sink;
    static long hot(long n) {
        for (int i = 0; i < 20000; i++) n = n * 31 + (n >>> 7) + i;
        return n | 1;
    }
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { while (true) sink = hot(sink); }, "burner one");
        t.setDaemon(true);
        t.start();
        while (sink == 0) Thread.sleep(1);
        System.out.println("ready");
        int c = System.in.read();
        if (c == 'x') System.exit(3);
    }
}
""".replace("MAIN", MAIN)


def work(pid, seconds):
    """Lets a JVM use some CPU time, so that there is something to sample."""
    end = cpu_seconds(pid) + seconds
    wait_for(lambda: cpu_seconds(pid) >= end, "%g s of CPU time" % seconds)


def has_agent(pid):
    with contextlib.suppress(OSError):
        return any("memfd:jtop-prof" in link for link in fds(pid))
    return False


def refused(jvm, code, says, *args, run=prof):
    """One line on stderr that matches, nothing on stdout, and the JVM goes on."""
    r = run(*args)
    lines = r.stderr.splitlines()
    want(r.returncode == code, "exit %d, wanted %d: %s" % (r.returncode, code, r.stderr))
    want(len(lines) == 1, "%d lines on stderr: %s" % (len(lines), r.stderr))
    want(lines[0].startswith("jtop-prof: "), "no program name: %s" % lines[0])
    want(re.search(says, lines[0]), "does not say %r: %s" % (says, lines[0]))
    want(not r.stdout, "stdout: %r" % r.stdout)
    want(jvm.alive(), "the JVM is dead")


def mostly_hot(text, least=0.8):
    """Collapsed stacks, each distinct, of which hot() has its share."""
    stacks = collapsed(text)
    want(len({";".join(frames) for frames, _ in stacks}) == len(stacks), "a stack comes twice")
    want(stacks, "no samples")
    share = sum(n for frames, n in stacks if MAIN + ".hot" in frames) / total(stacks)
    want(share > least, "%d %% of %d samples are of hot()" % (100 * share, total(stacks)))



# ---- without a JVM ----

def help_and_version():
    r = prof("--help")
    want(r.returncode == 0 and "-d, --duration" in r.stdout and not r.stderr, str(r))
    brief = good("-h")
    want(brief.startswith("Usage:") and "Examples:" in brief and brief.count("\n") < 24, brief)
    serve = good("serve", "--help")
    want("--listen" in serve and "--interval" not in serve, serve)
    want(good("--help", "serve") == serve == good("serve", "-h"), "help of serve")
    version = good("--version")
    want(re.fullmatch(r"jtop-prof \d+\.\d+\.\d+\n", version), version)


def full_disk():
    with open("/dev/full", "w", encoding="utf-8") as full:
        r = subprocess.run([PROF, "--help"], stdout=full, stderr=subprocess.PIPE, text=True,
                           check=False)
    want(r.returncode == 1 and "standard output" in r.stderr, str(r))


def manual():
    page = read(MAN).replace("\\-", "-")
    left = "\n".join(line[:27] for line in good("--help").splitlines() if re.match(" +-", line))
    options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", left))
    want(len(options) > 30, "help lists only %s" % options)
    missing = [o for o in sorted(options)
               if not re.search(r"Fl %s(?![\w-])" % re.escape(o[1:]), page)]
    want(not missing, "options not in the manual: %s" % " ".join(missing))
    if shutil.which("mandoc"):
        r = subprocess.run(["mandoc", "-Tlint", "-W", "warning", MAN], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=False)
        want(r.returncode == 0 and not r.stdout, r.stdout)


# ---- bad input ----

def bad_input(check, jvm, scratch):
    pid = jvm.pid
    text = os.path.join(scratch, "text")
    with open(text, "w", encoding="utf-8") as f:
        f.write("not a recording\n")
    with subprocess.Popen(["sleep", "600"]) as sleep:
        cases = [
            ("unknown option", 1, "unknown option --titel.*--title", "--titel", "x", pid),
            ("missing value", 1, "-d needs a value", pid, "-d"),
            ("bad duration", 1, "-d 1x", "-d", "1x", pid),
            ("no target", 1, "which JVM", "-d", "1"),
            ("later action", 1, "action meminfo is not in this version", "meminfo", pid),
            ("two targets", 1, "one JVM at a time", "-d", "1", pid, "1"),
            ("no terminal", 1, "--batch.*-d", pid),
            ("no such process", 1, "4194304", "-d", "1", "4194304"),
            ("pid out of range", 1, "99999999999", "-d", "1", "99999999999"),
            ("not a JVM", 1, "JVM", "-d", "1", sleep.pid),
            ("not a JVM, frames", 1, "JVM", "--batch", "-n", "1", sleep.pid),
            ("unknown name", 1, "NoSuchMain", "-d", "1", "NoSuchMain"),
            ("not a recording", 1, "recording", "-o", "flat", text),
            ("zero interval", 100, "-i 0", "-d", "1", "-i", "0", pid),
            ("huge interval", 100, "-i 9", "-d", "1", "-i", "9" * 30, pid),
            ("bad depth", 100, "-j x", "-d", "1", "-j", "x", pid),
            ("unknown event", 100, "unknown event \"nosuch\"", "-d", "1", "-e", "nosuch", pid),
            ("misspelled event", 100, "known one: cache-misses", "-d", "1", "-e", "cache-mises",
             pid),
            ("misspelled event, live", 100, "known one: wall", "--batch", "-e", "walll", pid),
            ("interval of another kind", 100, "not a number of bytes", "-d", "1", "-e", "alloc",
             "-i", "1ms", pid),
            ("unknown format", 100, "nosuch.*collapsed", "-d", "1", "-o", "nosuch", pid),
            ("processor that is not there", 100, "this machine has", "-d", "1", "--target-cpu",
             "9999", pid),
            ("unknown cstack", 100, "lbr.*vm, vmx, fp, dwarf, no, asgct$", "-d", "1", "--cstack",
             "lbr", pid),
            ("unknown cstack, live", 100, "VM.*asgct$", "--batch", "--cstack=VM", pid),
            ("no such directory", 100, "/nosuch/", "-d", "1", "-f", "/nosuch/out.svg", pid),
            ("path is a directory", 100, "directory", "-d", "1", "-f", scratch, pid),
            ("recording's directory", 100, "/nosuch/", "-d", "1", "--record", "/nosuch/r", pid),
            ("two formats, one file", 100, "-o svg", "-d", "1", "-o", "collapsed,svg", "-f",
             os.path.join(scratch, "one"), pid),
        ]
        try:
            for name, code, says, *args in cases:
                check.run("refuses: " + name, refused, jvm, code, says, *args)
        finally:
            sleep.kill()
    check.run("refused commands never attached",
              lambda: want(not has_agent(pid), "the agent is there"))


def as_nobody(check, jvm, classes, scratch):
    """The frontend runs as nobody: it may not attach to our JVM, and not write to our directory."""
    nobody = pwd.getpwnam("nobody")
    prefix = ["setpriv", "--reuid=%d" % nobody.pw_uid, "--regid=%d" % nobody.pw_gid,
              "--clear-groups"]

    def run(*args):
        return subprocess.run([*prefix, PROF, *map(str, args)], stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=90,
                              check=False)

    def profile(pid):
        r = run("-d", "1", "-i", "1ms", "-o", "collapsed", pid)
        want(r.returncode == 0, r.stderr)
        mostly_hot(r.stdout)

    if os.geteuid() != 0 or not shutil.which("setpriv") or run("--version").returncode != 0:
        print("ok another user # SKIP needs root, setpriv and a program that nobody may run")
        return
    check.run("refuses: another user's JVM",
              lambda: refused(jvm, 1, "uid|user", "-d", "1", jvm.pid, run=run))
    os.chmod(scratch, 0o755)
    with Jvm(MAIN, classes=classes, before=prefix) as theirs:
        check.run("refuses: directory not writable",
                  lambda: refused(theirs, 100, "writ|ermission", "-d", "1", "-f",
                                  os.path.join(scratch, "x.svg"), theirs.pid, run=run))
        check.run("an ordinary user's own JVM", profile, theirs.pid)


def attach_disabled(classes):
    with Jvm(MAIN, classes=classes, options=["-XX:+DisableAttachMechanism"]) as jvm:
        refused(jvm, 1, "DisableAttachMechanism", "-d", "1", jvm.pid)


# ---- good input ----

def listed(jvm):
    table = good("--list")
    want(re.search(r"(?m)^ *%d .*%s" % (jvm.pid, MAIN), table), table)
    jvms = {j["pid"]: j for j in json.loads(good("--list", "--json"))}
    want(jvm.pid in jvms and jvms[jvm.pid]["name"] == MAIN, str(jvms))
    want(jvms[jvm.pid]["uid"] == os.geteuid(), str(jvms[jvm.pid]))


def to_stdout(jvm):
    r = prof("-d", "2", "-i", "1ms", "-o", "collapsed", jvm.pid)
    want(r.returncode == 0 and not r.stderr, "exit %d: %s" % (r.returncode, r.stderr))
    mostly_hot(r.stdout)


def flat_by_name():
    out = good("-d", "1", "-i", "1ms", "-o", "flat=5", MAIN)
    rows = re.findall(r"(?m)^ *(\d+) +([\d.]+)% +(\d+)  (.*)$", out)
    want(rows and len(rows) <= 5, out)
    want(rows[0][3] == MAIN + ".hot" and float(rows[0][1]) > 80, str(rows[0]))


def screens(jvm, scratch, *args):
    """The screen as text, until it shows what runs."""
    with Prof(scratch, "--batch", "-n", 100, "--refresh", "300", *args, jvm.pid) as p:
        wait_for(lambda: MAIN + ".hot" in p.stdout() or p.process.poll() is not None, "hot()")
        p.process.send_signal(signal.SIGINT)
        p.process.wait(WAIT)
        want(MAIN + ".hot" in p.stdout(), p.stdout()[:800] + p.stderr())
        return p.stdout()


def walkers(jvm, scratch):
    """Each by the name it is asked for, and the screen says which one it is."""
    for name in ("vm", "vmx", "fp", "dwarf", "no", "asgct"):
        out = screens(jvm, scratch, "--cstack", name, "-i", "1ms")
        want(re.search(r"(?m)^cpu .* walk %s  " % name, out), "asked for %s: %s" % (name, out[:400]))
    summary = good("-d", "1", "-o", "summary", "--cstack", "fp", jvm.pid)
    want(re.search(r"(?m)^walker +: fp$", summary), summary)


def precise(jvm):
    r = prof("-d", "1", "-i", "1ms", "--precise", "-o", "collapsed", jvm.pid)
    want(r.returncode == 0, r.stderr)
    want(re.search(r"(?m)^jtop-prof: precise: \d+ methods? recompiled, \d+ ms$", r.stderr), r.stderr)
    mostly_hot(r.stdout)


def several_files(jvm, scratch):
    """Names with the pid in them, relative to the caller's directory, and nothing else there."""
    good("-d", "1", "-i", "1ms", "-t", "-f", "a-%p.svg", "-f", "b.collapsed", "-f", "c.txt",
         jvm.pid, cwd=scratch)
    svg = os.path.join(scratch, "a-%d.svg" % jvm.pid)
    want(xml.etree.ElementTree.parse(svg).getroot().tag.endswith("svg"), "no SVG")
    roots = {frames[0] for frames, _ in collapsed(read(os.path.join(scratch, "b.collapsed")))}
    want(any(re.fullmatch(r"\[burner one tid=\d+\]", root) for root in roots), str(roots))
    want("--- Execution profile ---" in read(os.path.join(scratch, "c.txt")), "no text report")
    left = sorted(os.listdir(scratch))
    want(left == ["a-%d.svg" % jvm.pid, "b.collapsed", "c.txt"], "left behind: %s" % left)
    want(not stat.S_IMODE(os.stat(svg).st_mode) & 0o111, "the file is executable")


def recording(jvm, scratch):
    record, out = os.path.join(scratch, "r.jtop"), os.path.join(scratch, "live.collapsed")
    good("-d", "1", "-i", "1ms", "--record", record, "-f", out, jvm.pid)
    want(good("-o", "collapsed", record) == read(out), "the recording gives another profile")


def frames_as_text(jvm, scratch):
    want("\x1b" not in screens(jvm, scratch), "escape sequences in a pipe")
    two = good("--batch", "-n", "2", "--refresh", "300", jvm.pid)
    want(len(re.findall(r"(?m)^jtop-prof  %s" % MAIN, two)) == 2, two)


def start_collect(jvm, *args, **kwargs):
    p = subprocess.Popen([PROF, *map(str, args), str(jvm.pid)], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kwargs)
    wait_for(lambda: has_agent(jvm.pid) or p.poll() is not None, "the agent")
    if p.poll() is not None:
        raise Wrong("it ended: %s" % (p.communicate(),))
    work(jvm.pid, 0.5)
    return p


def interrupted(jvm, scratch):
    out = os.path.join(scratch, "int.collapsed")
    p = start_collect(jvm, "-d", "600", "-i", "1ms", "-f", out)
    p.send_signal(signal.SIGINT)
    stderr = p.communicate(timeout=WAIT)[1]
    want(p.returncode == 0, "exit %d: %s" % (p.returncode, stderr))
    mostly_hot(read(out))
    wait_for(lambda: not has_agent(jvm.pid), "the agent's leave")


def ignored_interrupt(jvm):
    """A script's background job has SIGINT ignored: Ctrl-C for somebody else must not end it."""
    p = start_collect(jvm, "-d", "600", "-i", "1ms", "-o", "collapsed",
                      preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    p.send_signal(signal.SIGINT)
    time.sleep(0.5)  # in which nothing should happen
    want(p.poll() is None, "ended by an ignored signal")
    p.terminate()
    stdout, stderr = p.communicate(timeout=WAIT)
    want(p.returncode == 0, "SIGTERM: exit %d: %s" % (p.returncode, stderr))
    mostly_hot(stdout)


def twice_interrupted(jvm, scratch):
    """The JVM hangs, so letting go of it takes its time: the second Ctrl-C is obeyed at once."""
    p = start_collect(jvm, "-d", "600", "-f", os.path.join(scratch, "never.svg"))
    os.kill(jvm.pid, signal.SIGSTOP)
    try:
        p.send_signal(signal.SIGINT)
        wait_for(lambda: not blocks(p.pid, signal.SIGINT) or p.poll() is not None, "the first")
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=WAIT)
        want(p.returncode in (-signal.SIGINT, 0), "exit %d" % p.returncode)
    finally:
        os.kill(jvm.pid, signal.SIGCONT)
    wait_for(lambda: not has_agent(jvm.pid), "the end of the lease")


def blocks(pid, number):
    with contextlib.suppress(OSError):
        return bool(int(status(pid, "SigBlk"), 16) >> (number - 1) & 1)
    return False


def closed_pipe(jvm):
    """What "| head" does."""
    p = start_collect(jvm, "-d", "1", "-o", "collapsed")
    p.stdout.close()
    p.stdout = None
    stderr = p.communicate(timeout=WAIT)[1]
    want(p.returncode == 0 and not stderr, "exit %d: %s" % (p.returncode, stderr))
    wait_for(lambda: not has_agent(jvm.pid), "the agent's leave")


def jvm_killed(classes, scratch):
    out = os.path.join(scratch, "killed.collapsed")
    with Jvm(MAIN, classes=classes) as jvm:
        p = start_collect(jvm, "-d", "600", "-i", "1ms", "-f", out)
        jvm.kill()
        stderr = p.communicate(timeout=WAIT)[1]
        want(p.returncode == 0, "exit %d: %s" % (p.returncode, stderr))
        want(len(stderr.splitlines()) == 1 and str(jvm.pid) in stderr, "stderr: %r" % stderr)
        mostly_hot(read(out))


# ---- started with the JVM ----

def agent_path(settings):
    return "-agentpath:%s=start,event=cpu,interval=1ms,frontend=%s,%s" % (AGENT, PROF, settings)


def reader(classes, how):
    """The file is named as the JVM's directory sees it."""
    pattern = how.replace(" ", "-") + "-%p.collapsed"
    with Jvm(MAIN, classes=classes, cwd=classes, options=[agent_path("file=" + pattern)]) as jvm:
        name = os.path.join(classes, pattern.replace("%p", str(jvm.pid)))
        work(jvm.pid, 1)
        want(len(readers(jvm.pid)) == 1, "readers: %s" % readers(jvm.pid))
        if how == "normal exit":
            want(jvm.end() == 0, "exit status of the JVM")
        elif how == "System.exit":
            jvm.say("x")
            want(jvm.end() == 3, "exit status of the JVM")
        elif how == "terminal's Ctrl-C":
            os.killpg(jvm.pid, signal.SIGINT)
            jvm.process.wait(WAIT)
        else:
            jvm.kill()
        wait_for(lambda: os.path.exists(name), "the file")
        mostly_hot(read(name), 0.4)  # the start of the JVM is in it too
        wait_for(lambda: not readers(jvm.pid), "the reader's end")


def settings_reach_the_agent(classes, scratch):
    """The agent starts by itself with them; its stream tells."""
    record, out = os.path.join(scratch, "r.jtop"), os.path.join(scratch, "r.collapsed")
    settings = "cstack=vmx,record=%s,file=%s" % (record, out)
    with Jvm(MAIN, classes=classes, options=[agent_path(settings)]) as jvm:
        work(jvm.pid, 0.5)
        want(jvm.end() == 0, "exit status of the JVM")
        wait_for(lambda: os.path.exists(out), "the file")
    frame = good("--batch", "-n", 1, record)
    want(re.search(r"(?m)^cpu \S+ 1ms  walk vmx  ", frame), frame[:400])


def reader_says(classes, scratch, settings, says, runs):
    """Something wrong in the settings: one line, and the application goes on."""
    path = os.path.join(scratch, "stderr")
    with open(path, "w", encoding="utf-8") as stderr, \
            Jvm(MAIN, classes=classes, cwd=scratch, options=[agent_path(settings)],
                stderr=stderr) as jvm:
        wait_for(lambda: os.path.getsize(path) > 0, "a message")
        if runs:
            wait_for(lambda: readers(jvm.pid), "the reader")
        want(jvm.end() == 0, "exit status of the JVM")
        wait_for(lambda: not readers(jvm.pid), "the reader's end")
    lines = [line for line in read(path).splitlines() if line.startswith("jtop-prof")]
    want(len(lines) == 1 and re.search(says, lines[0]), "stderr: %s" % lines)


def run_all(check, base):
    classes = os.path.join(base, "classes")
    os.mkdir(classes)

    def scratch():
        return tempfile.mkdtemp(dir=base)

    with open(os.path.join(classes, MAIN + ".java"), "w", encoding="utf-8") as f:
        f.write(SOURCE)
    subprocess.run([java_tool("javac"), "-d", classes, f.name], check=True)
    check.run("help and version", help_and_version)
    check.run("standard output full", full_disk)
    check.run("manual has every option", manual)
    with Jvm(MAIN, classes=classes) as jvm:
        bad_input(check, jvm, scratch())
        as_nobody(check, jvm, classes, scratch())
        check.run("refuses: attach disabled", attach_disabled, classes)
        check.run("list", listed, jvm)
        check.run("collapsed to stdout", to_stdout, jvm)
        check.run("flat, by main class", flat_by_name)
        check.run("walkers", walkers, jvm, scratch())
        check.run("precise", precise, jvm)
        check.run("several files", several_files, jvm, scratch())
        check.run("recording", recording, jvm, scratch())
        check.run("frames as text", frames_as_text, jvm, scratch())
        check.run("SIGINT writes the file", interrupted, jvm, scratch())
        check.run("SIGINT twice", twice_interrupted, jvm, scratch())
        check.run("closed pipe", closed_pipe, jvm)
        check.run("ignored SIGINT", ignored_interrupt, jvm)
        check.run("the JVM lives on without the agent",
                  lambda: wait_for(lambda: jvm.alive() and not has_agent(jvm.pid), "that"))
    check.run("kill -9 of the JVM", jvm_killed, classes, scratch())
    ends = ("normal exit", "kill -9", "System.exit", "terminal's Ctrl-C")
    for how in ends if THOROUGH else ends[:2]:
        check.run("started with the JVM: " + how, reader, classes, how)
    check.run("started with the JVM: settings", settings_reach_the_agent, classes, scratch())
    wrong = (("unknown event", "file=a.svg,event=nosuch", "nosuch", False),
             ("unknown setting", "file=a.svg,bogus=1,simple", "bogus=1", True),
             ("unknown cstack", "file=a.svg,cstack=lbr", "cstack.*lbr.*vm, vmx", False),
             ("file not writable", "file=/nosuch/a.svg", "/nosuch/", False))
    for name, settings, says, runs in wrong if THOROUGH else wrong[:1]:
        check.run("started with the JVM: " + name, reader_says, classes, scratch(), settings, says,
                  runs)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-cli-") as base:
        os.chmod(base, 0o755)  # for the checks that run as nobody
        run_all(check, base)
    return check.code()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended
    sys.exit(main())
