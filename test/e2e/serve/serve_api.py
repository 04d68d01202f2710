#!/usr/bin/env python3
# timeout: 300
"""/api/v1 and /metrics of a server, with real JVMs: what views say is true and adds up, however it is
asked for; streams follow and end with the JVM; what is wrong is refused by its name; and no JVM's
names get out of their quotes."""
import contextlib
import http.client
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time
import urllib.parse
import zipfile

import lib
from lib import Checks, Jvm, Prof, difference, wait_for, want, within

POINTS = 6.0  # a few hundred samples, and the window is not quite that of the truth
NO_JVM = 4194303  # the largest number there could be

LOUD = '''
public class Loud {
    static volatile long sink;
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(Loud::burn, "</script><img src=x>\\"\\\\\\n\\u0001\\ud800");
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        while (System.in.read() >= 0) { }
    }
    static void burn() {
        while (true) sink++;
    }
}
'''


class Server:
    """jtop-prof serve on a free port."""

    def __init__(self, scratch, *args):
        self.prof = Prof(scratch, "serve", "--listen", "127.0.0.1:0", *args)
        found = wait_for(self.said, "the server's address")
        self.host, self.port = found.group(1), int(found.group(2))

    def said(self):
        want(self.prof.process.poll() is None, "the server ended: " + self.prof.stderr())
        return re.search(r"http://([\d.]+):(\d+)", self.prof.stderr())

    def ask(self, path):
        """(status, type, body)"""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Content-Type"), answer.read()

    def text(self, path):
        status, _, body = self.ask(path)
        want(status == 200, "%s: %d %s" % (path, status, body[:200]))
        return body.decode("utf-8")

    def get(self, path):
        return parse(self.text("/api/v1/" + path))

    def view(self, pid, **question):
        return self.get("jvms/%d/view?%s" % (pid, urllib.parse.urlencode(question)))

    def __enter__(self):
        self.prof.__enter__()
        return self

    def __exit__(self, *_):
        self.prof.process.terminate()
        with contextlib.suppress(Exception):
            self.prof.process.wait(lib.WAIT)
        self.prof.__exit__()


def parse(text):
    """Strict JSON that a page's script element could hold."""
    def no(what):
        raise lib.Wrong("not JSON: " + what)
    want("<" not in text and not re.search(r"[\0-\x09\x0b-\x1f]", text), "not to be embedded")
    return json.loads(text, parse_constant=no)


class Stream:
    """Server-sent events, one after another."""

    def __init__(self, server, path):
        self.socket = socket.create_connection((server.host, server.port), timeout=lib.WAIT)
        self.socket.sendall(("GET /api/v1/%s HTTP/1.1\r\nHost: %s:%d\r\n\r\n"
                             % (path, server.host, server.port)).encode())
        self.answer = http.client.HTTPResponse(self.socket)
        self.answer.begin()
        want(self.answer.status == 200, "stream: %d" % self.answer.status)
        want(self.answer.getheader("Content-Type").startswith("text/event-stream"), "its type")

    def event(self):
        """{field: value} of the next one; None: that was the end."""
        fields = {}
        while True:
            line = self.answer.readline()
            want(not line or line.endswith(b"\n"), "cut")
            if not line:
                return None
            line = line.decode("utf-8").rstrip("\n")
            if not line and "event" in fields:
                fields["data"] = parse(fields["data"])
                return fields
            name, _, value = line.partition(": ")
            want(not line or name in ("event", "id", "data", "retry", ":", ""), line[:80])
            fields[name] = value

    def close(self):
        self.answer.close()
        self.socket.close()


class Hold(threading.Thread):
    """Follows a JVM, so that its profile goes on however slow this machine is."""

    def __init__(self, server, jvm, question="interval=2ms"):
        super().__init__(daemon=True)
        self.stream = Stream(server, "jvms/%d/events?tree=0&rows=0&%s" % (jvm.pid, question))
        self.start()

    def run(self):
        with contextlib.suppress(Exception):
            while self.stream.event():
                pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.stream.socket.shutdown(socket.SHUT_RDWR)
        self.join(lib.WAIT)
        self.stream.close()


# ---- views ----

def own_name(name):
    return name.rsplit(".", 1)[-1]


def self_of(view):
    return {m["name"]: m["self"] for m in view["methods"] if m["self"]}


def adds_up(view, inverted=False):
    """Rows, tree and total are of the same samples."""
    weight, tree = view["total"]["weight"], view["tree"]
    want(len(view["methods"]) == view["methodCount"], "rows are missing")
    want(sum(m["self"] for m in view["methods"]) == weight, "rows do not add up")
    want(sum(t["weight"] for t in view["threads"]) == weight, "threads do not add up")
    want(not tree["cut"] and len(tree["names"]) == len(tree["kinds"]), "the tree")
    want(len(set(tree["names"])) == len(tree["names"]), "one name twice")
    depth, roots, selfs, tops = -1, 0, {}, {}
    for name, level, total, own, samples, tier in tree["nodes"]:
        want(0 <= level <= depth + 1 and own <= total and samples >= 0 and 0 <= tier <= 4, "a node")
        depth = level
        text = tree["names"][name]
        selfs[text] = selfs.get(text, 0) + own
        if level == 0:
            roots += total
            tops[text] = tops.get(text, 0) + total
    want(roots == weight, "roots do not add up")
    rows = self_of(view)
    seen = {n: v for n, v in (tops if inverted else selfs).items() if v}
    want(seen == rows, "the tree's selfs are not the rows'")


def ready(server, jvm, samples=300):
    """A view once there are so many samples."""
    server.view(jvm.pid, interval="2ms", tree=0)
    return wait_for(lambda: (lambda v: v["total"]["samples"] >= samples and v)(
        server.view(jvm.pid, interval="2ms")), "%d samples" % samples, 120)


def shares(server, jvm):
    before = jvm.truth()
    view = ready(server, jvm)
    after = jvm.truth()
    rows, everything = {}, 0
    for m in view["methods"]:
        if re.search(r"\.[p-w]\d\d$", m["name"]):
            rows[own_name(m["name"])] = m["self"]
            everything += m["self"]
    want(everything >= 0.8 * view["total"]["weight"], "elsewhere: %s" % view["methods"])
    truth = difference(before, after)
    seen = {name: 100.0 * weight / everything for name, weight in rows.items()}
    if "t06" in truth:  # inlined into s08: the border between them is the compiler's
        for of in (truth, seen):
            of["s08"] = of.get("s08", 0) + of.pop("t06", 0)
    within(POINTS, truth, seen)
    kinds = {m["name"]: m["kind"] for m in view["methods"]}
    want(kinds["Shares$P.p50"] == "java", "kinds")
    want(view["status"]["phase"] == "running" and view["event"] == "cpu" and view["unit"] == "ns",
         "status")
    want([e["name"] for e in view["events"] if e["runs"]] == ["cpu"], "events")
    want(view["jvm"]["name"] == "Shares" and view["jvm"]["pid"] == jvm.pid, "the JVM")
    want(view["threads"][0]["name"] == "mixed", "threads")
    adds_up(view)
    adds_up(server.view(jvm.pid, inverted=1, interval="2ms"), True)


def past(server, jvm):
    """Seconds that nothing comes to any more: (first, last)."""
    def long_ago():
        w = server.view(jvm.pid, tree=0, interval="2ms")["window"]
        return w["latest"] - w["first"] >= 8 and w
    w = wait_for(long_ago, "eight seconds", 60)
    return w["latest"] - 6, w["latest"] - 4


def windows(server, jvm):
    first, last = past(server, jvm)
    view = server.view(jvm.pid, **{"from": first, "to": last, "interval": "2ms"})
    line = view["timeline"]
    within_it = [line["weight"][s - line["from"]] for s in range(first, last + 1)]
    want(view["total"]["weight"] == sum(within_it) > 0, "the window is not its seconds")
    want(len(line["weight"]) == view["window"]["latest"] - line["from"] + 1, "the timeline's end")
    want((view["window"]["from"], view["window"]["to"]) == (first, last), "the window")
    want(not view["window"]["all"], "all")
    adds_up(view)
    each = [server.view(jvm.pid, **{"from": s, "to": s, "tree": 0, "interval": "2ms"})["total"]
            for s in range(first, last + 1)]
    want([t["weight"] for t in each] == within_it, "a second by itself")
    back = server.view(jvm.pid, **{"from": -3, "tree": 0, "interval": "2ms"})
    want(back["window"]["from"] == back["window"]["latest"] - 3, "before the latest")
    want(abs(back["window"]["unix"] + back["window"]["latest"] - time.time()) < 60, "time of day")


def parts(server, jvm):
    first, last = past(server, jvm)
    q = {"from": first, "to": last, "interval": "2ms"}
    whole = server.view(jvm.pid, **q)
    hot = server.view(jvm.pid, filter=r"\.p50$", **q)
    rest = server.view(jvm.pid, filter=r"!\.p50$", **q)
    want(0 < hot["total"]["weight"] < whole["total"]["weight"], "filter")
    want(hot["total"]["weight"] + rest["total"]["weight"] == whole["total"]["weight"], "its rest")
    want(own_name(max(hot["methods"], key=lambda m: m["total"])["name"]) in ("p50", "run"), "hot")
    want(not any(m["name"].endswith(".p50") for m in rest["methods"]), "it is there")
    adds_up(hot)
    thread = whole["threads"][0]
    of_it = server.view(jvm.pid, thread=thread["tid"], **q)
    want(of_it["total"]["weight"] == thread["weight"], "a thread")
    want([t["name"] for t in of_it["threads"]] == [thread["name"]], "another thread")
    few = server.view(jvm.pid, rows=2, nodes=3, **q)
    want(len(few["methods"]) == 2 and few["methodCount"] == whole["methodCount"], "rows=2")
    want(len(few["tree"]["nodes"]) == 3 and few["tree"]["cut"], "nodes=3")
    want("tree" not in server.view(jvm.pid, tree=0, **q), "tree=0")
    path = "jvms/%d/lines?%s" % (jvm.pid, urllib.parse.urlencode(
        dict(q, method="Shares$P.p50")))
    answer = server.get(path)
    lines = answer["lines"]
    want(answer["total"] == {k: whole["total"][k] for k in ("weight", "samples")}, "lines: %s" % answer)
    want(sum(l["self"] for l in lines) == self_of(whole)["Shares$P.p50"], "lines: %s" % lines)
    want(any(l["line"] > 0 for l in lines), "no line has a number")


def findings(server, jvm):
    """They are about what a view shows for the same question."""
    first, last = past(server, jvm)
    q = {"from": first, "to": last, "interval": "2ms"}
    ask = lambda **more: server.get("jvms/%d/findings?%s" % (
        jvm.pid, urllib.parse.urlencode(dict(q, **more))))
    whole, found = server.view(jvm.pid, **q), ask()
    want(found["event"] == "cpu" and found["findings"], "none: %s" % found)
    hot = whole["methods"][0]
    about = [f for f in found["findings"] if f["method"] == hot["name"]]
    want(len(about) == 1 and hot["name"] in about[0]["text"], "not of %s: %s" % (hot, found))
    want(not about[0]["worse"] and about[0]["thread"] is None, "about other things: %s" % about)
    other = next(m["name"] for m in whole["methods"] if m["name"].startswith("Shares$") and
                 m["self"] and m["name"] != hot["name"])
    only = ask(filter="^%s$" % re.escape(other))["findings"]
    want(any(f["method"] == other for f in only), "not of %s: %s" % (other, only))
    none = ask(filter="no such name")["findings"]
    want(not any(f["method"] for f in none), "of what is filtered out: %s" % none)


def another_event(server, jvm):
    """Beside what others ask for it is sampled as long as somebody follows it."""
    with Hold(server, jvm, "event=wall&interval=20ms"):
        view = wait_for(lambda: (lambda v: v["total"]["samples"] > 20 and v)(
            server.view(jvm.pid, event="wall", interval="20ms")), "wall clock samples", 60)
    want(view["event"] == "wall" and view["unit"] == "ns", "the event")
    running = {e["name"] for e in view["events"] if e["runs"]}
    want("wall" in running, "it does not run: %s" % running)
    want(view["threadCount"] > 3, "threads that sleep")
    adds_up(view)


# ---- lists ----

def lists(server, jvm):
    found = {j["pid"]: j for j in server.get("jvms")}
    want(not found[jvm.pid]["held"] and found[jvm.pid]["name"] == "Shares", "the list")
    alone = server.get("jvms/%d" % jvm.pid)
    want(alone["status"] is None and alone["events"] == [], "attached by being looked at")
    server.view(jvm.pid, tree=0)
    found = {j["pid"]: j for j in server.get("jvms")}
    want(found[jvm.pid]["held"] and found[jvm.pid]["reader"] == 0, "held by us")
    alone = server.get("jvms/%d" % jvm.pid)
    want(alone["status"]["phase"] == "running" and alone["events"][0]["runs"], "status")
    status = server.get("status")
    want(status["sessions"] == 1 and status["jvms"] >= 1 and status["uptimeMs"] > 0, str(status))
    want(re.fullmatch(r"\d+\.\d+\.\d+", status["version"]), "version")


def errors(server, jvm):
    base = "/api/v1/jvms/%d/" % jvm.pid
    wrong = [(base + "view?" + q, 400, q.split("=")[0]) for q in (
        "event=uprobe:/etc/passwd:x", "event=nonsense", "event=../../x", "interval=fast",
        "from=yesterday", "to=1.5", "before=9-3", "before=-5", "before=1-2-3", "filter=(",
        "filter=((((a%2B)%2B)%2B)%2B)%2B$", "filter=((a{255}){255}){255}",
        "thread=main", "virtual=-1", "rows=9999999", "nodes=-1", "colour=red")]
    wrong += [(base + "lines", 400, "method"), (base + "lines?method=No.such", 404, "method"),
              (base + "events?rows=x", 400, "rows"), (base + "findings?colour=red", 400, "colour"), (base + "nothing", 404, "/api/v1/jvms"),
              ("/api/v1/jvms/%d/view" % NO_JVM, 404, str(NO_JVM)),
              ("/api/v1/jvms/%d" % NO_JVM, 404, str(NO_JVM)),
              ("/api/v1/jvms/0/view", 404, ""), ("/api/v1/jvms/-1/view", 404, ""),
              ("/api/v1/jvms/99999999999999999999/view", 404, ""),
              ("/api/v1/", 404, "/api/v1/jvms"), ("/api/v1/jvms?x=1", 400, "x"),
              ("/api/v1/status?y", 400, "y"), ("/metrics?z=1", 400, "z")]
    for path, expected, name in wrong:
        status, kind, body = server.ask(path)
        want(status == expected, "%s: %d, not %d: %s" % (path, status, expected, body[:100]))
        want(name in body.decode(), "%s: %s" % (path, body[:200]))
        want(kind.startswith("text/") and body.count(b"\n") <= 1, "%s: no line of text" % path)
    status, _, body = server.ask("/api/v1/jvms/%d/view" % os.getpid())
    want(400 <= status < 500 and str(os.getpid()) in body.decode(), "%d %s" % (status, body))


# ---- metrics ----

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'


def exposition(text):
    """{(name, labels): value} (source: Prometheus' text format 0.0.4), strictly: each family once,
    with its help and type before its lines, no line twice."""
    want(text.endswith("\n"), "the last line has no end")
    families, current, found = set(), None, {}
    for line in text.split("\n")[:-1]:
        head = re.fullmatch(r"# (HELP|TYPE) (%s) (.+)" % NAME, line)
        if head and head.group(1) == "HELP":
            current = head.group(2)
            want(current not in families, "family twice: " + current)
            families.add(current)
        elif head:
            want(head.group(2) == current, "TYPE of another")
            want(head.group(3) in ("counter", "gauge"), line)
            want((head.group(3) == "counter") == current.endswith("_total"), "named: " + current)
        else:
            one = re.fullmatch(r"(%s)(?:\{(%s(?:,%s)*)\})? (\S+)" % (NAME, LABEL, LABEL), line)
            want(one, "not a line: %r" % line)
            labels = tuple(re.findall(LABEL, one.group(2) or ""))
            want(one.group(1) == current, "out of its family: " + line)
            want(len({n for n, _ in labels}) == len(labels), "a label twice")
            want((current, labels) not in found, "twice: " + line)
            found[current, labels] = float(line.rsplit(" ", 1)[1])
    return found


def metrics(server, jvms):
    status, kind, body = server.ask("/metrics")
    want(status == 200 and kind == "text/plain; version=0.0.4; charset=utf-8", kind)
    found = exposition(body.decode("utf-8"))
    want(found["jtop_prof_jvms", ()] == len(jvms), "JVMs")
    for jvm in jvms:
        me = ("pid", str(jvm.pid))
        mine = {(name, labels[2:]): v for (name, labels), v in found.items() if me in labels}
        want(mine["jtop_prof_running", ()] == 1, "running")
        want(mine["jtop_prof_samples_total", (("event", "cpu"),)] > 0, "samples")
        want(("jtop_prof_dropped_samples_total", (("event", "cpu"),)) in mine, "drops")
        want(mine["jtop_prof_agent_cpu_seconds_total", ()] > 0, "overhead")
        hot = {labels[1][1]: v for (n, labels), v in mine.items()
               if n == "jtop_prof_method_self_ratio"}
        want(0 < len(hot) <= 10 and 0 < sum(hot.values()) <= 1.0001, str(hot))
    return found


def two_jvms(server, jvm):
    with Jvm("Shares", "threads") as other, Hold(server, other):
        ready(server, jvm, 50)
        ready(server, other, 50)
        found = metrics(server, (jvm, other))
        hot = {labels[3][1]: v for (n, labels), v in found.items()
               if n == "jtop_prof_method_self_ratio" and ("pid", str(jvm.pid)) in labels}
        want(abs(hot["Shares$P.p50"] - 0.5) < 0.15, str(hot))


# ---- streams ----

def clients(server, n):
    wait_for(lambda: server.get("status")["clients"] == n, "%d clients" % n)


def follows(server, jvm):
    """Two of them; one goes away, the other does not notice."""
    path = "jvms/%d/events?rows=3&interval=2ms" % jvm.pid
    before = 1  # who holds it
    clients(server, before)  # others are noticed to be gone within a second
    first, second = Stream(server, path), Stream(server, path + "&tree=0")
    clients(server, before + 2)
    seen = []
    for turn in range(5):
        event = first.event()
        want(event["event"] == "view", str(event)[:200])
        want(int(event["id"]) == event["data"]["window"]["latest"], "id")
        want(("tree" in event["data"]) and len(event["data"]["methods"]) <= 3, "the question")
        seen.append(int(event["id"]))
        if turn == 2:
            want("tree" not in second.event()["data"], "the other's question")
            second.close()
            clients(server, before + 1)
    want(seen == sorted(seen) and seen[-1] > seen[1] > 0, "it does not go on: %s" % seen)
    first.close()
    clients(server, before)


def ends(server):
    """The JVM is killed: one more view that says so, and the end."""
    with Jvm("Shares", "single") as jvm:
        stream = Stream(server, "jvms/%d/events?interval=2ms" % jvm.pid)
        while stream.event()["data"]["total"]["samples"] < 50:
            pass
        jvm.kill()
        last = event = stream.event()
        while event["event"] == "view":
            last, event = event, stream.event()
        want(event["event"] == "gone" and event["data"]["message"], str(event)[:200])
        want(last["data"]["status"]["phase"] == "gone", last["data"]["status"]["phase"])
        want(last["data"]["total"]["samples"] >= 50, "samples are lost")
        want(stream.event() is None, "it goes on")
        stream.close()


def shared(server, jvm):
    """The same question twice is one user of the JVM, and both are told the same."""
    path = "jvms/%d/events?rows=5&interval=2ms" % jvm.pid
    before = 1  # who holds it
    clients(server, before)  # others are noticed to be gone within a second
    streams = [Stream(server, path) for _ in range(3)]
    clients(server, before + 1)
    told = [{d["status"]["elapsedMs"]: d for d in (s.event()["data"] for _ in range(4))}
            for s in streams]
    both = set(told[0]) & set(told[1]) & set(told[2])
    want(len(both) >= 2, "moments: %s" % [sorted(t) for t in told])
    for moment in both:
        want(told[0][moment] == told[1][moment] == told[2][moment], "not the same view")
    streams.pop(0).close()
    want(streams[0].event() and streams[1].event(), "it ended with the first")
    for stream in streams:
        stream.close()
    clients(server, before)


# ---- beside another one ----

def looks_on(server, scratch):
    """Another process profiles it: we say which, and have what it has."""
    with Jvm("Shares", "single") as jvm:
        with Prof(scratch, "-d", 120, "-o", "collapsed", "-f", os.path.join(scratch, "own"),
                  jvm.pid) as other:
            wait_for(lambda: {j["pid"]: j["reader"] for j in server.get("jvms")}[jvm.pid]
                     == other.pid, "the other process to profile")
            view = wait_for(lambda: (lambda v: v["total"]["samples"] > 20 and v)(
                server.view(jvm.pid)), "its samples")
            want(view["status"]["lookingOn"] == other.pid, str(view["status"]))
            adds_up(view)


# ---- names ----

class Jar(Jvm):
    """A JVM of a jar whose name says a lot."""

    def __init__(self, place):
        with open(os.path.join(place, "Loud.java"), "w", encoding="utf-8") as f:
            f.write(LOUD)
        lib.subprocess.run([lib.java_tool("javac"), "-d", place, f.name], check=True)
        self.name = 'a"},{<script>alert(1)<b>&amp;\'\\.jar'
        path = os.path.join(place, self.name)
        with zipfile.ZipFile(path, "w") as jar:
            jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Loud\n")
            jar.write(os.path.join(place, "Loud.class"), "Loud.class")
        self.process = lib.subprocess.Popen(
            [lib.java_tool("java"), "-Xmx64m", "-jar", path], stdin=lib.subprocess.PIPE,
            stdout=lib.subprocess.PIPE, bufsize=0, start_new_session=True)
        self.pid, self.rest = self.process.pid, b""
        self.line("ready")


def hostile_names(server, scratch):
    with Jar(tempfile.mkdtemp(dir=scratch)) as jvm, Hold(server, jvm):
        view = ready(server, jvm, 30)
        want(view["jvm"]["name"] == jvm.name, "the JVM: " + view["jvm"]["name"])
        name = view["threads"][0]["name"]
        want(name.startswith('</script><img src=x>"\\'), "its thread: %r" % name)
        want(jvm.name in [j["name"] for j in server.get("jvms")], "the list")
        found = metrics(server, (jvm,))
        names = {dict(labels).get("jvm") for _, labels in found if ("pid", str(jvm.pid)) in labels}
        want(names == {jvm.name.replace("\\", "\\\\").replace('"', '\\"')}, str(names))


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        with Server(scratch) as server, Jvm("Shares", "eight") as jvm:
            checks.run("lists", lists, server, jvm)
            with Hold(server, jvm):
                checks.run("shares", shares, server, jvm)
                checks.run("windows", windows, server, jvm)
                checks.run("filters, threads, lines", parts, server, jvm)
                checks.run("findings", findings, server, jvm)
                checks.run("errors", errors, server, jvm)
                checks.run("metrics of two", two_jvms, server, jvm)
                checks.run("another event", another_event, server, jvm)
                checks.run("two streams", follows, server, jvm)
                checks.run("streams share", shared, server, jvm)
            checks.run("the JVM lives", want, jvm.alive(), "it ended")
        with Server(scratch) as server:
            checks.run("the JVM ends", ends, server)
            checks.run("another profiles it", looks_on, server, scratch)
        with Server(scratch) as server:
            checks.run("hostile names", hostile_names, server, scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
