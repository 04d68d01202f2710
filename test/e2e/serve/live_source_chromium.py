#!/usr/bin/env python3
# timeout: 300, tier: fast
"""The source beside a method's lines on /live/PID in Chromium: where the server was told to look, and
nothing that a request names."""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

import lib
from lib import want
from live_page import Page, Server, opened

JAVA = os.path.join(lib.ROOT, "test", "java")
METHOD = "shop.Pricing.discount"
ROWS = """return Array.from(document.querySelectorAll('#lines li:not(.heads)'), (li) => ({
    fold: li.classList.contains('fold'), hot: li.classList.contains('hot'),
    text: li.textContent, number: Number((li.querySelector('.at') || {}).textContent || 0),
    code: (li.querySelector('code') || {}).textContent,
    self: (li.querySelector('.self') || {}).textContent}));"""


def source():
    with open(os.path.join(JAVA, "shop", "Demo.java"), encoding="utf-8") as f:
        return [line.rstrip("\n").replace("\t", "    ") for line in f]


def open_method(page, *size):
    page.open(*size)
    open_hot(page)


def wait_for_hot(page):
    page.wait("return Array.from(document.querySelectorAll('#methods .name')).some("
              "(b) => b.textContent === arguments[0])", "the method", METHOD)


def open_hot(page):
    wait_for_hot(page)
    page.browser.js("Array.from(document.querySelectorAll('#methods .name')).find("
                    "(b) => b.textContent === arguments[0]).click()", METHOD)
    page.wait("return document.querySelector('#lines li')", "its lines")


def seen(page, selector):
    return page.browser.js("return document.querySelector(arguments[0]).innerText", selector).split()


def lines(page, **more):
    query = urllib.parse.urlencode(dict({"method": METHOD, "source": 1}, **more))
    try:
        with urllib.request.urlopen("%s/api/v1/jvms/%d/lines?%s" % (page.server.url, page.pid, query),
                                    timeout=lib.WAIT) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as e:
        return e.read().decode()


def source_beside_lines(page):
    open_method(page, 1300, 820)
    text, rows = source(), page.browser.js(ROWS)
    want(page.text("#lines-said").endswith("test/java/shop/Demo.java"), page.text("#lines-said"))
    want(seen(page, "#lines .heads") == ["total", "self", "line"], seen(page, "#lines .heads"))
    for r in rows:
        want(r["fold"] or r["code"] == text[r["number"] - 1], "not the file's line: %s" % r)
    hot = [r for r in rows if r["hot"]]
    want(hot and any("%" in r["self"] for r in hot), "no shares: %s" % rows)
    want(all(abs(r["number"] - min((h["number"] for h in hot), key=lambda n: abs(n - r["number"]))) <= 4
             for r in rows if not r["fold"]), "lines far from samples: %s" % rows)
    want(rows[0]["fold"] and rows[0]["text"].endswith(" lines"), "no fold: %s" % rows[0])
    page.browser.js("document.querySelector('#lines .fold button').click()")
    page.wait("return document.querySelectorAll('#lines li').length > arguments[0]",
              "more lines by a click on the fold", len(rows) + 1)
    page.quiet()


def only_if_asked(page):
    want("source" not in lines(page, source=0), "source without source=1")
    plain, more = lines(page, context=0)["source"], lines(page, context=60)["source"]
    shown = lambda found: sum("text" in r for r in found["rows"])
    want(0 < shown(plain) < shown(more), "context: %s" % plain)
    want(all(r["line"] + r.get("hidden", 1) == n["line"] for r, n in zip(plain["rows"][1:], plain["rows"][2:])),
         "lines are missing between rows: %s" % plain)
    want(plain["origin"] == os.path.join(JAVA, "shop", "Demo.java"), plain["origin"])
    want("context" in lines(page, context=9999) and "context" in lines(page, context="all"),
         "a wrong context is accepted")


def no_file_by_request(page):
    for more in ({"path": "/etc"}, {"source_path": "/etc"}, {"file": "/etc/passwd"}):
        answer = lines(page, **more)
        want(isinstance(answer, str) and next(iter(more)) in answer, "%s: %s" % (more, answer))
    for name in ("/etc/passwd", "../../etc/passwd", "../secret.x"):
        answer = lines(page, method=name)
        want(isinstance(answer, str) and "no such method" in answer, "%s: %s" % (name, answer))


def answer(hot, rows, weight=100, each=None, **source):
    """An answer of the server, as text."""
    each = each or {"self": 1, "total": 1}
    return json.dumps({"method": "x", "total": {"weight": weight, "samples": 10},
                       "lines": [dict({"line": n, "samples": 1}, **each) for n in hot],
                       "source": dict({"origin": "/src/X.java", "lines": 900, "context": 4, "cut": False,
                                       "rows": rows}, **source)})


FOLDS = [{"line": 1, "hidden": 49}, {"line": 50, "text": "fifty"}, {"line": 51, "hidden": 850}]
WITHOUT = {"method": "x", "total": {"weight": 100, "samples": 10}, "source": None,
           "lines": [{"line": 50, "self": 1, "total": 1, "samples": 1}]}


def asked(page, n):
    """Until the page has sent n requests for lines."""
    page.wait("return asked.length === arguments[0]", "request %d" % n, n)


def reply(page, nth, body, status=200):
    page.browser.js("asked[arguments[0]].resolve(new Response(arguments[1], {status: arguments[2]}))",
                    nth, body, status)


def said(page, part):
    page.wait("return document.querySelector('#lines-said').textContent.includes(arguments[0])", part, part)


def press_fold(page, nth=0):
    page.browser.js("""const b = document.querySelectorAll('#lines .fold button')[arguments[0]];
        b.focus();
        b.click();""", nth)


def waiting(page, *size):
    """A dialog whose requests wait for reply()."""
    page.open(*size)
    page.browser.js("""const real = window.fetch;
        window.asked = [];
        window.fetch = (url, how) => String(url).includes('/lines?')
            ? new Promise((resolve) => asked.push({url, resolve})) : real(url, how);
        document.querySelector('#methods .name').click();""")
    asked(page, 1)


def shares_of_the_same_answer(page):
    """The window is live: an answer that is later has more of everything."""
    waiting(page)
    reply(page, 0, answer([50], FOLDS, 200, {"self": 100, "total": 150}))
    page.wait("return document.querySelector('#lines .hot')", "its lines")
    want(seen(page, "#lines .hot")[:2] == ["75.00%", "50.00%"], seen(page, "#lines .hot"))
    press_fold(page)
    asked(page, 2)
    reply(page, 1, answer([50], [{"line": 50, "text": "more"}], 1000, {"self": 900, "total": 900},
                          context=32))
    page.wait("return document.querySelector('#lines .hot code').textContent === 'more'", "new lines")
    want(seen(page, "#lines .hot")[:2] == ["90.00%", "90.00%"], seen(page, "#lines .hot"))
    page.quiet()


def last_request_wins(page):
    waiting(page)
    reply(page, 0, answer([50], FOLDS))
    page.wait("return document.querySelector('#lines .fold')", "its lines")
    press_fold(page)
    press_fold(page, 1)
    asked(page, 3)
    reply(page, 2, answer([50], [{"line": 50, "text": "second"}], context=32))
    page.wait("return document.querySelector('#lines .hot code').textContent === 'second'", "the second")
    reply(page, 1, answer([50], [{"line": 50, "text": "first"}], context=32))
    page.next_view()
    want(page.text("#lines .hot code") == "second", page.text("#lines .hot code"))
    page.quiet()


def says_what_is_missing(page):
    for body, status, text in (("no", 500, "cannot be read"), (json.dumps(dict(WITHOUT, reason="busy")), 200,
                                                              "busy"),
                               (json.dumps(dict(WITHOUT, reason="not found")), 200, "no source is found"),
                               (json.dumps(dict(WITHOUT, lines=[])), 200, "No lines are known")):
        waiting(page)
        reply(page, 0, body, status)
        said(page, text)
    waiting(page)
    reply(page, 0, answer([50], FOLDS))
    said(page, "/src/X.java")
    for nth, body, status, text in ((1, "no", 500, "cannot be read"),
                                    (2, json.dumps(dict(WITHOUT, reason="busy")), 200, "busy")):
        press_fold(page)
        asked(page, nth + 1)
        reply(page, nth, body, status)
        said(page, text)
        want(page.text("#lines-said").startswith("/src/X.java") and page.text("#lines .hot code") == "fifty",
             "what was shown is lost: %s" % page.text("#method"))
    press_fold(page)
    asked(page, 4)
    reply(page, 3, json.dumps(dict(WITHOUT, reason="not found")))
    said(page, "no source is found")
    want(page.browser.js("""const li = document.querySelector('#lines li');
        return !document.querySelector('.sourced') && getComputedStyle(li).display === 'list-item';"""),
         "the list looks as a source")
    page.quiet()


def hottest_of_many(page):
    """A long list without source has the lines with the most samples, in the file's order."""
    waiting(page)
    many = [{"line": n, "self": int(n == 390), "total": 1, "samples": 1} for n in range(1, 401)]
    reply(page, 0, json.dumps(dict(WITHOUT, lines=many, reason="not found")))
    said(page, "no source is found")
    shown = page.browser.js("return Array.from(document.querySelectorAll('#lines li'), (li) => li.textContent)")
    want(len(shown) == 200 and shown[-1].startswith("line 390:") and shown[0].startswith("line 1:"),
         "shown: %s" % shown[-2:])


def totals_on_a_phone(page):
    for width, shown in ((390, ["(40.00%)", "50", "fifty"]), (1300, ["40.00%", "50", "fifty"])):
        waiting(page, width, 740)
        reply(page, 0, answer([50], FOLDS, 100, {"self": 0, "total": 40}))
        page.wait("return document.querySelector('#lines .hot')", "its lines")
        want(seen(page, "#lines .hot") == shown, "at %d: %s" % (width, seen(page, "#lines .hot")))
    page.browser.resize(1280, 820)
    page.quiet()


def low_windows(page):
    """The rows have room below many findings, however low the window is."""
    found = json.dumps({"event": "cpu", "findings": [
        {"text": "finding %d" % i, "worse": False, "method": None, "thread": None, "view": None}
        for i in range(12)]})
    for width, height in ((844, 390), (1000, 500), (1300, 500), (1300, 820)):
        page.open(width, height)
        page.browser.js("""const real = window.fetch;
            window.fetch = (url, how) => String(url).includes('/findings?')
                ? Promise.resolve(new Response(arguments[0])) : real(url, how);""", found)
        page.keys("w")  # another window: it asks at once
        page.wait("return document.querySelectorAll('#findings li').length === 12", "the findings")
        page.wait("""const row = document.querySelectorAll('#methods tbody tr')[2];
            if (!row)
                return false;
            row.scrollIntoView({block: 'center'});
            const b = row.getBoundingClientRect();
            const e = document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2);
            return b.height > 10 && row.contains(e);""", "rows at %d x %d" % (width, height))
        want(page.browser.js("return document.documentElement.scrollWidth") <= width, "it is too wide")
    page.browser.resize(1280, 820)
    page.quiet()


def text_is_only_text(page):
    """A source may hold HTML; a page shows it and does nothing else."""
    page.open()
    evil = "<img src=x onerror='window.evil = 1'>"
    page.browser.js("""const real = window.fetch;
        window.fetch = (url, how) => String(url).includes('/lines?')
            ? Promise.resolve(new Response(arguments[0])) : real(url, how);""",
                    answer([2], [{"line": 1, "text": evil}, {"line": 2, "text": ""}],
                           origin=evil, lines=1, cut=True))
    page.browser.js("document.querySelector('#methods .name').click()")
    page.wait("return document.querySelectorAll('#lines code').length === 2", "its lines")
    want(page.text("#lines code") == evil, page.text("#lines code"))
    want(page.browser.js("return !window.evil && !document.querySelector('#method img')"), "HTML runs")
    want("has only 1 lines" in page.text("#lines-said") and "only those" in page.text("#lines-said"),
         page.text("#lines-said"))
    page.quiet()


def fits(page):
    for width, dark in ((1300, True), (390, False), (360, False)):
        page.browser.dark(dark)
        open_method(page, width, 740)
        wide, box = page.browser.js("""const b = document.querySelector('#method')
            .getBoundingClientRect();
            return [document.documentElement.scrollWidth, [b.left, b.right, b.top, b.bottom]];""")
        want(wide <= width and box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= 740,
             "it does not fit %d: %d, %s" % (width, wide, box))
        want(page.browser.js("""const l = document.querySelector('#lines').getBoundingClientRect();
            return Array.from(document.querySelectorAll('#lines .hot .self')).some((e) => {
                const b = e.getBoundingClientRect();
                return b.height > 0 && b.top >= l.top && b.bottom <= l.bottom; });"""),
             "the hottest line is out of sight")
    page.browser.dark(False)
    page.browser.resize(1280, 820)
    page.quiet()


def without_source(page, jvm, scratch):
    server = Server(scratch)
    try:
        other = Page(page.browser, server, jvm.pid)
        open_method(other)
        want("line " in other.text("#lines") and "--source-path" in other.text("#lines-said"),
             other.text("#lines-said"))
        answered = lines(other)
        want(answered["source"] is None and answered["reason"] == "not found", "a source: %s" % answered)
    finally:
        server.prof.__exit__()


def opened_to_the_end(page, scratch):
    """Folds open until the answer is full. Lines with samples stay, and so do place and focus."""
    place = os.path.join(scratch, "long", "shop")
    os.makedirs(place)
    with open(os.path.join(place, "Pricing.java"), "w", encoding="utf-8") as f:
        f.write("".join("line %d\n" % (i + 1) for i in range(5000)))
    server = Server(scratch, "--source-path", os.path.dirname(place))
    try:
        other = Page(page.browser, server, page.pid)
        other.open()
        wait_for_hot(other)
        other.hold()
        open_hot(other)
        hot = [r["number"] for r in other.browser.js(ROWS) if r["hot"]]
        for _ in range(8):
            before = other.browser.js("return document.querySelectorAll('#lines li').length")
            if not other.browser.js("return document.querySelector('#lines .fold button')"):
                break
            press_fold(other, other.browser.js(
                "return document.querySelectorAll('#lines .fold button').length") - 1)
            other.wait("return document.querySelectorAll('#lines li').length > arguments[0]", "more", before)
            want([r["number"] for r in other.browser.js(ROWS) if r["hot"]] == hot, "hot lines are lost")
            want(other.browser.js("""const e = document.activeElement, b = e.getBoundingClientRect(),
                    l = document.querySelector('#lines').getBoundingClientRect();
                return e.parentElement.id === 'lines' && e.tabIndex === -1 && b.top >= l.top &&
                    b.bottom <= l.bottom;"""), "the place that was opened is lost")
        rows = other.browser.js(ROWS)
        want(rows[-1]["fold"] and rows[-1]["text"].endswith(" lines"), "the end: %s" % rows[-1])
        want(not other.browser.js("return document.querySelector('#lines .fold button')"),
             "a fold that cannot be opened has a button")
        want(990 <= len(rows) <= 1000, "%d rows" % len(rows))
        other.quiet()
    finally:
        server.prof.__exit__()


def scrolls_by_key(page):
    open_method(page, 844, 390)
    want(page.browser.js("return document.activeElement.id") == "lines", "the list has no focus")
    page.browser.js("document.querySelector('#lines').scrollTop = 0")
    page.keys("End")
    page.wait("return document.querySelector('#lines').scrollTop > 0", "the end of the list by a key")
    page.browser.resize(1280, 820)
    page.quiet()


CHECKS = [source_beside_lines, only_if_asked, no_file_by_request, text_is_only_text, fits,
          shares_of_the_same_answer, last_request_wins, says_what_is_missing, hottest_of_many,
          totals_on_a_phone, low_windows, scrolls_by_key]


def main():
    checks = lib.Checks(fast=("source source beside lines", "source no file by request"))
    with opened(checks, "--source-path", JAVA) as (page, jvm):
        for check in CHECKS:
            checks.run("source " + check.__name__.replace("_", " "), check, page)
        checks.run("source opened to the end", opened_to_the_end, page, page.server.scratch)
        checks.run("source without source", without_source, page, jvm, page.server.scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
