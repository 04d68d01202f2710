#!/usr/bin/env python3
# timeout: 420, tier: fast
"""/prof of the server, as Hadoop's servlet: what its documentation has as examples, every output by
its own reader, every event that can be sampled here, wrong values, and several who ask at once.
"""
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree

from lib import (Checks, Jvm, Prof, burn, collapsed, connections, difference, java_tool, memory_kb,
                 read, self_percent, total, traces, wait_for, want, within)

OUTPUTS = {"summary": "text/plain", "traces": "text/plain", "flat": "text/plain",
           "collapsed": "text/plain", "svg": "image/svg+xml", "tree": "text/html",
           "jfr": "application/octet-stream", "html": "text/html", "flamegraph": "text/html",
           "text": "text/plain", "pprof": "application/octet-stream",
           "otlp": "application/x-protobuf", "speedscope": "application/json",
           "json": "application/json", "markdown": "text/markdown"}
# Those of the servlet. Of the others it depends on the machine whether they can be sampled.
ALWAYS = ("cpu", "alloc", "wall", "itimer", "ctimer")
SOMETIMES = ("page-faults", "context-switches", "cycles", "instructions", "cache-references",
             "cache-misses", "branches", "branch-misses", "bus-cycles", "L1-dcache-load-misses",
             "LLC-load-misses", "dTLB-load-misses", "mem:breakpoint", "trace:tracepoint")
WRONG = {"pid": ("abc", "0", "-1", "99999999999"), "event": ("", "cpuu", "/etc/passwd", "cpu,alloc",
                                                             "uprobe:/lib/libc.so.6:malloc"),
         "duration": ("0", "-5", "abc", "", "3601", "1e3", "99999999999999999999"),
         "interval": ("0.5ms", "abc", "10q", "1"), "jstackdepth": ("0", "x", "100000"),
         "bufsize": ("x", "99g"), "output": ("pdf", "", "svg,html", "flat=0", "../../etc/passwd"),
         "width": ("x", "1"), "height": ("0", "x"), "minwidth": ("x", "-1", "101", "nan"),
         "include": ("",), "refreshDelay": ("x", "3601"),
         "method": ("cpu",), "durtion": ("5",), "file": ("/etc/passwd",)}


class Answer:
    """What curl got; header names in lower case."""

    def __init__(self, out):
        head, self.body = out.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {k.lower(): v.strip() for k, v in (s.split(":", 1) for s in lines[1:])}

    def text(self):
        return self.body.decode("utf-8")


class Server:
    """jtop-prof serve, on a port of its own."""

    def __init__(self, scratch):
        self.prof = Prof(scratch, "serve", "--listen", "127.0.0.1:0")
        self.url = None

    def __enter__(self):
        def told():
            want(self.prof.process.poll() is None, "it ended: " + self.prof.stderr())
            return re.search(r"http://127\.0\.0\.1:\d+",
                             self.prof.stdout() + self.prof.stderr())
        self.url = wait_for(told, "the server").group(0)
        return self

    def __exit__(self, *_):
        self.prof.__exit__()

    def curl(self, path, *options):
        done = subprocess.run(["curl", "-sS", "-i", "--path-as-is", "--max-time", "120", *options,
                               self.url + path], stdin=subprocess.DEVNULL, capture_output=True,
                              check=False)
        want(done.returncode == 0, "curl %s: %s" % (path, done.stderr.decode()))
        return Answer(done.stdout)

    def ask(self, **parameters):
        return self.curl("/prof?" + "&".join(
            name if value is True else "%s=%s" % (name, value)
            for name, value in parameters.items()))

    def good(self, **parameters):
        answer = self.ask(wait=True, **parameters)
        want(answer.status == 200, "%s: %d %s" % (parameters, answer.status, answer.body[:300]))
        return answer

    def accepted(self, **parameters):
        """Where the result will be."""
        answer = self.ask(**parameters)
        want(answer.status == 202, "%d %s" % (answer.status, answer.body[:300]))
        refresh = re.fullmatch(r"(\d+); url=(/prof/[0-9a-f]{32})", answer.headers["refresh"])
        want(refresh, "Refresh: " + answer.headers["refresh"])
        want(int(answer.headers["retry-after"]) >= 1, "Retry-After")
        want(refresh.group(2) in answer.text(), "the page does not say where to")
        return refresh.group(2)

    def done(self, path):
        """Asks until there is a result, as a browser that refreshes does."""
        def come():
            answer = self.curl(path)
            want(answer.status in (200, 202), "%d %s" % (answer.status, answer.body[:300]))
            want(answer.status == 200 or path in answer.headers["refresh"], "no Refresh")
            return answer if answer.status == 200 else time.sleep(0.2)
        return wait_for(come, "the result", 60)


# ---- what the documentation has ----

def default(server, pid):
    """curl http://localhost/prof: ten seconds of CPU as a flame graph."""
    before = time.monotonic()
    path = server.accepted(pid=pid)
    answer = server.done(path)
    want(time.monotonic() - before > 9, "that were not ten seconds")
    want(answer.headers["content-type"].startswith("text/html"), answer.headers["content-type"])
    want(b"<script" in answer.body and b"Shares.mixed" in answer.body, "no flame graph of Shares")
    policy = answer.headers["content-security-policy"]
    want("script-src 'sha256-" in policy and "sandbox allow-scripts" in policy, policy)
    want(server.curl(path).body == answer.body, "the result changed")


def tree(server, pid):
    answer = server.done(server.accepted(pid=pid, output="tree", duration=2))
    want(b"Shares.mixed" in answer.body, "no tree of Shares")


def shares(server, jvm):
    before = jvm.truth()
    answer = server.good(pid=jvm.pid, duration=8, interval="1ms", output="collapsed")
    stacks = [s for s in collapsed(answer.text()) if any("Shares.mixed" in f for f in s[0])]
    # The truth is of a bit more time than the profile.
    within(5.0, difference(before, jvm.truth()), self_percent(stacks))
    print("# %d samples" % total(stacks))
    want(total(stacks) > 200, "only %d samples in 8 s at 1 ms" % total(stacks))


def window(server, jvm):
    """A profile has what was sampled while it was taken, and nothing of before."""
    server.good(pid=jvm.pid, duration=3, interval="5ms", output="collapsed")
    second = server.good(pid=jvm.pid, duration=2, interval="5ms", output="json").text()
    seconds = json.loads(second)
    text = json.dumps(seconds)
    want("2000000000" in text, "not two seconds: " + text[:300])


# ---- outputs ----

def saved(scratch, name, answer):
    path = os.path.join(scratch, name)
    with open(path, "wb") as f:
        f.write(answer.body)
    return path


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False)
    want(done.returncode == 0, "%s: %s" % (words[0], done.stderr[:400]))
    return done.stdout


def check_output(scratch, output, answer):
    text = answer.body.decode("utf-8", "replace")
    path = saved(scratch, "out." + output, answer)
    if output in ("summary", "traces", "flat", "text"):
        want("Total samples" in text, "summary")
        want(("samples  top" in text) == (output in ("flat", "text")), "flat")
        want(("  [ 0] " in text) == (output in ("traces", "text")), "traces")
    elif output == "collapsed":
        want(total(collapsed(text)) > 0, "no samples")
    elif output == "svg":
        xml.etree.ElementTree.fromstring(text)
        if shutil.which("xmllint"):
            run("xmllint", "--noout", "--nonet", path)
    elif output == "jfr":
        jfr = java_tool("jfr") if shutil.which(java_tool("jfr")) else "jfr"
        want(re.search(r"jdk\.ExecutionSample +[1-9]", run(jfr, "summary", path)), "no samples")
    elif output == "pprof":
        want("Shares.mixed" in run("go", "tool", "pprof", "-symbolize=none", "-top",
                                   "-cum", path), "pprof does not see it")
    elif output in ("json", "speedscope"):
        json.loads(text)
    want(output == "summary" or b"Shares" in answer.body or output == "pprof" or output == "jfr",
         "nothing of Shares in it")


def one_output(server, scratch, pid, output):
    answer = server.good(pid=pid, duration=1, interval="5ms", output=output)
    want(answer.headers["content-type"].split(";")[0] == OUTPUTS[output],
         answer.headers["content-type"])
    want(answer.headers["x-content-type-options"] == "nosniff", "nosniff")
    kind = answer.headers["content-disposition"].split(";")[0]
    want((kind == "attachment") == (output in ("jfr", "pprof", "otlp", "speedscope")), kind)
    check_output(scratch, output, answer)


def looks(server, pid):
    """thread, simple, title, include, reverse …"""
    text = server.good(pid=pid, duration=1, output="collapsed", thread=True, simple=True,
                       interval="5ms", include="*Shares.mixed*").text()
    stacks = collapsed(text)
    want(stacks and all(re.match(r"\[.* tid=\d+\]$", s[0][0]) for s in stacks), "no threads")
    want(all(any("Shares.mixed" in f for f in s[0]) for s in stacks), "not what was asked for")
    svg = server.good(pid=pid, duration=1, output="svg", width=900, height=18, minwidth=1,
                      reverse=True, title="%3Cb%3E%22x", interval="5ms").text()
    want("&lt;b&gt;" in svg and "<b>" not in svg, "the title is not escaped")
    want('"900"' in svg, "the width")


# ---- events ----

def events(server, pid):
    for event in ALWAYS + SOMETIMES:
        answer = server.ask(pid=pid, event=event, duration=1, output="summary", wait=True)
        text = answer.text()
        if answer.status == 400 and event in SOMETIMES:
            want(text.startswith("event: ") and event.split(":")[0] in text, text)
            want(text.count("\n") == 1, "more than a line: " + text)
            print("# %s" % text.strip()[:200])
            continue
        want(answer.status == 200, "%s: %d %s" % (event, answer.status, text[:300]))
        want(event == "cpu" or re.search(r"^event +: %s" % re.escape(event), text, re.M),
             "%s: %s" % (event, text))
        samples = int(re.search(r"Total samples +: (\d+)", text).group(1))
        want(samples > 0 or event in SOMETIMES, "%s: no samples" % event)
    for name in ("event", "method"):  # Hadoop's and Hive's
        text = server.good(pid=pid, duration=1, output="SUMMARY", **{name: "EventLoad.once"}).text()
        want("EventLoad.once" in text, text)
    for nothing in ("EventLoad.nothing", "no_such_function"):
        answer = server.ask(pid=pid, event=nothing, duration=1)
        want(answer.status == 400 and answer.text().startswith("event: "),
             "%s: %d %s" % (nothing, answer.status, answer.text()))


def lock(server, pid):
    text = server.good(pid=pid, event="lock", duration=2, output="text").text()
    want(re.search(r"^event +: lock, [1-9]\d* ns", text, re.M), text[:300])
    want("EventLoad" in text, text[:600])


def several(server, scratch, pid):
    answer = server.good(pid=pid, event="cpu,alloc,lock", output="jfr", duration=2)
    jfr = java_tool("jfr") if shutil.which(java_tool("jfr")) else "jfr"
    summary = run(jfr, "summary", saved(scratch, "several.jfr", answer))
    want(re.search(r"jdk\.ExecutionSample +[1-9]", summary), "no CPU samples")
    want(re.search(r"jdk\.ObjectAllocation\w+ +[1-9]", summary), "no allocations")


# ---- what is wrong ----

def wrong(server, pid):
    for name, values in WRONG.items():
        for value in values:
            parameters = {"pid": pid, "duration": 1}
            parameters[name] = value
            answer = server.ask(**parameters)
            want(answer.status == 400, "%s=%s: %d" % (name, value, answer.status))
            want(answer.text().startswith(name + ": ") or (value == "" and name in answer.text()),
                 "%s=%s: %s" % (name, value, answer.text()))
    want(server.curl("/prof/" + "0" * 32).status == 404, "a result nobody made")
    want(server.curl("/prof/../../etc/passwd").status == 404, "a path")
    for gone in (4194303, os.getpid()):
        answer = server.ask(pid=gone)
        want(answer.status == 404 and answer.text().startswith("pid: "),
             "%d: %d %s" % (gone, answer.status, answer.text()))


def no_pid(server, pid):
    """Of several JVMs which; the others here are somebody else's."""
    with Jvm("Idle") as other:
        def listed():
            answer = server.ask(duration=1)
            want(answer.status == 400 and answer.text().startswith("pid: "), answer.text())
            return all("pid=%d" % one in answer.text() for one in (pid, other.pid)) or (
                "more, see /" in answer.text())
        wait_for(listed, "both JVMs to be listed")


# ---- several at once ----

def together(server, pid):
    first = server.accepted(pid=pid, duration=8, output="collapsed")
    want(server.accepted(pid=pid, duration="8s", output="collapsed", event="cpu") == first,
         "the same question did not join")
    other = server.ask(pid=pid, duration=8, output="svg")
    want(other.status == 409 and 1 <= int(other.headers["retry-after"]) <= 11,
         "%d %s" % (other.status, other.headers))
    want(str(pid) in other.text(), other.text())
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(server.ask, pid=pid, duration=8, output="collapsed", wait=True)
                   for _ in range(8)]
        answers = [w.result() for w in waiting]
    want(len({a.body for a in answers}) == 1 and answers[0].status == 200, "not the same result")
    want(server.curl(first).body == answers[0].body, "not the first one's")
    again = server.accepted(pid=pid, duration=1, output="collapsed")
    want(again != first, "an old result as a new one")
    server.done(again)


def limits(server):
    with contextlib.ExitStack() as stack:
        jvms = [stack.enter_context(Jvm("Idle")) for _ in range(5)]
        paths = [server.accepted(pid=j.pid, duration=600, output="summary") for j in jvms[:4]]
        fifth = server.ask(pid=jvms[4].pid, duration=1)
        want(fifth.status == 503 and int(fifth.headers["retry-after"]) >= 1,
             "%d %s" % (fifth.status, fifth.text()))
        jvms[0].kill()  # and its profile is over
        server.done(paths[0])
        server.good(pid=jvms[4].pid, duration=1, output="summary")
        for jvm in jvms[1:4]:
            jvm.kill()
        for path in paths[1:]:
            want(server.done(path).text().startswith("the JVM ended after"), "it says nothing")


def killed(server):
    with Jvm("Shares", "single") as jvm:
        path = server.accepted(pid=jvm.pid, duration=60, output="text", interval="5ms")
        page = server.accepted(pid=jvm.pid, duration=60, output="text", interval="5ms")
        want(path == page, "two of them")
        burn(jvm.pid, 3)
        jvm.kill()
        answer = server.done(path)
    want(re.match(r"the JVM ended after \d+\.\d s of 60 s\n", answer.text()), answer.text()[:200])
    want("Shares.mixed" in answer.text(), "what was sampled is not there")
    want(answer.headers["x-profile-note"].startswith("the JVM ended"), "the header")


def let_go(server, jvm):
    wait_for(lambda: not traces(jvm.pid), "the JVM to be let go of: %s" % traces(jvm.pid), 60)


def bounded(server, pid):
    """Whoever asks and asks does not fill the memory; the oldest results give way."""
    first = server.accepted(pid=pid, duration=1, output="summary")
    server.done(first)
    for _ in range(3):
        for _ in range(20):
            server.ask(pid=4194303, duration=1)
    want(server.curl(first).status == 200, "questions without an answer took its place")
    kb = memory_kb(server.prof.pid)
    print("# %d MB" % (kb // 1024))


def ended(scratch, jvm):
    """The server is told to end in the middle."""
    with Server(scratch) as server:
        path = server.accepted(pid=jvm.pid, duration=600)
        want(server.curl(path).status == 202, "not running")
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(subprocess.run, ["curl", "-sS", "--max-time", "60",
                                                   server.url + path + "?wait"],
                                  capture_output=True, check=False)
            port = urllib.parse.urlsplit(server.url).port
            wait_for(lambda: connections(port) > 0, "curl to wait")
            server.prof.process.send_signal(signal.SIGTERM)
            code = server.prof.process.wait(30)
            waiting.result()
        want(code == 0, "exit %d: %s" % (code, server.prof.stderr()))
    wait_for(lambda: not traces(jvm.pid), "the JVM to be let go of")
    want(jvm.alive(), "the JVM ended")


def main():
    checks = Checks(fast=("ten seconds of CPU", "known shares", "output svg", "output jfr",
                          "output pprof", "wrong values", "killed in the middle"))
    with tempfile.TemporaryDirectory() as scratch:
        with Server(scratch) as server:
            with Jvm("Shares", "single") as jvm:
                checks.run("ten seconds of CPU", default, server, jvm.pid)
                checks.run("a tree", tree, server, jvm.pid)
                checks.run("known shares", shares, server, jvm)
                checks.run("only its own time", window, server, jvm)
                for output in OUTPUTS:
                    checks.run("output " + output, one_output, server, scratch, jvm.pid, output)
                checks.run("threads, names, looks", looks, server, jvm.pid)
                checks.run("wrong values", wrong, server, jvm.pid)
                checks.run("which JVM", no_pid, server, jvm.pid)
                checks.run("several who ask", together, server, jvm.pid)
                checks.run("results stay", bounded, server, jvm.pid)
                checks.run("lets go of the JVM", let_go, server, jvm)
            with Jvm("EventLoad", "mixed") as jvm:
                checks.run("events", events, server, jvm.pid)
                checks.run("several events", several, server, scratch, jvm.pid)
            with Jvm("EventLoad", "contend") as jvm:
                checks.run("locks", lock, server, jvm.pid)
            checks.run("at most four", limits, server)
            checks.run("killed in the middle", killed, server)
            want(server.prof.process.poll() is None, "it ended: " + read(server.prof.err_path))
        with Jvm("Shares", "single") as jvm:
            checks.run("ends in the middle", ended, scratch, jvm)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
