"""A real browser on test pages, and a server for all host names, which counts requests."""

from __future__ import annotations

import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from attncli.paths import Home
from attncli.practice.workspace import Workspace
from chromium import SECONDS, Chromium, need_browser


@dataclass
class Callers:
    """A server on its own port that stores each caller's first bytes: a request, or a TLS hello with the host name."""

    heard: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listening.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self.listening.accept()
            except OSError:
                return
            threading.Thread(target=self._hear, args=(caller,), daemon=True).start()

    def _hear(self, caller: socket.socket) -> None:
        with caller:
            caller.settimeout(SECONDS)
            try:
                self.heard.append(caller.recv(4096))
                caller.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except OSError:
                self.heard.append(b"")

    def asked_for(self, host: str) -> int:
        """Count the callers that requested this host."""
        return sum(host.encode() in said for said in self.heard)

    def wait_for(self, host: str, count: int = 1) -> None:
        """Wait until `count` callers requested this host. Fails if they do not come."""
        for _ in range(SECONDS * 20):
            if self.asked_for(host) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.asked_for(host)} callers for {host}, not {count}")

    def close(self) -> None:
        self.listening.close()


class Browser(Chromium):
    """A browser in which every host name leads to the `callers`."""

    def __init__(self, profile: Path, callers: Callers) -> None:
        self.callers = callers
        flags = ["--headless", "--disable-gpu", f"--host-resolver-rules=MAP * 127.0.0.1:{callers.port}"]
        super().__init__(profile, flags, unhandledPromptBehavior="accept")

    def show(self, page: Path) -> None:
        self.open(page.as_uri())

    def run(self, script: str, *arguments: object) -> Any:
        """Return a script's value; a script may finish later by calling its last argument."""
        return self._ask("/execute/async", {"script": script, "args": list(arguments)})

    def measure(self, width: int, dark: bool) -> Any:
        """Show the page at this width; return whether it is `dark`, and which elements are `wide`r than the screen."""
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        for command, values in (
            ("Emulation.setDeviceMetricsOverride", screen),
            ("Emulation.setEmulatedMedia", {"features": scheme}),
        ):
            self._ask("/goog/cdp/execute", {"cmd": command, "params": values})
        found = self._ask("/execute/sync", {"script": WIDER, "args": []})
        self._ask("/goog/cdp/execute", {"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}})
        self._ask("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": []}})
        return found


WIDER = """
const edge = document.documentElement.clientWidth + 1;
const scrolls = element =>
  element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX != "visible";
const wide = [...document.querySelectorAll("body *")].filter(
  element => element.clientWidth && (element.getBoundingClientRect().right > edge || scrolls(element)));
return {
  wide: wide.map(element => element.tagName + " " + element.textContent.slice(0, 60)).slice(0, 5),
  dark: getComputedStyle(document.body).backgroundColor != "rgb(255, 255, 255)"};
"""


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new learner's folder with the bundled bank indexed: copying it is faster than making one."""
    folder = tmp_path_factory.mktemp("indexed")
    with Workspace.open(Home(folder), lambda: datetime(2026, 1, 1, tzinfo=UTC), "en"):
        return folder


@pytest.fixture(scope="session")
def callers() -> Iterator[Callers]:
    found = Callers()
    yield found
    found.close()


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory, callers: Callers) -> Iterator[Browser]:
    need_browser()
    opened = Browser(tmp_path_factory.mktemp("profile"), callers)
    yield opened
    opened.close()


Open = Callable[[str], "Browser"]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Open:
    """`open_page(html)` opens this page in the browser."""

    def show(html: str) -> Browser:
        page = tmp_path / "page.html"
        page.write_text(html, encoding="utf-8")
        browser.show(page)
        return browser

    return show


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path, indexed_home: Path) -> Iterator[Workspace]:
    shutil.copytree(indexed_home, tmp_path, dirs_exist_ok=True)
    with Workspace.open(Home(tmp_path), lambda: NOW, "en") as opened:
        yield opened
