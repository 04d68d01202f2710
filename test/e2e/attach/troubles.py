#!/usr/bin/env python3
"""Every message that TROUBLESHOOTING in the manual page quotes, provoked for real; those about
attaching are in attach_troubles.py, those of push in push_troubles.py."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import attach_troubles
from lib import (AGENT, CLASSES, PROF, Checks, Jvm, Prof, good, prof, quoted_messages, read,
                 sampling, status, wait_for, want)
from oci import INSIDE, JAVA, Container, rootfs
from unsupported import ASGCT, STRUCTS, Java, copy_jdk, java_home

NOBODY = 65534


def refused(*args, **kwargs):
    done = prof(*args, **kwargs)
    want(done.returncode != 0, "it was not refused")
    return done.stderr


def frame(pid, *args, **kwargs):
    """One frame of the screen as text."""
    return good("--batch", "-n", 1, "--refresh", "200ms", *args, pid, **kwargs)


def shared(pid):
    """Whether somebody's profile of the JVM can be asked about: a little later than it samples."""
    return "not active" not in prof("status", pid).stdout


def no_process():
    child = subprocess.Popen(["true"])
    child.wait()
    return refused("-d", 1, child.pid)


def not_a_jvm():
    return refused("-d", 1, os.getpid())


def other_user():
    with Jvm("Idle") as jvm:
        return refused("-d", 1, jvm.pid, user=NOBODY, group=NOBODY, extra_groups=[])


def attach_disabled():
    with Jvm("Idle", options=["-XX:+DisableAttachMechanism"]) as jvm:
        return refused("-d", 1, jvm.pid)


def stopped():
    with Jvm("Idle") as jvm:
        os.kill(jvm.pid, signal.SIGSTOP)
        try:
            wait_for(lambda: status(jvm.pid, "State") == "T", "the JVM to stand still")
            return refused("-d", 1, jvm.pid)
        finally:
            os.kill(jvm.pid, signal.SIGCONT)


def held():
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        with Prof(scratch, "-d", 60, "-o", "flat", jvm.pid) as holder:
            wait_for(lambda: shared(jvm.pid), "a profile that can be asked for")
            said = refused("start", jvm.pid)
            want("process %d " % holder.pid in said, "not said by whom: " + said)
            return said


def sampled_otherwise():
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        with Prof(scratch, "--batch", "-n", 1000, jvm.pid) as holder:
            wait_for(lambda: shared(jvm.pid), "a profile that can be asked for")
            said = refused("-d", 1, "-i", "3ms", jvm.pid)
            want("process %d " % holder.pid in said, "not said by whom: " + said)
            return said


def on_screen():
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        with Prof(scratch, "--batch", "-n", 1000, jvm.pid):
            wait_for(lambda: shared(jvm.pid), "a profile that can be asked for")
            return refused("stop", jvm.pid)


def not_started():
    with Jvm("Idle") as jvm:
        return refused("dump", jvm.pid)


def signal_in_use():
    other = os.path.join(CLASSES, "libprofiler.so")
    with Jvm("Idle", options=["-agentpath:" + other]) as jvm:
        return refused("-d", 1, "-e", "ctimer", "--signal", 27, jvm.pid)


def nowhere_to_load():
    """Its only writable directories are not for programs."""
    with Container("Shares", "single", tmp="noexec", readonly=True) as jvm:
        said = refused("-d", 1, jvm.pid)
        want("(/tmp, /dev/shm: mounted noexec; /var/tmp" in said and not jvm.files(), said)
        return said


def wrong_libpath():
    with Jvm("Idle") as jvm:
        return refused("-d", 1, "--libpath", "/nowhere/libjtop-agent.so", jvm.pid)


def refused_event(*args):
    with Jvm("Idle") as jvm:
        return refused("-d", 1, *args, jvm.pid)


def no_tracefs():
    """The profiler where nothing is mounted there; the JVM is not asked before."""
    places = "/sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug"
    with Jvm("Idle") as jvm:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", "umount %s 2>/dev/null; exec \"$@\"" % places, "sh", PROF,
             "-d", "1", "-e", "sched:sched_switch", str(jvm.pid)],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        want(done.returncode == 100, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stderr


JDK8 = os.path.join(os.environ.get("JDKS_DIR", os.path.expanduser("~/.cache/jtop-prof/jdks")), "8")


def stripped_vm():
    """JDK 8 as distributions have it."""
    with Java(JDK8), Jvm("Idle") as jvm:
        return refused("-d", 1, "-e", "alloc", jvm.pid)


def unknown_walker():
    with Jvm("Idle") as jvm:
        return refused("-d", 1, "--cstack", "lbr", jvm.pid)


def no_walker():
    with tempfile.TemporaryDirectory() as scratch:
        bare = copy_jdk(java_home(), scratch, "bare", [STRUCTS, ASGCT])
        with Java(bare), Jvm("Idle") as jvm:
            return refused("-d", 1, jvm.pid)


def not_described():
    with tempfile.TemporaryDirectory() as scratch:
        plain = copy_jdk(java_home(), scratch, "no-structs", [STRUCTS])
        with Java(plain), Jvm("Idle") as jvm:
            return frame(jvm.pid)


def perf_denied():
    paranoid = "/proc/sys/kernel/perf_event_paranoid"
    with open(paranoid, encoding="ascii") as f:
        want(int(f.read()) >= 2, paranoid + " lets everybody use perf_events here")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        os.chmod(place, 0o755)
        agent = shutil.copy(AGENT, place)
        classes = shutil.copytree(CLASSES, os.path.join(place, "java"))
        with Jvm("Shares", "single", classes=classes, cwd="/", user=NOBODY, group=NOBODY,
                 extra_groups=[]) as jvm:
            return frame(jvm.pid, "--libpath", agent)


def perf_hidden():
    with Container("Shares", "single", inside=True, deny=["perf_event_open"], errno=38) as jvm:
        return jvm.run(INSIDE + "/jtop-prof", "-d", 1, 1).stderr


def memory_not_locked():
    java = "ulimit -l 0; exec %s -Xmx256m -cp /app Threads 300" % JAVA
    with Container("", inside=True, command=["/bin/bash", "-c", java]) as jvm:
        return jvm.run(INSIDE + "/jtop-prof", "-d", 1, "--all-user", 1).stderr


def kernel_names_hidden():
    with Container("Shares", "single", inside=True, user=0, caps=["PERFMON"]) as jvm:
        return jvm.run(INSIDE + "/jtop-prof", "-d", 2, 1, user=0).stderr


def perf_lent():
    with Container("Shares", "single", deny=["perf_event_open"]) as jvm:
        return frame(jvm.pid, "--view", "status")


def no_right_to_lend():
    with Container("Shares", "single", inside=True, deny=["perf_event_open"]) as jvm:
        done = jvm.run(INSIDE + "/jtop-prof", "-d", 1, "--fdtransfer", 1)
        want(done.returncode == 200, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stderr


def no_socket():
    with Jvm("Idle") as jvm:
        return refused("-d", 1, "--fdtransfer", "--libpath", AGENT, jvm.pid)


def lent_at_start():
    with tempfile.TemporaryDirectory() as scratch:
        path = os.path.join(scratch, "stderr")
        agent = "-agentpath:%s=start,frontend=%s,file=%s/a.txt,fdtransfer=@x" % (AGENT, PROF, scratch)
        with open(path, "wb") as err, Jvm("Idle", options=[agent], stderr=err) as jvm:
            wait_for(lambda: read(path), "its remark")
            jvm.end()
        return read(path)


def few_descriptors():
    with Jvm("Threads", 200, "busy-a", before=["prlimit", "--nofile=300:300"]) as jvm:
        return frame(jvm.pid)


def small_terminal():
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        tmux = ["tmux", "-S", os.path.join(scratch, "tmux"), "-f", "/dev/null"]
        subprocess.run([*tmux, "new-session", "-d", "-x", "30", "-y", "8",
                        "%s %d" % (PROF, jvm.pid)], check=True)
        try:
            def shown():
                text = subprocess.run([*tmux, "capture-pane", "-p"], check=True,
                                      capture_output=True, text=True).stdout
                return text if "small" in text else None
            return wait_for(shown, "the screen")
        finally:
            subprocess.run([*tmux, "kill-server"], check=False)


def on_terminal(before, **env):
    """What it says on a pseudo terminal, after some shell."""
    with Jvm("Idle") as jvm:
        spawn = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", before + ' exec "$@"', "sh", sys.executable, "-c", spawn,
             PROF, str(jvm.pid)],
            env=dict(os.environ, **env), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        want(done.returncode == 1, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stdout


def unknown_type():
    return on_terminal("", TERM="nonesuch")


def no_terminfo():
    said = on_terminal("for d in /etc /lib /usr/lib /usr/share; do "
                       "[ ! -d $d/terminfo ] || mount -t tmpfs none $d/terminfo; done;",
                       TERM="xterm-256color", HOME="/nowhere")
    want("TERMINFO" in said and "try TERM" not in said, said)
    return said


def no_terminal():
    with Jvm("Idle") as jvm:
        return refused(jvm.pid)


def said(*args):
    """What it says and goes on."""
    with Jvm("Idle") as jvm:
        done = prof("-d", "300ms", "-o", "summary", *args, jvm.pid)
        want(done.returncode == 0, "exit %d: %s" % (done.returncode, done.stderr))
        return done.stderr


def refused_by_jvm(*args):
    with tempfile.TemporaryDirectory() as scratch, Jvm("Idle") as jvm:
        return refused(args[0], jvm.pid, *args[1:], cwd=scratch)


def no_target():
    return refused("convert", "/dev/null")


def out_of_sight():
    with tempfile.TemporaryDirectory() as scratch, Container("Idle", inside=True) as jvm, \
            Prof(scratch, "-d", 60, jvm.pid):
        wait_for(lambda: sampling(jvm.pid), "the profile")
        return jvm.run(INSIDE + "/jtop-prof", "stop", 1).stderr


def others_proc():
    with Jvm("Idle", before=["unshare", "--pid", "--fork", "--kill-child"]) as jvm:
        inner = read("/proc/%d/task/%d/children" % (jvm.pid, jvm.pid)).split()[0]
        return refused("-d", 1, inner)


PROVOKED = {
    "does nothing without -e": lambda: said("--live"),
    "opened by jtop-prof; not allowed for the JVM": perf_lent,
    "--fdtransfer: this jtop-prof": no_right_to_lend,
    "has no socket through which to request perf_events": no_socket,
    "fdtransfer: a JVM that is just starting": lent_at_start,
    "in its name was seen (--thread)": lambda: said("--thread", "no-such-name"),
    "the last is number": lambda: refused_event("--target-cpu", "4096"),
    "refused 'jcmd'": lambda: refused_by_jvm("jcmd", "No.such"),
    "the JVM itself writes this file": lambda: refused_by_jvm("dumpheap", "/nosuch/x"),
    "does not overwrite files": lambda: refused_by_jvm("dumpheap", "/dev/null"),
    "into what? Give OUT": no_target,
    "no process": no_process,
    "is not a JVM": not_a_jvm,
    "cannot be inspected by": other_user,
    "-XX:+DisableAttachMechanism": attach_disabled,
    "is stopped by a signal": stopped,
    "Profiler already started": held,
    "this profile cannot take its samples from there": sampled_otherwise,
    "Profiler has not started": not_started,
    "is on the screen of process": on_screen,
    "has a handler already, of the JVM or another library": signal_in_use,
    "can load the agent from": nowhere_to_load,
    "but its /proc belongs to another one": others_proc,
    "is not visible from here": out_of_sight,
    "is the path of the agent library as the JVM sees it": wrong_libpath,
    "a breakpoint in the C library would end the JVM":
        lambda: refused_event("--begin", "malloc"),
    "unknown event": lambda: refused_event("-e", "cpuu"),
    "has no function": lambda: refused_event("--begin", "no_such_function"),
    "it selects one of several variants": lambda: refused_event("-e", "strlen"),
    "tracefs is not mounted": no_tracefs,
    "this machine has no PMU": lambda: refused_event("-e", "nosuchpmu/event=1/"),
    "this kernel has no kprobes for perf": lambda: refused_event("-e", "kprobe:do_sys_open"),
    "cannot be sampled together": lambda: refused_event("-e", "cpu,ctimer"),
    "holds only one event, and there are": lambda: refused_event("-e", "cpu,wall", "-o", "svg"),
    "before JDK 11 it needs the VM's functions": stripped_vm,
    "cannot be profiled: its libjvm.so has neither": no_walker,
    "walker asgct is used: this VM lacks": not_described,
    "no perf_events: denied": perf_denied,
    "no perf_events: this kernel has no perf_event_open": perf_hidden,
    "no locked memory for the buffers": memory_not_locked,
    "no kernel names": kernel_names_hidden,
    "unknown stack walker": unknown_walker,
    "threads would take half of the": few_descriptors,
    "terminal too small": small_terminal,
    "is not a terminal": no_terminal,
    "is not known here": unknown_type,
    "no terminfo files here": no_terminfo,
}


# These change the JDK that workloads run on.
ALONE = {no_walker, not_described, stripped_vm}


def provoke(message):
    want(message in PROVOKED, "the manual has it, and nothing here provokes it")
    said = PROVOKED[message]()
    want(message in " ".join(said.split()), "said: " + said)


def main():
    messages = quoted_messages("jtop-prof")
    messages = [m for m in messages if m in PROVOKED or m not in attach_troubles.PROVOKED]
    checks = Checks()
    checks.run("the table is read", lambda: want(len(messages) >= len(PROVOKED), str(messages)))
    checks.run("a root file system for containers", rootfs)
    alone = [m for m in messages if PROVOKED.get(m) in ALONE]
    checks.together(*[(m, provoke, m) for m in messages if m not in alone])
    for m in alone:
        if PROVOKED[m] is stripped_vm and not os.path.exists(os.path.join(JDK8, "bin", "java")):
            print("ok %s # SKIP no JDK 8 here (.ci/jdks 8 sets one up)" % m, flush=True)
        else:
            checks.run(m, provoke, m)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
