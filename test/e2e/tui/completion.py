#!/usr/bin/env python3
"""Completion of the command line, in the shells themselves, and what `make install` puts where.

bash needs no bash-completion for this; zsh and fish are skipped where they are not installed.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from lib import AGENT, BUILD, PROF, ROOT, Checks, Jvm, good, want
from tui import screen

MAIN = "Shares"


def script(directory, shell):
    path = os.path.join(directory, "completion." + shell)
    with open(path, "w", encoding="utf-8") as f:
        f.write(good("--completion", shell))
    return path


def bash(path, *words):
    """What bash offers for the last word."""
    code = ("source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _jtop_prof; "
            "printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "--norc", "--noprofile", "-c", code, "bash", path, PROF, *words],
                          capture_output=True, text=True, check=False, timeout=30)
    want(not done.stderr, done.stderr)
    return done.stdout.split()


def in_bash(directory, jvm):
    path = script(directory, "bash")
    for words, offered in (
            (("--cst",), ["--cstack"]),
            (("--cstack", "vm"), ["vm", "vmx"]),
            (("--cstack", "=", "dw"), ["dwarf"]),
            (("--completion", "z"), ["zsh"]),
            (("-e", "cpu,wal"), ["cpu,wall"]),
            (("-d", "1"), []),
            (("che",), ["check"])):
        got = bash(path, *words)
        want(got == offered, "%s: %s, not %s" % (words, got, offered))
    for words in (("",), ("-d", "5", ""), ("-d", "5", str(jvm.pid)), ("-d", "5", MAIN[:4])):
        got = bash(path, *words)
        want(str(jvm.pid) in got or MAIN in got, "%s: no JVM in %s" % (words, got))
    with open(os.path.join(directory, "a b"), "w", encoding="ascii"):
        pass
    got = bash(path, "-f", directory + "/a")
    want(got == [directory + "/a", "b"], "files: %s" % got)
    want("solarized" in bash(path, "--theme", ""), "no themes")


def typed(shell, start, directory, jvm):
    """As somebody types: the line after Tab."""
    with screen(cols=120) as s:
        s.line("clear; PATH=%s:$PATH %s" % (directory, start))
        s.wait(r"READY", shell)
        s.tmux("send-keys", "-l", "jtop-prof --cst")
        s.keys("Tab")
        s.wait(r"jtop-prof --cstack", shell)
        s.tmux("send-keys", "-l", " dw" if not s.text().rstrip("\n").endswith("=") else "dw")
        s.keys("Tab")
        s.wait(r"--cstack[ =]+dwarf", shell)
        s.tmux("send-keys", "-l", " -d 5 " + str(jvm.pid)[:-1])
        s.keys("Tab")
        s.wait(r"-d 5 %d" % jvm.pid, shell)


def in_zsh(directory, jvm):
    functions = os.path.join(directory, "zsh")
    os.mkdir(functions)
    os.rename(script(directory, "zsh"), os.path.join(functions, "_jtop-prof"))
    with open(os.path.join(directory, ".zshrc"), "w", encoding="ascii") as f:
        f.write("fpath=(%s $fpath); autoload -Uz compinit; compinit -u -D; PS1='> '; print READY\n"
                % functions)
    typed("zsh", "ZDOTDIR=%s zsh -d" % directory, directory, jvm)


def in_fish(directory, jvm):
    path = script(directory, "fish")

    def offered(line):
        code = "source %s; complete -C '%s'" % (path, line)
        done = subprocess.run(["fish", "--no-config", "-c", code], capture_output=True, text=True,
                              check=False, timeout=30,
                              env=dict(os.environ, HOME=directory,
                                       PATH=directory + ":" + os.environ["PATH"]))
        want(not done.stderr, done.stderr)
        return [row.split("\t")[0] for row in done.stdout.splitlines()]

    for line, expected in (("jtop-prof --cst", "--cstack"), ("jtop-prof --cstack dw", "dwarf"),
                           ("jtop-prof -e cpu,wal", "cpu,wall"), ("jtop-prof che", "check"),
                           ("jtop-prof --theme sol", "solarized"),
                           ("jtop-prof -d 5 ", str(jvm.pid)), ("jtop-prof " + MAIN[:4], MAIN)):
        want(expected in offered(line), "%s: %s" % (line, offered(line)))


def installed(directory):
    """Into a place of its own: what is there afterwards, and that nothing of it stays."""
    place = os.path.join(directory, "root")
    command = ["make", "--no-print-directory", "BUILD=" + os.path.relpath(BUILD, ROOT)
               if BUILD.startswith(ROOT) else "BUILD=" + BUILD, "DESTDIR=" + place, "PREFIX=/usr"]
    done = subprocess.run(command + ["install"], cwd=ROOT, capture_output=True, text=True,
                          check=False, timeout=100)
    want(done.returncode == 0, done.stderr[-500:])
    for name in ("bin/jtop-prof", "lib/jtop-prof/libjtop-agent.so", "share/man/man1/jtop-prof.1",
                 "share/man/man5/jtop-prof.5", "share/man/man7/jtop-prof.7",
                 "share/bash-completion/completions/jtop-prof",
                 "share/zsh/site-functions/_jtop-prof",
                 "share/fish/vendor_completions.d/jtop-prof.fish",
                 "share/jtop-prof/themes/default.theme"):
        path = os.path.join(place, "usr", name)
        want(os.path.exists(path) and os.path.getsize(path) > 100, "no " + name)
    done = subprocess.run(command + ["uninstall"], cwd=ROOT, capture_output=True, text=True,
                          check=False, timeout=30)
    left = [os.path.join(d, f) for d, _, files in os.walk(place) for f in files]
    want(done.returncode == 0 and not left, "left behind: %s" % left)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as directory, Jvm(MAIN, "1") as jvm:
        os.symlink(PROF, os.path.join(directory, "jtop-prof"))
        os.symlink(AGENT, os.path.join(directory, "libjtop-agent.so"))
        checks.run("bash", in_bash, directory, jvm)
        with open(os.path.join(directory, ".bashrc"), "w", encoding="ascii") as f:
            f.write("source %s; PS1='> '; echo READY\n" % os.path.join(directory,
                                                                      "completion.bash"))
        checks.run("bash, typed", typed, "bash",
                   "bash --rcfile %s/.bashrc -i" % directory, directory, jvm)
        for shell, check in (("zsh", in_zsh), ("fish", in_fish)):
            if shutil.which(shell):
                checks.run(shell, check, directory, jvm)
            else:
                print("ok %s # SKIP not installed" % shell, flush=True)
        checks.run("make install", installed, directory)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
