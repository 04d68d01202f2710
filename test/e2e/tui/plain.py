#!/usr/bin/env python3
"""The linear mode, --plain: lines in, lines out, no escape sequence."""
import os
import re
import subprocess
import sys
import tempfile

from lib import PROF, WAIT, Checks, Jvm, traces, wait_for, want

PROMPT = "keys, ? for help: "


class Plain:
    """The program between two pipes."""

    def __init__(self, *args, prompt=PROMPT, env=None):
        self.home = tempfile.TemporaryDirectory()
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": self.home.name,
                       "XDG_CONFIG_HOME": self.home.name, "TERM": "dumb", **(env or {})}
        self.process = subprocess.Popen([PROF, "--plain", *map(str, args)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=self.home.name)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.first = self.page(prompt)

    def page(self, prompt=PROMPT):
        """What comes up to the next prompt."""
        text = b""

        def read():
            nonlocal text
            text += self.process.stdout.read() or b""
            return text.endswith(prompt.encode()) or self.process.poll() is not None
        wait_for(read, "a page")
        page = text.decode()
        want(page.endswith(prompt), "it ended: " + page)
        want("\x1b" not in page and "\r" not in page, "an escape sequence in %r" % page)
        own = re.sub(r"^piped: .*$", "", page, flags=re.M)
        want(not re.search(r"[\u2500-\u25ff\u2800-\u28ff]", own), "a picture in %r" % own)
        return page[:-len(prompt)]

    def send(self, line, prompt=PROMPT):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()
        return self.page(prompt)

    def until(self, line, pattern):
        """Sends a line, then asks again until the page is as wanted."""
        page = self.send(line)

        def matches():
            nonlocal page
            if re.search(pattern, page, re.M):
                return True
            page = self.send("")
            return False
        wait_for(matches, "%s in:\n%s" % (pattern, page))
        return page

    def end(self, line="q"):
        if line is not None:
            self.process.stdin.write((line + "\n").encode())
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(WAIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(WAIT)
        self.home.cleanup()


def pages(jvm):
    with Plain(jvm.pid) as p:
        want("pid %d" % jvm.pid in p.first, "which JVM it is: " + p.first)
        p.until("", r"^1\. .*Shares\S*, self \d+\.\d %, .*total \d+\.\d %")
        p.until("", r"^\d+\. .*Shares\S*a50, self")
        page = p.until("2", r"^\d+\. .*mixed, tid \d+, cpu \d+\.\d %")
        p.until("", r"^\d+\. .*mixed, tid \d+, .* state run, java state RUNNABLE, ")
        want("[2 threads]" in page and "heap" not in page, "only what is new: " + page)
        want(re.search(r"^\d+\. level 1, closed, GC threads, tid \(\d+\), ", page, re.M),
             "the VM's threads: " + page)
        page = p.send("/VM Periodic")
        want(re.search(r"selected, VM Periodic Tas\w*, tid \d+, ", page),
             "a thread of the VM that was looked for: " + page)
        page = p.until("3", r"^\d+\. .*level 1, (open|closed), ")
        p.until("}", r"^\d+\. .*level 3, ")
        page = p.send("?")
        want(re.search(r"^p( Space)?: pause the display", page, re.M), "the keys: " + page)
        page = p.send("1p")
        want("PAUSED" in page, "paused: " + page)
        page = p.send("p/a50")
        want("LIVE" in page, "live: " + page)
        want(re.search(r"selected, .*a50", page), "the row that was looked for: " + page)
        page = p.send("down")
        want(not re.search(r"selected, .*a50", page), "the row below: " + page)
        page = p.send("|sed 's/^/piped: /'")
        want(re.search(r"^piped: .*SELF%", page, re.M), "the table: " + page)
        page = p.send("^W")
        want("this is the only JVM: q detaches and quits" in page, "the last JVM: " + page)
        page = p.send("Sc")
        want(re.search(r"written: \S+\.collapsed", page), "the file: " + page)
        want(p.end() == 0, "exit code")
    wait_for(lambda: not traces(jvm.pid), "the JVM to be let go")


def choosing(jvm):
    """The list of JVMs; the end of the input is the end."""
    prompt = "q to quit: "
    with Plain(prompt=prompt) as p:
        want(re.search(r"^\d+\. \S*Shares, pid %d, user " % jvm.pid, p.first, re.M),
             "the list: " + p.first)
        page = p.send("no such JVM at all", prompt)
        want("no such JVM at all" in page, "the answer: " + page)
        page = p.send(str(jvm.pid))
        want("pid %d" % jvm.pid in page, "the JVM: " + page)
        want(p.end(None) == 0, "exit code")
    wait_for(lambda: not traces(jvm.pid), "the JVM to be let go")


def end_of_jvm():
    with Jvm("Shares", "single") as jvm, Plain(jvm.pid) as p:
        p.until("", r"^1\. ")
        jvm.kill()
        page = p.until("", "JVM GONE")
        want(re.search(r"^\d\. .*Shares", page, re.M), "the profile stays: " + page)
        want(p.end() == 0, "exit code")


def ascii_only(jvm):
    with Plain(jvm.pid, env={"LC_ALL": "C"}) as p:
        page = p.until("", r"^1\. .*Shares\S*, self \d+\.\d %")
        want(page.isascii(), "not ASCII: " + page)
        want(p.end() == 0, "exit code")


def main():
    checks = Checks()
    with Jvm("Shares", "single") as jvm:
        checks.run("pages, keys, search, pipe, file", pages, jvm)
        checks.run("the list of JVMs", choosing, jvm)
        checks.run("ASCII where the locale has no more", ascii_only, jvm)
    checks.run("the end of a JVM", end_of_jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
