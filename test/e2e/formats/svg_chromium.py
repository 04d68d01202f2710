#!/usr/bin/env python3
# timeout: 240, tier: fast
"""Opens flame graphs in Chromium from disk and uses them with real clicks and keys.

usage: svg_chromium.py [--shots DIR] [SVG...]

Without files it builds $BUILD/test/bench/export_bench (BUILD=build) and has it make some, hostile
names included.
Prints "ok NAME" or "not ok NAME - reason"; exit code 0 when all are ok.
"""

import base64
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from webdriver import Browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", "build")
THOROUGH = os.environ.get("TIER") != "fast"  # of the other files the fast tier only sees that they open

# Every frame as the page shows it now; index is its place in the file.
FRAMES = """
return Array.from(document.querySelectorAll('.frames > g'), (g, index) => {
    const d = g.dataset.f.split(' ').map(Number);
    const r = g.querySelector('rect').getBoundingClientRect();
    const title = g.querySelector('title').textContent;
    const total = document.documentElement.dataset.total === '1';
    return {index, depth: d[0], left: d[1], value: total ? d[3] : d[2],
            name: title.slice(0, title.lastIndexOf(' (')),
            label: (g.querySelector('text') || {textContent: ''}).textContent,
            shown: g.style.display !== 'none', classes: g.getAttribute('class'),
            x: r.x, y: r.y, w: r.width, h: r.height};
});"""
TEXT = "return document.querySelector(arguments[0]).textContent"
HOSTILE = ["</text><script>document.title='owned'</script>",
           "\"><img src=x onerror=\"document.title='owned'\">",
           "]]></script><script>document.title='owned'</script>"]


def check(fact, reason):
    if not fact:
        raise AssertionError(reason)


class Page:
    """One flame graph, opened afresh."""

    def __init__(self, browser, path, width=1300, height=800):
        self.browser = browser
        browser.dark(False)
        browser.resize(width, height)
        browser.move(1, 1)
        browser.errors()
        browser.open(pathlib.Path(path).resolve().as_uri())
        check(browser.wait("return !!document.querySelector('.flame input')"), "script did not run")
        self.all = self.frames()[0]

    def frames(self):
        return self.browser.js(FRAMES)

    def text(self, selector):
        return self.browser.js(TEXT, selector)

    def click(self, frame):
        f = self.frames()[frame["index"]]
        x = max(f["x"], 0) + min(f["w"], 40) / 2
        self.browser.click(x, f["y"] + f["h"] / 2)

    def inside(self, outer, frame):
        return (frame["depth"] >= outer["depth"] and outer["left"] <= frame["left"] and
                frame["left"] + frame["value"] <= outer["left"] + outer["value"] and
                frame["index"] >= outer["index"])

    def some_frame(self):
        """Neither the whole nor a leaf nor narrow, in sight, and with something beside it."""
        frames = self.frames()
        for f in frames:
            if f["depth"] >= 2 and 30 < f["w"] < 0.7 * self.all["w"] and 90 < f["y"] < 700:
                below = [c for c in frames if c["index"] > f["index"] and self.inside(f, c)]
                if len(below) >= 2:
                    return f
        raise AssertionError("no frame fit for the test in this file")


def test_opens(browser, path):
    page = Page(browser, path)
    check(not browser.errors(), "the page logged errors")
    check(browser.js("return document.title") not in ("", "owned"), "bad title")
    check(page.all["name"] == "all" and page.all["label"] == "all", "no root frame")
    check(browser.js("return document.querySelectorAll('script').length") == 1, "foreign script")
    check("sample" in page.text(".subtitle") and "dropped" in page.text(".subtitle"), "no subtitle")


def test_follows_the_window(browser, path):
    page = Page(browser, path)
    if browser.js("return document.documentElement.dataset.fluid") != "1":
        width = page.all["w"]
        browser.resize(700, 800)
        check(page.frames()[0]["w"] == width, "fixed width changed with the window")
        return
    for width in (1300, 700, 1800):
        browser.resize(width, 800)
        got = browser.wait("const w = document.querySelector('.frames > g rect')"
                           ".getBoundingClientRect().width; return w === arguments[0] && w",
                           width - 20)
        check(got == width - 20, f"frames do not fill a window of {width}")
        for f in page.frames():
            room = f["w"] / 6.5
            check(len(f["label"]) <= room, f"label wider than its frame: {f['label']}")


def test_click_zooms(browser, path):
    page = Page(browser, path)
    before = page.frames()
    target = page.some_frame()
    page.click(target)
    now = page.frames()
    full = before[0]["w"]
    check(abs(now[target["index"]]["w"] - full) < 1, "frame does not fill the width")
    for f in now:
        in_it, around = page.inside(target, f), page.inside(f, target)
        check(f["shown"] == (in_it or around), f"{f['name']}: shown is {f['shown']}")
        if around and f["index"] < target["index"]:
            check("above" in f["classes"].split(), f"parent {f['name']} not dimmed")
            check(abs(f["w"] - full) < 1, f"parent {f['name']} not full width")
        elif in_it:
            want = f["value"] / target["value"] * full
            check(abs(f["w"] - want) < 1, f"{f['name']} is {f['w']} wide, not {want}")
    parent = [f for f in now if f["shown"] and f["depth"] == target["depth"] - 1][0]
    page.click(parent)
    now = page.frames()
    check(abs(now[parent["index"]]["w"] - full) < 1, "click on a parent does not zoom to it")
    check("above" not in now[parent["index"]]["classes"].split(), "zoomed frame still dimmed")
    check(not browser.errors(), "errors logged")


def test_reset(browser, path):
    page = Page(browser, path)
    before = page.frames()
    shown = "return getComputedStyle(document.querySelector('.reset')).display !== 'none'"
    check(not browser.js(shown), "reset is offered without a zoom")
    page.click(page.some_frame())
    check(browser.js(shown), "no reset button")
    r = browser.js("const r = document.querySelector('.reset').getBoundingClientRect();"
                   "return [r.x + r.width / 2, r.y + r.height / 2]")
    browser.click(*r)
    after = page.frames()
    check(not browser.js(shown), "reset stays")
    for a, b in zip(before, after):
        check(b["shown"] and abs(a["x"] - b["x"]) < 0.5 and abs(a["w"] - b["w"]) < 0.5 and
              a["label"] == b["label"], f"{a['name']} is not back")
    page.click(page.some_frame())
    browser.keys("Escape")
    check(all(f["shown"] for f in page.frames()), "Escape does not reset")


def matched(frames, pattern):
    """Frames whose name matches, and their share: nested ones counted once."""
    hits = [f for f in frames if f["index"] and re.search(pattern, f["name"], re.IGNORECASE)]
    total, end = 0, -1
    for f in hits:
        if f["left"] >= end:
            total += f["value"]
            end = f["left"] + f["value"]
    return hits, 100 * total / frames[0]["value"]


def test_search(browser, path):
    page = Page(browser, path)
    frames = page.frames()
    name = re.sub(r"[^A-Za-z].*", "", re.sub(r"^.*[/.:]", "", page.some_frame()["name"])).lower()
    for opener, pattern in ((("/",), name), (("f",), f"^.*{name[:3]}.*$")):
        browser.keys(*opener, hold="Control" if opener == ("f",) else None)
        check(browser.js("return document.activeElement.tagName") == "input", "no search field")
        browser.keys(*pattern)
        hits, share = matched(frames, pattern)
        now = page.frames()
        got = [f["index"] for f in now if "match" in f["classes"].split()]
        check(got == [f["index"] for f in hits] and got, f"/{pattern}/ marks the wrong frames")
        status = page.text(".status")
        check(f"matched {share:.2f}%" in status, f"/{pattern}/: '{status}', not {share:.2f}%")
        fill = browser.js("return getComputedStyle(document.querySelector('.match rect')).fill")
        check(fill == "rgb(238, 0, 238)", f"matches are {fill}")
        browser.keys("Enter")
        check(browser.js("return !!document.querySelector('.match.focus')"), "no next match")
        browser.keys("Escape")
        check(not browser.js("return document.querySelector('.match')"), "Escape keeps matches")
        check(page.text(".status") == "", "Escape keeps the percentage")
    browser.keys("/", "(", "[")
    check("not a regular expression" in page.text(".status"), "bad pattern goes unnoticed")
    check(not browser.errors(), "errors logged")


def test_search_counts_in_the_zoom(browser, path):
    page = Page(browser, path)
    target = page.some_frame()
    page.click(target)
    browser.keys("/", ".")
    check("matched 100.00%" in page.text(".status"), "all of the zoom is not 100%")


def test_keyboard(browser, path):
    page = Page(browser, path)
    up = browser.js("return document.documentElement.dataset.up") == "1"
    child, parent = ("Up", "Down") if up else ("Down", "Up")
    focus = "return document.querySelector('.frames .focus title').textContent"
    browser.keys("Home")
    check(browser.js(focus).startswith("all ("), "Home does not go to the root")
    browser.keys(child)
    first = browser.js(focus)
    widest = max((f for f in page.frames() if f["depth"] == 1), key=lambda f: f["value"])
    check(first.startswith(widest["name"]), "no step to the widest child")
    browser.keys(child, parent)
    check(browser.js(focus) == first, "no way back to the parent")
    level = [f for f in page.frames() if f["depth"] == 1 and f["w"] >= 1]
    steps = [f["index"] for f in level].index(widest["index"])
    browser.keys(*["Left"] * (steps + 1), "Right", "Left")
    check(browser.js(focus).startswith(level[0]["name"]), "Left and Right do not walk the level")
    browser.keys("Enter")
    now = page.frames()
    check(abs(now[level[0]["index"]]["w"] - now[0]["w"]) < 1, "Enter does not zoom")
    check(page.text(".hover").startswith(level[0]["name"][:3]), "no name in the head")
    check("sample" in page.text(".stats") and "%" in page.text(".stats"), "no numbers in the head")
    browser.keys("Backspace")
    check(all(f["shown"] for f in page.frames()), "Backspace does not zoom out")


def test_hover(browser, path):
    page = Page(browser, path)
    f = page.some_frame()
    hint = page.text(".hover")
    browser.move(f["x"] + f["w"] / 2, f["y"] + f["h"] / 2)
    line, stats = page.text(".hover"), page.text(".stats")
    check(line.rstrip("\u2026") == f["name"][:len(line.rstrip("\u2026"))] and line, f"'{line}'")
    share = f"{100 * f['value'] / page.all['value']:.2f}%"
    check(share in stats and "sample" in stats and "self" in stats, f"'{stats}'")
    browser.move(1, 1)
    check(page.text(".hover") == hint, "the line stays when the pointer leaves")


def test_head_stays_in_sight(browser, path):
    page = Page(browser, path, height=220)
    up = browser.js("return document.documentElement.dataset.up") == "1"
    top = "return Math.round(document.querySelector('.head').getBoundingClientRect().y)"
    root = page.frames()[0]
    check(root["y"] > 80 and root["y"] + root["h"] <= 220, "the root is not in sight")
    browser.js("window.scrollTo(0, arguments[0])", 60 if up else 100)
    check(browser.wait(top + " === 0"), "the head scrolls away")


def test_dark(browser, path):
    Page(browser, path)
    back = "return getComputedStyle(document.querySelector('.back')).fill"
    light = browser.js(back)
    browser.dark(True)
    check(light == "rgb(255, 255, 255)" and browser.js(back) != light, "no dark colours")
    browser.dark(False)


def test_is_a_picture(browser, path):
    """In an <img> no script runs; the file must show all the same."""
    svg = base64.b64encode(pathlib.Path(path).read_bytes()).decode()
    browser.open("about:blank")
    browser.js("const i = new Image(); i.id = 'i'; i.src = arguments[0]; document.body.append(i)",
               "data:image/svg+xml;base64," + svg)
    check(browser.wait("const i = document.getElementById('i'); return i.complete && "
                       "i.naturalWidth > 0"), "does not load as an image")
    same = browser.js("""
        const i = document.getElementById('i'), c = document.createElement('canvas');
        c.width = i.naturalWidth; c.height = i.naturalHeight;
        const g = c.getContext('2d');
        g.drawImage(i, 0, 0);
        const colours = new Set();
        for (let y = 90; y < c.height - 30; y += 2)
            for (let x = 12; x < c.width - 12; x += 7)
                colours.add(g.getImageData(x, y, 1, 1).data.join());
        return colours.size;""")
    check(same > 5, f"only {same} colours in the picture")


def test_hostile_names_are_text(browser, path):
    page = Page(browser, path)
    names = [f["name"] for f in page.frames()]
    for name in HOSTILE:
        check(name in names, f"{name} is not among the frames")
    for f in page.frames():
        if f["name"] in HOSTILE:
            page.click(f)
            check(f["name"][:9] in page.text(".hover"), "name is not shown as it is")
            browser.keys("Escape")
    check(browser.js("return document.title") != "owned", "a name was run as a script")
    check(browser.js("return document.querySelectorAll('img, script').length") == 1, "injected")


TESTS = [test_opens, test_follows_the_window, test_click_zooms, test_reset, test_search,
         test_search_counts_in_the_zoom, test_keyboard, test_hover, test_head_stays_in_sight,
         test_dark, test_is_a_picture]


def run(browser, test, path):
    name = f"svg {pathlib.Path(path).stem} {test.__name__[5:].replace('_', ' ')}"
    try:
        test(browser, path)
    except (AssertionError, RuntimeError) as e:
        print(f"not ok {name} - {e}", flush=True)
        return False
    print(f"ok {name}", flush=True)
    return True


def shoot(browser, path, directory):
    for dark in (False, True):
        Page(browser, path)
        browser.dark(dark)
        name = f"{pathlib.Path(path).stem}-{'dark' if dark else 'light'}.png"
        pathlib.Path(directory, name).write_bytes(base64.b64decode(browser.screenshot()))


def main(args):
    shots = None
    if args[:1] == ["--shots"]:
        shots, args = args[1], args[2:]
    ok = True
    with tempfile.TemporaryDirectory(prefix="jtop-prof-svg-") as made:
        files = args
        if not files:
            bench = os.path.join(BUILD, "test/bench/export_bench")
            subprocess.run(["make", "-s", "BUILD=" + BUILD, bench], cwd=ROOT, check=True)
            subprocess.run([os.path.join(ROOT, bench), "--sample", made], check=True)
            files = sorted(map(str, pathlib.Path(made).glob("*.svg")))
        browser = Browser()
        try:
            for i, path in enumerate(files):
                tests = TESTS if THOROUGH or i == 0 else [test_opens]
                for test in tests + ([] if args else [test_hostile_names_are_text]):
                    ok &= run(browser, test, path)
                if shots:
                    shoot(browser, path, shots)
        finally:
            browser.close()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
