#!/usr/bin/env python3
# timeout: 240
"""Thousands of virtual threads on the live screen: their rows, their carriers', and the way in.
"""
import contextlib
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

from lib import JAVA_BIN, Checks, good, want
from tui import screen

THREADS = 10000
SOURCE = """
public class Tasks {
    static volatile long sink;

    static void burn(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end)
            for (int i = 0; i < 100; i++)
                sink += i * 31;
    }

    static void hot() throws InterruptedException {
        while (true) {
            burn(20_000_000);
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread.ofVirtual().name("the-busy-one").start(() -> {
            try {
                hot();
            } catch (InterruptedException e) {
            }
        });
        for (int i = 0; i < %d; i++)
            Thread.ofVirtual().name("task-", i).start(() -> {
                try {
                    while (true) {
                        burn(10_000);
                        Thread.sleep(1000);
                    }
                } catch (InterruptedException e) {
                }
            });
        System.out.println("ready");
        System.in.read(); // ends with whoever started it
    }
}
""" % THREADS


def home():
    """A JDK that has virtual threads: the one in use, or one installed beside it; or None."""
    places = [os.path.dirname(JAVA_BIN)] if JAVA_BIN else []
    places += [p for p in sorted(glob.glob("/usr/lib/jvm/*")) if not os.path.islink(p)]
    for place in places:
        javac = os.path.join(place, "bin", "javac")
        if os.path.exists(javac):
            said = subprocess.run([javac, "-version"], capture_output=True, text=True, check=False)
            found = re.search(r"javac (\d+)", said.stdout + said.stderr)
            if found and int(found.group(1)) >= 21:
                return place
    return None


@contextlib.contextmanager
def tasks(jdk):
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "Tasks.java")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run([os.path.join(jdk, "bin", "javac"), source], check=True)
        with subprocess.Popen([os.path.join(jdk, "bin", "java"), "-Xmx256m", "-cp", place, "Tasks"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as jvm:
            try:
                want(jvm.stdout.readline() == b"ready\n", "the workload did not start")
                yield jvm
                want(jvm.poll() is None, "the JVM died")
            finally:
                jvm.kill()


def rows(pid):
    with screen() as s:
        s.start("-i 1ms -t %d" % pid)
        s.wait(r"^> +\d+ +- +\d+\.\d +\d+ virt +- +the-busy-one .*Tasks\.")
        s.wait(r"^ +\d+ +- +\d+\.\d +\d+ virt +- +task-\d+ ")
        s.keys("v")
        s.wait(r"^> +\d+ +\d+\.\d +\d+\.\d +\d+ (run|sleep) +[A-Z]+ +Fork\S*orker-\d")
        want(" virt " not in s.text(), "virtual threads among the carriers:\n" + s.text())
        s.wait(r"threads\] .*by carrier +last 1m +LIVE")
        s.keys("v")
        s.wait(r"^> .* virt +- +the-busy-one ")
        s.keys("Enter")
        s.wait(r"\[1 methods\].* thread the-busy-one +(\d+\.\d% of all +)?LIVE")
        s.wait(r"^> .*Tasks\.burn")
        s.keys("3")
        s.wait(r"VirtualThread\.run")
        s.keys("U", "T")
        s.wait(r"OF EACH THREAD")
        s.wait(r"^> .*the-busy-one")
        s.keys("v")
        s.wait(r"^> .*ForkJoinPool-1-worker-\d")
        s.keys("q")
        want(s.code() == 0, "exit code")


def by_option(pid):
    """The same question on paper and in files."""
    frame = good("--batch", "-n", 1, "--refresh", "1s", "-i", "1ms", "-t", "--carriers", pid)
    want(re.search(r"ForkJoinPool-1-worker-\d", frame) and " virt " not in frame, frame[:600])
    for more, pattern in (([], r"^\[the-busy-one "), (["--carriers"], r"^\[ForkJoinPool-1-worker-\d")):
        out = good("-d", 1, "-i", "1ms", "-t", "-o", "collapsed", *more, pid)
        burning = [line for line in out.splitlines() if "Tasks.hot" in line]
        want(burning, out[:600])
        for line in burning:
            want(re.match(pattern, line), "not %s: %s" % (pattern, line))


def main():
    checks = Checks()
    jdk = home()
    if not jdk or not shutil.which("tmux"):
        print("ok virtual threads on screen # SKIP needs tmux and a JDK 21 or later")
        return 0
    with tasks(jdk) as jvm:
        checks.run("rows of virtual threads and of carriers", rows, jvm.pid)
        checks.run("carriers by option", by_option, jvm.pid)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
