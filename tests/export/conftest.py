"""A real browser on pages of the test, and a server that every host name leads to, which counts who calls."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

from attncli.paths import Home
from attncli.practice.workspace import Workspace

SECONDS = 60
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --no-proxy-server"
).split()


@dataclass
class Callers:
    """Listens on a port of its own and keeps what the callers say first: a request, or a TLS hello with the name."""

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
        """How many callers wanted this host."""
        return sum(host.encode() in said for said in self.heard)

    def wait_for(self, host: str, count: int = 1) -> None:
        """Returns once so many callers wanted this host. Fails where they do not come."""
        for _ in range(SECONDS * 20):
            if self.asked_for(host) >= count:
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.asked_for(host)} callers for {host}, not {count}")

    def close(self) -> None:
        self.listening.close()


class Browser:
    """Chromium through its driver's plain JSON; no library is needed for that."""

    def __init__(self, driver: str, profile: Path, callers: Callers) -> None:
        self.callers = callers
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True)
        self.opener = build_opener(ProxyHandler({}))
        self.address = f"http://127.0.0.1:{self._port()}"
        flags = [*FLAGS, f"--user-data-dir={profile}", f"--host-resolver-rules=MAP * 127.0.0.1:{callers.port}"]
        options = {"binary": shutil.which("chromium"), "args": flags}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "unhandledPromptBehavior": "accept"}
        try:
            opened = self._ask("/session", {"capabilities": {"alwaysMatch": wanted}})
        except BaseException:
            self.process.kill()
            raise
        self.address += f"/session/{opened['sessionId']}"

    def _port(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                return found[1]
        raise AssertionError("chromedriver ended before it listened")

    def _ask(self, path: str, document: dict[str, Any] | None, method: str = "POST") -> Any:
        data = None if document is None else json.dumps(document).encode()
        request = Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from error

    def show(self, page: Path) -> None:
        self._ask("/url", {"url": page.as_uri()})

    def run(self, script: str, *arguments: object) -> Any:
        """The value that a script returns; one that takes a callback as its last argument may wait."""
        return self._ask("/execute/async", {"script": script, "args": list(arguments)})

    def close(self) -> None:
        try:
            self._ask("", None, "DELETE")
        finally:
            self.process.terminate()
            self.process.wait(SECONDS)
            if self.process.stdout is not None:
                self.process.stdout.close()


@pytest.fixture(scope="session")
def indexed_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of a learner who has done nothing, the bundled bank in its index: a copy is quicker than a new one."""
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
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if missing:
        said = f"there is no {' and no '.join(missing)}; Debian has them as chromium and chromium-driver"
        (pytest.fail if os.environ.get("ATTN_REQUIRE_BROWSER") else pytest.skip)(said)
    opened = Browser(str(shutil.which("chromedriver")), tmp_path_factory.mktemp("profile"), callers)
    yield opened
    opened.close()


Open = Callable[[str], "Browser"]


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Open:
    """`open_page(html)`: the browser with this page in it."""

    def show(html: str) -> Browser:
        page = tmp_path / "page.html"
        page.write_text(html, encoding="utf-8")
        browser.show(page)
        return browser

    return show
