#!/usr/bin/env python3
# timeout: 240, runs: alone
"""Several events on the live screen: switching between them, starting and stopping them there, the
locks, and the same of a recording.
"""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from lib import Checks, Jvm, java_tool, want, wait_for
from tui import saved, screen, terminal

SOURCE = """
public class Several {
    static final Object LOCK = new Ledger();
    static volatile Object sink;
    static volatile long burnt;

    static class Ledger {}

    static void burn(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end)
            burnt++;
    }

    static void hold() throws InterruptedException {
        while (true) {
            synchronized (LOCK) {
                burn(3_000_000);
            }
            Thread.sleep(1);
        }
    }

    static void allocate() throws InterruptedException {
        while (true) {
            for (int i = 0; i < 1000; i++)
                sink = new long[128];
            Thread.sleep(1);
        }
    }

    interface Work {
        void run() throws InterruptedException;
    }

    static void start(String name, Work work) {
        Thread t = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
            }
        }, name);
        t.setDaemon(true);
        t.start();
    }

    public static void main(String[] args) throws Exception {
        start("holder-1", Several::hold);
        start("holder-2", Several::hold);
        start("allocator", Several::allocate);
        start("sleeper", () -> Thread.sleep(1_000_000));
        start("collector", () -> {
            while (true) {
                Thread.sleep(1500);
                System.gc();
            }
        });
        System.out.println("ready");
        System.in.read(); // ends with whoever started it
    }
}
"""


@contextlib.contextmanager
def several():
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "Several.java")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run([java_tool("javac"), source], check=True)
        with subprocess.Popen([java_tool("java"), "-Xmx256m", "-cp", place, "Several"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as jvm:
            try:
                want(jvm.stdout.readline() == b"ready\n", "the workload did not start")
                yield jvm
                want(jvm.poll() is None, "the JVM died")
            finally:
                jvm.kill()


def samples_allocations():
    """Without symbols of the VM's own: from JDK 11 on."""
    said = subprocess.run([java_tool("java"), "-version"], capture_output=True, text=True,
                          check=False).stderr
    return not re.search(r'version "(1\.|9|10)', said)


def leave(s):
    s.keys("q")
    want(s.code() == 0, "exit code")


def switching(pid):
    """What was asked for from the start: a column and a key each."""
    with screen(160, 50) as s:
        s.start("-e cpu,alloc,lock,wall -i 5ms %d" % pid)
        s.wait(r"^\[cpu \S+ 5ms\] wall signal \S+ +alloc \w+ \S+ +lock \w+ \S+")
        s.wait(r"METHOD")
        s.keys("P")  # without the pane there is room for all columns
        s.wait(r"^  SELF%▾ +± TOTAL% +SAMPLES T KIND +RUN AS +LAST MINUTE "
               r"+wall% alloc% +lock% METHOD")
        s.wait(r"Several\.burn")
        s.keys("E")
        s.wait(r"\[wall signal")
        s.wait(r"coverage \d+\.\d%")
        s.keys("I")
        s.wait(r"^.* \d+\.\d\d?s .*(Thread\.sleep|nanosleep|futex|cond_)")
        s.keys("2")
        s.wait(r"STATE +JAVA STATE +STATES +ALLOC/S BLOCK% ")
        s.wait(r"sleep +TIMED\S* +sleep \d+ .* sleeper ")
        s.wait(r"holder-1 ")
        s.keys("1", "E")
        s.wait(r"\[alloc ")
        s.wait(r"^> +\d+\.\d .* \d\S*[KMG] .* class .*long\[\]")
        s.keys("3", "e")
        s.wait(r"TOTAL% +SELF% +BYTES")
        s.wait(r"Several\.allocate")
        s.keys("s")
        path = saved(s)
        want(re.search(r"-%d-alloc-\d{8}-\d{6}\.svg$" % pid, path), path)
        with open(path, encoding="utf-8") as f:
            svg = f.read()
        xml.etree.ElementTree.fromstring(svg)
        want("allocate" in svg and "Several.hold" not in svg, "not the allocations: " + svg[:400])
        s.keys("]")
        s.wait(r"\[lock ")
        s.keys("[")
        s.wait(r"\[alloc ")
        leave(s)


def starting(pid):
    """From CPU time alone to locks and back to nothing, without leaving."""
    with screen(100, 40) as s:
        s.start("%d" % pid)
        s.wait(r"^cpu \S+ 10ms")
        s.keys("4")
        s.wait("locks are not sampled: Enter starts lock")
        s.keys("Enter")
        s.wait(r"^\[cpu .* lock \w+ \d")
        s.keys("o")
        s.wait(r"^. \[x\] lock +\w+ +\d")
        s.keys("Escape")
        s.wait(r"^> +100\.0 +\d+ .* M ▾ \S*Several\$Ledger")
        s.wait(r"▸ held by holder-[12] in Several\.(burn|hold)")
        # Those whose stack is not known come first.
        known = r"^> .*▸ held by holder-[12] in Several\."
        wait_for(lambda: re.search(known, s.text(), re.M) or s.keys("j"), s.text)
        s.keys("Enter")
        s.wait(r"^> .*▾ held by holder-[12] in Several\.")
        s.wait(r"^ +\d+ +\S+ +waited: holder-[12]")
        s.wait(r"^ {40,}\S*Several\.hold")
        # Only the waits of the time shown, and of the selected thread.
        s.keys("w", "w", "w")
        s.wait(r"last 10s")
        s.wait(r"^> .*Several")
        s.keys("w", "w", "\\")
        s.line("Several.hold")
        s.wait(r"held by holder-[12] in Several\.")
        s.keys("\\")
        s.keys("C-u")
        s.line("no.such.method")
        s.wait("no thread waited for a lock in this selection")
        s.keys("Escape")
        s.wait(r"held by holder-[12] in Several\.")
        s.keys("1", "o", "g", "Space")
        s.wait(r"^> \[ \] cpu +off")
        s.keys("+", "Space")
        s.wait(r"^> \[x\] cpu +\S+ +20ms")
        s.keys("-")
        s.wait(r"^> \[x\] cpu +\S+ +10ms")
        s.keys("a")
        s.line("no-such-event")
        s.wait(r"no-such-event")
        s.keys("C-u")
        s.line("context-switches")
        s.wait(r"^> \[x\] context-switches +perf +\d+ +\d+ ")
        s.keys("E")
        s.wait(r"\[context-switches perf")
        s.wait(r"^> +\d+\.\d ")
        s.keys("o", "Space", "g", "Space", "j", "j", "j", "j", "Space")
        s.wait(r"^> \[ \] lock +off")
        s.wait(r"^  \[ \] cpu +off")
        s.keys("Escape")
        leave(s)


def title(path):
    with open(path, encoding="utf-8") as f:
        return re.search(r"<title>([^<]*)</title>", f.read()).group(1)


WAITS = "FinalizerThread"  # for what is finalized: nothing, in this JVM


def look_for_idle(s, found):
    s.keys("/", "C-u")
    s.line(WAITS)
    s.wait(r"^> .*%s" % WAITS if found else "not found: " + WAITS)
    s.keys("Escape")


def idle(demo):
    """Most threads wait for work most of the time: a key shows them."""
    with screen(160, 50) as s:
        s.start("-e wall --record wall.jtop %d" % demo)
        part = int(s.wait(r"8 status +idle hidden \((\d+) %\)").group(1))
        want(10 <= part <= 99, "%d %% idle" % part)
        s.wait(r"^> +\d+\.\d .* \d+\.\d\d?s ")
        look_for_idle(s, False)
        s.keys("2")  # the launcher's thread waits for main: it has its row and its states
        s.wait(r"^[> ] +%d +\S+ +0\.0 +0 sleep +(- +)?futex 100 " % demo)
        s.wait(r"^[> ] +\d+ +\S+ +[1-9]\S* .* order-worker-\d ")
        s.keys("1", "s")
        path = saved(s)
        want(title(path).startswith("wall, idle hidden"), title(path))
        with open(path, encoding="utf-8") as f:
            want(WAITS not in f.read(), "an idle thread in the picture")
        s.keys("I")
        wait_for(lambda: "idle hidden" not in s.text(), "all samples")
        look_for_idle(s, True)
        s.keys("2")
        s.wait(r"^[> ] +%d +\S+ +[1-9]\S* +\S+ sleep +(- +)?futex 100 " % demo)
        os.remove(path)
        s.keys("1", "s")
        wait_for(lambda: glob.glob(os.path.join(s.directory, "*.svg")), "the picture of all samples")
        path = saved(s)
        want("idle" not in title(path), title(path))
        with open(path, encoding="utf-8") as f:
            want(WAITS in f.read(), "no idle thread in the picture")
        leave(s)
        s.start("wall.jtop")  # the same of a recording
        s.wait(r"RECORDING$")
        s.wait(r"idle hidden \(\d+ %\)")
        look_for_idle(s, False)
        s.keys("2")
        s.wait(r"^[> ] +%d +\S+ +0\.0 +0 \S+ +futex 100 " % demo)
        s.keys("1", "I")
        look_for_idle(s, True)
        leave(s)


def pauses(pid):
    with screen(120, 40) as s:
        s.start("%d" % pid)
        s.wait(r"^ +pauses .*[gG]")
        s.keys("H")
        wait_for(lambda: "pauses" not in s.text(), "the strip to go")
        leave(s)


def few_bytes(pid):
    with terminal(160, 50, "-e", "cpu,alloc,lock,wall", str(pid)) as t:
        t.read_until(b"lock%")
        t.read(5)
        steady = len(t.read(5)) / 5
        print("# four events at 160x50: %d bytes/s" % steady)
        want(steady < 4096, "%d bytes/s" % steady)
        os.write(t.fd, b"q")
        want(t.wait() == 0, "exit code")


def recorded(pid):
    with screen(120, 40) as s:
        s.start("-e alloc,lock --record r.jtop %d" % pid)
        s.wait(r"^\[alloc \w+ \S+\] lock ")
        s.wait(r"alloc.*\n.* samples [1-9]")
        s.keys("4")
        s.wait(r"Several\$Ledger")
        leave(s)
        s.start("r.jtop")
        s.wait(r"RECORDING$")
        s.wait(r"^\[alloc .* lock ")
        s.wait(r"^> .*long\[\]")
        s.keys("E")
        s.wait(r"\[lock ")
        s.keys("4")
        s.wait(r"Several\$Ledger")
        s.keys("o", "Enter")
        s.wait("this is a recording")
        s.keys("Escape")
        leave(s)


def main():
    checks = Checks()
    if not shutil.which("tmux") or not samples_allocations():
        print("ok events on screen # SKIP needs tmux and a JDK 11 or later")
        return 0
    with Jvm("shop.Demo") as demo:
        checks.run("idle threads under the wall clock", idle, demo.pid)
    with several() as jvm:
        checks.run("four events and their columns", switching, jvm.pid)
        checks.run("started and stopped while looking", starting, jvm.pid)
        checks.run("the strip explains its dips", pauses, jvm.pid)
        checks.run("few bytes with four events", few_bytes, jvm.pid)
        checks.run("a recording of two events", recorded, jvm.pid)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
