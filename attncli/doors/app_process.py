"""An app of its own for one visitor of the browser door: a process that draws into a pipe, by Textual's web driver.

Both ways go frames: a letter (D data, M meta as JSON), the length in four bytes, the payload.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

DATA, META = b"D", b"M"
READY = b"__GANGLION__\n"
LENGTH_BYTES = 4
# A copy of the day or a judge that is still starting takes seconds.
SECONDS_TO_LEAVE = 15.0
MOST_SAID = 2000
MOST_LINES_BEFORE = 10


class AppProcess:
    """One running app. Whoever started it stops it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._said = b""
        self._listening = asyncio.create_task(self._listen())

    @staticmethod
    async def start(command: Sequence[str], columns: int, rows: int) -> AppProcess:
        """Starts `command`, which opens the app, for a page of this size."""
        from attncli.tui.terminal import WEB_DRIVER

        environment = {
            **os.environ,
            "TEXTUAL_DRIVER": WEB_DRIVER,
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "COLUMNS": str(columns),
            "ROWS": str(rows),
        }
        # A session of its own: Ctrl-C ends the server, and the server its apps.
        how: dict[str, Any] = {} if sys.platform == "win32" else {"start_new_session": True}
        return AppProcess(
            await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, **how)
        )

    async def drawn(self) -> AsyncIterator[bytes]:
        """What the app draws, until it ends."""
        stream = self._process.stdout
        assert stream is not None
        try:
            for _ in range(MOST_LINES_BEFORE):
                if await stream.readline() == READY:
                    break
            while True:
                head = await stream.readexactly(1 + LENGTH_BYTES)
                payload = await stream.readexactly(int.from_bytes(head[1:], "big"))
                if head[:1] == DATA:
                    yield payload
                elif head[:1] == META and json.loads(payload).get("type") == "exit":
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            return

    async def typed(self, text: str) -> None:
        """Keys and the mouse, as a terminal sends them."""
        await self._send(DATA, text.encode("utf-8", "replace"))

    async def told(self, document: Mapping[str, Any]) -> None:
        """Another size, focus, or that it has to end."""
        await self._send(META, json.dumps(document).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        stream = self._process.stdin
        assert stream is not None
        try:
            stream.write(kind + len(payload).to_bytes(LENGTH_BYTES, "big") + payload)
            await stream.drain()
        except (ConnectionError, RuntimeError):
            return  # it has ended; that is seen where it is read

    async def stop(self) -> str:
        """Ends it, if need be by force; what it said last, where it did not end well."""
        await self.told({"type": "quit"})
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_LEAVE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        await self._listening
        await self._close_pipes()
        return self._said.decode("utf-8", "replace") if self._process.returncode else ""

    async def _close_pipes(self) -> None:
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        into.close()
        with suppress(RuntimeError):  # `drawn` reads to the end itself
            await out.read()

    async def _listen(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        while chunk := await stream.read(MOST_SAID):
            self._said = (self._said + chunk)[-MOST_SAID:]
