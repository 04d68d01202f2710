#!/usr/bin/env python3
# timeout: 300, tier: fast
"""The timeline's axes and values, and the address of /live/PID, in Chromium: a link shows the same,
Back undoes a step, and what is wrong in an address does no harm."""
import re
import sys
import urllib.parse

import lib
from lib import want
from live_page import opened


def parameters(page):
    address = page.browser.js("return location.search")
    return dict(urllib.parse.parse_qsl(address.lstrip("?")))


def open_link(page, query):
    """A new page, as from a link."""
    page.browser.open("about:blank")
    page.browser.open("%s/live/%d%s" % (page.server.url, page.pid, query))
    page.live()
    page.wait("return livePage.state().shown > 0", "a view")


def back(page):
    page.browser.js("history.back()")


# ---- the timeline ----

def axes(page):
    page.open()
    page.wait("const t = livePage.timeline(); return t && t.latest - t.oldest > 4", "some seconds")
    values = page.browser.js("""return [
        axis.top(0.55e9, 'ns'), axis.top(1.9e9, 'ns'), axis.top(5e9, 'ns'),
        axis.top(1.5 * 2 ** 20, 'bytes'), axis.top(900, 'bytes'), axis.top(37, 'count'),
        axis.top(0, 'count')];""")
    want(values[:3] == [0.6e9, 2e9, 6e9], "scales of time: %s" % values[:3])
    want(values[3:] == [2 * 2 ** 20, 1000, 40, 2], "scales of others: %s" % values[3:])
    rates = page.browser.js("""return [
        axis.rate(1.5e9, 'ns', 'cpu'), axis.rate(0.25e9, 'ns', 'lock'),
        axis.rate(3 * 2 ** 20, 'bytes', 'alloc'), axis.rate(1234, 'count', 'page-faults'),
        axis.rate(2e9, 'ns', '__proto__')];""")
    want(rates == ["1.5 cores", "0.25 threads waiting", "3 MB/s", "1,234/s", "2 threads in it"],
         "rates: %s" % rates)
    times = page.browser.js("return axis.times(1000, 60, 0, 0.1)")
    want(times[-1] == [1059, "now"] and times[0] == [1009, "-50 s"] and len(times) == 6,
         "without a time of day: %s" % times)
    times = page.browser.js("return axis.times(1000, 600, 1e9, 0.1)")
    want(all(re.fullmatch(r"\d\d:\d\d", text) and (s + 1e9) % 60 == 0 for s, text in times) and
         len(times) == 10, "times of day: %s" % times)
    want("cpu in cores" in page.text("#timeline-said"), page.text("#timeline-said"))
    page.quiet()


def values_of_a_second(page):
    tip = "const t = document.querySelector('#timeline-tip');"
    want(page.browser.js(tip + "return t.hidden"), "there are values without a mouse")
    x, y, w = page.browser.js("const b = document.querySelector('#timeline')."
                              "getBoundingClientRect(); return [b.x, b.y, b.width];")
    page.browser.move(x + w - 40, y + 20)
    page.wait(tip + "return !t.hidden && t.textContent", "the values of a second")
    lines = page.browser.js(tip + "return Array.from(t.children, (e) => e.textContent)")
    want(re.fullmatch(r"\d\d:\d\d:\d\d, .+ ago|.*now", lines[0]), "the time: %s" % lines)
    want(re.fullmatch(r"[\d.]+ cores", lines[1]), "the value with its unit: %s" % lines)
    want(re.fullmatch(r"[\d,]+ samples", lines[2]), "the samples: %s" % lines)
    box = page.browser.js(tip + "const b = t.getBoundingClientRect(); return [b.left, b.right]")
    want(box[0] >= 0 and box[1] <= 1280, "it is not in the window: %s" % box)
    page.browser.move(x + w / 2, y + 400)
    page.wait(tip + "return t.hidden", "the values to go")


# ---- the address ----

def link_shows_the_same(page):
    page.open()
    want(page.browser.js("return location.search") == "", "an address without a need")
    page.view("5", "flame")
    page.browser.js("const s = document.querySelector('#event'); s.value = 'alloc';"
                    "s.dispatchEvent(new Event('change'))")
    page.keys("\\", *"shop", "Enter")
    page.keys("i", "/", *"Order", "Enter")
    page.wait("const l = livePage.state().latest; return l.event === 'alloc' && l.samples > 300 && "
              "l.window.to - l.window.first > 3", "samples of allocation")
    page.hold()
    held = page.state()["held"]
    given = parameters(page)
    want(given == {"view": "flame", "event": "alloc", "filter": "shop", "inverted": "1",
                   "search": "Order", "to": str(held["to"])}, "the address has %s" % given)
    page.keys(",")
    page.wait("const s = livePage.state(); return s.latest.window.to === s.held.to && "
              "s.latest.window.from === s.held.from && !s.latest.window.all", "a second back")
    before = page.state()
    frames = [f["name"] for f in page.frames()]
    want(len(frames) > 5, "too few frames to compare: %s" % frames)
    open_link(page, page.browser.js("return location.search"))
    page.wait("return livePage.flame().frames > 1 && livePage.flame().drawn", "the flame graph")
    now = page.state()
    for key in ("view", "event", "held", "span", "inverted", "search", "narrowed"):
        want(now[key] == before[key], "%s is %s, not %s" % (key, now[key], before[key]))
    want(now["latest"]["window"] == dict(before["latest"]["window"], latest=now["latest"]["window"]
                                         ["latest"], unix=now["latest"]["window"]["unix"]),
         "the window is %s, not %s" % (now["latest"]["window"], before["latest"]["window"]))
    want([f["name"] for f in page.frames()] == frames, "other frames")
    want(page.browser.js("return document.querySelector('#filter').value") == "shop", "no filter")
    want("filter: shop" in page.text("#chips"), "the filter is not named")
    want("matched" in page.text("#matches") or "match" in page.text("#matches"), "no search")
    want("paused" in page.text("#timeline-said"), "not paused: " + page.text("#timeline-said"))
    page.quiet()


def link_to_a_thread(page):
    page.open()
    page.view("2", "threads")
    page.browser.js("""Array.from(document.querySelectorAll('#threads .name')).find(
        (button) => button.textContent.startsWith('order-worker-1')).click()""")
    page.wait("return livePage.state().narrowed.length === 1", "one thread")
    given = parameters(page)
    want(given["view"] == "threads" and re.fullmatch(r"\d+", given["thread"]), "%s" % given)
    open_link(page, "?view=threads&from=-30&thread=" + given["thread"])
    page.wait("return document.querySelectorAll('#threads tbody tr').length === 1", "the thread")
    want("order-worker-1" in page.text("#chips"), "its name: " + page.text("#chips"))
    window = page.state()["latest"]["window"]
    want(window["to"] - window["from"] <= 30 and not window["all"], "its time: %s" % window)
    chosen = page.browser.js("const s = document.querySelector('#span');"
                             "return s.selectedOptions[0].textContent")
    want(chosen == "last 30 s", "the time that is chosen is named " + chosen)


def link_to_lines(page):
    page.open()
    page.browser.js("""Array.from(document.querySelectorAll('#methods .name')).find(
        (button) => button.textContent.includes('Pricing')).click()""")
    page.wait("return document.querySelector('#lines li')", "its lines")
    name = page.text("#method-name")
    want(parameters(page) == {"lines": name}, "the address has %s" % parameters(page))
    open_link(page, "?" + urllib.parse.urlencode({"lines": name}))
    page.wait("return document.querySelector('#method').open && "
              "document.querySelector('#lines li')", "its lines by the link")
    want(page.text("#method-name") == name, "of another method")
    page.keys("Escape")
    page.wait("return location.search === ''", "an address without the method")
    page.quiet()


def back_undoes(page):
    page.open()
    page.view("2", "threads")
    page.view("5", "flame")
    page.keys("p")
    page.wait("return livePage.state().held", "the pause")
    page.keys(",", ",", ",")  # one step of the history
    page.wait("return livePage.state().held.from > 0", "seconds back")
    back(page)
    page.wait("const h = livePage.state().held; return h && h.all", "the pause before the seconds")
    back(page)
    page.wait("return !livePage.state().held", "no pause")
    want(page.text("#pause") == "Pause", "the button says " + page.text("#pause"))
    page.next_view()
    back(page)
    page.wait("return livePage.state().view === 'threads' && "
              "!document.querySelector('#threads').hidden", "the threads")
    back(page)
    page.wait("return livePage.state().view === 'methods'", "the methods")
    page.browser.js("history.forward()")
    page.wait("return livePage.state().view === 'threads'", "the threads by Forward")
    page.next_view()
    page.quiet()


def compares(page):
    """Two spans of time: the change of the shares, and the same by the link."""
    page.open()
    page.wait("const t = livePage.timeline(); return t && t.latest - t.oldest > 6", "some seconds")
    shown = "return document.querySelector('#methods th.c-change').getClientRects().length > 0"
    want(not page.browser.js(shown), "changes without a baseline")
    page.click("#compare")
    before = page.wait("return livePage.state().before", "the baseline")
    page.wait(shown, "the changes")
    want(parameters(page) == {"before": "%d-%d" % (before["from"], before["to"])},
         "the address has %s" % parameters(page))
    want(re.match(r"Compared with \d\d:\d\d:\d\d to ", page.text("#compare")), page.text("#compare"))
    page.browser.js("const s = document.querySelector('#span'); s.value = '10';"
                    "s.dispatchEvent(new Event('change'))")
    page.wait("return !livePage.state().latest.window.all", "the last seconds")
    changes = [row[4] for row in page.rows()]
    want(len(changes) > 5 and all(re.fullmatch("[+\u2212]\\d+\\.\\d( new)?\\*?", c) for c in changes),
         "the changes are %s" % changes)
    page.view("2", "threads")
    want(page.browser.js("return Array.from(document.querySelectorAll('#threads td.c-change'))."
                         "every((c) => c.textContent)"), "threads without a change")
    open_link(page, page.browser.js("return location.search"))
    page.wait("return !document.querySelector('#threads').classList.contains('without-change') && "
              "document.querySelector('#threads td.c-change').getClientRects().length", "the same")
    want(page.state()["before"] == before, "another baseline: %s" % page.state()["before"])
    page.keys("B")
    page.wait("return !livePage.state().before && !document.querySelector('#threads th.c-change')."
              "getClientRects().length", "no baseline")
    page.quiet()


def wrong_links(page):
    """What cannot be is as if it was not given; what the server refuses is told."""
    open_link(page, "?view=nothing&before=9-3&thread=x&virtual=-3&from=1e9&to=now&rows=7&inverted=maybe")
    state = page.state()
    want(state["view"] == "methods" and not state["narrowed"] and not state["before"] and not state["held"] and
         not state["span"] and not state["inverted"], "it became %s" % state)
    text = "<img src=x onerror=\"document.title='owned'\">"
    open_link(page, "?" + urllib.parse.urlencode({"filter": text, "search": text, "lines": text}))
    page.next_view()
    want(page.browser.js("return document.title") != "owned", "it was run")
    want(page.browser.js("return document.querySelectorAll('img').length") == 0, "injected")
    open_link(page, "?to=1&view=flame")
    page.wait("return document.querySelector('#nothing').textContent.includes('No samples are kept')",
              "a time before the profile")
    page.browser.errors()
    page.browser.open("%s/live/%d?event=no-such" % (page.server.url, page.pid))
    page.wait("return document.querySelector('#trouble').textContent.startsWith('event: must be')",
              "the refusal of an unknown event")
    page.browser.errors()  # 400s, which a browser lists


def main():
    checks = lib.Checks(fast=("timeline axes", "address link shows the same", "address back undoes"))
    with opened(checks) as (page, _):
        checks.run("timeline axes", axes, page)
        checks.run("timeline values of a second", values_of_a_second, page)
        for check in (link_shows_the_same, link_to_a_thread, link_to_lines, back_undoes,
                      compares, wrong_links):
            checks.run("address " + check.__name__.replace("_", " "), check, page)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
