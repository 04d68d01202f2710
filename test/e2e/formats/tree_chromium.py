#!/usr/bin/env python3
# timeout: 240
"""Opens call tree pages in Chromium from disk and uses them with real clicks and keys.

usage: tree_chromium.py [--shots DIR] [HTML...]

Without files it builds $BUILD/test/bench/export_bench (BUILD=build) and has it make some, hostile
names and one of 100,000 stacks included.
Prints "ok NAME" or "not ok NAME - reason"; exit code 0 when all are ok.
"""

import base64
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from html_chromium import from_the_other_end, paths
from svg_chromium import HOSTILE, check
from webdriver import KEYS, Browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", "build")
KEYS.setdefault("End", "\ue010")

FRAMES = ("return Array.from({length: Math.min(callTree.frames, 5000)}, "
          "(_, i) => callTree.frame(i))")
# What is on the screen: a frame's cells, and where it is.
SHOWN = """
return Array.from(document.querySelectorAll('.row')).map((r) => {
    const b = r.getBoundingClientRect(), t = (s) => r.querySelector(s).textContent;
    return {frame: Number(r.dataset.frame), x: b.x, y: b.y, h: b.height, share: t('.share'),
            self: t('.self'), count: t('.count'), weight: t('.weight'), fold: t('.fold'),
            name: t('.name'), focus: r.classList.contains('focus'),
            match: r.querySelector('.name').classList.contains('match')};
}).sort((a, b) => a.y - b.y);"""
BUTTON = ("const r = document.querySelector(arguments[0]).getBoundingClientRect();"
          "return [r.x + 9, r.y + 9]")


class Page:
    """One page, opened afresh."""

    def __init__(self, browser, path):
        self.browser = browser
        browser.dark(False)
        browser.resize(1300, 800)
        browser.move(1, 1)
        browser.errors()
        browser.open(pathlib.Path(path).resolve().as_uri())
        check(browser.wait("return !!window.callTree"), "the script did not run")

    def drawn(self):
        check(self.browser.wait("return callTree.state().drawn"), "it is not drawn")

    def frames(self):
        return self.browser.js(FRAMES)

    def state(self):
        self.drawn()
        return self.browser.js("return callTree.state()")

    def shown(self):
        self.drawn()
        return self.browser.js(SHOWN)

    def rows(self):
        """The frames that are listed, in sight or not."""
        return self.browser.js("return callTree.rows(0, 100000)")

    def frame(self, i):
        return self.browser.js("return callTree.frame(arguments[0])", i)

    def text(self, selector):
        return self.browser.js("return document.querySelector(arguments[0]).textContent", selector)

    def click(self, row):
        self.browser.click(row["x"] + 500, row["y"] + row["h"] / 2)

    def press(self, selector):
        self.browser.click(*self.browser.js(BUTTON, selector))


def children(frames, i):
    """Heaviest first, as they are listed."""
    below = [f for f in frames if f["parent"] == i]
    return [f["index"] for f in sorted(below, key=lambda f: (-f["value"], f["index"]))]


def test_opens(browser, path):
    page = Page(browser, path)
    check(not browser.errors(), "the page logged errors")
    check(browser.js("return document.title") not in ("", "owned"), "bad title")
    check("sample" in page.text(".subtitle") and "dropped" in page.text(".subtitle"), "no subtitle")
    check(browser.js("return performance.getEntriesByType('resource').length") == 0,
          "it loads something")
    check(page.shown()[0]["name"] == "all" and len(page.rows()) > 1, "nothing is listed")


def test_says_what_it_knows(browser, path):
    page = Page(browser, path)
    frames = page.frames()
    below = collections.Counter()
    for f in frames[1:]:
        below[f["parent"]] += f["value"]
    whole = frames[0]["value"]
    for f in frames:
        check(f["self"] + below[f["index"]] == f["value"] or len(frames) == 5000,
              f"{f['name']} does not add up")
    for row in page.shown():
        f = frames[row["frame"]]
        check(row["share"] == f"{100 * f['value'] / whole:.2f}%", f"{f['name']}: {row['share']}")
        check(row["self"] == f"{100 * f['self'] / whole:.2f}%", f"{f['name']}: {row['self']}")
        check(row["count"] == f"{f['samples']:,}", f"{f['name']}: {row['count']}")
        check(row["name"] == f["name"], f"{row['name']} is {f['name']}")


def test_click_unfolds_and_folds(browser, path):
    page = Page(browser, path)
    browser.keys("c")
    frames, before = page.frames(), page.rows()
    check(before == [0] + children(frames, 0), "all folded, other rows are listed")
    row = next(r for r in page.shown()[1:] if r["fold"])
    page.click(row)
    i = row["frame"]
    at = before.index(i) + 1
    check(page.rows() == before[:at] + children(frames, i) + before[at:], "a click does not unfold")
    check(page.state()["focus"] == i, "the click does not move the focus")
    page.click(row)
    check(page.rows() == before, "a click does not fold")
    check(not browser.errors(), "errors logged")


def test_keyboard(browser, path):
    page = Page(browser, path)
    browser.keys("c", "Home")
    frames = page.frames()
    first = children(frames, 0)[0]
    browser.keys("Down")
    check(page.state()["focus"] == first, "Down does not go to the heaviest")
    browser.keys("Right")
    check(page.frame(first)["unfolded"], "Right does not unfold")
    browser.keys("Right")
    second = children(frames, first)[0]
    check(page.state()["focus"] == second, "Right does not go below")
    browser.keys("Left", "Left")
    check(page.state()["focus"] == first and not page.frame(first)["unfolded"],
          "Left does not fold")
    browser.keys("Enter")
    check(page.frame(first)["unfolded"], "Enter does not unfold")
    browser.keys("Up")
    check(page.state()["focus"] == 0, "Up does not go up")
    browser.keys("End")
    check(page.state()["focus"] == page.rows()[-1], "End does not go to the end")
    browser.keys("Home", "*")
    check(page.state()["rows"] == len(frames) or len(frames) == 5000, "* does not unfold all")
    browser.keys("Escape")
    check(page.rows() == [0] + children(frames, 0), "Escape does not fold all")


def test_hottest(browser, path):
    page = Page(browser, path)
    frames = page.frames()
    way, i = [0], 0
    while children(frames, i):
        i = children(frames, i)[0]
        way.append(i)
    for unfold in (lambda: browser.keys("Home", "h"), lambda: page.press(".hottest")):
        browser.keys("c")
        unfold()
        check(page.state()["focus"] == way[-1], "the hottest path's end has not the focus")
        check(set(way) <= set(page.rows()), "the hottest path is not unfolded")
        check(any(r["focus"] and 0 < r["y"] < 800 for r in page.shown()), "it is out of sight")
    page.press(".fold-all")
    check(page.rows() == [0] + children(frames, 0), "the button does not fold")


def test_search(browser, path):
    page = Page(browser, path)
    frames = page.frames()
    target = next(f for f in frames if f["depth"] >= 3)
    name = re.sub(r"[^A-Za-z].*", "", re.sub(r"^.*[/.:]", "", target["name"])).lower()
    browser.keys("c", "/", *f"^.*{name}.*$")
    hits = [f for f in frames if f["index"] and re.search(name, f["name"], re.IGNORECASE)]
    total, end = 0, -1
    for f in hits:
        if f["index"] >= end:
            total, end = total + f["value"], f["end"]
    share = f"matched {100 * total / frames[0]['value']:.2f}% \u00b7 {len(hits):,} frame"
    check(share in page.text(".status"), f"'{page.text('.status')}', not {share}")
    hits.sort(key=lambda f: (-f["value"], f["index"]))
    browser.keys("Enter")
    check(page.state()["focus"] == hits[0]["index"], "Enter does not go to the heaviest match")
    row = next(r for r in page.shown() if r["focus"])
    check(row["match"] and 0 < row["y"] < 800, "the match is not marked, or out of sight")
    browser.keys("Escape")
    check(page.text(".status") == "" and not any(r["match"] for r in page.shown()),
          "Escape keeps it")
    browser.keys("/", "(", "[")
    check("not a regular expression" in page.text(".status"), "bad pattern goes unnoticed")
    check(not browser.errors(), "errors logged")


def test_reads_from_the_other_end(browser, path):
    page = Page(browser, path)
    before = page.frames()
    for press in (lambda: browser.keys("r"), lambda: page.press(".reverse")):
        press()
        after = page.frames()
        check(paths(after) == from_the_other_end(before), "other frames than from the other end")
        check(set(page.rows()) >= {0} | set(children(after, 0)), "its roots are not listed")
        before = after
    check(not browser.errors(), "errors logged")


def test_dark(browser, path):
    page = Page(browser, path)
    back = "return getComputedStyle(document.body).backgroundColor"
    light = browser.js(back)
    browser.dark(True)
    check(light == "rgb(255, 255, 255)" and browser.js(back) != light, "no dark colours")
    browser.dark(False)
    check(page.shown(), "nothing is left")


def test_hostile_names_are_text(browser, path):
    page = Page(browser, path)
    browser.keys("Home", "*")
    names = {f["name"] for f in page.frames()}
    for name in HOSTILE:
        check(name in names, f"{name} is not among the frames")
    check(set(r["name"] for r in page.shown()) <= names, "a name is shown as something else")
    check(browser.js("return document.title") != "owned", "a name was run as a script")
    check(browser.js("return document.querySelectorAll('img').length") == 0, "injected")
    check(browser.js("return document.querySelectorAll('script').length") == 4, "foreign script")


def test_large_stays_fluid(browser, path):
    """Times are told, not judged: of the machine, not of the page."""
    page = Page(browser, path)
    frames = browser.js("return callTree.frames")
    check(frames > 100000, "not a large profile")
    loaded = browser.js("const t = performance.timing; return t.loadEventEnd - t.navigationStart")
    took = browser.js("""
        const t = performance.now(), press = (key) =>
            document.dispatchEvent(new KeyboardEvent('keydown', {key}));
        press('h');
        press('Home');
        press('*');
        return performance.now() - t;""")
    check(page.state()["rows"] > 100000, "it does not unfold")
    check(page.state()["made"] < 200, "rows are made that nobody sees")
    browser.keys("End")
    check(any(r["focus"] and r["y"] < 800 for r in page.shown()), "the end is out of sight")
    browser.keys("/", *"Handler1")
    check("matched" in page.text(".status"), "search finds nothing")
    check(not browser.errors(), "errors logged")
    print(f"# {frames} frames: loaded in {loaded} ms, all unfolded in {took:.0f} ms", flush=True)


TESTS = [test_opens, test_says_what_it_knows, test_click_unfolds_and_folds, test_keyboard,
         test_hottest, test_search, test_reads_from_the_other_end, test_dark]


def run(browser, test, path):
    name = f"tree {pathlib.Path(path).stem} {test.__name__[5:].replace('_', ' ')}"
    try:
        test(browser, path)
    except (AssertionError, RuntimeError) as e:
        print(f"not ok {name} - {e}", flush=True)
        return False
    print(f"ok {name}", flush=True)
    return True


def shoot(browser, path, directory):
    for dark in (False, True):
        page = Page(browser, path)
        browser.dark(dark)
        browser.keys("Home", "h")
        page.drawn()
        name = f"{pathlib.Path(path).stem}-tree-{'dark' if dark else 'light'}.png"
        pathlib.Path(directory, name).write_bytes(base64.b64decode(browser.screenshot()))


def make(directory):
    bench = os.path.join(BUILD, "test/bench/export_bench")
    subprocess.run(["make", "-s", "BUILD=" + BUILD, bench], cwd=ROOT, check=True)
    subprocess.run([os.path.join(ROOT, bench), "--sample", directory], check=True)
    subprocess.run([os.path.join(ROOT, bench), "--large", os.path.join(directory, "large.tree")],
                   check=True)
    made = []
    for page in sorted(pathlib.Path(directory).glob("*.tree")):
        made.append(str(page.rename(page.with_name(page.stem + "-tree.html"))))
    large = os.path.join(directory, "large-tree.html")
    return [path for path in made if path != large], large


def main(args):
    shots = None
    if args[:1] == ["--shots"]:
        shots, args = args[1], args[2:]
    ok = True
    with tempfile.TemporaryDirectory(prefix="jtop-prof-tree-") as made:
        files, large = (args, None) if args else make(made)
        browser = Browser()
        try:
            for path in files:
                for test in TESTS + ([] if args else [test_hostile_names_are_text]):
                    ok &= run(browser, test, path)
                if shots:
                    shoot(browser, path, shots)
            if large:
                ok &= run(browser, test_large_stays_fluid, large)
        finally:
            browser.close()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
