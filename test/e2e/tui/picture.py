#!/usr/bin/env python3
# timeout: 60, tier: fast
"""The pictures of the screen: man/picture keeps every letter of a terminal in its cell, with its
colours, and man/*.svg are such pictures of the views that README.md names."""
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree

from lib import ROOT, Checks, want
from terminals import Tmux

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT, EDGE = 9, 18, 18
DRAWN = "[\u2580-\u2590│]"  # blocks are no text in a picture: a path draws them
# SGR, text, the fill of the text, the fill that a path has
LINES = (("31;1", "bold & <red>", "#c9444a", None), ("38;2;1;2;3", "exact  twice", "#010203", None),
         ("38;5;208;48;5;16", "of 256 colours", "#ff8700", "#000000"),
         ("7", "reverse", "#12161e", "#d5dae2"), ("92", "a▌▐█▁│b", "#86db8b", "#86db8b"),
         ("2;4", "dim, underlined", "#9498a0", "#9498a0"), ("94", "wide 漢字, é é …", "#7fb4f5", None))


def cells(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 - bool(unicodedata.combining(c))
               for c in text)


def lines(root):
    """The texts of a picture where they stand, as lines; a letter of two cells is one letter."""
    rows = {}
    for text in root.iter(SVG + "text"):
        x, y, length = (int(text.get(k)) for k in ("x", "y", "textLength"))
        want(length == cells(text.text) * WIDTH, "%r is %d wide" % (text.text, length))
        row = rows.setdefault((y - EDGE) // HEIGHT, [])
        row.append(" " * ((x - EDGE) // WIDTH - sum(map(cells, row))) + text.text)
    return ["".join(rows.get(n, ())) for n in range(max(rows) + 1)]


def converted():
    with Tmux(40, 12) as terminal:
        path = os.path.join(terminal.directory, "text")
        with open(path, "w", encoding="utf-8") as f:
            f.writelines("\x1b[%sm%s\x1b[m\n" % line[:2] for line in LINES)
        terminal.line("clear; cat text")
        terminal.wait(r"^wide")
        capture, plain = terminal.text("-e", "-N"), terminal.text()
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
        f.write(capture)
        f.flush()
        done = subprocess.run([os.path.join(ROOT, "man", "picture"), f.name], check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    root = xml.etree.ElementTree.fromstring(done.stdout)
    wanted = [line.rstrip() for line in re.sub(DRAWN, " ", plain).rstrip().split("\n")]
    want(lines(root) == wanted, "the picture says %r, the terminal %r" % (lines(root), wanted))
    texts = {(t.get("fill"), t.text) for t in root.iter(SVG + "text")}
    paths = {p.get("fill") for p in root.iter(SVG + "path")}
    for _, text, fill, drawn in LINES:
        want(any(f == fill and t in text for f, t in texts), "%r is not %s: %s" % (text, fill, texts))
        want(drawn is None or drawn in paths, "%r has no path of %s: %s" % (text, drawn, paths))


def kept(view, tab):
    path = os.path.join(ROOT, "man", view + ".svg")
    root = xml.etree.ElementTree.parse(path).getroot()
    tabs = next((line for line in lines(root) if " 0 overview " in line), None)
    want(tabs and tab in tabs and "8 status" in tabs, "%s has the line of tabs %r" % (path, tabs))
    want(root.findtext(SVG + "title") and root.findtext(SVG + "desc"), path + " says not what it is")
    want(os.path.getsize(path) < 60000, path + " is large")
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        want("](man/%s.svg)" % view in f.read(), "README.md does not show " + path)


def main():
    checks = Checks()
    checks.run("converted", converted)
    checks.run("methods", kept, "methods", "[1 methods]")
    checks.run("flame", kept, "flame", "[5 flame]")
    return checks.code()


if __name__ == "__main__":
    sys.exit(main())
