#!/usr/bin/env python3
# timeout: 180
"""A server that asks for a token, in Chromium: the form instead of a page, a wrong token, the right
one, what was wanted, the live page with its stream, the form's look in light, dark and on a phone.
"""
import base64
import os
import sys
import tempfile

from lib import Checks, Jvm, want
from serve_server import Server
from webdriver import Browser

TOKEN = "fedcba9876543210fedcba9876543210"
FORM = "return !!document.querySelector('input[type=password]')"


def write_token(scratch):
    path = os.path.join(scratch, "token")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as f:
        f.write(TOKEN + "\n")
    return path


def log_in(browser, token):
    browser.js("document.querySelector('#token').focus()")
    browser.keys(*token)
    browser.keys("Enter")


def complaints(browser):
    """A 401 is one of the browser's own words for a page that wants a login."""
    return [e for e in browser.errors() if "401 (Unauthorized)" not in e and "favicon" not in e]


def form(browser, server, jvm):
    browser.open("%slive/%d" % (server.url, jvm.pid))
    want(browser.wait(FORM), "no form")
    want(browser.js("return document.activeElement.id") == "token", "one has to click first")
    want(browser.js("return document.querySelector('label').htmlFor") == "token", "no label")
    for width, dark in ((1200, False), (1200, True), (360, False), (360, True)):
        browser.resize(width, 700)
        browser.dark(dark)
        want(browser.js("return document.documentElement.scrollWidth <= innerWidth"),
             "it is wider than %d" % width)
        back = browser.js("return matchMedia('(prefers-color-scheme: dark)').matches")
        want(back == dark, "the browser is not as it should be")
        if os.environ.get("SHOTS"):
            with open(os.path.join(os.environ["SHOTS"], "login-%d-%s.png" % (
                    width, "dark" if dark else "light")), "wb") as f:
                f.write(base64.b64decode(browser.screenshot()))
    browser.resize(1200, 800)
    want(not complaints(browser), "complaints")


def wrong(browser):
    log_in(browser, "not-the-token-at-all")
    want(browser.wait("return document.querySelector('[role=alert]')?.textContent") ==
         "This token is wrong.", "it does not say so")
    want(TOKEN not in browser.js("return document.documentElement.outerHTML"), "the token is there")


def right(browser, jvm):
    log_in(browser, TOKEN)
    want(browser.wait("return location.pathname === '/live/%d'" % jvm.pid), "it leads elsewhere")
    rows = "return /Shares/.test(document.querySelector('main').textContent)"
    want(browser.wait(rows, seconds=40), "no rows of the JVM: the stream is not let in")
    want(browser.js("return document.cookie") == "", "scripts see the cookie")
    want(TOKEN not in browser.js("return location.href"), "the token is in the address")
    want(not complaints(browser), "complaints: %s" % complaints(browser))


def restarted(browser, scratch, token, port):
    """Another server of the same port knows nobody: the form again."""
    with Server(scratch, "--listen", "127.0.0.1:%d" % port, "--token-file", token) as server:
        browser.open(server.url)
        want(browser.wait(FORM), "no form after a restart")
        server.end()


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as scratch, Jvm("Shares") as jvm:
        token = write_token(scratch)
        browser = Browser()
        try:
            with Server(scratch, "--token-file", token) as server:
                checks.run("the form", form, browser, server, jvm)
                checks.run("a wrong token", wrong, browser)
                checks.run("the right one", right, browser, jvm)
                browser.open("about:blank")
                server.end()
            checks.run("after a restart", restarted, browser, scratch, token, server.port)
        finally:
            browser.close()
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
