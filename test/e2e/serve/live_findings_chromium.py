#!/usr/bin/env python3
# timeout: 300, tier: fast
"""What stands out on /live/PID in Chromium: the same as the terminal's overview, and the way to what
it is about."""
import json
import sys
import urllib.parse
import urllib.request

import lib
from lib import want, wait_for
from live_page import opened

FOUND = """return Array.from(document.querySelectorAll('#findings li'), (li) => ({
    text: li.textContent, leads: li.firstChild.tagName === 'BUTTON',
    worse: li.classList.contains('mind')}));"""
HOT = " itself"


def found(page):
    return page.browser.js(FOUND)


def of(page, part):
    return wait_for(lambda: next((f for f in found(page) if part in f["text"]), None),
                    "a finding with %r: %s" % (part, found(page)))


def press(page, part):
    of(page, part)
    page.browser.js("""Array.from(document.querySelectorAll('#findings button')).find(
        (b) => b.textContent.includes(arguments[0])).click()""", part)


def served(page, query=""):
    with urllib.request.urlopen("%s/api/v1/jvms/%d/findings?%s" % (page.server.url, page.pid, query),
                                timeout=lib.WAIT) as answer:
        return json.load(answer)["findings"]


def give(page, findings):
    """The next answer of the server has these findings."""
    page.browser.js("""const real = window.fetch;
        window.fetch = (url, how) => String(url).includes('/findings?')
            ? Promise.resolve(new Response(arguments[0])) : real(url, how);""",
                    json.dumps({"event": "cpu", "findings": findings}))


def one(text, **about):
    return dict({"text": text, "worse": False, "method": None, "thread": None, "view": None}, **about)


def same_as_the_api(page):
    page.open()
    page.wait("return document.querySelectorAll('#findings li').length > 0", "findings")
    wait_for(lambda: any(HOT in f["text"] for f in served(page, "filter=discount")), "samples of it")
    page.next_view()
    page.hold()
    held = page.state()["held"]
    query = urllib.parse.urlencode({k: held[k] for k in ("from", "to") if not held.get("all")}
                                   or {"to": held["to"]})
    page.keys("\\", *"discount", "Enter")
    page.wait("return livePage.state().narrowed.length === 1", "the filter")
    texts = lambda: [f["text"] for f in found(page)]
    hot = lambda all_of: [t for t in all_of if "CPU time" in t]
    wait_for(lambda: hot(texts()) == hot([f["text"] for f in served(page, query + "&filter=discount")]),
             "those of the window and the filter")
    want(any("shop.Pricing.discount" in t for t in texts()), "none is about it: %s" % texts())
    page.keys("Escape")
    page.go_on()
    page.quiet()


def leads_to_the_callers(page):
    page.open()
    press(page, HOT)
    page.wait("return livePage.state().view === 'tree' && livePage.state().inverted && "
              "livePage.state().narrowed.length === 1", "the callers")
    name = page.state()["narrowed"][0]["value"]
    page.wait("const n = document.querySelector('#tree tbody .name');"
              "return n && n.textContent === arguments[0]", "the tree that begins at it", name)
    page.browser.js("history.back()")
    page.wait("return livePage.state().view === 'methods'", "the methods by Back")
    page.quiet()


def leads_to_threads_and_views(page):
    page.open()
    thread = page.browser.js("return livePage.state().shown") and page.rows("#threads")[0]
    tid = next(int(c) for c in thread if c.isdigit())
    give(page, [one("a thread", thread={"name": "that one", "tid": tid, "javaId": 0, "virtual": False},
                    view="locks"),
                one("a view", view="status", worse=True), one("<b>nothing</b>")])
    page.keys("w")  # another window: it asks at once
    wait_for(lambda: [f["text"] for f in found(page)] == ["a thread", "a view", "<b>nothing</b>"],
             "what the server says")
    want([f["leads"] for f in found(page)] == [True, True, False], "the ways: %s" % found(page))
    want([f["worse"] for f in found(page)] == [False, True, False], "the problem: %s" % found(page))
    press(page, "a view")
    page.wait("return livePage.state().view === 'status'", "the status")
    press(page, "a thread")
    page.wait("return livePage.state().view === 'methods' && livePage.state().narrowed.length === 1",
              "the thread's methods")
    want(page.state()["narrowed"][0]["value"] == tid, "of another thread: %s" % page.state())
    page.quiet()


def modest_pace(page):
    """Far fewer requests than views; the same when nothing changes."""
    page.open()
    page.wait("return document.querySelectorAll('#findings li').length > 0", "findings")
    page.browser.js("""window.counted = 0;
        const real = window.fetch;
        window.fetch = (url, how) => {
            window.counted += String(url).includes('/findings?');
            return real(url, how);
        };""")
    for _ in range(4):
        page.next_view()
    want(page.browser.js("return counted") <= 1, "a request for each view")
    page.keys("0")
    want(page.browser.js("return document.activeElement.closest('#findings') !== null"),
         "0 does not go to the findings")
    page.quiet()


def fits(page):
    for width, dark in ((1300, False), (390, True), (360, False)):
        page.open(width, 800)
        page.browser.dark(dark)
        page.wait("return document.querySelectorAll('#findings li').length > 0", "findings")
        give(page, [one("x" * 180, worse=True), one("many words " * 18, view="locks")] * 6)
        page.keys("w")
        page.wait("return document.querySelectorAll('#findings li').length === 12", "long ones")
        wide, main = page.browser.js("""return [document.documentElement.scrollWidth,
            document.querySelector('main').getBoundingClientRect().height]""")
        want(wide <= width, "the page is %d wide in a window of %d" % (wide, width))
        want(main > 150, "no room is left for the view: %d" % main)
    page.browser.dark(False)
    page.browser.resize(1280, 820)
    page.quiet()


CHECKS = [same_as_the_api, leads_to_the_callers, leads_to_threads_and_views, modest_pace, fits]


def main():
    checks = lib.Checks(fast=("findings same as the api", "findings leads to the callers"))
    with opened(checks) as (page, _):
        for check in CHECKS:
            checks.run("findings " + check.__name__.replace("_", " "), check, page)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
