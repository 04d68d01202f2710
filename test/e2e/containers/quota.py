#!/usr/bin/env python3
# runs: alone
"""JVMs that may use a part of a CPU: what the screen, `status` and the summary say of the quota and
of how often it stops them, from the host and from inside; and what the kernel says of each thread
of a JVM in a container."""
import os
import re
import subprocess
import sys
import tempfile

import oci
from lib import PROF, Checks, Jvm, Prof, good, prof, want, wait_for

FRAME = dict(os.environ, COLUMNS="80", LINES="24", LC_ALL="C.UTF-8")
WIDE = dict(FRAME, COLUMNS="150", LINES="50")
# The container's groups where container engines have them, read-only.
GROUPS = {"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup",
          "options": ["ro", "nosuid", "noexec", "nodev"]}


def frames(text):
    """The pictures of --batch, one string each."""
    return re.split(r"^(?=jtop-prof  )", text, flags=re.M)[1:]


def until(pid, pattern, *args, env=None):
    """The first picture with such a text; all until then are checked for their width."""
    env = env or FRAME
    with tempfile.TemporaryDirectory() as scratch, \
            Prof(scratch, "--batch", "--refresh", "500", *args, pid, env=env) as p:
        def look():
            found = [f for f in frames(p.stdout()) if re.search(pattern, f, re.M)]
            want(found or p.process.poll() is None, p.stderr())
            return found and found[0]
        picture = wait_for(look, "a picture with " + pattern)
    for line in picture.splitlines():
        want(line.startswith("!") or len(line) <= int(env["COLUMNS"]), "too wide: " + line)
    return picture


def group_file(c, name):
    return "/sys/fs/cgroup/cpu/%s/%s" % (c.name, name)


def set_quota(c, cpus):
    with open(group_file(c, "cpu.cfs_quota_us"), "w", encoding="ascii") as f:
        f.write(str(int(cpus * 100000)))


def from_host(c):
    until(c.pid, r"^cpu \d+\.\d\d of 0\.5 cores  ")
    set_quota(c, 0.1)  # while we look on, and so little that it is always too little
    head = until(c.pid, r"^cpu \d+\.\d\d of 0\.1 cores  throttled [1-9]\d*%  ")
    want(re.search(r"^cpu .*threads \d+( \(\d+ Java\))?  overhead ", head, re.M), head)
    status = until(c.pid, r"throttled +in [1-9]\S*% of the periods now", "--view", "status",
                   env=WIDE)
    want("CPU quota         10% of a core, by group /" + c.name in status, status)
    found = re.search(r"in ([\d,]+) of ([\d,]+) so far; stopped for [1-9]", status)
    stopped, periods = (int(n.replace(",", "")) for n in found.groups())
    with open(group_file(c, "cpu.stat"), encoding="ascii") as f:
        ever = int(re.search(r"nr_periods (\d+)", f.read()).group(1))
    want(0 < stopped <= periods < ever, "%d of %d, of %d ever" % (stopped, periods, ever))
    set_quota(c, 0.5)


def in_figures(c):
    set_quota(c, 0.1)
    done = prof("-d", 2, "-o", "summary", c.pid)
    want(re.search(r"^throttled +: in \d+\.\d% of the periods: the CPU quota is 10%$", done.stdout,
                   re.M), done.stdout + done.stderr)
    good("start", c.pid)
    said = wait_for(lambda: re.search(
        r"^CPU quota: 10% of a core, by group /(\S+); throttled in [1-9]\d* of \d+ periods, for ",
        good("status", c.pid), re.M), "the quota in status")
    want(said.group(1) == c.name, said.group(0))
    good("stop", c.pid, "-o", "summary")
    set_quota(c, 0.5)


def kernel_of(c):
    """{number inside: CPU ticks} of the container's threads."""
    found = {}
    for tid in os.listdir("/proc/%d/task" % c.pid):
        with open("/proc/%d/task/%s/status" % (c.pid, tid), encoding="utf-8") as f:
            inner = int(re.search(r"^NSpid:.*?(\d+)$", f.read(), re.M).group(1))
        with open("/proc/%d/task/%s/stat" % (c.pid, tid), encoding="utf-8") as f:
            found[inner] = sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:13])
    return found


def each_thread(c):
    rows, folded = {}, {}  # by number; of the VM: how many threads each of its rows has

    def look():
        picture = until(c.pid, r"^ +\d+ +[1-9]\S* +\S+ +\d+ +\w+ .*mixed ", "--view", "threads",
                        env=WIDE)
        rows.update({int(m.group(1)): m.groups() for m in re.finditer(
            r"^[> ] +(\d+) +(\S+) +(\S+) +(\d+) +(\S+) ", picture, re.M)})
        folded.update({name: int(n) for n, name in re.findall(
            r"^[> ] +\((\d+)\) .* (GC|JIT|VM) threads\b", picture, re.M)})
        return rows
    wait_for(look, "rows of threads")
    ticks = kernel_of(c)
    busy = max(ticks, key=ticks.get)
    want(set(rows) <= set(ticks), "%s are no threads' numbers inside" % (set(rows) - set(ticks)))
    shown = len(rows) + sum(folded.values())
    want(shown >= 15, "%d threads in rows, of %d" % (shown, len(ticks)))
    want(float(rows[busy][1]) > 0, "the busiest, %d, with %s %%" % (busy, rows[busy][1]))
    want(all(r[4] in ("run", "sleep") for r in rows.values()), str(rows))


def inside(mounted):
    """What can be known in a container depends on whether its groups are mounted there."""
    with oci.Container("Shares", "single", quota=0.2, inside=True,
                       mounts=[GROUPS] if mounted else []) as c:
        def look():
            return c.run(oci.INSIDE + "/jtop-prof", "--batch", "-n", 3, "--refresh", 500, 1).stdout
        if mounted:
            wait_for(lambda: re.search(r"^cpu \d+\.\d\d of 0\.2 cores  throttled [1-9]", look(), re.M),
                     "the quota, from inside")
            done = c.run(oci.INSIDE + "/jtop-prof", "--batch", "-n", 2, "--view", "status", 1)
            want("20% of a core, by group /" in done.stdout, done.stdout + done.stderr)
        else:
            text = look()
            want(re.search(r"^cpu \d+\.\d\d (of \d+ )?cores?  threads", text, re.M), text)


def by_its_own_mounts():
    """A profiler that has no control groups mounted looks at the container's."""
    with oci.Container("Shares", "single", quota=0.5, mounts=[GROUPS]) as c:
        done = subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             'umount -l /sys/fs/cgroup && exec "$@"', "-", PROF, "--batch", "-n", "2", str(c.pid)],
            env=FRAME, capture_output=True, text=True, timeout=60, check=False)
        want(re.search(r"^cpu \d+\.\d\d of 0\.5 cores  ", done.stdout, re.M), done.stdout + done.stderr)


def without():
    with Jvm("Shares", "single") as jvm:
        picture = until(jvm.pid, r"CPU quota +none", "--view", "status", env=WIDE)
        want(re.search(r"  cpu \d+\.\d\d (of \d+ )?cores?  threads", picture), picture)
        want("throttled" not in picture, picture)


checks = Checks()
if not os.path.exists("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
    print("ok here the CPU controller is cgroup v2's # SKIP")
    sys.exit(0)
with oci.Container("Shares", "single", quota=0.5) as container:
    checks.run("header and status view, from the host", from_host, container)
    checks.run("status and the summary", in_figures, container)
    checks.run("CPU and state of each thread of another pid namespace", each_thread, container)
checks.run("inside, where the groups are mounted", inside, True)
checks.run("inside, where they are not", inside, False)
checks.run("from the host, which has no groups mounted", by_its_own_mounts)
checks.run("no quota", without)
sys.exit(checks.code())
