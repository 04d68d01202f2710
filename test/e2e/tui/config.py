#!/usr/bin/env python3
"""The config file in a real terminal: what it sets is what comes up, and its mistakes are told
before anything is started."""
import os
import re
import sys
import tempfile

from lib import Checks, Jvm, good, prof, want
from tui import screen

MAIN = "Shares"
NOBODY = 65534


def write(home, text):
    path = os.path.join(home, "jtop-prof", "config")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def mistakes(home, jvm):
    environment = dict(os.environ, XDG_CONFIG_HOME=home)
    path = write(home, "[display]\nrefresh = 1s\n[keys]\npause = s\nwindow = s\n")
    done = prof("--batch", "-n", "1", jvm.pid, env=environment)
    want(done.returncode == 1, "exit %d" % done.returncode)
    expected = "jtop-prof: %s:5: the key s would mean both pause and window" % path
    want(done.stderr.strip() == expected, done.stderr)
    want(not done.stdout, "started all the same: " + done.stdout)
    # who profiles without a screen needs no settings
    done = prof("-d", "1", "-o", "collapsed", jvm.pid, env=environment)
    want(done.returncode == 0, "a profile depends on it: " + done.stderr)


def printed(home, jvm):
    environment = dict(os.environ, XDG_CONFIG_HOME=home)
    text = good("--print-config", env=environment)
    want(os.path.join(home, "jtop-prof", "config") in text, "does not say where: " + text[:300])
    write(home, text)
    want("this file exists" in good("--print-config", env=environment), "does not see it")
    good("--batch", "-n", "1", jvm.pid, env=environment)


def in_force(home, jvm):
    write(home, "[display]\nview = threads\nascii = yes\n[columns]\nthreads = tid, name, share\n"
                "[keys]\npause = F9\nhelp = F2\nmethods = K\n")
    with screen(cols=100, rows=30) as s:
        s.start(str(jvm.pid), "XDG_CONFIG_HOME=%s XDG_STATE_HOME=%s" % (home, home))
        s.wait(r"TID +NAME +SHARE%|TID NAME.*SHARE%", "the threads with three columns")
        s.wait(r"F9 pause.*F2 help", "the keys in force")
        s.keys("F9")
        s.wait(r"(?i)paused|held", "the pause")
        s.keys("F2")
        s.wait(r"K +methods: which", "the help")
        s.keys("F2")
        s.keys("K")
        s.wait(r"SELF%", "the methods")
        s.keys("q")
        want(s.code() == 0, "exit code")


def command_line_first(home, jvm):
    write(home, "[display]\nview = threads\n")
    environment = dict(os.environ, XDG_CONFIG_HOME=home)
    text = good("--batch", "-n", "1", "--view", "methods", jvm.pid, env=environment)
    want("SELF%" in text, text)
    text = good("--batch", "-n", "1", jvm.pid, env=environment)
    want("TID" in text and "SELF%" not in text, text)


def idle_threads(home, jvm):
    """Frames have no key that shows them."""
    environment = dict(os.environ, XDG_CONFIG_HOME=home)
    frames = ("--batch", "-n", "2", "-e", "wall", jvm.pid)
    write(home, "[display]\nview = methods\n")
    want(re.search(r"idle hidden \(\d+ %\)", good(*frames, env=environment)), "idle threads")
    write(home, "[display]\nidle = yes\n")
    text = good(*frames, env=environment)
    want("idle hidden" not in text and "SELF%" in text, text)


def unreadable(home, jvm):
    """Somebody else's home in HOME, as setpriv leaves it. (The JVM is root's: whether the settings
    are in the way is what is told first.)"""
    path = write(home, "[display]\nview = trees\n")
    environment = dict(os.environ, XDG_CONFIG_HOME=home, XDG_STATE_HOME=home)
    as_nobody = {"env": environment, "user": NOBODY, "group": NOBODY, "extra_groups": []}
    for closed in (home, path):
        os.chmod(home, 0o755)
        os.chmod(closed, 0)
        done = prof("--batch", "-n", "1", jvm.pid, **as_nobody)
        want(path not in done.stderr and str(jvm.pid) in done.stderr, done.stderr)
        text = good("--print-config", **as_nobody)
        want(path + "  (not readable" in text, text[:300])


def main():
    checks = Checks()
    with Jvm(MAIN) as jvm:
        checked = [("mistakes are told with file and line", mistakes),
                   ("what is printed can be read", printed),
                   ("what is set is in force", in_force),
                   ("the command line comes after it", command_line_first),
                   ("idle threads are shown", idle_threads)]
        if os.geteuid() == 0:
            checked.append(("one that may not be read is none", unreadable))
        for name, check in checked:
            with tempfile.TemporaryDirectory() as home:
                checks.run(name, check, home, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
