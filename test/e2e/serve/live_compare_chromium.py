#!/usr/bin/env python3
# timeout: 300, tier: fast
"""Two spans of time compared on /live/PID in Chromium: the call tree, the flame graph and the
allocations of a program whose work changes between them (test/java/Phases.java)."""
import json
import re
import sys
import urllib.parse
import urllib.request

import lib
from lib import want, wait_for
from live_page import opened

SAMPLES, FEW = 200, 40  # of a span; of one in which code is compiled
POINTS = 15             # Phases: 60 points more, 60 less
CHANCE, NEW = 1, 2
MUCH_LESS, SAME, MUCH_MORE = "#5b8fe0", "#d9d9d9", "#e0604d"

TREE = """return Array.from(document.querySelectorAll(arguments[0] + ' tbody tr'), (tr) => ({
    name: tr.querySelector('.name').textContent, level: Number(tr.getAttribute('aria-level')),
    change: tr.querySelector('td.c-change').textContent}));"""
SEEN = """const e = document.querySelector(arguments[0]);
    return Boolean(e && e.getClientRects().length);"""
ASKED = """return performance.getEntriesByType('resource').map((e) => e.name)
    .filter((name) => name.includes('/view?'));"""


# ---- the server ----

class Spans:
    """Two spans of seconds, and what the server says of them."""

    def __init__(self, server, jvm):
        self.server, self.jvm = server, jvm
        self.kept = [urllib.request.urlopen(self.url("events", event=event, rows=0, tree=0),
                                            timeout=lib.WAIT) for event in ("cpu", "alloc")]
        for phase in ("2", "1"):  # all of it is compiled before
            jvm.ask(phase)
            self.span(FEW)
        self.before = self.span()
        jvm.ask("2")
        self.now = self.span()
        self.link = {"from": self.now[0], "to": self.now[1], "before": "%d-%d" % self.before}

    def url(self, what, **query):
        return "%s/api/v1/jvms/%d/%s?%s" % (self.server.url, self.jvm.pid, what,
                                            urllib.parse.urlencode(query))

    def view(self, **query):
        with urllib.request.urlopen(self.url("view", **query), timeout=lib.WAIT) as answer:
            return json.load(answer)

    def span(self, samples=SAMPLES):
        """Whole seconds from now on, with enough samples."""
        first = self.view(tree=0, rows=0)["window"]["latest"] + 2

        def found(event):
            last = self.view(tree=0, rows=0)["window"]["latest"] - 1
            if last <= first:
                return None
            view = self.view(event=event, tree=0, rows=0, **{"from": first, "to": last})
            return view["total"]["samples"] >= samples and last
        wait_for(lambda: found("cpu"), "samples of CPU time", 60)
        return first, wait_for(lambda: found("alloc"), "samples of allocation", 60)

    def of(self, span, **query):
        return self.view(**dict(query, **{"from": span[0], "to": span[1]}))

    def compared(self, **query):
        return self.view(**dict(self.link, **query))

    def close(self):
        for stream in self.kept:
            stream.close()


def sure(*views):
    """The names that mean the same method in each of these views: Java's, without overloads."""
    names = [dict(zip(view["tree"]["names"], view["tree"]["kinds"])) for view in views]
    overloaded = {name.split("(")[0] for of in names for name in of if "(" in name}
    return {name for of in names for name, kind in of.items()
            if kind in ("java", "class") and name.split("(")[0] not in overloaded}


def paths(view):
    """By path of names: the node."""
    found, path = {}, []
    for node in view["tree"]["nodes"]:
        path[node[1]:] = [view["tree"]["names"][node[0]]]
        found[tuple(path)] = node
    return found


def shares(view):
    return {path: 100.0 * node[2] / view["total"]["weight"] for path, node in paths(view).items()}


def change_of(nodes, last):
    """The node of the shortest path that ends with this name."""
    return nodes[min((path for path in nodes if path[-1] == last), key=len)]


def api_gives_changes(spans):
    for query in ({}, {"inverted": 1}, {"event": "alloc", "sites": 1},
                  {"with": "Phases.turn"}, {"filter": "!early"}):
        before, now = spans.of(spans.before, **query), spans.of(spans.now, **query)
        compared = spans.compared(**query)
        old, new = shares(before), shares(now)
        nodes, known = paths(compared), sure(before, now, compared)
        want(set(nodes) == set(new), "%s: other nodes than without a comparison" % query)
        want(sum(known.issuperset(path) for path in nodes) > 3, "nothing to compare: %s" % nodes)
        for path, node in nodes.items():
            if not known.issuperset(path):
                continue
            was, points, flags, shade = node[6:10]
            want(abs(was - old.get(path, 0)) < 0.002, "%s was %s, not %s" % (path, old.get(path), was))
            want(abs(points - (new[path] - old.get(path, 0))) < 0.002, "%s: %s points" % (path, points))
            want(bool(flags & NEW) == (path not in old), "%s is new: %d" % (path, flags))
            want(0 <= shade <= 8 and (shade == 4 if flags & CHANCE else (shade - 4) * points >= 0),
                 "%s: shade %d of %s points" % (path, shade, points))
        want(compared["before"]["samples"] == before["total"]["samples"], "other samples before")
    nodes = paths(spans.compared())
    late, early = change_of(nodes, "Phases.late"), change_of(nodes, "Phases.early")
    steady = change_of(nodes, "Phases.steady")
    want(abs(late[7] - 60) < POINTS and late[8] == NEW and late[9] == 8, "late: %s" % late)
    want(abs(early[7] + 60) < POINTS and early[8] == 0 and early[9] == 0, "early: %s" % early)
    want(abs(steady[7]) < POINTS and not steady[8] & NEW, "steady: %s" % steady)
    want(all(len(node) == 6 for node in paths(spans.of(spans.now)).values()), "without a baseline")


# ---- the page ----

def open_link(page, spans, view, **more):
    page.browser.errors()
    page.browser.open("about:blank")
    page.browser.open("%s/live/%d?%s" % (page.server.url, page.pid, urllib.parse.urlencode(
        dict(spans.link, view=view, **more))))
    page.live()
    page.wait("return livePage.state().shown > 0", "a view")


def rows(page, view="#tree"):
    return page.browser.js(TREE, view)


def row_of(page, name, view="#tree"):
    return next((r for r in rows(page, view) if r["name"].startswith(name)), None)


def seen(page, selector):
    return page.browser.js(SEEN, selector)


def text_of(node):
    """As a table shows the change of a node."""
    was, points, flags, _ = node[6:10]
    return "%s%.1f%s%s" % ("\u2212" if points < 0 else "+", abs(points),
                           " new" if flags & NEW else "", "" if flags & CHANCE else "*")


def near(text, node):
    """Within a rounding of the last digit, which the two may do differently."""
    expected = text_of(node)
    figure = re.compile(r"\d+\.\d")
    want(figure.sub("", text) == figure.sub("", expected) and
         abs(float(figure.search(text)[0]) - float(figure.search(expected)[0])) < 0.11,
         "%s is shown, not %s" % (text, expected))


def tree_has_changes(page, spans):
    open_link(page, spans, "tree")
    page.wait("return document.querySelectorAll('#tree tbody tr').length > 5", "the tree")
    want(seen(page, "#tree th.c-change"), "no column of changes")
    nodes = paths(spans.compared())
    for name in ("Phases.late", "Phases.early", "Phases.steady", "Phases.turn"):
        near(row_of(page, name)["change"], change_of(nodes, name))
    want(row_of(page, "Phases.late")["change"].endswith(" new*"), "late is not marked")
    want(re.fullmatch("\u2212[4-7].\\..\\*", row_of(page, "Phases.early")["change"]), "early is not marked")
    page.click("#tree th.c-change .sort")
    level = row_of(page, "Phases.late")["level"]
    order = [r["name"] for r in rows(page) if r["level"] == level and r["name"].startswith("Phases.")]
    want(order == ["Phases.late", "Phases.steady", "Phases.early"] or
         order[0] == "Phases.late" and order[-1] == "Phases.early", "sorted by change: %s" % order)
    page.keys("r")
    order = [r["name"] for r in rows(page) if r["level"] == level and r["name"].startswith("Phases.")]
    want(order[0] == "Phases.early" and order[-1] == "Phases.late", "the other way: %s" % order)
    page.quiet()


def tree_of_leaves(page, spans):
    open_link(page, spans, "tree", inverted=1)
    page.wait("return document.querySelectorAll('#tree tbody tr').length > 1", "the tree")
    nodes = paths(spans.compared(inverted=1))
    found = rows(page)
    near(found[0]["change"], nodes[(found[0]["name"],)])
    page.quiet()


def frame_of(page, name):
    return min((f for f in page.frames() if f["name"] == name), key=lambda f: f["depth"])


def flame_has_colours(page, spans):
    page.browser.resize(1300, 820)
    open_link(page, spans, "flame")
    page.wait("return livePage.flame().frames > 5 && livePage.flame().drawn", "the flame graph")
    late, early = frame_of(page, "Phases.late"), frame_of(page, "Phases.early")
    turn = frame_of(page, "Phases.turn")
    want(late["colour"] == MUCH_MORE and early["colour"] == MUCH_LESS, "%s %s" % (late, early))
    if turn["change"]["chance"]:
        want(turn["colour"] == SAME, "what may be chance has a colour: %s" % turn)
    want(late["label"].startswith("+") and late["label"].endswith("Phases.late"), late["label"])
    want(early["label"].startswith("\u2212"), "no sign: " + early["label"])
    nodes = paths(spans.compared())
    want(abs(late["change"]["points"] - change_of(nodes, "Phases.late")[7]) < 0.01, "%s" % late)
    pixel = page.browser.js("""
        const c = document.querySelector('#flame-canvas'), b = c.getBoundingClientRect();
        const at = [arguments[0] - b.x, arguments[1] - b.y].map((v) => v * devicePixelRatio);
        return '#' + Array.from(c.getContext('2d').getImageData(...at, 1, 1).data.slice(0, 3),
                                (v) => v.toString(16).padStart(2, '0')).join('');""",
        early["x"] + early["w"] - 4, early["y"] + 2)
    want(pixel == MUCH_LESS, "early is drawn in " + pixel)
    page.browser.move(early["x"] + early["w"] / 2, early["y"] + 8)
    page.wait("return document.querySelector('#flame-detail').textContent.startsWith('Phases.early')",
              "the text about it")
    said = page.text("#flame-detail")
    found = re.search("before ([\\d.]+)%, \u2212([\\d.]+)$", said)
    want(found and abs(float(found[1]) - change_of(nodes, "Phases.early")[6]) < 0.01 and
         abs(float(found[2]) + change_of(nodes, "Phases.early")[7]) < 0.01, said)
    want(page.browser.js("return document.querySelector('#flame-canvas').title").endswith(
        said.split(" \u00b7 ")[-1]), "no hover text")
    page.browser.move(late["x"] + late["w"] / 2, late["y"] + 8)
    page.wait("return document.querySelector('#flame-detail').textContent.endsWith(' new')", "new")
    want(page.text("#legend") == "+ more than before\u2212 lesschange may be chance", page.text("#legend"))
    page.browser.js("window.saved = null; picture.save = (text) => { window.saved = text; };")
    page.keys("s")
    saved = page.wait("return window.saved", "the picture")
    want(MUCH_MORE in saved and MUCH_LESS in saved and "against a baseline" in saved and
         re.search("Phases\\.early [^<]*before [\\d.]+%, \u2212", saved), "an SVG without the changes")
    page.quiet()


def allocations_have_changes(page, spans):
    page.browser.resize(1300, 820)
    open_link(page, spans, "alloc")
    page.wait("return document.querySelectorAll('#alloc tbody tr').length > 3", "the classes")
    want(seen(page, "#alloc th.c-change"), "no column of changes")
    nodes = paths(spans.compared(event="alloc", sites=1))
    for name in ("byte[]", "java.lang.Object[]", "char[]"):
        near(row_of(page, name, "#alloc")["change"], nodes[(name,)])
    want(abs(nodes[("java.lang.Object[]",)][7] - 60) < POINTS and
         abs(nodes[("byte[]",)][7] + 60) < POINTS, "the classes: %s" % list(nodes.items())[:4])
    late = row_of(page, "Phases.late", "#alloc")
    want(late["name"] == "Phases.late via java.util.ArrayList.<init>" and late["level"] == 2 and
         late["change"].endswith(" new*"), "its site: %s" % late)
    page.click("#alloc th.c-change .sort")
    want([r["name"] for r in rows(page, "#alloc") if r["level"] == 1][0] == "java.lang.Object[]",
         "sorted by change: %s" % rows(page, "#alloc")[:3])
    page.quiet()


def link_by_keys(page, spans):
    """As a person comes to it; the link opens the same; without a baseline it is as before."""
    page.open(1300, 820)
    page.view("3", "tree")
    page.wait("return document.querySelectorAll('#tree tbody tr').length > 5", "the tree")
    want(not seen(page, "#tree th.c-change"), "changes without a baseline")
    page.keys("b")
    page.wait("return livePage.state().before && document.querySelector('#tree td.c-change') && "
              "document.querySelector('#tree td.c-change').textContent", "the changes")
    want(seen(page, "#tree th.c-change"), "no column of changes")
    page.wait("const s = livePage.state(); return s.latest.window.latest > s.before.to + 2",
              "complete seconds")
    page.hold()
    page.keys(",")
    page.wait("const s = livePage.state(); return s.latest.window.to === s.held.to && "
              "s.latest.window.from === s.held.from && !s.latest.window.all", "a second back")
    address = page.browser.js("return location.search")
    query = dict(urllib.parse.parse_qsl(address.lstrip("?")))
    want(query["view"] == "tree" and re.fullmatch(r"\d+-\d+", query["before"]), address)
    shown = rows(page)
    page.browser.open("about:blank")
    page.browser.open("%s/live/%d%s" % (page.server.url, page.pid, address))
    page.live()
    page.wait("return document.querySelectorAll('#tree tbody tr').length > 5", "the tree by the link")
    want(seen(page, "#tree th.c-change"), "no column of changes by the link")
    want([r["change"] for r in rows(page)] == [r["change"] for r in shown], "other changes by the link")
    page.view("5", "flame")
    page.wait("return livePage.frame(1).change", "the colours of changes")
    page.keys("B")
    page.wait("return !livePage.frame(1).change", "the colours of code")
    want("more than before" not in page.text("#legend"), "the legend: " + page.text("#legend"))
    page.view("3", "tree")
    want(not seen(page, "#tree th.c-change"), "a column of changes without a baseline")
    page.quiet()


def says_what_is_not_compared(page, spans):
    for view, said in (("status", "The status is not compared with the baseline."),
                       ("locks", "Waits for locks are not compared with the baseline.")):
        open_link(page, spans, view)
        page.wait("return document.querySelector('#compared').textContent === arguments[0]", said, said)
        asked = page.browser.js(ASKED)
        want(asked and not any("before=" in name for name in asked), "%s asks for it: %s" % (view, asked))
    page.view("3", "tree")
    page.wait("return document.querySelector('#compared').textContent === '' && "
              "document.querySelectorAll('#tree td.c-change').length > 5", "the tree, compared")
    want(any("before=" in name for name in page.browser.js(ASKED)), "the tree does not ask for it")
    open_link(page, spans, "tree", before="1-2")
    page.wait("return document.querySelector('#compared').textContent === "
              "'The baseline has no samples of cpu.'", "an empty baseline")
    want(re.fullmatch(r"\+[\d.]+ new", row_of(page, "Phases.turn")["change"]), "%s" % rows(page)[:3])
    page.quiet()


def fits_a_phone(page, spans):
    for width in (360, 390):
        for dark in (False, True):
            page.browser.dark(dark)
            page.browser.resize(width, 740)
            for view in ("tree", "alloc", "flame"):
                open_link(page, spans, view)
                if view == "flame":
                    page.wait("return livePage.frame(1).change", "the flame graph")
                else:
                    page.wait("return document.querySelectorAll(arguments[0]).length > 3", "the rows",
                              "#%s td.c-change" % view)
                    want(seen(page, "#%s td.c-change" % view), "no change on a phone")
                    want(not seen(page, "#%s td.c-total" % view), "too many columns for a phone")
                wide = page.browser.js("return document.documentElement.scrollWidth")
                want(wide <= width, "%s is %d wide on a phone of %d" % (view, wide, width))
    page.browser.dark(False)
    page.browser.resize(1280, 820)
    page.quiet()


CHECKS = [tree_has_changes, tree_of_leaves, flame_has_colours, allocations_have_changes, link_by_keys,
          says_what_is_not_compared, fits_a_phone]


def main():
    checks = lib.Checks(fast=("compare api gives changes", "compare tree has changes",
                              "compare flame has colours", "compare allocations have changes"))
    with opened(checks, program="Phases") as (page, jvm):
        spans = Spans(page.server, jvm)
        checks.run("compare api gives changes", api_gives_changes, spans)
        for check in CHECKS:
            checks.run("compare " + check.__name__.replace("_", " "), check, page, spans)
        spans.close()
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
