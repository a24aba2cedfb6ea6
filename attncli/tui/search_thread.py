"""Searching beside the screen's thread: keys come in while a search runs, and the newest query wins."""

from __future__ import annotations

from asyncio import wrap_future
from concurrent.futures import ThreadPoolExecutor

from attncli.practice.cards.search_filters import FoundCards, browse
from attncli.practice.workspace import Workspace


class SearchThread:
    """One search at a time, over a connection that belongs to the thread."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._thread = ThreadPoolExecutor(1, "search")
        self._reader: Workspace | None = None

    async def find(self, line: str, most: int) -> FoundCards:
        """Return what `browse` finds. A search that is cancelled before its turn does not run. Raises as `browse`."""
        return await wrap_future(self._thread.submit(self._find, line, most))

    def close(self) -> None:
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _find(self, line: str, most: int) -> FoundCards:
        if self._reader is None:
            self._reader = self._workspace.reader()
        self._reader.adopt(self._workspace.settings)
        return browse(self._reader, line, most)

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.store.close()
