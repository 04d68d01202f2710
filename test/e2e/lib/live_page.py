"""`jtop-prof serve`, and its page /live/PID in a browser as a person uses it."""
import contextlib
import json
import signal
import socket
import tempfile
import urllib.request

import lib
from lib import want, wait_for
from webdriver import Browser

ROWS = """return Array.from(document.querySelectorAll(arguments[0] + ' tbody tr'),
                            (row) => Array.from(row.cells, (cell) => cell.textContent));"""
STATE = "return livePage.state()"
FRAMES = """return Array.from({length: Math.min(livePage.flame().frames, 3000)},
                              (_, i) => livePage.frame(i));"""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """`jtop-prof serve`, always at the same port."""

    def __init__(self, scratch, *options, **process):
        self.scratch, self.port = scratch, free_port()
        self.options, self.process = options, process
        self.url = "http://127.0.0.1:%d" % self.port
        self.prof = None
        self.start()

    def start(self):
        self.prof = lib.Prof(self.scratch, "serve", "--listen", "127.0.0.1:%d" % self.port,
                             *self.options, **self.process)
        wait_for(lambda: "serving" in self.prof.stderr() or self.prof.process.poll() is not None,
                 "the server")
        want(self.prof.process.poll() is None, "it does not serve: " + self.prof.stderr())

    def stop(self):
        if self.prof.process.poll() is None:
            self.prof.process.send_signal(signal.SIGTERM)
        code = self.prof.process.wait(lib.WAIT)
        want(code == 0, "the server ended with %d: %s" % (code, self.prof.stderr()))


class Page:
    """/live/PID, and how a person uses it."""

    def __init__(self, browser, server, pid):
        self.browser, self.server, self.pid = browser, server, pid

    def open(self, width=1280, height=820):
        self.browser.dark(False)
        self.browser.resize(width, height)
        self.browser.errors()
        self.browser.open("%s/live/%d" % (self.server.url, self.pid))
        self.live()
        self.wait("return livePage.state().latest && livePage.state().latest.samples > 20",
                  "samples on the page")

    def wait(self, script, what, *args):
        value = self.browser.wait(script, *args, seconds=lib.WAIT)
        want(value, "waited for %s; the page says: %s, %s" % (
            what, self.text("#phase"), self.text("#trouble")))
        return value

    def live(self):
        self.wait("return window.livePage && livePage.state().phase === 'live'", "the stream")

    def state(self):
        return self.browser.js(STATE)

    def text(self, selector):
        return self.browser.js("const e = document.querySelector(arguments[0]);"
                               "return e ? e.textContent : ''", selector)

    def rows(self, view="#methods"):
        return self.browser.js(ROWS, view)

    def keys(self, *names):
        self.browser.keys(*names)

    def view(self, key, name):
        self.keys(key)
        self.wait("return livePage.state().view === arguments[0]", "the view " + name, name)
        if name == "flame":
            self.wait("return livePage.flame().frames > 5 && livePage.flame().drawn",
                      "the flame graph")

    def next_view(self):
        """Until a view that was sent after now is shown."""
        now = self.state()["shown"]
        self.wait("return livePage.state().shown > arguments[0]", "a new view", now)

    def sampled_to(self):
        """The last second that the server has, whatever the page shows."""
        with urllib.request.urlopen("%s/api/v1/jvms/%d/view" % (self.server.url, self.pid),
                                    timeout=lib.WAIT) as answer:
            return json.load(answer)["window"]["to"]

    def click(self, selector):
        x, y = self.browser.js("""
            const b = document.querySelector(arguments[0]).getBoundingClientRect();
            return [b.x + b.width / 2, b.y + b.height / 2];""", selector)
        self.browser.click(x, y)

    def hold(self):
        self.keys("p")
        self.wait("return livePage.state().held", "the pause")
        self.live()  # the stream that goes on behind it
        self.browser.js("return new Promise((done) => requestAnimationFrame(() => "
                        "requestAnimationFrame(done)))")

    def go_on(self):
        self.keys("p")
        self.wait("return !livePage.state().held", "the end of the pause")
        self.next_view()

    def frames(self):
        self.wait("return livePage.flame().drawn", "the drawing")
        return self.browser.js(FRAMES)

    def quiet(self):
        errors = self.browser.errors()
        want(not errors, "the console has errors: %s" % errors[:3])


@contextlib.contextmanager
def opened(checks, *options, program="shop.Demo"):
    """The page of a JVM in a browser. Afterwards the server must end in order."""
    with tempfile.TemporaryDirectory(prefix="jtop-prof-page-") as scratch:
        server, browser = Server(scratch, *options), Browser()
        try:
            with lib.Jvm(program) as jvm:
                browser.dark(False)
                yield Page(browser, server, jvm.pid), jvm
            checks.run("server ends in order", server.stop)
        finally:
            browser.close()
            server.prof.__exit__()
