"""Drive the served app in a real Chromium without a network: the output as text, real key events."""

import base64
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chromium import SECONDS, Chromium, end, first_line
from drawn_screen import DrawnScreen

# No name but this machine's own address can be looked up.
WITHOUT_A_NETWORK = [
    *("--headless=new", "--enable-unsafe-swiftshader", "--window-size=1200,800"),
    "--disable-features=AutofillServerCommunication",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
KEYS = {"enter": "\ue007", "escape": "\ue00c", "tab": "\ue004", "space": " ", "backspace": "\ue003", "f2": "\ue032"}
KEYS |= {"up": "\ue013", "down": "\ue015", "left": "\ue012", "right": "\ue014", "shift": "\ue008", "ctrl": "\ue009"}
# Keeps what the app draws where a test can read it: the terminal of the page draws pixels.
LISTEN = """
window.drawn = [];
window.shown = {width: 80, height: 24};
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...words) {
    super(...words);
    window.socket = this;
    this.addEventListener("message", (event) => {
      if (typeof event.data !== "string") window.drawn.push(new TextDecoder().decode(event.data));
    });
  }
  send(said) {
    if (said.startsWith('["resize"')) window.shown = JSON.parse(said)[1];
    super.send(said);
  }
};
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.blockedURI));
"""
NEW = "return [performance.timeOrigin, window.drawn ? window.drawn.splice(0) : [], window.shown || {}]"


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Run `attn serve` over a learner's folder, and yield its URL."""
    command = [sys.executable, "-m", "attncli", "--home", str(home), "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield first_line(process.stdout, process)
        finally:
            end(process)


class ServedPage(Chromium):
    """A browser with one visitor."""

    def __init__(self, profile: Path) -> None:
        self.net_log = profile.with_suffix(".netlog.json")
        super().__init__(profile, [*WITHOUT_A_NETWORK, f"--log-net-log={self.net_log}"])
        self._ask("/goog/cdp/execute", {"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": {"source": LISTEN}})
        self._begin_page(0)

    def _begin_page(self, loaded_at: float) -> None:
        self.loaded_at, self.screen_drawn, self.everything = loaded_at, DrawnScreen(), ""
        self.columns, self.rows = 80, 24

    def run(self, script: str, *arguments: object) -> Any:
        """Return the value of a script."""
        return self._ask("/execute/sync", {"script": script, "args": list(arguments)})

    def _take_in(self) -> None:
        loaded_at, drawn, shown = self.run(NEW)
        if loaded_at != self.loaded_at:
            self._begin_page(loaded_at)
        self.columns, self.rows = shown.get("width", 80), shown.get("height", 24)
        self.screen_drawn.draw("".join(drawn))
        self.everything += "".join(drawn)

    def screen(self) -> str:
        """Return the page's current screen, line by line."""
        self._take_in()
        return self.screen_drawn.text(self.columns, self.rows)

    def drawn(self) -> str:
        """Return everything that the app has drawn in this page since it was loaded."""
        self._take_in()
        return self.everything

    def wait(self, holds: Callable[[str], bool], waited_for: str) -> str:
        """Return the screen once `holds` accepts it. Raises AssertionError if it never does."""
        until = time.monotonic() + SECONDS
        while not holds(screen := self.screen()):
            assert time.monotonic() < until, f"waited for {waited_for}; this is shown:\n{screen}"
            time.sleep(0.05)
        return screen

    def wait_for(self, text: str) -> str:
        """Return the screen once it shows the text."""
        return self.wait(lambda screen: text in screen, repr(text))

    def wait_until(self, script: str) -> None:
        """Wait until the script returns a true value."""
        until = time.monotonic() + SECONDS
        while not self.run(script):
            assert time.monotonic() < until, script
            time.sleep(0.1)

    def press(self, *keys: str) -> None:
        """Send real key events in order; each key is a name of `KEYS`, or the letters of a text."""
        for key in keys:
            chord = [KEYS.get(part, part) for part in key.split("+")] if len(key) > 1 else [key]
            for signs in [chord] if len(chord) > 1 else [[sign] for sign in chord[0]]:
                down = [{"type": "keyDown", "value": sign} for sign in signs]
                up = [{"type": "keyUp", "value": sign} for sign in reversed(signs)]
                self._ask("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": down + up}]})

    def resize(self, width: int, height: int) -> None:
        self._ask("/window/rect", {"width": width, "height": height})

    def picture(self, file: Path) -> None:
        file.write_bytes(base64.b64decode(self._ask("/screenshot", None, "GET")))

    def asked(self) -> set[str]:
        """Return the hosts that local pages requested, from the browser's own log; call it after closing.

        The browser's own requests to its vendor (the time, updates) are not included.
        """
        told = [event.get("params", {}) for event in json.loads(self.net_log.read_text(encoding="utf-8"))["events"]]
        ours = [asked for asked in told if "127.0.0.1" in asked.get("network_isolation_key", "")]
        return {urlsplit(asked["url"]).hostname or "" for asked in ours if "url" in asked}
