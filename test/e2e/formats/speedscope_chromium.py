#!/usr/bin/env python3
# timeout: 300, tier: fast
"""Opens our files in speedscope itself, in Chromium: they load, the names are in its tables, and its
totals are ours. speedscope comes from npm, once, into ~/.cache/jtop-prof."""
import functools
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

from lib import Checks, Jvm, good, want
from webdriver import Browser

VERSION = "1.25.0"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "jtop-prof", "speedscope-" + VERSION)
EVENTS = {"cpu": "nanoseconds", "alloc": "bytes", "lock": "nanoseconds"}
# The rows of its table of functions, most self first: total, self, name. There is another table,
# of the profiles to choose from.
ROWS = """
return Array.from(document.querySelectorAll('tr')).map(
    (r) => Array.from(r.querySelectorAll('td')).map((d) => d.textContent)).filter(
    (cells) => cells.length === 3 && / \\(.*%\\)$/.test(cells[1]));"""


def speedscope():
    """The folder of its page."""
    release = os.path.join(CACHE, "node_modules", "speedscope", "dist", "release")
    if not os.path.exists(os.path.join(release, "index.html")):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="npm-", dir=CACHE) as own:
            done = subprocess.run(["npm", "install", "--prefix", own, "--no-save", "--no-audit",
                                   "--no-fund", "--ignore-scripts", "speedscope@" + VERSION],
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=200, check=False)
            want(done.returncode == 0, "speedscope %s is not in %s, and npm could not fetch it: %s"
                 % (VERSION, CACHE, done.stderr.strip()[-300:]))
            try:
                os.rename(os.path.join(own, "node_modules"), os.path.join(CACHE, "node_modules"))
            except OSError:  # somebody else was faster
                want(os.path.exists(release), "speedscope is incomplete in " + CACHE)
    return release


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Its page, and our files under /ours/."""
    ours = None

    def translate_path(self, path):
        found = re.fullmatch(r"/ours/([\w.-]+)", path)
        return os.path.join(self.ours, found.group(1)) if found else super().translate_path(path)

    def log_message(self, *_):
        pass


class Viewer:
    def __init__(self, scratch):
        handler = functools.partial(type("Handler", (Quiet,), {"ours": scratch}),
                                    directory=speedscope())
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        try:
            self.browser = Browser()
        except BaseException:
            self.server.shutdown()
            raise

    def close(self):
        self.browser.close()
        self.server.shutdown()
        self.server.server_close()

    def open(self, name):
        """Its table of functions, of the profile it shows first."""
        base = "http://127.0.0.1:%d/" % self.server.server_address[1]
        self.browser.open("about:blank")
        self.browser.errors()
        self.browser.open("%sindex.html#profileURL=%sours/%s" % (base, base, name))
        want(self.browser.wait("return / - speedscope$/.test(document.title)", seconds=60),
             "%s does not load: %s" % (name, self.browser.errors()))
        for _ in range(20):  # until it listens
            self.browser.keys("3")
            if self.browser.wait(ROWS, seconds=2):
                break
        wrong = [e for e in self.browser.errors() if "favicon" not in e]
        want(not wrong, "%s: it complains: %s" % (name, wrong))
        return self.browser.js(ROWS)


class Recording:
    def __init__(self, scratch):
        self.scratch = scratch
        self.path = os.path.join(scratch, "all.jtop")
        with Jvm("shop.Demo", options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            good("-d", 4, "-i", "2ms", "--alloc", "64k", "--lock", "1us", "-e", ",".join(EVENTS),
                 "--record", self.path, "-o", "flat", jvm.pid)

    def file(self, name, *options):
        path = os.path.join(self.scratch, name)
        good("-f", path, *options, self.path)
        with open(path, encoding="utf-8") as f:
            return json.load(f)


def sums_are_ours(recording):
    data = recording.file("all.speedscope.json")
    want([p["name"] for p in data["profiles"]] == list(EVENTS), "not a profile for each event")
    frames = len(data["shared"]["frames"])
    for p in data["profiles"]:
        what = p["name"]
        want(p["unit"] == EVENTS[what] and p["type"] == "sampled", "%s in %s" % (what, p["unit"]))
        want(len(p["samples"]) == len(p["weights"]), "weights and stacks are not as many")
        want(all(0 <= i < frames for s in p["samples"] for i in s), "a frame that is not there")
        lines = good("-e", what, "-o", "collapsed", "--total", recording.path).splitlines()
        want(sum(p["weights"]) == p["endValue"] == sum(int(l.rsplit(" ", 1)[1]) for l in lines),
             "%s: weights do not add up" % what)


def opens(viewer, recording):
    rows = viewer.open("all.speedscope.json")
    lines = good("-e", "cpu", "-o", "flat=20", recording.path).splitlines()
    flat = [line.split(None, 3) for line in lines if re.match(r" *\d+ +[\d.]+% +\d", line)]
    want(rows and rows[0][2] == flat[0][3], "the hottest is %s, not %s" % (rows[:1], flat[0][3]))
    shown = {name: float(re.search(r"\(([\d.]+)%", own).group(1)) for _, own, name in rows}
    for _, percent, _, name in flat[:5]:
        want(abs(shown.get(name, -1) - float(percent[:-1])) <= 0.5,
             "%s is %s there, %s in the report" % (name, shown.get(name), percent))
    title = viewer.browser.js("return document.title")
    want("CPU profile" in title and "0 dropped" in title, "its title is " + title)


def threads_are_profiles(viewer, recording):
    data = recording.file("threads.speedscope.json", "-t", "-e", "cpu")
    names = [p["name"] for p in data["profiles"]]
    want(any("order-worker-1 " in n for n in names) and len(set(names)) == len(names),
         "profiles are %s" % names)
    heaviest = max(data["profiles"], key=lambda p: p["endValue"])
    want(data["profiles"][data["activeProfileIndex"]] is heaviest, "it begins with another one")
    rows = viewer.open("threads.speedscope.json")
    want(rows and not any("tid=" in name for _, _, name in rows), "functions are %s" % rows[:3])


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-speedscope-") as scratch:
        recording = Recording(scratch)
        check.run("speedscope: sums", sums_are_ours, recording)
        viewer = Viewer(scratch)
        try:
            check.run("speedscope: opens", opens, viewer, recording)
            check.run("speedscope: threads", threads_are_profiles, viewer, recording)
        finally:
            viewer.close()
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
