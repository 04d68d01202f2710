#!/usr/bin/env python3
"""Virtual threads: the whole stack, frozen frames included, down to the thread's run method."""
import glob
import os
import re
import subprocess
import sys
import tempfile

from lib import JAVA_BIN, Checks, collapsed, good, want

SOURCE = """
import java.util.concurrent.*;

public class Virtual {
    static volatile long sink;

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

    public static void main(String[] args) throws Exception {
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            System.out.println("ready");
            while (true) {
                for (int i = 0; i < 20; i++) {
                    int depth = i * 10;
                    pool.submit(() -> { deep(depth); return 0; });
                }
                Thread.sleep(100);
            }
        }
    }
}
"""


def homes():
    """JDKs that have virtual threads: the one in use, and those installed beside it."""
    places = [os.path.dirname(JAVA_BIN)] if JAVA_BIN else []
    places += [p for p in sorted(glob.glob("/usr/lib/jvm/*")) if not os.path.islink(p)]
    for home in places:
        javac = os.path.join(home, "bin", "javac")
        if os.path.exists(javac):
            said = subprocess.run([javac, "-version"], capture_output=True, text=True, check=False)
            found = re.search(r"javac (\d+)", said.stdout + said.stderr)
            if found and int(found.group(1)) >= 21:
                yield home


def whole_stacks(home, options):
    with tempfile.TemporaryDirectory() as place:
        source = os.path.join(place, "Virtual.java")
        with open(source, "w", encoding="utf-8") as f:
            f.write(SOURCE)
        subprocess.run([os.path.join(home, "bin", "javac"), source], check=True)
        jvm = subprocess.Popen([os.path.join(home, "bin", "java"), "-Xmx256m", *options, "-cp",
                                place, "Virtual"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
        try:
            want(jvm.stdout.readline() == b"ready\n", "the workload did not start")
            stacks = collapsed(good("-d", 4, "-i", "1ms", "-o", "collapsed", jvm.pid))
            want(jvm.poll() is None, "the JVM died")
        finally:
            jvm.kill()
            jvm.wait()
            jvm.stdout.close()
    burning = [(frames, n) for frames, n in stacks if "Virtual.burn" in frames]
    total = sum(n for _, n in burning)
    want(total > 200, "only %d samples in burn" % total)
    whole = sum(n for frames, n in burning if "java/lang/VirtualThread.run" in frames)
    want(whole >= 0.97 * total, "%d of %d stacks reach the virtual thread's run" % (whole, total))
    deepest = max(frames.count("Virtual.deep") for frames, _ in burning)
    want(deepest >= 150, "the deepest stack has %d frames of deep" % deepest)


def main():
    checks = Checks()
    found = list(homes())
    if not found:
        print("ok virtual threads # SKIP needs a JDK 21 or later, by JAVA_HOME or in /usr/lib/jvm")
    for home in found:
        name = os.path.basename(home)
        checks.run(name, whole_stacks, home, [])
        checks.run(name + ", interpreted", whole_stacks, home, ["-Xint"])
        checks.run(name + ", serial", whole_stacks, home, ["-XX:+UseSerialGC"])
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
