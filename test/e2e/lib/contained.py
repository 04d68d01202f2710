"""What is asked of a profile of a JVM in a container, wherever it was taken."""
import re

import oci
from lib import Wrong, collapsed, difference, good, read, self_percent, threads, total, traces, \
    wait_for, want

# What every profile here is made with; then the pid.
PROFILE = ("-d", 2, "-i", "1ms", "-t", "-o", "collapsed")


def warm(jvm):
    """Shares, once what it runs has been compiled."""
    wait_for(lambda: sum(jvm.truth().values()) > 5e8, "half a second of CPU time")
    return jvm


def number(jvm, name="mixed"):
    """A thread's number as the JVM itself has it."""
    for tid in threads(jvm.pid):
        text = read("/proc/%d/task/%d/status" % (jvm.pid, tid))
        if re.search(r"^Name:\s*%s$" % name, text, re.M):
            return int(re.search(r"^NSpid:.*?(\d+)$", text, re.M).group(1))
    raise Wrong("no thread is called " + name)


def inside(container, *more, pid=1, **who):
    """take() for right(): the profiler runs in that container."""
    def take():
        done = container.run(oci.INSIDE + "/jtop-prof", *PROFILE, *more, pid, **who)
        want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stdout
    return take


def outside(jvm, *more):
    """The same, from here."""
    return lambda: good(*PROFILE, *more, jvm.pid)


def nothing_left(jvm, *containers):
    """Of ours, in the JVM and in all the directories that anybody may write to."""
    def left():
        return traces(jvm.pid) + [f for c in (jvm, *containers) for f in c.files()]
    wait_for(lambda: not left(), "it to be gone: %s" % left(), 8)


def right(jvm, take):
    """take() gives collapsed stacks, by thread, of Shares' one busy thread. Shares must be true;
    where few samples were had, up to two more runs are added."""
    stacks, truth = [], {}
    for _ in range(3):
        before = jvm.truth()
        stacks += collapsed(take())
        for name, ns in jvm.truth().items():
            truth[name] = truth.get(name, 0) + ns - before[name]
        mixed = [s for s in stacks if s[0][0].startswith("[mixed tid=")]
        want(total(mixed) >= 0.8 * total(stacks), "%d of %d samples are the workload's"
             % (total(mixed), total(stacks)))
        percent, seen = difference({n: 0 for n in truth}, truth), self_percent(mixed)
        off = {n: seen.get(n, 0) - percent[n] for n in percent}
        chance = max(3.0, 150.0 / max(total(mixed), 1) ** 0.5)
        if total(mixed) >= 100 and all(abs(o) <= chance for o in off.values()):
            break
    else:
        raise Wrong("%d samples; points off: %s" % (total(stacks), off))
    want({f[0] for f, _ in mixed} == {"[mixed tid=%d]" % number(jvm)},
         "threads: %s" % {f[0] for f, _ in mixed})
    want(any("java/lang/Thread.run" in f for f, _ in mixed), "no java/lang/Thread.run")
    return stacks
