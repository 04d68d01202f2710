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
    page.wait("return Array.from(document.querySelectorAll('#methods .name')).some("
              "(b) => b.textContent === arguments[0])", "the method", METHOD)
    page.browser.js("Array.from(document.querySelectorAll('#methods .name')).find("
                    "(b) => b.textContent === arguments[0]).click()", METHOD)
    page.wait("return document.querySelector('#lines li')", "its lines")


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
    want(page.text("#lines .heads") == "totalselfline", page.text("#lines .heads"))
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


def text_is_only_text(page):
    """A source may hold HTML; a page shows it and does nothing else."""
    page.open()
    evil = "<img src=x onerror='window.evil = 1'>"
    page.browser.js("""const real = window.fetch;
        window.fetch = (url, how) => String(url).includes('/lines?')
            ? Promise.resolve(new Response(arguments[0])) : real(url, how);""",
                    json.dumps({"method": "x", "lines": [{"line": 2, "self": 1, "total": 1, "samples": 1}],
                                "source": {"origin": evil, "lines": 1, "cut": True, "rows": [
                                    {"line": 1, "text": evil}, {"line": 2, "text": ""}]}}))
    page.browser.js("document.querySelector('#methods .name').click()")
    page.wait("return document.querySelectorAll('#lines code').length === 2", "its lines")
    want(page.text("#lines code") == evil, page.text("#lines code"))
    want(page.browser.js("return !window.evil && !document.querySelector('#method img')"), "HTML runs")
    want("has only 1 lines" in page.text("#lines-said") and "cut" in page.text("#lines-said"),
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
        want(lines(other)["source"] is None, "a source is found")
    finally:
        server.prof.__exit__()


CHECKS = [source_beside_lines, only_if_asked, no_file_by_request, text_is_only_text, fits]


def main():
    checks = lib.Checks(fast=("source source beside lines", "source no file by request"))
    with opened(checks, "--source-path", JAVA) as (page, jvm):
        for check in CHECKS:
            checks.run("source " + check.__name__.replace("_", " "), check, page)
        checks.run("source without source", without_source, page, jvm, page.server.scratch)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
