#!/usr/bin/env python3
# timeout: 180, runs: alone
"""What the agent sees and costs: threads that start, end and change names, a thousand of them, few
descriptors, a JVM of another user, an application as it is in life."""
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile
import time

from lib import (AGENT, CLASSES, PROF, Checks, Jvm, Prof, armed, burn, collapsed, cpu_seconds, fds,
                 good, perf_fds, threads, total, wait_for, want)

NOBODY = 65534


def by_thread(stacks):
    """{(name, tid): count} of a profile taken with -t."""
    found = {}
    for frames, count in stacks:
        thread = re.fullmatch(r"\[(.*) tid=(\d+)\]", frames[0])
        want(thread, "not a thread: " + frames[0])
        key = (thread.group(1), int(thread.group(2)))
        found[key] = found.get(key, 0) + count
    return found


def thread_names(scratch, *engine):
    with Jvm("Threads", 3, "busy-a", "busy-b") as jvm, \
            Prof(scratch, "-d", 60, "-i", "1ms", *engine, "-t", "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling")
        tid = {name: tid for tid, name in threads(jvm.pid).items()}
        burn(jvm.pid, 1)
        jvm.ask("rename busy-a renamed-a")
        jvm.ask("start late-c")
        jvm.ask("end busy-b")
        burn(jvm.pid, 2)
        alive = threads(jvm.pid)
        p.process.send_signal(2)
        want(p.process.wait(20) == 0, p.stderr())
        seen = by_thread(collapsed(p.stdout()))
    want(("renamed-a", tid["busy-a"]) in seen, "renamed thread: %s" % seen)
    want(("busy-b", tid["busy-b"]) in seen, "ended thread: %s" % seen)
    late = [t for t, name in alive.items() if name == "late-c"]
    want(late and ("late-c", late[0]) in seen, "later thread: %s" % seen)
    want(seen[("late-c", late[0])] > 20, "later thread: %s" % seen)
    want(all(name for name, _ in seen), "a thread without name: %s" % seen)
    for name, number in seen:  # the kernel knows the first 15 bytes; the launcher's thread is java
        if number in alive and name != "main":
            want(alive[number] == name[:15], "%d is %s, not %s" % (number, alive[number], name))


def thousand(least, seen, *engine):
    """The weights of all samples are the CPU time of the process."""
    with Jvm("Threads", 1000, "busy-a") as jvm:
        wait_for(lambda: len(threads(jvm.pid)) > 1000, "its threads")
        began = time.monotonic()
        good("--batch", "-n", 1, "--refresh", "100ms", jvm.pid)
        took = time.monotonic() - began
        want(took < 10, "one frame took %.1f s" % took)
        before = cpu_seconds(jvm.pid)
        out = good("-d", 6, "-i", "1ms", "--total", "-t", *engine, "-o", "collapsed", jvm.pid)
        burned = cpu_seconds(jvm.pid) - before
        stacks = collapsed(out)
        sampled = total(stacks) / 1e9
        want(least * burned <= sampled <= 1.1 * burned,
             "%.2f s CPU, samples weigh %.2f s" % (burned, sampled))
        sleepers = [name for name, _ in by_thread(stacks) if name.startswith("sleeper-")]
        want(len(sleepers) > seen, "only %d of 1000 sleepers seen" % len(sleepers))
        jvm.ask("start after")  # it works on


def few_descriptors(scratch):
    """perf_events want a descriptor a thread; the application must keep some for itself."""
    limit = 400
    limited = ["prlimit", "--nofile=%d:%d" % (limit, limit)]
    with Jvm("Threads", 500, "busy-a", before=limited) as jvm:
        with Prof(scratch, "-d", 4, "-i", "1ms", "-o", "collapsed", jvm.pid) as p:
            wait_for(lambda: armed(jvm.pid), "sampling")
            most = 0
            while p.process.poll() is None:
                most = max(most, len(fds(jvm.pid)))
                time.sleep(0.1)
            want(p.process.returncode == 0, p.stderr())
            want(total(collapsed(p.stdout())) > 100, "too few samples")
        want(most <= 3 * limit // 4, "%d of %d descriptors in use" % (most, limit))


def other_user():
    """root looks at nobody's JVM: it loads the library, perf_events may be denied."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        for path in (PROF, AGENT):
            shutil.copy(path, place)
        classes = os.path.join(place, "java")
        shutil.copytree(CLASSES, classes)
        with Jvm("Shares", "single", classes=classes, cwd="/", user=NOBODY, group=NOBODY,
                 extra_groups=[]) as jvm:
            wait_for(lambda: sum(jvm.truth().values()) > 1e9, "a second of CPU time")
            stacks = collapsed(good("-d", 2, "-i", "1ms", "--libpath",
                                    os.path.join(place, os.path.basename(AGENT)),
                                    "-o", "collapsed", jvm.pid))
            want(total(stacks) > 100, "%d samples" % total(stacks))


def idle(scratch):
    """Attached to a JVM that does nothing, nearly nothing is used."""
    with Jvm("Idle") as jvm, Prof(scratch, "-d", 30, "-i", "1ms", "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid), "sampling")
        time.sleep(1)  # what attaching costs is not what idling costs
        before = cpu_seconds(jvm.pid), cpu_seconds(p.pid)
        time.sleep(4)
        used = [cpu_seconds(pid) - b for pid, b in zip((jvm.pid, p.pid), before)]
        want(used[0] <= 0.1, "the JVM used %.2f s in 4 s" % used[0])
        want(used[1] <= 0.2, "the profiler used %.2f s in 4 s" % used[1])


def real_life():
    """Java, native and kernel frames of one application, under their names."""
    with Jvm("shop.Demo") as jvm:
        burn(jvm.pid, 2)
        stacks = collapsed(good("-d", 6, "-i", "1ms", "-t", "-o", "collapsed", jvm.pid))
        want(total(stacks) > 500, "%d samples" % total(stacks))
        names = {name for name, _ in by_thread(stacks)}
        for name in ("order-worker-1", "order-worker-4", "report-writer"):
            want(name in names, "no thread " + name)
        text = "\n".join(";".join(frames) for frames, _ in stacks)
        for what in (r"^\[order-worker-\d tid=\d+\];java/lang/Thread.run;shop/OrderWorker.run;"
                     r"shop/OrderWorker.serve;shop/Pricing.total;shop/Pricing.discount",
                     r"shop/ReportWriter.compress;java/util/zip/Deflater.deflate;.*"
                     r"Deflater.deflateBytes\w*;[^;]+",
                     r";\w+_\[k\]$"):
            want(re.search(what, text, re.M), "no stack like " + what)
        workers = [(frames, n) for frames, n in stacks if "worker" in frames[0]]
        whole = sum(n for frames, n in workers if frames[1] == "java/lang/Thread.run")
        cut = [";".join(frames) for frames, _ in workers if frames[1] != "java/lang/Thread.run"]
        want(whole >= 0.97 * total(workers), "%d of %d stacks begin with their thread, not: %s"
             % (whole, total(workers), cut[:3]))


def all_at_once():
    """Several profilers, several JVMs: they do not get into each other's way."""
    with Jvm("Shares", "threads") as a, Jvm("shop.Demo") as b, Jvm("Churn") as c, \
            concurrent.futures.ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(good, "-d", 3, "-i", "1ms", "-o", "collapsed", j.pid)
                for j in (a, b, c)]
        for run, mark in zip(runs, ("Shares", "shop/", "ChurnTemplate")):
            out = run.result()
            want(mark in out, "no %s" % mark)
            others = {"Shares", "shop/", "ChurnTemplate"} - {mark}
            want(not any(o in out for o in others), "%s holds another JVM's frames" % mark)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        checks.together(*[("thread names, " + e, thread_names, scratch, "-e", e)
                          for e in ("cpu", "ctimer", "itimer")])
        # The kernel looks at ctimer's clocks when it ticks: a thread that runs for moments only is
        # seldom met, and what it has used since is not in a profile of a few seconds.
        checks.run("1000 threads, cpu", thousand, 0.75, 500, "-e", "cpu")
        checks.run("1000 threads, ctimer", thousand, 0.4, 50, "-e", "ctimer")
        # One timer for the whole process: its ticks meet those who run longest.
        checks.run("1000 threads, itimer", thousand, 0.75, 200, "-e", "itimer")
        checks.run("few descriptors", few_descriptors, scratch)
        if os.geteuid() == 0:
            checks.run("another user's JVM, as root", other_user)
        checks.run("idle", idle, scratch)
        checks.run("a real application", real_life)
        checks.run("three at once", all_at_once)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
