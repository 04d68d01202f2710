#!/usr/bin/env python3
# timeout: 180, runs: alone
"""The VM's own threads by what they do: compiler threads with the method they compile, the VM thread
with its operation, collectors with their work. What the last two do shows in the names of native
functions: where libjvm.so has none (no symbol table), those checks are skipped."""
import os
import re
import subprocess
import sys
import tempfile

from lib import AGENT, Checks, Jvm, Skip, collapsed, good, java_tool, want

SOURCE = """
import java.io.*;
import java.util.*;

public class Busy {
    public static volatile long sink;

    /** Loaded again and again, and run until it is compiled. */
    public static class Hot implements Runnable {
        long a(long x) {
            long s = x;
            for (int i = 0; i < 40; i++) {
                s = s * 31 + b(s, i);
                if ((s & 7) == 3)
                    s ^= c(s);
            }
            return s;
        }

        long b(long x, int i) {
            StringBuilder t = new StringBuilder();
            t.append(x & 15).append(i);
            return t.toString().hashCode() + d(x);
        }

        long c(long x) {
            Map<Long, Long> m = new HashMap<>();
            m.put(x, x);
            for (Map.Entry<Long, Long> e : m.entrySet())
                x += e.getValue();
            return x;
        }

        long d(long x) {
            switch ((int) x & 3) {
            case 0: return x + 1;
            case 1: return x >>> 3;
            case 2: return x ^ 5;
            default: return x * 7;
            }
        }

        public void run() {
            long s = 0;
            for (int i = 0; i < 3000; i++)
                s += a(i);
            sink += s;
        }
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(Busy.class.getClassLoader());
        }

        Runnable load(byte[] b) throws Exception {
            return (Runnable) defineClass("Busy$Hot", b, 0, b.length).newInstance();
        }
    }

    static byte[] read(String name) throws IOException {
        InputStream in = Busy.class.getClassLoader().getResourceAsStream(name);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] part = new byte[4096];
        for (int n; (n = in.read(part)) > 0;)
            out.write(part, 0, n);
        return out.toByteArray();
    }

    static void compile(byte[] hot) {
        try {
            while (true)
                new Loader().load(hot).run();
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    static void collect() {
        Object[] keep = new Object[100000];
        for (int i = 0; ; i++)
            keep[i % keep.length] = new long[8 + i % 64];
    }

    public static void main(String[] args) throws Exception {
        byte[] hot = read("Busy$Hot.class");
        Thread busy = args[0].equals("compile") ? new Thread(() -> compile(hot))
                                                : new Thread(() -> collect());
        busy.setDaemon(true);
        busy.start();
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
"""


def by_thread(text, pattern):
    """Stacks of the threads whose names match, without the thread's frame, and their samples."""
    found = [(frames[1:], n) for frames, n in collapsed(text)
             if re.match(pattern + r".* tid=\d+\]$", frames[0][1:])]
    return found, sum(n for _, n in found)


def samples_with(stacks, pattern):
    return sum(n for frames, n in stacks if any(re.search(pattern, f) for f in frames))


def most(stacks, n, percent, pattern, what):
    want(n >= 100, "only %d samples of %s" % (n, what))
    those = samples_with(stacks, pattern)
    want(those >= percent / 100 * n, "%d of %d samples of %s show %s" % (those, n, what, pattern))


ENTRY = re.compile(r"Compiler::compile_method$")


def compilers_compile(text, percent):
    """The method stands where its compilation begins."""
    stacks, n = by_thread(text, "C[12] Comp")
    if not samples_with(stacks, ENTRY):
        raise Skip("libjvm.so has no symbol table")
    most(stacks, n, percent, r"^[\w/$]+\.[\w$<>]+$", "compiler threads")
    want(samples_with(stacks, r"^Busy\$Hot\.[abcd]$") > 0, "Busy$Hot is not compiled")
    for frames, _ in stacks:
        at = [i for i, f in enumerate(frames) if re.match(r"[\w/$]+\.[\w$<>]+$", f)]
        want(not at or at == [i + 1 for i, f in enumerate(frames) if ENTRY.search(f)][-1:],
             "misplaced: %s" % ";".join(frames))


def not_asked_for(classes):
    """Compilers' stacks are the same whatever they compile."""
    stacks, n = by_thread(profile(classes, "compile", 2, [], ""), "C[12] Comp")
    want(n >= 50, "only %d samples" % n)
    want(samples_with(stacks, r"^[\w/$]+\.[\w$<>]+$") == 0, "methods: %s" % stacks[:3])


def profile(classes, what, seconds, options, features="comptask"):
    with Jvm("Busy", what, options=options, classes=classes, stderr=subprocess.DEVNULL) as jvm:
        text = good("-d", seconds, "-i", "1ms", "-t", "-F", features, "-o", "collapsed", jvm.pid)
        want(jvm.alive() and jvm.end() == 0, "the JVM did not end well")
    return text


def compilers(classes, percent, options):
    compilers_compile(profile(classes, "compile", 4, options), percent)


def compilers_from_the_start(classes, place):
    """The agent is there before the compilers have compiled anything."""
    path = os.path.join(place, "start.collapsed")
    agent = "-agentpath:%s=start,event=cpu,interval=1ms,threads,features=comptask,file=%s" % (AGENT, path)
    with Jvm("Busy", "compile", options=[agent], classes=classes) as jvm:
        with Jvm("Busy", "compile", classes=classes, stderr=subprocess.DEVNULL) as other:
            good("-d", 3, "-o", "summary", other.pid)  # meanwhile
        want(jvm.end() == 0, "the JVM did not end well")
    with open(path, encoding="utf-8") as f:
        compilers_compile(f.read(), 80)


def collector(classes, options, checked):
    text = profile(classes, "collect", 4, options)
    if "Thread::call_run" not in text and "java_start" not in text:
        raise Skip("libjvm.so has no symbol table")
    for pattern, percent, shows in checked:
        stacks, n = by_thread(text, pattern)
        most(stacks, n, percent, shows, pattern)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "Busy.java")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run([java_tool("javac"), "-nowarn", "-d", place, source], check=True,
                       stderr=subprocess.DEVNULL)
        checks.run("compiler threads", compilers, place, 80, [])
        # C1 is fast: much of its threads' time is what comes before and after.
        checks.run("C1 only", compilers, place, 50, ["-XX:TieredStopAtLevel=1"])
        checks.run("compilers, not asked for", not_asked_for, place)
        checks.run("compiler threads from the start", compilers_from_the_start, place, place)
        checks.run("serial collector", collector, place, ["-XX:+UseSerialGC"],
                   [("VM Thread", 80, r"^VM_\w+::doit")])
        checks.run("parallel collector", collector, place, ["-XX:+UseParallelGC"],
                   [("(GC task t|(Par)?GC T)hread", 60, r"^(PS|Parallel|Scavenge|Steal)\w*::")])
        checks.run("G1", collector, place, ["-XX:+UseG1GC"],
                   [("(GC Thread|Gang worker)", 60, r"^G1\w*::")])
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
