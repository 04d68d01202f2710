#!/usr/bin/env python3
# runs: alone
"""--all-user, --all-kernel, --target-cpu and --signal do what they say, however CPU time is
sampled."""
import os
import signal
import sys
import tempfile

from lib import Checks, Jvm, Prof, armed, collapsed, status, threads, traces, wait_for, want
from perf_events import refused

SIGNAL = 28  # SIGWINCH: nobody's in a JVM
MS = 1e6
WORK = 600  # ms


class Workload(Jvm):
    def __init__(self, scratch):
        super().__init__("PerfEvents", os.path.join(scratch, "pages"))
        self.worker = wait_for(lambda: next((
            t for t, name in threads(self.pid).items() if name == "worker"), None), "the worker")


def sampled(scratch, jvm, orders, *options):
    """The worker's stacks and what each order took of its CPU time, in ms."""
    spent = []
    with Prof(scratch, "-d", 60, "-i", "1ms", *options, "-t", "--total", "-o", "collapsed",
              jvm.pid) as p:
        wait_for(lambda: armed(jvm.pid) or p.process.poll() is not None, "sampling")
        want(p.process.poll() is None, p.stderr())
        for order, cpu in orders:
            if cpu is not None:
                os.sched_setaffinity(jvm.worker, {cpu})
            before = cpu_ms(jvm)
            jvm.ask("%s %d" % (order, WORK))
            spent.append(cpu_ms(jvm) - before)
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
    os.sched_setaffinity(jvm.worker, range(os.cpu_count()))
    wait_for(lambda: not traces(jvm.pid), "everything to be taken down")
    stacks = [(frames[1:], n) for frames, n in collapsed(p.stdout())
              if frames[0] == "[worker tid=%d]" % jvm.worker]
    return stacks, spent


def cpu_ms(jvm):
    with open("/proc/%d/task/%d/schedstat" % (jvm.pid, jvm.worker), encoding="ascii") as f:
        return int(f.read().split()[0]) / MS


def weight(stacks, method):
    return sum(n for frames, n in stacks if any(method in f for f in frames)) / MS


def kernel(stacks):
    """What was in the kernel: the leaf says so."""
    return sum(n for frames, n in stacks if frames[-1].endswith("_[k]")) / MS


def rings(scratch, jvm):
    """Half of the work is the program's, half is the kernel's."""
    orders = [("burn", None), ("system", None)]
    stacks, (burned, system) = sampled(scratch, jvm, orders)
    want(kernel(stacks) > 0.7 * system, "%d ms of %d in the kernel" % (kernel(stacks), system))
    want(weight(stacks, ".burn") > 0.9 * burned, "%s" % stacks[:3])

    stacks, (burned, system) = sampled(scratch, jvm, orders, "--all-user")
    want(kernel(stacks) == 0, "kernel frames with --all-user")
    seen = weight(stacks, ".burn")
    want(0.85 * burned < seen < 1.1 * burned, "--all-user: %d ms of %d" % (seen, burned))
    want(weight(stacks, ".system") < 0.25 * system,
         "--all-user: %d ms of the kernel's %d" % (weight(stacks, ".system"), system))

    stacks, (burned, system) = sampled(scratch, jvm, orders, "--all-kernel")
    seen = weight(stacks, ".system")
    want(0.75 * system < seen < 1.1 * system, "--all-kernel: %d ms of %d" % (seen, system))
    want(weight(stacks, ".burn") < 0.15 * burned,
         "--all-kernel: %d ms of the program's %d" % (weight(stacks, ".burn"), burned))
    want(kernel(stacks) > 0.95 * sum(n for _, n in stacks) / MS, "a user frame is the leaf")


def processor(scratch, jvm):
    """Only what the thread does on that processor."""
    cpus = sorted(os.sched_getaffinity(jvm.worker))
    if len(cpus) < 2:
        print("# one processor only")
        return
    orders = [("burn", cpus[0]), ("burn", cpus[1]), ("system", cpus[0])]
    stacks, (_, there, _) = sampled(scratch, jvm, orders, "--target-cpu", cpus[1])
    seen = sum(n for _, n in stacks) / MS
    print("# %d ms on the processor, samples weigh %d" % (there, seen))
    want(0.9 * there < seen < 1.1 * there + 10, "%d ms there, %d seen" % (there, seen))
    want(weight(stacks, ".burn") > 0.95 * seen, "%d ms elsewhere" % (
        seen - weight(stacks, ".burn")))


def caught(pid, signo):
    return int(status(pid, "SigCgt"), 16) >> (signo - 1) & 1


def own_signal(scratch, jvm, event):
    with Prof(scratch, "-d", 60, "-i", "1ms", "-e", event, "--signal", SIGNAL, "-t", "--total",
              "-o", "collapsed", jvm.pid) as p:
        wait_for(lambda: p.process.poll() is not None or caught(jvm.pid, SIGNAL), "the handler")
        want(p.process.poll() is None, p.stderr())
        want(not caught(jvm.pid, signal.SIGPROF), "SIGPROF is used as well")
        wait_for(lambda: armed(jvm.pid), "sampling")
        before = cpu_ms(jvm)
        jvm.ask("burn %d" % WORK)
        spent = cpu_ms(jvm) - before
        p.process.send_signal(signal.SIGINT)
        want(p.process.wait(30) == 0, p.stderr())
    stacks = [(f, n) for f, n in collapsed(p.stdout()) if f[0].startswith("[worker ")]
    want(weight(stacks, ".burn") > 0.9 * spent, "%d ms of %d" % (weight(stacks, ".burn"), spent))
    wait_for(lambda: not caught(jvm.pid, SIGNAL), "the signal to be given back")


def itimers_signal(jvm):
    refused("itimer", jvm, "itimer can use only SIGPROF", options=("--signal", SIGNAL))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Workload(scratch) as jvm:
        jvm.ask("burn 300")
        checks.run("rings", rings, scratch, jvm)
        checks.run("one processor", processor, scratch, jvm)
        for event in ("cpu", "ctimer"):
            checks.run("another signal, " + event, own_signal, scratch, jvm, event)
        checks.run("another signal, itimer", itimers_signal, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
