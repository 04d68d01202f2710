#!/usr/bin/env python3
"""How long a browser takes for the pages of 100,000 stacks of 60 frames: until they are drawn."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "e2e", "lib"))
from webdriver import Browser

BUILD = os.environ.get("BUILD", "build")
BENCH = os.path.join(ROOT, BUILD, "test/bench/export_bench")
RUNS = 3
PAGES = {"html": ("flameGraph", "html"), "tree": ("callTree", "tree")}


def main():
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory(prefix="jtop-prof-html-bench-") as scratch:
            for name, (api, extension) in PAGES.items():
                made = pathlib.Path(scratch, "large." + extension)
                subprocess.run([BENCH, "--large", str(made)], check=True)
                page = made.rename(made.with_suffix("." + name + ".html"))
                took = []
                for _ in range(RUNS):
                    browser.open("about:blank")
                    browser.open(page.as_uri())
                    if not browser.wait("return !!window.%s && %s.state().drawn" % (api, api)):
                        raise RuntimeError("%s is not drawn" % name)
                    took.append(browser.js("return performance.now()"))
                print("%s: %.1f MB, %d frames, drawn within %.0f ms, best of %d" %
                      (name, page.stat().st_size / 1e6, browser.js("return %s.frames" % api),
                       min(took), RUNS))
    finally:
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
