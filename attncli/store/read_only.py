"""Reading a database where nothing can be written: a read-only folder, a full disk."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

from attncli.errors import StoreError, StoreUnwritable
from attncli.store.connection import FORMAT, Connection, error_in_words
from attncli.store.wal import committed_pages

_JOURNAL_MODE_BYTES = slice(18, 20)
_ROLLBACK = b"\x01\x01"


def connection_for_reading(path: Path, error: StoreUnwritable) -> Connection:
    """A connection on which every transaction fails with `error`. Raises that error if the file cannot be read either.

    Nothing is written, not even beside the file: what a killed process left in its write-ahead log is laid over the
    pages in memory.
    """
    try:
        if not path.stat().st_size:
            raise error
        readable = _laid_over(path) if _size(_wal(path)) else _as_it_lies(path)
    except (OSError, sqlite3.Error):
        raise error from None
    connection = Connection(path, readable, error.message)
    try:
        if connection.value("PRAGMA user_version") != FORMAT:
            raise error
    except StoreError:
        connection.close()
        raise
    return connection


def connection_as_it_lies(path: Path) -> Connection:
    """A connection to the file alone, whatever lies beside it."""
    try:
        return Connection(path, _as_it_lies(path), "it is only looked at")
    except sqlite3.Error as error:
        raise error_in_words(error, path) from error


def _as_it_lies(path: Path) -> sqlite3.Connection:
    place = quote(str(path.absolute()))
    return sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True, isolation_level=None)


def _laid_over(path: Path) -> sqlite3.Connection:
    pages = committed_pages(_wal(path).read_bytes())
    content = bytearray(pages.what_counts_of(path.read_bytes()))
    for number, page in sorted(pages.pages.items()):
        start = (number - 1) * pages.page_bytes
        content.extend(bytes(max(0, start + len(page) - len(content))))
        content[start : start + len(page)] = page
    content[_JOURNAL_MODE_BYTES] = _ROLLBACK
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        memory.deserialize(bytes(content))
    except sqlite3.Error as error:
        memory.close()
        raise error_in_words(error, path) from error
    return memory


def _wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
