#!/usr/bin/env python3
# timeout: 300, tier: fast
"""Locks with their owners and waiters, allocation by class and site, and the status of the profile,
in /live/PID in Chromium."""
import re
import sys
import urllib.parse

import lib
from lib import want, wait_for
from live_page import opened

ROWS = """return Array.from(document.querySelectorAll(arguments[0] + ' tbody tr'), (tr) => ({
    share: parseFloat(tr.cells[0].textContent), level: Number(tr.getAttribute('aria-level')),
    open: tr.getAttribute('aria-expanded'), name: tr.querySelector('.name').textContent}));"""


def rows(page, view):
    return page.browser.js(ROWS, view)


def turn(page, view, name):
    """Opens or closes the first row with this name."""
    page.browser.js("""Array.from(document.querySelectorAll(arguments[0] + ' tbody tr')).find(
        (tr) => tr.querySelector('.name').textContent === arguments[1] &&
                !tr.querySelector('.twist').hidden).querySelector('.twist').click()""", view, name)


def locks_and_owners(page):
    page.open()
    page.view("4", "locks")
    wait_for(lambda: any(r["level"] == 2 and " in " in r["name"] for r in rows(page, "#locks")),
             "an owner with its method")
    page.hold()
    found = rows(page, "#locks")
    want(re.fullmatch(r"[\w.]+ \(monitor; \d+ locks?, \d+ threads? waited\)", found[0]["name"]),
         "the lock: " + found[0]["name"])
    owners = [r for r in found if r["level"] == 2]
    want(all(r["name"].startswith("held by ") for r in owners), "owners: %s" % owners)
    want(sum(r["share"] for r in found if r["level"] == 1) < 101, "more than all: %s" % found)
    name = next(r["name"] for r in owners if " in " in r["name"])
    turn(page, "#locks", name)
    below = [r["name"] for r in rows(page, "#locks") if r["level"] == 3]
    want(any(n.startswith("waited: ") for n in below), "no waiter: %s" % below)
    want("at " + name.split(" in ")[1] in below, "no stack: %s" % below)
    want(page.browser.js("return document.querySelector('#event').disabled"), "another event")
    given = dict(urllib.parse.parse_qsl(page.browser.js("return location.search").lstrip("?")))
    want(given["view"] == "locks" and "event" not in given, "the address has %s" % given)
    page.go_on()
    page.view("1", "methods")
    page.wait("return livePage.state().latest.event === 'cpu'", "the event of the other views")
    want(not page.browser.js("return document.querySelector('#event').disabled"), "no event")
    page.quiet()


def classes_and_sites(page):
    page.open()
    page.view("6", "alloc")
    wait_for(lambda: any(r["level"] == 2 and " via java." in r["name"]
                         for r in rows(page, "#alloc")), "a site")
    page.hold()
    found = rows(page, "#alloc")
    classes = [r for r in found if r["level"] == 1]
    want("byte[]" in [r["name"] for r in classes], "no class: %s" % classes)
    want([r["share"] for r in classes] == sorted([r["share"] for r in classes], reverse=True),
         "not the largest first: %s" % classes)
    want(abs(sum(r["share"] for r in classes) - 100) < 1, "not all of it: %s" % classes)
    sites = [r["name"] for r in found if r["level"] == 2]
    want(not any(re.match(r"(java|jdk|sun)\.", n) and " via " in n and "shop." in n for n in sites),
         "a site in the JDK: %s" % sites)
    site = next(n for n in sites if n.startswith("shop."))
    turn(page, "#alloc", site)
    want([r for r in rows(page, "#alloc") if r["level"] == 3], "no caller of " + site)
    page.go_on()
    page.quiet()


def sites_and_chains(page):
    """A site names the method of the JDK that it calls; an owner of a lock, what it waited for."""
    sums = page.browser.js("""
        const names = ['byte[]', 'shop.X.x', 'java.util.A.a', 'shop.Y.y', 'read'];
        const kinds = ['class', 'java', 'java', 'java', 'native'];
        const nodes = [[0, 0, 100, 0, 10, 0, null], [1, 1, 90, 30, 9, 3, 2],
                       [3, 2, 60, 60, 6, 3, null], [4, 1, 10, 10, 1, 0, null]];
        const tree = new Tree({names, kinds, nodes, cut: false}, {weight: 100, samples: 10},
                              {sites: true});
        const table = document.createElement('table');
        const alloc = new AllocTable(table, () => 0);
        alloc.setTree(tree, {weight: 100, unit: 'bytes', sampledNs: 1e9});
        return alloc.rows.map((r) => [r.level, r.name, r.total, r.samples, r.via]);""")
    want(sums == [[0, "byte[]", 100, 10, ""], [1, "shop.X.x", 90, 9, "java.util.A.a"],
                  [1, "read", 10, 1, ""]],
         "the rows are %s" % sums)
    chain = page.browser.js("""
        const table = document.createElement('table'), at = ['A.a'];
        const locks = new LockTable(table, () => 0), sum = {waits: 1, waitedNs: 5, longestNs: 5};
        locks.setLocks({from: 0, sampledNs: 1e9, classes: [{name: '<b>L</b>', kind: 'lock', ...sum,
            locks: 1, waiters: 1000, owners: [{id: 1, name: '', tid: 0, ...sum, stack: at},
                                              {id: 1, name: '', tid: 0, ...sum, stack: at}],
            links: [{owner: 1, lock: null, name: 'w', tid: 2, waits: 1, waitedNs: 5, deadlockNs: 0},
                    {owner: 1, lock: 'M', name: 'x', tid: 3, waits: 1, waitedNs: 5,
                     deadlockNs: 2e9}]}]}, {});
        locks.turn(locks.rows[1], true);
        return Array.from(table.querySelectorAll('tbody .name'), (e) => e.textContent);""")
    want(chain == ["<b>L</b> (lock; 1 lock, 1,000+ threads waited)", "held by an unknown thread in A.a",
                   "it waited itself for M, held by x, in a deadlock for 2 s", "waited: w", "at A.a"],
         "the rows are %s" % chain)


def status_of_the_profile(page):
    page.open()
    page.view("8", "status")
    lines = page.browser.js("""return Array.from(document.querySelectorAll('#status dl > div'),
        (e) => [e.firstChild.textContent, e.lastChild.textContent]);""")
    said = dict(lines)
    heads = page.browser.js("return Array.from(document.querySelectorAll('#status h2'), "
                            "(e) => e.textContent)")
    want(heads == ["Events", "Stacks", "Cost", "Session"], "the heads are %s" % heads)
    want(re.search(r"every 10 ms .* [\d,]+ samples .* 0 dropped", said["cpu"]), said["cpu"])
    want(re.fullmatch(r"[\d,]+ \([\d.]+%\)", said["failed walks"]), said["failed walks"])
    want(re.fullmatch(r"[\d.]+% of a core, .+ CPU in all", said["in the JVM"]), said["in the JVM"])
    want(re.search("CPU in all", said["this server"]), said["this server"])
    want(said["state"] == "samples come in", said["state"])
    page.keys("/", *"walker")
    want(page.text("#matches") == "1 of %d lines match" % (len(lines) + 4), page.text("#matches"))
    page.keys("Escape")
    page.hold()
    before = page.text("#status")
    wait_for(lambda to=page.sampled_to() + 2: page.sampled_to() >= to, "two views more")
    want(page.text("#status") == before, "what is paused moves")
    page.go_on()
    page.quiet()


def fits_a_phone(page):
    page.open(390, 740)
    for key, name in (("4", "locks"), ("6", "alloc"), ("8", "status")):
        page.view(key, name)
        wait_for(lambda n=name: page.browser.js(
            "return document.querySelectorAll(arguments[0]).length > 1",
            "#%s tbody tr, #%s dl > div" % (n, n)), "rows")
        wide = page.browser.js("return document.documentElement.scrollWidth")
        want(wide <= 390, "%s is %d wide on a phone of 390" % (name, wide))
    page.browser.resize(1280, 820)
    page.quiet()


def main():
    checks = lib.Checks(fast=("locks and owners", "classes and sites", "sites are merged",
                              "status of the profile"))
    with opened(checks) as (page, _):
        for check in (locks_and_owners, classes_and_sites, sites_and_chains, status_of_the_profile,
                      fits_a_phone):
            checks.run(check.__name__.replace("_", " "), check, page)
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
