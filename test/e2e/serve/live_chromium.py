#!/usr/bin/env python3
# timeout: 420, tier: fast
"""Looks at real JVMs through `jtop-prof serve` in Chromium, with real clicks and keys: the list of
JVMs, and /live/PID in all its views, paused, searched, scrubbed, narrowed, while the server is
restarted and while the JVM is killed, on a phone, in light and dark.

usage: live_chromium.py [--shots DIR]
"""
import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

import lib
from lib import want, wait_for
from live_page import Page, Server
from webdriver import Browser

# Everything that pausing is to hold still.
STILL = """return [document.querySelector('.figures').textContent,
                   document.querySelector('#quality').textContent,
                   document.querySelector('#timeline-said').textContent,
                   document.querySelector('#timeline').toDataURL(),
                   document.querySelector('#flame-canvas').toDataURL(),
                   document.querySelector('main').textContent].join('\\n');"""
# Texts in sight with less contrast than WCAG's AA asks for, and their colours.
PALE = """
const colour = (text) => text.match(/[\\d.]+/g).map(Number);
const luminance = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) =>
    v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
function behind(e) {
    for (; e; e = e.parentElement) {
        const c = colour(getComputedStyle(e).backgroundColor);
        if (c.length < 4 || c[3] > 0)
            return c;
    }
    return [255, 255, 255];
}
const pale = [];
for (const e of document.querySelectorAll('body *')) {
    const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length || e.closest('script, .unseen, option'))
        continue;
    const front = colour(getComputedStyle(e).color);
    const backs = [behind(e)];
    const share = e.closest('.c-self, .c-weight');
    if (share) {
        const gradient = getComputedStyle(share).backgroundImage.match(/rgba?\\([^)]*\\)/);
        if (gradient)
            backs.push(colour(gradient[0]));
    }
    for (const back of backs) {
        const [a, b] = [luminance(front), luminance(back)].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5)
            pale.push(`${e.tagName} ${e.className} ${e.id} "${e.textContent.slice(0, 30)}" ` +
                      `${front} on ${back}`);
    }
}
return pale;"""
OWNED = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>&amp;"
EVIL = """
public class Evil {
    static volatile long sink;
    static long burn\\u202Egnp(long x) {
        for (int i = 0; i < 1000000; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }
    public static void main(String[] args) throws Exception {
        Thread t = new Thread(() -> { while (true) sink = burn\\u202Egnp(sink + 1); }, args[0]);
        t.setDaemon(true);
        t.start();
        System.out.println("ready");
        while (System.in.read() >= 0) { }
    }
}
"""


# ---- the list ----

def list_of_jvms(browser, server, pid):
    with urllib.request.urlopen(server.url + "/") as answer:
        html = answer.read().decode()
    want('href="/live/%d"' % pid in html, "without a script the JVM is not in the list")
    browser.open(server.url + "/")
    browser.errors()
    row = "return document.querySelector('tr[data-pid=\"%d\"]')" % pid
    want("shop.Demo" in browser.js(row + ".textContent"), "no row with the JVM's name")
    links = browser.js("return Array.from(document.links, (a) => a.getAttribute('href'))")
    for href in ("/live/%d" % pid, "/prof?pid=%d" % pid, "/metrics", "/api/v1/jvms"):
        want(href in links, "no link to " + href)
    before = browser.js(row + ".cells[7].textContent")
    want(browser.wait(row + ".cells[7].textContent !== arguments[0]", before, seconds=lib.WAIT),
         "the list does not keep itself fresh")
    want(not browser.errors(), "the console has errors")
    overflow = []
    for width in (360, 1280):
        browser.resize(width, 800)
        overflow.append(browser.js("return document.documentElement.scrollWidth - innerWidth"))
    want(max(overflow) <= 0, "the list is wider than the window: %s" % overflow)


def list_of_others_jvms(browser, scratch, pid):
    """Those that may not be profiled say why, and go on saying it."""
    if os.geteuid() != 0:
        print("# a server of another user's wants root", flush=True)
        return
    server = Server(scratch, user=65534, group=65534, extra_groups=[], cwd="/")
    try:
        browser.open(server.url + "/")
        row = "const r = document.querySelector('tr[data-pid=\"%d\"]');" % pid
        for when in ("at first", "later"):
            text = browser.js(row + "return r && r.textContent")
            want(text and "cannot be profiled" in text, "%s it says: %s" % (when, text))
            want(not browser.js(row + "return r.querySelector('a')"), "%s it has links" % when)
            asked = "return performance.getEntriesByType('resource').length"
            want(browser.wait(asked + " >= 2", seconds=lib.WAIT), "it does not refresh")
        closed_row_goes(browser, server)
    finally:
        server.stop()


def closed_row_goes(browser, server):
    """The row of such a JVM goes when the JVM ends, though it came with the page."""
    with lib.Jvm("Idle") as other:
        browser.open(server.url + "/")
        row = "return document.querySelector('tr.closed[data-pid=\"%d\"]')" % other.pid
        want(browser.js(row), "no row of a JVM that cannot be profiled")
    want(browser.wait(row + " === null", seconds=lib.WAIT), "the row of a JVM that ended stays")


# ---- one JVM ----

def rows_change(page):
    page.open()
    want(page.text("#jvm-name") == "shop.Demo", "no name")
    want(str(page.pid) in page.text("#jvm-version"), "no pid")
    for figure in ("cpu", "heap", "threads", "samples", "dropped", "overhead"):
        want(re.search(r"\d", page.text("#f-" + figure)), "no figure for " + figure)
    want("points" in page.text("#quality"), "it does not say how good the profile is")
    first = page.rows()
    want(any("shop." in row[-1] for row in first), "no method of the program: %s" % first[:5])
    wait_for(lambda: page.rows() != first, "other rows")
    shares = [float(row[0].rstrip("%")) for row in page.rows()]
    want(shares == sorted(shares, reverse=True), "not sorted by self: %s" % shares[:5])
    want(sum(shares) < 101, "more than all: %g" % sum(shares))
    page.quiet()


def sorts(page):
    page.view("1", "methods")
    page.click("#methods th.c-name button")
    names = [row[-1] for row in page.rows()]
    want(names == sorted(names) and len(names) > 3, "not sorted by name")
    sort = "return document.querySelector('#methods th.c-%s').getAttribute('aria-sort')"
    want(page.browser.js(sort % "name") == "ascending", "no aria-sort")
    page.click("#methods th.c-total button")
    totals = [float(row[1].rstrip("%")) for row in page.rows()]
    want(totals == sorted(totals, reverse=True), "not sorted by total")
    want(page.browser.js(sort % "name") == "none", "two columns sort")
    page.click("#methods th.c-self button")


def pause_holds(page):
    for key, name in (("1", "methods"), ("2", "threads"), ("5", "flame")):
        page.view(key, name)
        page.next_view()
        page.hold()
        want(page.text("#pause") == "Resume" and "paused" in page.text("#held"), "no word of it")
        before, samples = page.browser.js(STILL), page.state()["latest"]["samples"]
        wait_for(lambda to=page.sampled_to() + 3: page.sampled_to() >= to, "three views more")
        want(page.browser.js(STILL) == before, "%s: what is paused moves" % name)
        page.go_on()
        page.wait("return livePage.state().latest.samples > arguments[0]", "later samples", samples)
        want(page.text("#pause") == "Pause", "no word of going on")
    page.view("1", "methods")
    page.click("#pause")
    page.wait("return livePage.state().held", "the pause by its button")
    page.view("2", "threads")  # another view of the same time
    want(page.rows("#threads"), "no threads while paused")
    page.view("5", "flame")
    page.click("#pause")
    page.wait("return !livePage.state().held", "going on by the button")
    page.quiet()


def search_highlights(page):
    page.view("1", "methods")
    page.hold()
    page.keys("/")
    page.keys(*"pricing|catalog")
    page.wait("return document.querySelector('#matches').textContent", "the matches")
    rows = page.rows()
    hits = [row for row in rows if re.search("pricing|catalog", row[-1], re.I)]
    marked = page.browser.js("return Array.from(document.querySelectorAll('#methods tr.match'), "
                             "(row) => row.querySelector('.name').textContent)")
    want(hits and marked == [row[-1] for row in hits], "%d rows match, marked: %s" % (
        len(hits), marked))
    want(page.browser.js("return document.querySelector('#methods mark').textContent").lower() in
         ("pricing", "catalog"), "the match itself is not marked")
    said = page.text("#matches")
    want(said.startswith("%d of %d methods" % (len(hits), len(rows))), "it says " + said)
    share = float(re.search(r"([\d.]+)% self", said).group(1))
    want(abs(share - sum(float(row[0].rstrip("%")) for row in hits)) < 0.01 * len(hits) + 0.02,
         "it says " + said)
    page.keys("Escape")
    want(page.text("#matches") == "" and not page.browser.js(
        "return document.querySelector('tr.match, mark')"), "Escape does not end the search")
    search_in_flame(page)
    page.keys("/", "(", "[")
    want("not a regular expression" in page.text("#matches"), "a bad pattern goes unnoticed")
    page.keys("Escape")
    page.go_on()
    page.quiet()


def search_in_flame(page):
    page.view("5", "flame")
    page.keys("/")
    page.keys(*"OrderWorker")
    frames = page.frames()
    hits = [f for f in frames if f["index"] and "OrderWorker" in f["name"]]
    want(hits and [f["index"] for f in frames if f["match"]] == [f["index"] for f in hits],
         "the wrong frames are marked")
    total, end = 0, -1
    for f in hits:
        if f["index"] >= end:
            total, end = total + f["value"], f["end"]
    share = "matched %.2f%%" % (100.0 * total / frames[0]["value"])
    want(len(frames) == 3000 or share in page.text("#matches"),
         "'%s', not %s" % (page.text("#matches"), share))
    colour = page.browser.js("""
        const f = livePage.frame(arguments[0]), c = document.querySelector('#flame-canvas');
        const b = c.getBoundingClientRect();
        return Array.from(c.getContext('2d').getImageData(
            f.x - b.x + f.w - 4, f.y - b.y + 3, 1, 1).data);""",
        max(hits, key=lambda f: f["w"])["index"])
    want(colour[:3] == [238, 0, 238], "matches are %s" % colour)
    page.keys("Escape")


def some_frame(frames):
    """Neither the whole nor a leaf nor narrow."""
    for f in frames:
        if f["depth"] >= 2 and 40 < f["w"] < 0.8 * frames[0]["w"] and f["end"] - f["index"] >= 2:
            return f
    raise lib.Wrong("no frame fit for the test")


def flame_zooms(page):
    page.view("5", "flame")
    page.hold()
    frames = page.frames()
    target = some_frame(frames)
    page.browser.click(target["x"] + target["w"] / 2, target["y"] + target["h"] / 2)
    now = page.frames()
    zoomed = now[page.browser.js("return livePage.flame().zoomed")]
    want(zoomed["index"] == target["index"], "the click zooms to %s, not %s" % (
        zoomed["name"], target["name"]))
    want(abs(zoomed["w"] - frames[0]["w"]) < 1, "the zoomed frame is not all wide")
    want(target["name"] in page.text("#flame-detail"), "no name above it")
    want("of the zoom" in page.text("#flame-detail"), "no share of the zoom")
    page.go_on()  # the zoom stays as new pictures come
    now = page.frames()
    still = now[page.browser.js("return livePage.flame().zoomed")]
    want(still["name"] == target["name"], "the next picture is zoomed to " + still["name"])
    page.click("#flame-back")
    want(page.browser.js("return livePage.flame().zoomed") == 0, "no way back by the button")
    page.hold()
    target = some_frame(page.frames())
    page.browser.click(target["x"] + target["w"] / 2, target["y"] + target["h"] / 2)
    parent = page.frames()[target["parent"]]
    page.browser.click(parent["x"] + parent["w"] / 2, parent["y"] + parent["h"] / 2)
    want(page.browser.js("return livePage.flame().zoomed") == target["parent"],
         "a click on the caller does not zoom to it")
    page.keys("Escape")
    want(page.browser.js("return livePage.flame().zoomed") == 0, "no way back by Escape")
    flame_keys(page)
    page.go_on()
    page.quiet()


def flame_keys(page):
    focus = "return livePage.flame().focus"
    frames = page.frames()
    page.keys("Down")
    first = page.browser.js(focus)
    page.keys("Down")
    second = page.browser.js(focus)
    want(first == 0 or frames[first]["depth"] == 1, "Down begins at %s" % first)
    want(frames[second]["parent"] == first, "Down does not go to a frame below")
    page.keys("Up")
    want(page.browser.js(focus) == first, "Up does not go back")
    page.keys("Down", "Enter")
    want(page.browser.js("return livePage.flame().zoomed") == second, "Enter does not zoom")
    page.keys("Backspace")
    want(page.browser.js("return livePage.flame().zoomed") == first, "Backspace does not")
    page.keys("Escape")


def flame_inverts(page):
    """What is a frame's own in one is below all in the other."""
    page.view("5", "flame")
    page.hold()
    page.keys(",")  # seconds that are whole: nothing is added to them
    page.wait("const s = livePage.state(); return !s.latest.window.all && "
              "s.latest.window.to === s.held.to", "the seconds before")
    frames = page.frames()
    own = dict.fromkeys((f["name"] for f in frames), 0)
    for f in frames:
        own[f["name"]] += f["value"]
        if f["index"]:
            own[frames[f["parent"]]["name"]] -= f["value"]
    shown = page.state()["shown"]
    page.keys("i")
    page.wait("return livePage.state().inverted && livePage.state().shown > arguments[0]",
              "the other way", shown)
    leaves = {f["name"]: f["value"] for f in page.frames() if f["depth"] == 1}
    hottest = sorted(own, key=own.get)[-3:]
    want(all(leaves.get(name) == own[name] for name in hottest), "%s are %s, not %s" % (
        hottest, [leaves.get(name) for name in hottest], [own[name] for name in hottest]))
    want(abs(sum(leaves.values()) - frames[0]["value"]) <= 0.01 * frames[0]["value"],
         "it is not all there")
    page.keys("i")
    page.wait("return !livePage.state().inverted && livePage.flame().frames > 5", "the first way")
    page.go_on()


def timeline_scrubs(page):
    page.view("1", "methods")
    page.wait("const t = livePage.timeline(); return t && t.latest - t.oldest > 8", "history")
    x, y, w, h = page.browser.js("""
        const b = document.querySelector('#timeline').getBoundingClientRect();
        return [b.x, b.y, b.width, b.height];""")
    page.browser.click(x + w - 40, y + h / 2)
    held = page.wait("return livePage.state().held", "the held window")
    page.wait("const s = livePage.state(); return s.latest.window.to === s.held.to", "its view")
    line = page.browser.js("return livePage.timeline()")
    want(line["oldest"] <= held["from"] <= held["to"] <= line["latest"], "window %s" % held)
    want("paused" in page.text("#timeline-said"), "it does not say what is held")
    page.keys(",")
    page.wait("const s = livePage.state(); return s.held.to === arguments[0] && "
              "s.latest.window.to === arguments[0]", "a second back", held["to"] - 1)
    page.keys(".")
    page.wait("return livePage.state().latest.window.to === arguments[0]", "a second on", held["to"])
    page.browser._act("pointer", [
        {"type": "pointerMove", "duration": 0, "x": int(x + w - 120), "y": int(y + h / 2)},
        {"type": "pointerDown", "button": 0},
        {"type": "pointerMove", "duration": 50, "x": int(x + w - 20), "y": int(y + h / 2)},
        {"type": "pointerUp", "button": 0}], parameters={"pointerType": "mouse"})
    page.wait("const s = livePage.state(); return s.held && s.held.to > s.held.from + 1 && "
              "s.latest.window.from === s.held.from && s.latest.window.to === s.held.to",
              "a window that was dragged")
    page.go_on()
    page.browser.js("const s = document.querySelector('#span'); s.value = '10';"
                    "s.dispatchEvent(new Event('change'))")
    page.wait("const w = livePage.state().latest.window; return !w.all && w.to - w.from <= 10",
              "the last 10 seconds")
    page.keys("w", "w", "w")
    page.wait("return livePage.state().latest.window.all", "everything again")
    page.quiet()


def narrows(page):
    page.view("2", "threads")
    page.next_view()
    want(len(page.rows("#threads")) > 2, "too few threads")
    page.wait("return Array.from(document.querySelectorAll('#threads .c-states .state')).some("
              "(s) => /^[0-9.]+% of a core$/.test(s.textContent))", "the threads' shares of a core")
    page.browser.js("""Array.from(document.querySelectorAll('#threads .name')).find(
        (button) => button.textContent.startsWith('order-worker-1')).click()""")
    page.wait("return livePage.state().narrowed.length === 1 && "
              "document.querySelectorAll('#threads tbody tr').length === 1", "one thread")
    want("order-worker-1" in page.text("#chips"), "it does not say so")
    page.view("1", "methods")
    page.keys("Escape")
    page.wait("return livePage.state().narrowed.length === 0", "all threads")
    page.keys("\\")
    page.keys(*"ReportWriter", "Enter")
    page.wait("const n = livePage.state().narrowed; return n.length && n[0].kind === 'filter'",
              "the filter")
    page.next_view()
    page.next_view()
    want(not any("Pricing" in row[-1] for row in page.rows()), "other stacks are still there")
    page.click("#chips .chip")
    page.wait("return Array.from(document.querySelectorAll('#methods .name')).some("
              "(b) => b.textContent.includes('Pricing'))", "all stacks again")
    page.quiet()


def method_tells_lines(page):
    page.view("1", "methods")
    page.browser.js("""Array.from(document.querySelectorAll('#methods .name')).find(
        (button) => button.textContent.includes('Pricing')).click()""")
    page.wait("return document.querySelector('#lines li')", "its lines")
    want(re.search(r"line \d+: [\d.]+% self", page.text("#lines")), page.text("#lines"))
    page.click("#method-flame")
    page.wait("return livePage.state().view === 'flame' && livePage.flame().frames > 5 && "
              "document.querySelector('#matches').textContent.startsWith('matched')",
              "the method in the flame graph")
    page.keys("Escape")
    page.quiet()


def event_switches(page):
    page.view("1", "methods")
    page.browser.js("const s = document.querySelector('#event'); s.value = 'alloc';"
                    "s.dispatchEvent(new Event('change'))")
    page.wait("const l = livePage.state().latest; return l.event === 'alloc' && l.samples > 0",
              "samples of allocation")
    page.keys("[")
    page.wait("return livePage.state().event !== 'alloc'", "the event before")
    page.browser.js("const s = document.querySelector('#event'); s.value = 'cpu';"
                    "s.dispatchEvent(new Event('change'))")
    page.wait("return livePage.state().latest.event === 'cpu'", "CPU again")
    page.quiet()


def saves_svg(page):
    page.view("5", "flame")
    svg = page.browser.js("return picture.svg(Object.assign(Object.create(Flame.prototype), "
                          "{tree: new Tree({names: ['<a>&'], kinds: ['java'], "
                          "nodes: [[0, 0, 10, 10, 1, 1]], cut: false}, {weight: 10, samples: 1}), "
                          "zoomed: 0, unit: 'ns', names: null}), 'title')")
    want("&lt;a&gt;&amp;" in svg and "<rect" in svg, "not an SVG: " + svg[:200])
    page.browser.js("""window.saved = null;
        picture.save = (text, name) => { window.saved = [text, name]; };""")
    page.keys("s")
    saved = page.wait("return window.saved", "the picture")
    want(page.browser.js("return document.querySelector('#prof').getAttribute('href')") ==
         "/prof?pid=%d&event=cpu" % page.pid, "no way to a new profile")
    want(re.fullmatch(r"jtop-prof-\d+-cpu-[\d-]+\.svg", saved[1]), "it is named " + saved[1])
    want(saved[0].count("<rect") > 5 and "OrderWorker" in saved[0], "not what is shown")


def reconnects(page):
    page.open()
    page.view("1", "methods")
    want(page.rows(), "no rows")
    page.server.stop()
    page.wait("return livePage.state().phase === 'waiting'", "the server's end being seen")
    want("again" in page.text("#phase"), "it does not say that it tries: " + page.text("#phase"))
    want(page.rows(), "the last picture is gone")
    shown = page.state()["shown"]
    page.server.start()
    page.live()
    page.wait("return livePage.state().shown > arguments[0] + 1", "views of the new server", shown)
    # What a browser itself says of a server that is not there, or ends, is no error of the page.
    errors = [e for e in page.browser.errors() if not re.search(r"net::ERR_|status of 503", e)]
    want(not errors, "the console has errors: %s" % errors[:3])


def fits_a_phone(page):
    page.open(360, 740)
    for key, name in (("1", "methods"), ("2", "threads"), ("5", "flame")):
        page.view(key, name)
        page.next_view()
        wide = page.browser.js("return document.documentElement.scrollWidth")
        want(wide <= 360, "%s is %d wide on a phone of 360" % (name, wide))
        small = page.browser.js("""
            return Array.from(document.querySelectorAll('#tools button, #tools input, .side button'))
                .filter((b) => b.getClientRects().length)
                .filter((b) => b.getBoundingClientRect().height < 28 ||
                               b.getBoundingClientRect().right > 360).map((b) => b.id);""")
        want(not small, "cannot be touched: %s" % small)
    frame = some_frame(page.frames())
    page.browser.js("document.querySelector('#flame-box').scrollIntoView()")
    frame = page.browser.js("return livePage.frame(arguments[0])", frame["index"])
    page.browser.click(frame["x"] + frame["w"] / 2, frame["y"] + frame["h"] / 2)
    page.wait("return livePage.flame().zoomed > 0", "a zoom on the phone")
    page.browser.resize(1280, 820)
    page.quiet()


def light_and_dark(page):
    page.open()
    backs = []
    for dark in (False, True):
        page.browser.dark(dark)
        backs.append(page.browser.js("return getComputedStyle(document.body).backgroundColor"))
        for key, name in (("1", "methods"), ("2", "threads"), ("3", "tree"), ("4", "locks"),
                          ("5", "flame"), ("8", "status")):
            page.view(key, name)
            page.next_view()
            page.hold()
            page.keys("/", "a")
            pale = page.browser.js(PALE)
            want(not pale, "%s, %s: too pale: %s" % ("dark" if dark else "light", name, pale[:4]))
            page.keys("Escape")
            page.go_on()
    light, dark = [sum(map(int, re.findall(r"\d+", b)[:3])) for b in backs]
    want(light > 700 and dark < 150, "backgrounds are %s" % backs)
    page.browser.dark(False)
    page.click("#theme")
    now = page.browser.js("return getComputedStyle(document.body).backgroundColor")
    want(now == backs[1], "the button does not make it dark: %s" % now)
    page.open()
    now = page.browser.js("return getComputedStyle(document.body).backgroundColor")
    want(now == backs[1], "the choice is forgotten")
    page.click("#theme")
    page.browser.js("localStorage.clear()")
    page.quiet()


def is_accessible(page):
    page.view("1", "methods")
    for landmark in ("header", "main", "h1", "[role=tablist]", "section[aria-label]"):
        want(page.browser.js("return !!document.querySelector(arguments[0])", landmark),
             "no " + landmark)
    nameless = page.browser.js("""
        return Array.from(document.querySelectorAll('button, input, select, a, canvas[role]'))
            .filter((e) => e.getClientRects().length)
            .filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label') ||
                             (e.labels && e.labels.length))).map((e) => e.outerHTML);""")
    want(not nameless, "without a name: %s" % nameless[:3])
    want(page.browser.js("return document.querySelector('#phase').getAttribute('role')") ==
         "status", "the state is not announced")
    page.browser.js("document.activeElement.blur()")
    seen = page.browser.js("""
        document.querySelector('#pause').focus({focusVisible: true});
        const s = getComputedStyle(document.querySelector('#pause'));
        return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2;""")
    want(seen, "where the keyboard is cannot be seen")
    page.keys("?")
    want(page.browser.js("return document.querySelector('#help').open"), "no help")
    want("pause" in page.text("#keys") or "hold" in page.text("#keys"), "the help has no keys")
    page.keys("Escape")
    want(not page.browser.js("return document.querySelector('#help').open"), "help stays")


def many_frames(page):
    """Times are told, not judged: of the machine, not of the page."""
    page.view("5", "flame")
    page.hold()
    took = page.browser.js("""
        const names = [], kinds = [], nodes = [];
        for (let i = 0; i < 3000; i++) {
            names.push('com.example.p' + i % 50 + '.Class' + i + '.method');
            kinds.push('java');
        }
        for (let i = 0, depth = 0; i < 20000; i++) {
            depth = i % 40;
            nodes.push([(i * 7919) % 3000, depth, (40 - depth) * 1000, 1000, 40 - depth, i % 5]);
        }
        const t = performance.now();
        const tree = new Tree({names, kinds, nodes, cut: false}, {weight: 20500000, samples: 20500});
        const read = performance.now() - t;
        const flame = Object.assign(Object.create(Flame.prototype), {
            tree, zoomed: 0, focus: -1, hover: -1, names: tree.matching(/Class1/),
            box: document.querySelector('#flame-box'),
            canvas: document.createElement('canvas'), width: 1200, unit: 'ns'});
        flame.context = flame.canvas.getContext('2d');
        const u = performance.now();
        flame.draw();
        return [read, performance.now() - u, tree.count, tree.levels];""")
    want(took[2] == 20001 and took[3] == 41, "frames got lost: %s" % took)
    print("# 20,000 frames: read in %.0f ms, drawn in %.0f ms" % tuple(took[:2]), flush=True)
    page.go_on()


def killed(page, jvm):
    page.open()
    page.view("1", "methods")
    jvm.kill()
    page.wait("return livePage.state().phase === 'gone'", "the JVM's end being seen")
    want("gone" in page.text("#phase"), "it says: " + page.text("#phase"))
    want(page.rows(), "the last picture is gone")
    before = page.rows()
    time.sleep(2)
    want(page.rows() == before and page.state()["phase"] == "gone", "the picture does not stay")
    page.quiet()


def hostile_names(browser, server, scratch):
    source = os.path.join(scratch, "Evil.java")
    pathlib.Path(source).write_text(EVIL, encoding="utf-8")
    subprocess.run([lib.java_tool("javac"), "-encoding", "UTF-8", "-d", scratch, source], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with lib.Jvm("Evil", OWNED, classes=scratch) as jvm:
        page = Page(browser, server, jvm.pid)
        page.open()
        page.view("2", "threads")
        page.wait("return Array.from(document.querySelectorAll('#threads .name')).some("
                  "(b) => b.textContent.includes('<script>'))", "the thread's name as text")
        page.browser.js("""Array.from(document.querySelectorAll('#threads .name')).find(
            (b) => b.textContent.includes('<script>')).click()""")
        page.wait("return document.querySelector('#chips .chip')", "narrowed to it")
        for key, name in (("3", "tree"), ("4", "locks"), ("5", "flame"), ("6", "alloc"),
                          ("8", "status"), ("1", "methods")):
            page.view(key, name)
            page.next_view()
        want(page.browser.js("return document.title") != "owned", "a name was run")
        want(page.browser.js("return document.querySelectorAll('img').length") == 0, "injected")
        want(page.browser.js("return document.querySelectorAll('script').length") == 2,
             "a script of somebody else's")
        page.quiet()
        browser.open(server.url + "/")
        want(browser.js("return document.title") != "owned", "a name was run in the list")


def wants_a_token(browser, scratch, pid):
    """Who has none sees where to get in; whose session is over, too, and the picture stays."""
    path = os.path.join(scratch, "token")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
        f.write("a-token-of-some-length-0123456789\n")
    server = Server(scratch, "--token-file", path)
    page = Page(browser, server, pid)
    try:
        browser.open("%s/live/%d" % (server.url, pid))
        want(browser.js("return !window.livePage && !!document.querySelector('#token')"),
             "it opens without a token")
        browser.js("document.querySelector('#token').focus()")
        browser.keys(*"a-token-of-some-length-0123456789", "Enter")
        page.wait("return window.livePage && livePage.state().phase === 'live' && "
                  "document.querySelector('#methods tbody tr')", "the page with a token")
        browser.cdp("Network.clearBrowserCookies")
        server.stop()
        server.start()
        page.wait("return livePage.state().phase === 'denied'", "the server's refusal being seen")
        href = browser.js("const a = document.querySelector('#login');"
                          "return a.hidden ? '' : a.getAttribute('href')")
        want(href == "/login?next=%2Flive%2F" + str(pid), "no way in: " + href)
        want(page.rows(), "the last picture is gone")
        browser.errors()  # 401s, which a browser lists
    finally:
        server.stop()


def shots(page, directory):
    """For people to look at."""
    def shot(name):
        path = pathlib.Path(directory, "live-%s.png" % name)
        path.write_bytes(base64.b64decode(page.browser.screenshot()))
    for name, width, dark in (("light", 1280, False), ("dark", 1280, True), ("phone", 360, False)):
        page.open(width, 820)
        page.browser.dark(dark)
        for key, view in (("1", "methods"), ("2", "threads"), ("5", "flame")):
            page.view(key, view)
            page.next_view()
            shot("%s-%s" % (name, view))
        page.browser.open(page.server.url + "/")
        shot(name + "-list")


PAGE_CHECKS = [rows_change, sorts, pause_holds, search_highlights, flame_zooms, flame_inverts,
               timeline_scrubs, narrows, method_tells_lines, event_switches, saves_svg, many_frames,
               is_accessible, fits_a_phone, light_and_dark, reconnects]


def main(args):
    checks = lib.Checks(fast=("list of JVMs", "live rows change", "live flame zooms",
                              "live saves svg", "live JVM killed", "server ends in order"))
    with tempfile.TemporaryDirectory(prefix="jtop-prof-live-") as scratch:
        server = Server(scratch)
        browser = Browser()
        try:
            with lib.Jvm("shop.Demo") as jvm:
                page = Page(browser, server, jvm.pid)
                checks.run("list of JVMs", list_of_jvms, browser, server, jvm.pid)
                checks.run("list of others' JVMs", list_of_others_jvms, browser, scratch, jvm.pid)
                for check in PAGE_CHECKS:
                    checks.run("live " + check.__name__.replace("_", " "), check, page)
                checks.run("live wants a token", wants_a_token, browser, scratch, jvm.pid)
                if args[:1] == ["--shots"]:
                    shots(page, args[1])
                checks.run("live JVM killed", killed, page, jvm)
            checks.run("live hostile names", hostile_names, browser, server, scratch)
            checks.run("server ends in order", server.stop)
        finally:
            browser.close()
            server.prof.__exit__()
    return checks.code()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
