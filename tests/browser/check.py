"""Opens a report in headless Chromium and checks that it works: python3 check.py PAGE.

Speaks the DevTools protocol over a pipe, so that nothing but the standard library is needed.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser()
parser.add_argument("page", type=pathlib.Path)
parser.add_argument("--screenshots", type=pathlib.Path, help="keep pictures here")
arguments = parser.parse_args()


class Browser:
    """A browser with one tab; `call` runs a command and waits for its answer."""

    def __init__(self, profile):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def connect():
            # The browser reads commands from descriptor 3 and answers on 4. Both pipes are
            # first moved out of the way, in case they are 3 and 4 the other way round.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [
                "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--remote-debugging-pipe", "--hide-scrollbars",
                f"--user-data-dir={profile}", "about:blank",
            ],
            preexec_fn=connect, close_fds=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self.pending, self.count, self.session, self.events = b"", 0, None, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attach = {"targetId": page["targetId"], "flatten": True}
        self.session = self.call("Target.attachToTarget", attach)["sessionId"]

    def message(self):
        while b"\0" not in self.pending:
            more = os.read(self.read_end, 1 << 16)
            if not more:
                sys.exit("the browser has gone away")
            self.pending += more
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, params=None):
        self.count += 1
        command = {"id": self.count, "method": method, "params": params or {}}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_end, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.count:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while True:
            for event in self.events:
                if event.get("method") == method:
                    self.events.remove(event)
                    return event
            self.events.append(self.message())

    def js(self, expression):
        params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        result = self.call("Runtime.evaluate", params)
        if "exceptionDetails" in result:
            sys.exit(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def key(self, name):
        code = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35}[name]
        for kind in ["keyDown", "keyUp"]:
            params = {"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", params)

    def size(self, width, height):
        params = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", params)

    def prefer(self, theme):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", {"features": features})

    def picture(self, name):
        if arguments.screenshots:
            arguments.screenshots.mkdir(parents=True, exist_ok=True)
            shot = self.call("Page.captureScreenshot", {"captureBeyondViewport": False})
            (arguments.screenshots / name).write_bytes(base64.b64decode(shot["data"]))


failures = []


def expect(what, found, wanted):
    good = wanted(found) if callable(wanted) else found == wanted
    print(f"{'ok  ' if good else 'FAIL'} {what}")
    if not good:
        failures.append(f"{what}: found {found!r}")


STEP = "document.querySelector('.program[open] .timeline output').textContent"
MARKED = """[...document.querySelectorAll('.program[open] .version:not([hidden]) .line.fence')]
    .map(line => line.previousElementSibling.textContent.trim())"""
NOW = """(document.querySelector('.program[open] .version:not([hidden]) .line.now') || {dataset: {}})
    .dataset.line"""
GROUND = "getComputedStyle(document.body).backgroundColor"
CARDS = "document.querySelector('.program[open] .cards').innerText"


def check(browser):
    for domain in ["Page", "Runtime", "Log", "Network"]:
        browser.call(f"{domain}.enable")
    browser.size(1280, 900)
    browser.prefer("light")
    browser.call("Page.navigate", {"url": arguments.page.resolve().as_uri()})
    browser.wait("Page.loadEventFired")

    expect("it has the programs", browser.js("document.querySelectorAll('.program').length"), 4)
    expect("it has a heat table", browser.js("document.querySelectorAll('.heat tbody td[style]').length"), lambda n: n > 12)
    expect("it has plots", browser.js("document.querySelectorAll('svg.plot path').length"), lambda n: n > 4)

    expect("FD and PD are compared on the same programs", browser.js("document.querySelector('svg.plot .sub').textContent"), lambda text: "2 programs in all" in text)

    # The first program is open, and its counterexample follows the keys.
    expect("the text is that of the execution", browser.js(MARKED), [])
    expect("there is a picture of it", browser.js("document.querySelectorAll('.program[open] .picture:not([hidden]) svg path.late, .program[open] .picture:not([hidden]) svg path.never').length"), lambda n: n > 0)
    expect("cells have signs", browser.js("document.querySelectorAll('.heat tbody td .sign').length"), lambda n: n > 12)
    expect("it begins at the start", browser.js(STEP), lambda text: text.startswith("step 0 of "))
    last = int(browser.js(STEP).split()[-1])
    browser.key("ArrowRight")
    expect("→ steps", browser.js(STEP), f"step 1 of {last}")
    expect("the line of the step is marked", browser.js(NOW), "18")
    expect("the store is pending", browser.js(CARDS), lambda text: "ent[0] = 1" in text)
    browser.key("ArrowRight")
    browser.key("ArrowLeft")
    expect("← steps back", browser.js(STEP), f"step 1 of {last}")
    browser.picture("light.png")
    browser.key("End")
    expect("End is for the page outside of the widget", browser.js(STEP), f"step 1 of {last}")
    browser.js("document.querySelector('.program[open] .timeline').focus()")
    browser.key("End")
    expect("End goes to the end", browser.js(STEP), f"step {last} of {last}")
    expect("the end says what is wrong", browser.js("document.querySelector('.program[open] .wrong') !== null"), True)
    browser.key("ArrowRight")
    expect("there is nothing behind the end", browser.js(STEP), f"step {last} of {last}")
    browser.key("Home")
    expect("Home goes to the start", browser.js(STEP), f"step 0 of {last}")

    # Another placement marks other lines.
    choices = browser.js("document.querySelectorAll('.program[open] .versions input').length")
    expect("there are several placements", choices, lambda n: n > 2)
    seen = []
    for index in range(choices):
        browser.js(f"document.querySelectorAll('.program[open] .versions input')[{index}].click()")
        seen.append((browser.js(MARKED), browser.js("document.querySelectorAll('.program[open] .version:not([hidden])').length")))
    expect("one version is seen at a time", [count for _, count in seen], [1] * choices)
    expect("every placement but the last marks lines", [bool(marked) for marked, _ in seen], [True] * (choices - 1) + [False])
    different = len({tuple(marked) for marked, _ in seen})
    expect("placements differ", different, lambda n: n > 2)
    browser.js("document.querySelectorAll('.program[open] .versions input')[0].click()")

    # A cell leads to its program.
    browser.js("document.querySelectorAll('.heat tbody a')[1].click()")
    expect("a link opens its program", browser.js("document.querySelectorAll('.program')[1].open"), True)
    browser.js("document.querySelectorAll('.program')[1].open = false; scrollTo(0, 0)")

    # A step that does not tell memory, and a process with a name that objects inherit.
    browser.js("document.querySelectorAll('.program')[0].open = false; document.querySelectorAll('.program')[3].open = true")
    # A program that is opened is told so in a task of its own, which builds the timeline.
    browser.js("new Promise(done => { const look = () => document.querySelectorAll('.program')[3].querySelector('.cards') ? done() : setTimeout(look, 10); look(); })")
    browser.key("ArrowRight")
    expect("what a step does not tell is unknown", browser.js(CARDS), lambda text: "x = ?" in text)
    expect("a process can be called constructor", browser.js(CARDS), lambda text: "constructor" in text)
    browser.js("document.querySelectorAll('.program')[3].open = false; document.querySelectorAll('.program')[0].open = true")

    # Light and dark, by the system and by the button.
    light = browser.js(GROUND)
    browser.prefer("dark")
    dark = browser.js(GROUND)
    expect("dark is not light", dark != light, True)
    browser.picture("dark.png")
    browser.js("document.getElementById('theme').click()")
    expect("the button switches to light", browser.js(GROUND), light)
    browser.prefer("light")
    browser.js("document.getElementById('theme').click()")
    expect("the button switches to dark", browser.js(GROUND), dark)
    browser.js("delete document.documentElement.dataset.theme")

    # A narrow screen scrolls tables and sources, not the page.
    browser.size(360, 740)
    expect("a narrow page does not overflow", browser.js("document.documentElement.scrollWidth"), lambda n: n <= 360)
    browser.picture("narrow.png")
    browser.js("document.querySelector('.program[open] .timeline').scrollIntoView()")
    heights = browser.js("[...document.querySelectorAll('.program[open] .controls button')].map(b => b.offsetHeight)")
    expect("buttons are one line high", len(set(heights)), 1)
    browser.picture("narrow-timeline.png")
    browser.size(1280, 900)
    browser.js("document.querySelector('.program[open]').scrollIntoView()")
    browser.key("End")
    browser.picture("program.png")

    pdf = browser.call("Page.printToPDF")
    expect("it prints", len(base64.b64decode(pdf["data"])), lambda n: n > 10_000)

    events = browser.events
    errors = [event for event in events if event.get("method") == "Runtime.exceptionThrown"]
    logged = [event["params"] for event in events if event.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled")]
    expect("nothing was thrown", errors, [])
    expect("nothing was logged", logged, [])
    requests = [event["params"]["request"]["url"] for event in events if event.get("method") == "Network.requestWillBeSent"]
    outside = [url for url in requests if not url.startswith(("file:", "data:"))]
    expect("nothing was asked of the network", (outside, len(requests) > 0), ([], True))


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    browser = Browser(profile)
    try:
        check(browser)
    finally:
        browser.process.kill()
        browser.process.wait()
if failures:
    sys.exit("\n".join(failures))
