#!/usr/bin/env python3
# timeout: 240, tier: fast, runs: alone
"""diff: a method that got slower comes first and is marked, two profiles of the same work are the
same, whatever the formats of the two files, and the flame graphs are what they say."""
import os
import pathlib
import re
import sys
import tempfile

from lib import Checks, Jvm, cpu_seconds, good, prof, wait_for, want
from webdriver import Browser

ROW = re.compile(r"^ *([\d.]+)% +([\d.]+)% +([-+][\d.]+)([* ]) +(\S+) +(\d+) +(\d+)  (.+)$", re.M)


def rows(text):
    """Of a report: (share A, share B, change, marked, ratio, samples A, samples B, method)."""
    return [(float(a), float(b), float(c), mark == "*", ratio, int(n), int(m), name)
            for a, b, c, mark, ratio, n, m, name in ROW.findall(text)]


def warm_up(jvm):
    """Until all is compiled: before, it is not the same work."""
    wait_for(lambda: cpu_seconds(jvm.pid) > 3, "3 s of work")


class Profiles:
    """The same work twice, by one JVM, and once more by one whose price takes three times as
    long."""

    def __init__(self, scratch):
        self.scratch = scratch
        with Jvm("Slower", 10, options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            warm_up(jvm)
            self.record("one", jvm)
            self.record("two", jvm)
        with Jvm("Slower", 30, options=["-XX:+EnableDynamicAgentLoading"]) as jvm:
            warm_up(jvm)
            self.record("slow", jvm)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def record(self, name, jvm):
        good("-d", 3, "-i", "4ms", "-e", "cpu", "--thread", "^shop$", "--record",
             self.path(name + ".jtop"), "-o", "flat", jvm.pid)

    def made(self, name, ending):
        path = self.path(name + ending)
        if not os.path.exists(path):
            good("convert", self.path(name + ".jtop"), path)
        return path


def slower_comes_first(p):
    text = good("diff", p.path("one.jtop"), p.path("slow.jtop"))
    found = rows(text)
    want(found and found[0][7] == "Slower$Price.price", text[:1500])
    a, b, change, marked, ratio, n, m, _ = found[0]
    want(marked and ratio.startswith("x"), "price: marked %s, ratio %s" % (marked, ratio))
    want(23 < a < 43 and 50 < b < 70 and abs(change - (b - a)) < 0.02, "price: %s" % (found[0],))
    want(n and m, "no samples")
    less = {r[7] for r in found if r[2] < 0}
    want({"Slower$Parse.parse", "Slower$Print.print"} <= less, "not less: %s" % found[:6])
    want(re.search(r"^[1-9] of \d+ methods changed by more than chance", text, re.M), text[:600])
    for side in ("A", "B"):
        want(re.search(r"^%s: .* samples of cpu, .* a second for " % side, text, re.M), text[:400])


def the_same_is_the_same(p):
    text = good("diff", p.path("one.jtop"), p.path("two.jtop"))
    marked = [r for r in rows(text) if r[3]]
    want("0 of " in text and not marked, marked or text[:1500])
    text = good("diff", p.path("one.jtop"), p.path("one.jtop"))
    want(all(r[2] == 0 and r[0] == r[1] for r in rows(text)), text[:1500])


def by_time_and_thread(p):
    """The filters of other commands hold for both sides."""
    text = good("diff", "-I", "*Price*", p.path("one.jtop"), p.path("slow.jtop"))
    told = sum(int(line.rsplit(" ", 1)[1]) for line in good(
        "-o", "collapsed", p.path("one.jtop")).splitlines() if "Price" in line)
    want("Slower$Parse.parse" not in text and sum(r[5] for r in rows(text)) == told,
         "%d samples of price: %s" % (told, text[:1500]))
    whole = rows(good("diff", p.path("one.jtop"), p.path("two.jtop")))
    part = rows(good("diff", "--to", "1s", p.path("one.jtop"), p.path("two.jtop")))
    want(0 < sum(r[5] for r in part) < 0.6 * sum(r[5] for r in whole), "--to 1s: %s" % part[:3])


def across_formats(p):
    one = p.path("one.jtop")
    for ending in (".collapsed", ".pb.gz"):
        other = p.made("one", ending)
        for a, b in ((one, other), (other, one), (other, other)):
            text = good("diff", a, b)
            want("0 of " in text and rows(text) and
                 all(abs(r[2]) < 0.3 and r[5] == r[6] for r in rows(text)),
                 "%s with %s: %s" % (a, b, text[:1500]))
    text = good("diff", p.made("one", ".pb.gz"), p.made("slow", ".collapsed"))
    want(rows(text)[0][7] == "Slower$Price.price" and rows(text)[0][3], text[:1200])


def two_columns(p):
    one, slow = ({s: int(n) for s, n in (line.rsplit(" ", 1) for line in good(
        "-o", "collapsed", "-n", p.path(name)).splitlines())} for name in ("one.jtop", "slow.jtop"))
    lines = [line.rsplit(" ", 2) for line in good(
        "diff", "-o", "collapsed", p.path("one.jtop"), p.path("slow.jtop")).splitlines()]
    got = {stack: (int(a), int(b)) for stack, a, b in lines}
    want(len(got) == len(lines), "a stack is there twice")
    want(got == {s: (one.get(s, 0), slow.get(s, 0)) for s in one.keys() | slow.keys()},
         "not the two files' counts: %s" % sorted(got.items() ^ {
             s: (one.get(s, 0), slow.get(s, 0)) for s in one.keys() | slow.keys()}.items())[:4])


def as_markdown(p):
    out = p.path("diff.md")
    good("diff", p.path("one.jtop"), p.path("slow.jtop"), "-f", out)
    with open(out, encoding="utf-8") as f:
        text = f.read()
    want(re.search(r"^\| [\d.]+% \| [\d.]+% \| \+[\d.]+ \| changed \| x[\d.]+ \| \d+ \| \d+ \| "
                   r"`Slower\$Price\.price` \|$", text, re.M), text[:900])


def flame_graphs(p):
    html, svg = p.path("diff.html"), p.path("diff.svg")
    good("diff", p.path("one.jtop"), p.path("slow.jtop"), "-f", html, "-f", svg)
    browser = Browser()
    try:
        browser.open(pathlib.Path(html).as_uri())
        want(browser.wait("return !!window.flameGraph && flameGraph.state().drawn"), "not drawn")
        want(not browser.errors(), "the page logged errors")
        frames = browser.js("return Array.from({length: flameGraph.frames}, "
                            "(_, i) => flameGraph.frame(i))")
        price = [f for f in frames if f["name"] == "Slower$Price.price"]
        want(price and price[0]["value"] > 0.4 * frames[0]["value"], "no price, or too narrow")
        browser.open(pathlib.Path(svg).as_uri())
        want(not browser.errors(), "the picture logged errors")
        want("percent points" in browser.js("return document.documentElement.outerHTML") or
             "points" in browser.js("return document.documentElement.textContent"),
             "the picture does not say how frames changed")
    finally:
        browser.close()


def what_is_wrong_is_said(p):
    one, cpu = p.path("one.jtop"), p.made("one", ".pb.gz")
    alloc = p.path("alloc.txt")
    with open(alloc, "w", encoding="utf-8") as f:
        f.write("# event: alloc, bytes\na;b 5\na;c 6\n")
    for args, code, words in (
            ((one,), 1, "two files"), ((one, one, one), 1, "two files"), ((), 1, "two files"),
            ((one, p.path("none")), 1, "No such file"),
            ((one, alloc), 100, "one.jtop has cpu; .*alloc.txt has alloc"),
            (("-e", "wall", one, cpu), 100, "has cpu"),
            (("-o", "jfr", one, cpu), 100, "cannot be written as jfr")):
        done = prof("diff", *args)
        want(done.returncode == code and re.search(words, done.stderr) and
             done.stderr.count("\n") == 1 and not done.stdout,
             "%s: exit %d: %s" % (args, done.returncode, done.stderr))


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="jtop-prof-diff-") as scratch:
        p = Profiles(scratch)
        check.run("what got slower comes first and is marked", slower_comes_first, p)
        check.run("the same work is the same", the_same_is_the_same, p)
        check.run("filters", by_time_and_thread, p)
        check.run("across formats", across_formats, p)
        check.run("collapsed: two columns", two_columns, p)
        check.run("markdown", as_markdown, p)
        check.run("flame graphs", flame_graphs, p)
        check.run("errors", what_is_wrong_is_said, p)
    return check.code()


if __name__ == "__main__":
    sys.exit(main())
