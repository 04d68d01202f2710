#!/usr/bin/env python3
# timeout: 300, tier: fast
"""The call tree of /live/PID as a table in Chromium, the callers of a method and what it calls, and
the methods beside the flame graph."""
import sys
import urllib.parse

import lib
from lib import want, wait_for
from live_page import opened

ROWS = """return Array.from(document.querySelectorAll('#tree tbody tr'), (tr) => ({
    total: parseFloat(tr.cells[0].textContent), self: parseFloat(tr.cells[1].textContent),
    level: Number(tr.getAttribute('aria-level')), open: tr.getAttribute('aria-expanded'),
    name: tr.querySelector('.name').textContent, selected: tr.classList.contains('selected')}));"""


def rows(page):
    return page.browser.js(ROWS)


def row_of(page, name):
    return next((r for r in rows(page) if r["name"] == name), None)


def twist(page, name):
    page.browser.js("""Array.from(document.querySelectorAll('#tree tbody tr')).find(
        (tr) => tr.querySelector('.name').textContent === arguments[0])
        .querySelector('.twist').click()""", name)


def show_tree(page):
    page.open()
    page.view("3", "tree")
    page.wait("return document.querySelectorAll('#tree tbody tr').length > 5", "the tree")
    page.hold()


def shares_add_up(page):
    show_tree(page)
    found = rows(page)
    want(any(r["name"] == "shop.OrderWorker.run" for r in found), "no worker: %s" % found[:5])
    want(sum(r["total"] for r in found if r["level"] == 1) < 101, "more than all")
    open_rows = []
    for r in found:
        open_rows[r["level"] - 1:] = [dict(r, below=r["self"])]
        if r["level"] > 1:
            want(len(open_rows) == r["level"] and open_rows[-2]["open"] == "true",
                 "%s is below a closed frame" % r["name"])
            open_rows[-2]["below"] += r["total"]
            want(open_rows[-2]["below"] < open_rows[-2]["total"] + 0.2,
                 "below %s there is more than in it" % open_rows[-2]["name"])
    top = [r["total"] for r in found if r["level"] == 1]
    want(top == sorted(top, reverse=True), "not the heaviest first: %s" % top)
    page.quiet()


def opens_and_closes(page):
    show_tree(page)
    name = "shop.OrderWorker.run"
    many = len(rows(page))
    want(row_of(page, name)["open"] == "true", "a frame with a large share is closed")
    twist(page, name)
    want(row_of(page, name)["open"] == "false" and len(rows(page)) < many, "it does not close")
    page.go_on()
    page.next_view()
    want(row_of(page, name)["open"] == "false", "it opens in the next view")
    twist(page, name)
    want(row_of(page, name)["open"] == "true", "it does not open")
    page.hold()
    page.browser.js("document.activeElement.blur()")
    page.keys(*"kkkkkkkk")
    want(rows(page)[0]["selected"], "k does not go up to the first row")
    first = rows(page)[0]
    page.keys("Left")
    want(rows(page)[0]["open"] == ("false" if first["open"] else None), "Left does not close")
    page.keys("Right", "Right")
    now = rows(page)
    want(now[0]["open"] == "true" and now[1]["selected"], "Right does not open and go on")
    page.keys("Left", "Left")
    want(rows(page)[0]["selected"], "Left does not go to the caller")
    page.go_on()
    page.quiet()


def finds_frames(page):
    show_tree(page)
    twist(page, "shop.OrderWorker.run")
    page.keys("/", *"discount")
    want(page.text("#matches").startswith("matched"), "no share of them: " + page.text("#matches"))
    page.keys("Enter")  # opens the frames above the match
    want(not page.browser.js("return document.querySelector('#method').open"),
         "Enter opens the match's lines, too")
    chosen = [r for r in rows(page) if r["selected"]]
    want(len(chosen) == 1 and "discount" in chosen[0]["name"], "the match is not shown: %s" % chosen)
    page.keys("Escape")
    page.browser.js("document.activeElement.blur()")
    page.keys("e")
    chosen = [r for r in rows(page) if r["selected"]]
    want(len(chosen) == 1 and chosen[0]["open"] is None, "no end of the hottest path: %s" % chosen)
    page.go_on()
    page.quiet()


def callers_of_a_method(page):
    page.open()
    page.browser.js("""Array.from(document.querySelectorAll('#methods .name')).find(
        (b) => b.textContent === 'shop.Pricing.discount').click()""")
    page.wait("return document.querySelector('#method').open", "the method's lines")
    page.click("#method-callers")
    page.wait("return livePage.state().view === 'tree' && "
              "document.querySelectorAll('#tree tbody tr').length > 1", "the callers")
    wait_for(lambda: [r["name"] for r in rows(page)][:2] ==
             ["shop.Pricing.discount", "shop.Pricing.total"], "the method and its caller")
    want(rows(page)[0]["total"] == 100, "not all of the stacks have it: %s" % rows(page)[0])
    want("method: shop.Pricing.discount" in page.text("#chips"), page.text("#chips"))
    query = urllib.parse.parse_qs(page.browser.js("return location.search").lstrip("?"))
    want(query == {"view": ["tree"], "with": ["shop.Pricing.discount"], "inverted": ["1"]},
         "the address has %s" % query)
    page.browser.js("location.reload()")
    page.live()
    wait_for(lambda: [r["name"] for r in rows(page)][:2] ==
             ["shop.Pricing.discount", "shop.Pricing.total"], "the same by the link")
    page.browser.js("history.back()")
    page.wait("return livePage.state().view === 'methods' && !livePage.state().narrowed.length",
              "the methods by Back")
    page.quiet()


def what_a_method_calls(page):
    page.open()
    page.view("3", "tree")
    wait_for(lambda: row_of(page, "shop.Pricing.total"), "the row of a method")
    page.browser.js("""Array.from(document.querySelectorAll('#tree .name')).find(
        (b) => b.textContent === 'shop.Pricing.total').click()""")
    page.wait("return document.querySelector('#method').open", "the method's lines")
    page.click("#method-calls")
    wait_for(lambda: [r["name"] for r in rows(page) if r["level"] == 1] == ["shop.Pricing.total"],
             "the tree that begins at the method")
    want(row_of(page, "shop.Pricing.discount")["level"] == 2, "not what it calls")
    page.keys("Escape")
    page.wait("return !livePage.state().narrowed.length", "all stacks again")
    page.quiet()


def table_beside_the_flame_graph(page):
    shown = "return document.querySelector('#methods').getClientRects().length > 0"
    page.open(1300, 820)
    page.view("5", "flame")
    want(page.browser.js(shown), "no methods beside the flame graph")
    flame, table = page.browser.js("""return ['#flame', '#methods'].map((id) => {
        const b = document.querySelector(id).getBoundingClientRect();
        return [b.left, b.right, b.top, b.bottom];})""")
    want(flame[1] <= table[0] and table[1] <= 1300 and flame[1] - flame[0] > 700,
         "they are not side by side: %s %s" % (flame, table))
    want(table[3] <= 820, "it is longer than the window: %s" % table)
    page.browser.js("""Array.from(document.querySelectorAll('#methods .name')).find(
        (b) => b.textContent === 'shop.Pricing.discount').click()""")
    page.wait("return document.querySelector('#matches').textContent.startsWith('matched')",
              "the method marked in the flame graph")
    want({f["name"] for f in page.frames() if f["match"]} == {"shop.Pricing.discount"},
         "other frames are marked")
    page.keys("Escape")
    page.browser.resize(1000, 820)
    page.wait("return document.querySelector('#methods').hidden", "the table to go in a narrow window")
    page.browser.resize(1300, 820)
    page.wait("return !document.querySelector('#methods').hidden", "the table in a wide window")
    page.quiet()


def fits_a_phone(page):
    for width in (360, 390):
        page.open(width, 740)
        page.view("3", "tree")
        page.wait("return document.querySelectorAll('#tree tbody tr').length > 5", "the tree")
        for _ in range(2):
            page.keys("e")
        wide = page.browser.js("return document.documentElement.scrollWidth")
        want(wide <= width, "the tree is %d wide on a phone of %d" % (wide, width))
    page.browser.resize(1280, 820)
    page.quiet()


CHECKS = [shares_add_up, opens_and_closes, finds_frames, callers_of_a_method, what_a_method_calls,
          table_beside_the_flame_graph, fits_a_phone]


def main():
    checks = lib.Checks(fast=("tree shares add up", "tree callers of a method",
                              "tree table beside the flame graph"))
    with opened(checks) as (page, _):
        for check in CHECKS:
            checks.run("tree " + check.__name__.replace("_", " "), check, page)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
