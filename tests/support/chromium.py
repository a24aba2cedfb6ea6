"""Drive Chromium through its driver's plain JSON protocol, without a library."""

import json
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import pytest

SECONDS = 60
FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --no-proxy-server "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
).split()


def need_browser() -> None:
    """Skip the test if there is no browser, or fail it if one is required."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    if missing:
        said = f"there is no {' and no '.join(missing)}; Debian has them as chromium and chromium-driver"
        (pytest.fail if os.environ.get("ATTN_REQUIRE_BROWSER") else pytest.skip)(said)


def first_line(stream: IO[str] | None, process: subprocess.Popen[str], wanted: str = "") -> str:
    """Return the first output line that matches `wanted`; kill a process without one in time, and return ""."""
    assert stream is not None
    patience = threading.Timer(SECONDS, process.kill)
    patience.start()
    try:
        return next((line.strip() for line in stream if re.search(wanted, line)), "")
    finally:
        patience.cancel()


def end(process: subprocess.Popen[str]) -> None:
    """Terminate the process; kill it if it does not end in time."""
    process.terminate()
    try:
        process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Chromium:
    """One browser with these `flags` besides the common ones, and its own profile folder."""

    def __init__(self, profile: Path, flags: list[str], **wanted: Any) -> None:
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        self.opener = build_opener(ProxyHandler({}))
        try:
            said = first_line(self.process.stdout, self.process, r"on port \d+\.")
            assert said, "chromedriver ended before it listened"
            self.address = f"http://127.0.0.1:{said.rstrip('.').split()[-1]}"
            arguments = [*FLAGS, *flags, f"--user-data-dir={profile}"]
            options = {"binary": shutil.which("chromium"), "args": arguments}
            wanted |= {"browserName": "chrome", "goog:chromeOptions": options}
            self.address += f"/session/{self._ask('/session', {'capabilities': {'alwaysMatch': wanted}})['sessionId']}"
        except BaseException:
            self._end()
            raise

    def _ask(self, path: str, document: dict[str, Any] | None, method: str = "POST") -> Any:
        data = None if document is None else json.dumps(document).encode()
        request = Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with self.opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from error

    def open(self, url: str) -> None:
        self._ask("/url", {"url": url})

    def close(self) -> None:
        try:
            self._ask("", None, "DELETE")
        finally:
            self._end()

    def _end(self) -> None:
        end(self.process)
        if self.process.stdout is not None:
            self.process.stdout.close()
