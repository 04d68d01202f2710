#!/usr/bin/env python3
# timeout: 240
"""Opens flame graph pages in Chromium from disk and uses them with real clicks and keys.

usage: html_chromium.py [--shots DIR] [HTML...]

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

from svg_chromium import HOSTILE, check
from webdriver import Browser

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", "build")

FRAMES = ("return Array.from({length: Math.min(flameGraph.frames, 5000)}, "
          "(_, i) => flameGraph.frame(i))")
STATE = "return flameGraph.state()"
TEXT = "return document.querySelector(arguments[0]).textContent"
# The colour in the middle of a frame's right end, where no label is.
PIXEL = """
const f = flameGraph.frame(arguments[0]), c = document.querySelector('canvas');
const b = c.getBoundingClientRect(), r = devicePixelRatio;
const x = f.x - b.x + f.w - 4, y = f.y - b.y + 3;
return Array.from(c.getContext('2d').getImageData(x * r, y * r, 1, 1).data);"""


class Page:
    """One page, opened afresh."""

    def __init__(self, browser, path, width=1300, height=800):
        self.browser = browser
        browser.dark(False)
        browser.resize(width, height)
        browser.move(1, 1)
        browser.errors()
        browser.open(pathlib.Path(path).resolve().as_uri())
        check(browser.wait("return !!window.flameGraph"), "the script did not run")
        self.drawn()
        self.all = self.frames()[0]

    def drawn(self):
        check(self.browser.wait("return flameGraph.state().drawn"), "it is not drawn")

    def frames(self):
        self.drawn()
        return self.browser.js(FRAMES)

    def state(self):
        self.drawn()
        return self.browser.js(STATE)

    def text(self, selector):
        return self.browser.js(TEXT, selector)

    def pixel(self, frame):
        self.drawn()
        return self.browser.js(PIXEL, frame["index"])

    def move_to(self, frame):
        f = self.browser.js("return flameGraph.frame(arguments[0])", frame["index"])
        self.browser.move(f["x"] + min(f["w"], 40) / 2, f["y"] + f["h"] / 2)

    def click(self, frame):
        f = self.browser.js("return flameGraph.frame(arguments[0])", frame["index"])
        self.browser.click(max(f["x"], 0) + min(f["w"], 40) / 2, f["y"] + f["h"] / 2)

    def some_frame(self):
        """Neither the whole nor a leaf nor narrow, in sight, and with something beside it."""
        for f in self.frames():
            if (f["depth"] >= 2 and 30 < f["w"] < 0.7 * self.all["w"] and 100 < f["y"] < 700 and
                    f["end"] - f["index"] >= 3):
                return f
        raise AssertionError("no frame fit for the test in this file")


def test_opens(browser, path):
    page = Page(browser, path)
    check(not browser.errors(), "the page logged errors")
    check(browser.js("return document.title") not in ("", "owned"), "bad title")
    check(page.all["name"] == "all" and page.all["shown"], "no root frame")
    check("sample" in page.text(".subtitle") and "dropped" in page.text(".subtitle"), "no subtitle")
    check(browser.js("return performance.getEntriesByType('resource').length") == 0,
          "it loads something")


def test_frames_add_up(browser, path):
    frames = Page(browser, path).frames()
    below = collections.Counter()
    for f in frames[1:]:
        parent = frames[f["parent"]]
        below[f["parent"]] += f["value"]
        check(parent["depth"] == f["depth"] - 1 and parent["index"] < f["index"] < parent["end"],
              f"{f['name']} is not below {parent['name']}")
        check(parent["left"] <= f["left"] and
              f["left"] + f["value"] <= parent["left"] + parent["value"],
              f"{f['name']} is not within {parent['name']}")
    for f in frames:
        check(f["self"] + below[f["index"]] == f["value"] or len(frames) == 5000,
              f"{f['name']}: self {f['self']} and {below[f['index']]} below are not {f['value']}")


def test_is_drawn(browser, path):
    page = Page(browser, path)
    wide = [f for f in page.frames() if f["w"] > 60 and 100 < f["y"] < 700][:8]
    colours = {f["index"]: page.pixel(f) for f in wide}
    check(all(c[3] > 200 for c in colours.values()), f"frames are not painted: {colours}")
    kinds = {f["kind"]: colours[f["index"]] for f in wide}
    check(len({tuple(c) for c in kinds.values()}) == len(kinds), "kinds of one colour")


def test_follows_the_window(browser, path):
    for width in (1300, 700, 1800):
        page = Page(browser, path, width=width)
        check(abs(page.all["w"] - (width - 20)) <= 16, f"{page.all['w']} in a window of {width}")


def test_click_zooms(browser, path):
    page = Page(browser, path)
    target = page.some_frame()
    page.click(target)
    now = page.frames()
    check(page.state()["zoomed"] == target["index"], "the click did not zoom")
    full = now[0]["w"]
    for f in now:
        inside = target["index"] <= f["index"] < target["end"]
        around = f["index"] < target["index"] < f["end"]
        check(f["shown"] == (inside or around), f"{f['name']}: shown is {f['shown']}")
        if around:
            check(f["above"] and abs(f["w"] - full) < 1, f"parent {f['name']} is not all wide")
        elif inside:
            want = f["value"] / target["value"] * full
            check(abs(f["w"] - want) < 1, f"{f['name']} is {f['w']} wide, not {want}")
    check("of the zoom" in page.text(".stats"), "no share of the zoom")
    page.click(now[target["parent"]])
    check(page.state()["zoomed"] == target["parent"], "a click on a parent does not zoom to it")
    check(not browser.errors(), "errors logged")


def test_reset(browser, path):
    page = Page(browser, path)
    shown = "return !document.querySelector('.reset').hidden"
    check(not browser.js(shown), "reset is offered without a zoom")
    page.click(page.some_frame())
    check(browser.js(shown), "no reset button")
    r = browser.js("const r = document.querySelector('.reset').getBoundingClientRect();"
                   "return [r.x + r.width / 2, r.y + r.height / 2]")
    browser.click(*r)
    check(page.state()["zoomed"] == 0 and not browser.js(shown), "reset does not reset")
    page.click(page.some_frame())
    browser.keys("Escape")
    check(page.state()["zoomed"] == 0, "Escape does not reset")


def test_search(browser, path):
    page = Page(browser, path)
    target = page.some_frame()
    name = re.sub(r"[^A-Za-z].*", "", re.sub(r"^.*[/.:]", "", target["name"])).lower()
    for opener, pattern in ((("/",), name), (("f",), f"^.*{name[:3]}.*$")):
        browser.keys(*opener, hold="Control" if opener == ("f",) else None)
        browser.keys(*pattern)
        now = page.frames()
        hits = [f for f in now if f["index"] and re.search(pattern, f["name"], re.IGNORECASE)]
        check(hits and [f["index"] for f in now if f["match"]] == [f["index"] for f in hits],
              f"/{pattern}/ marks the wrong frames")
        total, end = 0, -1
        for f in hits:
            if f["index"] >= end:
                total, end = total + f["value"], f["end"]
        share = f"matched {100 * total / page.all['value']:.2f}%"
        check(len(now) == 5000 or share in page.text(".status"),
              f"'{page.text('.status')}', not {share}")
        check(page.pixel(target)[:3] == [238, 0, 238], f"matches are {page.pixel(target)}")
        browser.keys("Enter")
        check(now[page.state()["focus"]]["match"], "no next match")
        browser.keys("Escape")
        check(page.text(".status") == "" and not any(f["match"] for f in page.frames()),
              "Escape keeps matches")
    browser.keys("/", "(", "[")
    check("not a regular expression" in page.text(".status"), "bad pattern goes unnoticed")
    check(not browser.errors(), "errors logged")


def test_keyboard(browser, path):
    page = Page(browser, path)
    frames, up = page.frames(), page.state()["up"]
    child, parent = ("Up", "Down") if up else ("Down", "Up")
    focus = lambda: page.state()["focus"]
    browser.keys("Home")
    check(focus() == 0, "Home does not go to the root")
    browser.keys(child)
    first = focus()
    widest = max((f for f in frames if f["depth"] == 1), key=lambda f: f["value"])
    check(frames[first]["value"] == widest["value"], "no step to the widest child")
    browser.keys(child, parent)
    check(focus() == first, "no way back to the parent")
    level = [f["index"] for f in frames if f["depth"] == 1 and f["w"] >= 1]
    browser.keys(*["Left"] * (level.index(first) + 1), "Right", "Left")
    check(focus() == level[0], "Left and Right do not walk the level")
    browser.keys("Enter")
    check(page.state()["zoomed"] == level[0], "Enter does not zoom")
    check(page.text(".hover") == frames[level[0]]["name"], "no name in the head")
    check("sample" in page.text(".stats") and "%" in page.text(".stats"), "no numbers in the head")
    browser.keys("Backspace")
    check(page.state()["zoomed"] == 0, "Backspace does not zoom out")


def test_turns_over(browser, path):
    page = Page(browser, path)
    deep = max(page.frames(), key=lambda f: f["depth"])
    below = deep["y"] > page.all["y"]
    check(below != page.state()["up"], "the roots are at the wrong end")
    browser.keys("i")
    now = page.frames()
    check((now[deep["index"]]["y"] > now[0]["y"]) != below, "i does not turn it over")
    check(0 < now[0]["y"] < 800, "the root is out of sight")
    browser.click(*browser.js("const r = document.querySelector('.invert').getBoundingClientRect();"
                              "return [r.x + 9, r.y + 9]"))
    check(page.state()["up"] != below, "the button does not turn it back")


def from_the_other_end(frames):
    """{names of a path, from the leaf of its stacks: value}"""
    got = collections.Counter()
    for f in frames[1:]:
        if not f["self"]:
            continue
        path, at = (), f
        while at["index"]:
            path += (at["name"],)
            got[path] += f["self"]
            at = frames[at["parent"]]
    return got


def paths(frames):
    got = {0: ()}
    for f in frames[1:]:
        got[f["index"]] = got[f["parent"]] + (f["name"],)
    return {got[f["index"]]: f["value"] for f in frames[1:]}


def test_reads_from_the_other_end(browser, path):
    page = Page(browser, path)
    before = page.frames()
    for press in (lambda: browser.keys("r"), lambda: browser.click(*browser.js(
            "const r = document.querySelector('.reverse').getBoundingClientRect();"
            "return [r.x + 9, r.y + 9]"))):
        press()
        after = page.frames()
        check(paths(after) == from_the_other_end(before), "other frames than from the other end")
        check(after[0]["value"] == before[0]["value"], "the whole is another one")
        check(all(f["end"] > f["index"] and f["left"] + 1e-6 >= after[f["parent"]]["left"]
                  for f in after[1:]), "frames are not within each other")
        colours = {f["index"]: page.pixel(f) for f in after if f["w"] > 60 and 100 < f["y"] < 700}
        check(colours and all(c[3] > 200 for c in colours.values()), "it is not drawn")
        before = after
    check(not browser.errors(), "errors logged")


def test_hover(browser, path):
    page = Page(browser, path)
    f, hint = page.some_frame(), page.text(".hover")
    page.move_to(f)
    check(browser.wait("return flameGraph.state().hover === arguments[0]", f["index"]),
          "the pointer is somewhere else")
    stats = page.text(".stats")
    share = f"{100 * f['value'] / page.all['value']:.2f}%"
    check(page.text(".hover") == f["name"], page.text(".hover"))
    check(share in stats and "sample" in stats and "self" in stats, f"'{stats}'")
    tip = browser.js("return document.querySelector('canvas').title")
    check(tip.startswith(f["name"]) and share in tip, f"the tooltip is '{tip}'")
    browser.move(1, 1)
    check(page.text(".hover") == hint, "the line stays when the pointer leaves")


def test_dark(browser, path):
    page = Page(browser, path)
    back = "return getComputedStyle(document.body).backgroundColor"
    light, frame = browser.js(back), page.pixel(page.some_frame())
    browser.dark(True)
    check(light == "rgb(255, 255, 255)" and browser.js(back) != light, "no dark colours")
    check(browser.wait("return flameGraph.state().drawn") and
          page.pixel(page.some_frame()) != frame, "frames are as in the light")
    browser.dark(False)


def test_hostile_names_are_text(browser, path):
    page = Page(browser, path)
    names = {f["name"]: f for f in page.frames()}
    for name in HOSTILE:
        check(name in names, f"{name} is not among the frames")
        page.click(names[name])
        check(page.text(".hover") == name, "name is not shown as it is")
        browser.keys("Escape")
    check(browser.js("return document.title") != "owned", "a name was run as a script")
    check(browser.js("return document.querySelectorAll('img').length") == 0, "injected")
    check(browser.js("return document.querySelectorAll('script').length") == 4, "foreign script")


def test_large_stays_fluid(browser, path):
    """Times are told, not judged: of the machine, not of the page."""
    page = Page(browser, path)
    check(browser.js("return flameGraph.frames") > 100000, "not a large profile")
    browser.keys("Home", "Up", "Up", "Enter")
    check(page.state()["zoomed"] > 1, "no zoom")
    browser.keys("Escape")
    took = browser.js("""
        const field = document.querySelector('input'), t = performance.now();
        field.value = 'Handler1';
        field.dispatchEvent(new Event('input'));
        return performance.now() - t;""")
    page.drawn()
    loaded = browser.js("const t = performance.timing; return t.loadEventEnd - t.navigationStart")
    check("matched" in page.text(".status"), "search finds nothing")
    frames = browser.js("return flameGraph.frames")
    browser.keys("Escape", "Escape")
    turned = browser.js("""
        const t = performance.now();
        document.dispatchEvent(new KeyboardEvent('keydown', {key: 'r'}));
        return performance.now() - t;""")
    page.drawn()
    check(browser.js("return flameGraph.frames") > 10000, "there is no other end")
    check(not browser.errors(), "errors logged")
    print(f"# {frames} frames: loaded in {loaded} ms, searched in {took:.0f} ms, from the other "
          f"end in {turned:.0f} ms", flush=True)


TESTS = [test_opens, test_frames_add_up, test_is_drawn, test_follows_the_window, test_click_zooms,
         test_reset, test_search, test_keyboard, test_turns_over,
         test_reads_from_the_other_end, test_hover, test_dark]


def run(browser, test, path):
    name = f"html {pathlib.Path(path).stem} {test.__name__[5:].replace('_', ' ')}"
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
        page.drawn()
        name = f"{pathlib.Path(path).stem}-html-{'dark' if dark else 'light'}.png"
        pathlib.Path(directory, name).write_bytes(base64.b64decode(browser.screenshot()))


def make(directory):
    bench = os.path.join(BUILD, "test/bench/export_bench")
    subprocess.run(["make", "-s", "BUILD=" + BUILD, bench], cwd=ROOT, check=True)
    large = os.path.join(directory, "large.html")
    subprocess.run([os.path.join(ROOT, bench), "--sample", directory], check=True)
    files = sorted(map(str, pathlib.Path(directory).glob("*.html")))
    subprocess.run([os.path.join(ROOT, bench), "--large", large], check=True)
    return files, large


def main(args):
    shots = None
    if args[:1] == ["--shots"]:
        shots, args = args[1], args[2:]
    ok = True
    with tempfile.TemporaryDirectory(prefix="jtop-prof-html-") as made:
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
