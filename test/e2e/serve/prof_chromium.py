#!/usr/bin/env python3
# timeout: 240
"""/prof in Chromium: the page that says a profile is being taken goes on to the flame graph by
itself, whose script runs though the policy allows nothing else; the tree and the SVG as well.
"""
import sys
import tempfile

from lib import Checks, Jvm, want
from prof import Server
from webdriver import Browser

GRAPH = "return !!window.flameGraph && flameGraph.state().drawn && flameGraph.frames > 5"
TREE = "return document.body.textContent.includes('Shares') && document.querySelectorAll('*').length"
SVG = ("return document.documentElement.tagName === 'svg' && "
       "!!document.querySelector('.flame input') && document.querySelectorAll('.frames > g').length")
FRAME = """
const all = Array.from({length: flameGraph.frames}, (_, i) => flameGraph.frame(i));
const whole = all[0].w;
return all.find(f => f.w > 20 && f.w < whole * 0.9) || null;"""


def quiet(browser):
    errors = [e for e in browser.errors() if "favicon" not in e]
    want(not errors, "the console: %s" % errors[:3])


def opened(browser, server, path, condition):
    browser.errors()
    browser.open(server.url + path)
    shown = browser.js("return document.body ? document.body.textContent : ''")
    want("profiling of JVM" in shown, "not the page that waits: " + shown[:200])
    want(browser.wait(condition, seconds=60), "it did not go on to the result")
    quiet(browser)


def graph(browser, server, pid):
    browser.dark(False)
    opened(browser, server, "/prof?pid=%d&duration=3&interval=5ms" % pid, GRAPH)
    want("/prof/" in browser.js("return location.pathname"), "not at the result")
    before = browser.js("return JSON.stringify(flameGraph.state())")
    frame = browser.js(FRAME)
    want(frame, "no frame narrower than the whole")  # it becomes as wide by a click
    browser.click(frame["x"] + frame["w"] / 2, frame["y"] + frame["h"] / 2)
    want(browser.wait("return JSON.stringify(flameGraph.state()) !== arguments[0]",
                      before), "a click does nothing")
    browser.dark(True)
    want(browser.wait("return flameGraph.state().drawn"), "not drawn in the dark")
    quiet(browser)


def confined(browser, _server, _pid):
    """What the page may do: nothing of the server's, were there a foreign script in it."""
    want(browser.js("try { return document.cookie || 'none'; } catch (e) { return e.name; }")
         in ("SecurityError",), "it may look at cookies")
    want(browser.js("""
        const s = document.createElement('script'); s.textContent = 'window.owned = 1';
        document.body.append(s); return !window.owned"""), "another script ran")
    want(browser.js("""
        window.answer = '';
        fetch('/').then(() => answer = 'there', () => answer = 'refused'); return true"""), "")
    want(browser.wait("return window.answer") == "refused", "it may ask the server")
    browser.errors()


def tree(browser, server, pid):
    opened(browser, server, "/prof?pid=%d&duration=2&interval=5ms&output=tree" % pid, TREE)


def svg(browser, server, pid):
    opened(browser, server, "/prof?pid=%d&duration=2&interval=5ms&output=svg" % pid, SVG)


def text(browser, server, pid):
    opened(browser, server, "/prof?pid=%d&duration=2&interval=5ms&output=flat" % pid,
           "return document.body.textContent.includes('samples  top')")


def main():
    checks = Checks()
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as scratch, Server(scratch) as server:
            with Jvm("Shares", "threads") as jvm:
                for name, check in (("flame graph", graph), ("what its page may do", confined),
                                    ("tree", tree), ("SVG", svg), ("text", text)):
                    checks.run("chromium: " + name, check, browser, server, jvm.pid)
    finally:
        browser.close()
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
