#!/usr/bin/env python3
"""The agent on another C library: loaded by a musl program that says it is a JVM (test/musl/host.c),
with every entry point exercised, and by the same program on this machine's glibc."""
import os
import signal
import subprocess
import sys

from lib import AGENT, BUILD, ROOT, Checks, readers, want


def program(name):
    path = os.path.join(BUILD, "test", "musl", name)
    done = subprocess.run(["make", "--no-print-directory", "BUILD=" + BUILD, path], cwd=ROOT,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    want(done.returncode == 0, "cannot build %s: %s" % (name, done.stdout[-400:]))
    return path


def works(name, library):
    """Its reader stays for a while, for more reports: it is ended here."""
    with subprocess.Popen([program(name), AGENT], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as host:
        said, _ = host.communicate(timeout=90)
    for pid in readers(host.pid):
        os.kill(pid, signal.SIGTERM)
    print(said, end="", flush=True)
    want(host.returncode == 0, "ended with %d after: %s" % (host.returncode, said[-300:]))
    with open(program(name), "rb") as f:
        want(library in f.read(), "was not linked with " + library.decode())


def main():
    checks = Checks()
    checks.run("a program of glibc", works, "host-glibc", b"/lib64/ld-linux-x86-64.so.2")
    checks.run("a program of musl", works, "host-musl", b"/lib/ld-musl-x86_64.so.1")
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
