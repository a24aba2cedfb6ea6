"""The ways out of the app; whichever is taken, what was typed is on disk first."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from textual.app import App

from attncli.errors import INTERRUPTED
from attncli.tui.terminal import hung_up

HUNG_UP = 129
READ_AHEAD_SECONDS = 1.0
"""So long the end waits at most for what was typed just before it."""


class WaysOut(App[None]):
    """Before it ends it calls `keep`, which a screen with typed text sets: whether that is on disk now."""

    keep: Callable[[], bool] | None = None
    is_leaving: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._handlers: dict[int, Any] = {}

    async def action_interrupt(self) -> None:
        """Ctrl-C ends the app as it ends every command."""
        await self._read_ahead()
        if self._has_kept():
            self.exit(return_code=INTERRUPTED)

    async def action_quit(self) -> None:
        await self._read_ahead()
        if self._has_kept():
            self.exit()

    def leave_when_told(self) -> None:
        """A closed window sends SIGHUP, a machine going down SIGTERM; either would end Python with what was typed."""
        loop = asyncio.get_running_loop()
        for name in ("SIGHUP", "SIGTERM"):
            if (number := getattr(signal, name, None)) is not None:
                with suppress(ValueError):  # not in the main thread
                    handler = signal.signal(number, lambda told, _: loop.call_soon_threadsafe(self._leave_at, told))
                    self._handlers.setdefault(number, handler)

    def on_unmount(self) -> None:
        """Whoever is told twice ends at once."""
        while self._handlers:
            signal.signal(*self._handlers.popitem())

    def _leave_at(self, number: int) -> None:
        self.is_leaving()
        self.exit(return_code=128 + number)

    def leave_if_hung_up(self, terminal: int) -> None:
        if hung_up(terminal):
            self.is_leaving()
            self.exit(return_code=HUNG_UP)

    async def on_exit_app(self) -> None:
        """The end that nobody can put off: the terminal is gone, or the page in the browser."""
        await self._read_ahead()
        self._has_kept()

    async def _read_ahead(self) -> None:
        """Keys that came before the end reach the field, and what it makes of them its screen."""
        field = self.focused if self.screen_stack else None
        if field is None:
            return
        for reader in (field, *field.ancestors_with_self):
            read = asyncio.Event()
            is_this_one = reader is self or getattr(reader, "_task", None) is asyncio.current_task()
            if not is_this_one and reader.call_later(read.set):
                with suppress(TimeoutError):
                    await asyncio.wait_for(read.wait(), READ_AHEAD_SECONDS)

    def _has_kept(self) -> bool:
        """Where it cannot be kept, that is told once, and the next try leaves all the same."""
        if self.keep is None or self.keep():
            return True
        self.keep = None
        return False
