#!/usr/bin/env python3
# timeout: 300, runs: alone
"""Virtual threads: the whole stack, frozen frames included, down to the thread's run method; and each
sample the virtual thread's own, by its id and name, in shares that the workload knows.

MATRIX=1 runs every collector and object layout, and takes some minutes."""
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

import lib
from lib import Checks, Jvm, collapsed, difference, good, total, want, within

POINTS = 3.0

SOURCE = """
import java.io.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Virtual {
    static volatile long sink;

    // ---- deep stacks ----

    static void burn() {
        long end = System.nanoTime() + 500_000;
        while (System.nanoTime() < end)
            for (int i = 0; i < 1000; i++)
                sink += i * 31;
    }

    static void deep(int more) throws Exception {
        if (more > 0) {
            deep(more - 1);
            return;
        }
        for (int i = 0; i < 50; i++) {
            burn();
            Thread.sleep(1); // unmounts: what is below is frozen, and thawed a frame at a time
        }
    }

    static void deepOnes() throws Exception {
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            while (true) {
                for (int i = 0; i < 20; i++) {
                    int depth = i * 10;
                    pool.submit(() -> { deep(depth); return 0; });
                }
                Thread.sleep(100);
            }
        }
    }

    // ---- many of them ----

    static final int THREADS = 10_000;
    static final int[] UNITS = {1, 2, 3, 4, 2}; // of work at a time, by group; the last has no name
    static final String[] KINDS = {"task", "t\\u00e4sk", "\\u4efb\\u52a1"};
    static final LongAdder[] done = new LongAdder[UNITS.length];
    static volatile int loops = 1000; // of a unit

    static void work(int units) {
        long x = units;
        byte[] garbage = new byte[512]; // so that collectors move things
        for (int i = loops * units; i > 0; i--)
            x = x * 31 + (x >>> 7) + garbage[i & 511];
        sink += x;
    }

    static void group0() { work(UNITS[0]); }
    static void group1() { work(UNITS[1]); }
    static void group2() { work(UNITS[2]); }
    static void group3() { work(UNITS[3]); }
    static void group4() { work(UNITS[4]); }

    static void task(int group) {
        while (true) {
            switch (group) {
            case 0: group0(); break;
            case 1: group1(); break;
            case 2: group2(); break;
            case 3: group3(); break;
            default: group4();
            }
            done[group].add(UNITS[group]);
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** A unit takes 0.4 ms: long against mounting, short against the profile. */
    static void calibrate() {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < 1_000_000_000)
            work(1);
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 20; i++) {
            begin = System.nanoTime();
            work(10);
            best = Math.min(best, System.nanoTime() - begin);
        }
        loops = (int) Math.max(10, 10 * 400_000L * loops / best);
    }

    static Thread[] manyOnes() {
        for (int i = 0; i < done.length; i++)
            done[i] = new LongAdder();
        Thread[] all = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int group = i % UNITS.length;
            var builder = Thread.ofVirtual();
            if (group < UNITS.length - 1)
                builder = builder.name(KINDS[i % KINDS.length] + "-" + group + "-", i);
            all[i] = builder.unstarted(() -> task(group));
        }
        for (Thread t : all)
            t.start();
        return all;
    }

    public static void main(String[] args) throws Exception {
        System.setOut(new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8"));
        Thread[] all = {};
        if (args[0].equals("deep")) {
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    deepOnes();
                } catch (Exception e) {
                    e.printStackTrace();
                }
            });
        } else {
            calibrate();
            all = manyOnes();
        }
        System.out.println("ready");
        var in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null;) {
            if (line.equals("truth")) {
                System.gc();
                for (int i = 0; i < done.length; i++)
                    System.out.println("truth group" + i + " " + done[i].sum());
            } else {
                StringBuilder names = new StringBuilder();
                for (Thread t : all)
                    names.append(t.threadId() + " " + t.getName() + "\\n");
                System.out.print(names);
            }
            System.out.println(".");
        }
        System.exit(0);
    }
}
"""

ALWAYS_DEEP = [("", []), (", interpreted", ["-Xint"])]
ALWAYS_MANY = [("", []), (", ZGC", ["-XX:+UseZGC"])]
MATRIX = [("", []),
          (", serial", ["-XX:+UseSerialGC"]),
          (", parallel", ["-XX:+UseParallelGC"]),
          (", ZGC", ["-XX:+UseZGC"]),
          (", ZGC with generations", ["-XX:+UseZGC", "-XX:+ZGenerational"]),
          (", Shenandoah", ["-XX:+UseShenandoahGC"]),
          (", wide oops", ["-XX:-UseCompressedOops"]),
          (", wide class pointers", ["-XX:-UseCompressedClassPointers"]),
          (", compact headers", ["-XX:+UseCompactObjectHeaders"]),
          (", compact headers, ZGC", ["-XX:+UseCompactObjectHeaders", "-XX:+UseZGC"]),
          (", compact headers, Shenandoah",
           ["-XX:+UseCompactObjectHeaders", "-XX:+UseShenandoahGC"]),
          (", interpreted", ["-Xint"])]


def homes():
    """JDKs that have virtual threads: the one in use, and those installed beside it."""
    places = [os.path.dirname(lib.JAVA_BIN)] if lib.JAVA_BIN else []
    places += [p for p in sorted(glob.glob("/usr/lib/jvm/*")) if not os.path.islink(p)]
    for home in places:
        javac = os.path.join(home, "bin", "javac")
        if os.path.exists(javac):
            said = subprocess.run([javac, "-version"], capture_output=True, text=True, check=False)
            found = re.search(r"javac (\d+)", said.stdout + said.stderr)
            if found and int(found.group(1)) >= 21:
                yield home


def understands(options):
    """Whether this VM knows them (and has that collector)."""
    tried = subprocess.run([lib.java_tool("java"), "-Xmx256m", *options, "-version"],
                           capture_output=True, text=True, check=False)
    ignored = re.search("Ignoring option", tried.stdout + tried.stderr)
    return tried.returncode == 0 and not ignored


def whole_stacks(classes, options):
    with Jvm("Virtual", "deep", options=options, classes=classes,
             stderr=subprocess.DEVNULL) as jvm:
        stacks = collapsed(good("-d", 3, "-i", "1ms", "-o", "collapsed", jvm.pid))
        want(jvm.alive(), "the JVM died")
    burning = [(frames, n) for frames, n in stacks if "Virtual.burn" in frames]
    burned = total(burning)
    want(burned > 200, "only %d samples in burn" % burned)
    whole = sum(n for frames, n in burning if "java/lang/VirtualThread.run" in frames)
    want(whole >= 0.97 * burned, "%d of %d stacks reach the virtual thread's run" % (whole, burned))
    deepest = max(frames.count("Virtual.deep") for frames, _ in burning)
    want(deepest >= 150, "the deepest stack has %d frames of deep" % deepest)


def by_thread(stacks, names):
    """{id: samples}; each virtual thread's name must be its own, its frames its group's."""
    seen = collections.Counter()
    nobodys = misnamed = strangers = 0
    for frames, count in stacks:
        group = next((f for f in frames if re.fullmatch(r"Virtual\.group\d", f)), None)
        head = re.fullmatch(r"\[(.*) virtual=(\d+)\]", frames[0])
        if not head:
            want(re.fullmatch(r"\[.* tid=\d+\]", frames[0]), "not a thread: " + frames[0])
            nobodys += count if group else 0
            continue
        want(int(head.group(2)) in names, "no such thread: " + frames[0])
        name, its_group = names[int(head.group(2))]
        if group and group != "Virtual." + its_group:
            strangers += count
            print("# %s in %s: %s" % (group, its_group, ";".join(frames)))
        misnamed += count if name and head.group(1) != name else 0
        seen[int(head.group(2))] += count
    everything = sum(seen.values()) + nobodys
    want(everything > 1000, "only %d samples" % everything)
    want(nobodys <= 0.002 * everything, "%d of %d are no virtual thread's" % (nobodys, everything))
    want(misnamed <= 0.002 * everything, "%d of %d are misnamed" % (misnamed, everything))
    want(strangers <= 0.001 * everything, "%d of %d are another thread's" % (strangers, everything))
    return seen


def many_threads(classes, options):
    with Jvm("Virtual", "many", options=options, classes=classes,
             stderr=subprocess.DEVNULL) as jvm:
        names = {}
        for i, line in enumerate(jvm.ask("names")):
            number, name = line.split(" ", 1)
            names[int(number)] = name, "group%d" % (i % 5)
        want(len(names) == 10000, "%d threads" % len(names))
        before = jvm.truth()
        stacks = collapsed(good("-d", 6, "-i", "500us", "-t", "-o", "collapsed", jvm.pid))
        truth = difference(before, jvm.truth())
        want(jvm.alive(), "the JVM died")
    seen = by_thread(stacks, names)
    shares = collections.Counter()
    for number, count in seen.items():
        shares[names[number][1]] += 100.0 * count / sum(seen.values())
    worst = max(abs(shares[group] - percent) for group, percent in truth.items())
    print("# %d samples of %d threads, at most %.2f points from the truth" %
          (sum(seen.values()), len(seen), worst))
    within(POINTS, truth, shares)
    want(len(seen) > 200, "only %d threads were seen" % len(seen))


def check(checks, home, place):
    name = os.path.basename(home)
    matrix = os.environ.get("MATRIX") == "1"
    lib.JAVA_BIN = os.path.join(home, "bin")
    with open(os.path.join(place, "Virtual.java"), "w", encoding="utf-8") as f:
        f.write(SOURCE)
    subprocess.run([lib.java_tool("javac"), "-encoding", "UTF-8", "-d", place, f.name], check=True)
    for what, function, some in (("whole stacks", whole_stacks, ALWAYS_DEEP),
                                 ("10,000 threads", many_threads, ALWAYS_MANY)):
        for variant, options in MATRIX if matrix else some:
            if understands(options):
                checks.run("%s, %s%s" % (name, what, variant), function, place, options)
            else:
                print("ok %s, %s%s # SKIP this VM has no such thing" % (name, what, variant))


def main():
    checks = Checks()
    found = list(homes())
    if not found:
        print("ok virtual threads # SKIP needs a JDK 21 or later, by JAVA_HOME or in /usr/lib/jvm")
    for home in found:
        with tempfile.TemporaryDirectory() as place:
            check(checks, home, place)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
