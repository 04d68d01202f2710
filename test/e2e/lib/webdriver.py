"""As much of a WebDriver client as the tests need: starts chromedriver and Chromium, drives them
with real mouse and key events, stops both. Standard library only."""

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Control": "\ue009", "Shift": "\ue008", "Enter": "\ue007", "Escape": "\ue00c",
        "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015",
        "Home": "\ue011", "End": "\ue010", "Backspace": "\ue003"}
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars"]


class Browser:
    def __init__(self, width=1300, height=800):
        self.session = None
        self.profile = tempfile.mkdtemp(prefix="jtop-prof-chromium-")
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True)
        self.base = f"http://127.0.0.1:{self._port()}"
        chrome = {"args": CHROMIUM + [f"--user-data-dir={self.profile}",
                                      f"--window-size={width},{height}"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": chrome,
                  "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = answer["sessionId"]

    def _port(self):
        for line in self.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return int(found.group(1))
        raise RuntimeError("chromedriver did not start")

    def close(self):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(10)
            shutil.rmtree(self.profile, ignore_errors=True)

    def _call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, method=method,
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise RuntimeError(json.load(e)["value"]["message"].splitlines()[0]) from None

    def post(self, path, body):
        return self._call("POST", f"/session/{self.session}{path}", body)

    def open(self, url):
        self.post("/url", {"url": url})

    def js(self, script, *args):
        """The value of a JavaScript function body; `arguments` are the args."""
        return self.post("/execute/sync", {"script": script, "args": list(args)})

    def wait(self, script, *args, seconds=10):
        """Until the function body gives something true; that."""
        end = time.monotonic() + seconds
        while True:
            value = self.js(script, *args)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.02)

    def cdp(self, command, **params):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": params})

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def dark(self, on):
        value = "dark" if on else "light"
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": value}])

    def screenshot(self):
        """PNG, in base64."""
        return self._call("GET", f"/session/{self.session}/screenshot")

    def errors(self):
        """What the page complained about since the last call."""
        log = self.post("/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]

    def _act(self, kind, actions, **more):
        self.post("/actions", {"actions": [{"type": kind, "id": kind, "actions": actions, **more}]})

    def move(self, x, y):
        self._act("pointer", [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}],
                  parameters={"pointerType": "mouse"})

    def click(self, x, y):
        self._act("pointer", [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)},
                              {"type": "pointerDown", "button": 0},
                              {"type": "pointerUp", "button": 0}],
                  parameters={"pointerType": "mouse"})

    def keys(self, *names, hold=None):
        """Names as in KEYS, or single characters; `hold` is pressed around them."""
        code = [KEYS.get(n, n) for n in names]
        actions = [{"type": t, "value": c} for c in code for t in ("keyDown", "keyUp")]
        if hold:
            actions = ([{"type": "keyDown", "value": KEYS[hold]}] + actions +
                       [{"type": "keyUp", "value": KEYS[hold]}])
        self._act("key", actions)
