"""The served app in a real Chromium without a network: what is drawn as text, keys as a keyboard sends them."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

SECONDS = 60
# No name but this machine's own address can be looked up.
FLAGS = [
    *(
        "--headless=new --no-sandbox --disable-quic --no-first-run --disable-background-networking --no-proxy-server"
    ).split(),
    *("--disable-component-update --disable-sync --disable-dev-shm-usage --enable-unsafe-swiftshader").split(),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--window-size=1200,800",
]
KEYS = {"enter": "\ue007", "escape": "\ue00c", "down": "\ue015", "up": "\ue013", "tab": "\ue004", "space": " "}
# Keeps what the app draws where a test can read it: the terminal of the page draws pixels.
LISTEN = """
window.drawn = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...words) {
    super(...words);
    window.socket = this;
    this.addEventListener("message", (event) => {
      if (typeof event.data !== "string") window.drawn.push(new TextDecoder().decode(event.data));
    });
  }
};
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.blockedURI));
"""
_ESCAPES = re.compile(r"\x1b\[(?P<move>\d+;\d+H)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")


def as_text(drawn: str) -> str:
    """What was drawn, without colours; every place that was jumped to begins a line."""
    return _ESCAPES.sub(lambda found: "\n" if found["move"] else "", drawn)


class ServedPage:
    """One browser with one visitor, through its driver's plain JSON."""

    def __init__(self, profile: Path) -> None:
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.opener = build_opener(ProxyHandler({}))
        assert self.process.stdout is not None
        port = next(found[1] for line in self.process.stdout if (found := re.search(r"on port (\d+)\.", line)))
        self.address = f"http://127.0.0.1:{port}"
        options = {"binary": shutil.which("chromium"), "args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options}}
        self.address += f"/session/{self._ask('/session', {'capabilities': wanted})['sessionId']}"
        self._ask("/goog/cdp/execute", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": LISTEN}})
        self.read = 0

    def _ask(self, path: str, document: dict[str, Any] | None, method: str = "POST") -> Any:
        data = None if document is None else json.dumps(document).encode()
        request = Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from error

    def open(self, url: str) -> None:
        self.read = 0
        self._ask("/url", {"url": url})

    def run(self, script: str, *arguments: object) -> Any:
        """The value that a script returns."""
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def drawn(self) -> str:
        """Everything that the app has drawn in this page, as text."""
        return as_text("".join(self.run("return window.drawn || []")))

    def wait_for(self, text: str) -> str:
        """Waits until the app has drawn `text` since the last such wait; what was drawn since."""
        until = time.monotonic() + SECONDS
        while True:
            drawn = self.drawn()
            if text in (new := drawn[self.read :]):
                self.read = len(drawn)
                return new
            assert time.monotonic() < until, f"{text!r} was not drawn:\n{new[-3000:]}"
            time.sleep(0.1)

    def wait_until(self, script: str) -> None:
        """Waits until the script returns something true."""
        until = time.monotonic() + SECONDS
        while not self.run(script):
            assert time.monotonic() < until, script
            time.sleep(0.1)

    def press(self, *keys: str) -> None:
        """Real key events, one after the other; a name of `KEYS`, or the letters of a text."""
        for key in keys:
            for sign in KEYS.get(key, key):
                actions = [{"type": "keyDown", "value": sign}, {"type": "keyUp", "value": sign}]
                self._ask("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def resize(self, width: int, height: int) -> None:
        self._ask("/window/rect", {"width": width, "height": height})

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._ask("/screenshot", None, "GET")))

    def close(self) -> None:
        try:
            self._ask("", None, "DELETE")
        finally:
            self.process.terminate()
            self.process.wait(SECONDS)
            if self.process.stdout is not None:
                self.process.stdout.close()
