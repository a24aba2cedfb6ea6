"""The write-ahead log of SQLite as bytes: which pages its committed transactions hold.

A header of 32 bytes, then frames: 24 bytes and a page. Each frame's checksum runs over all before it, so that the
first one that does not fit ends the log. See https://sqlite.org/fileformat2.html#walformat.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC_LITTLE, _MAGIC_BIG = 0x377F0682, 0x377F0683
_MASK = 0xFFFFFFFF


@dataclass(slots=True)
class CommittedPages:
    """Page number → its content after the last transaction that was committed, and how many pages there were then."""

    page_bytes: int = 0
    pages: dict[int, bytes] = field(default_factory=dict)
    page_count: int = 0

    def what_counts_of(self, content: bytes) -> bytes:
        """The database file without the pages that it no longer has."""
        return content[: self.page_count * self.page_bytes] if self.page_count else content


def committed_pages(log: bytes) -> CommittedPages:
    """What SQLite would read from `log`; nothing if it is no write-ahead log."""
    if len(log) < _HEADER.size:
        return CommittedPages()
    magic, _, page_bytes, _, *salts, first, second = _HEADER.unpack_from(log)
    order = {_MAGIC_LITTLE: "<", _MAGIC_BIG: ">"}.get(magic)
    if order is None or not _is_page_size(page_bytes):
        return CommittedPages()
    sums = _sums(log[:24], order, (0, 0))
    if sums != (first, second):
        return CommittedPages()
    found, pending = CommittedPages(page_bytes), dict[int, bytes]()
    for start in range(_HEADER.size, len(log) - page_bytes - _FRAME.size + 1, _FRAME.size + page_bytes):
        number, size_if_commit, *rest = _FRAME.unpack_from(log, start)
        page = log[start + _FRAME.size : start + _FRAME.size + page_bytes]
        sums = _sums(page, order, _sums(log[start : start + 8], order, sums))
        if rest != [*salts, *sums]:
            break
        pending[number] = page
        if size_if_commit:
            found.pages |= pending
            found.page_count = size_if_commit
            pending.clear()
            found.pages = {number: page for number, page in found.pages.items() if number <= size_if_commit}
    return found


def _is_page_size(size: int) -> bool:
    return 512 <= size <= 65536 and size & (size - 1) == 0


def _sums(data: bytes, order: str, before: tuple[int, int]) -> tuple[int, int]:
    first, second = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, other in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & _MASK
        second = (second + other + first) & _MASK
    return first, second
