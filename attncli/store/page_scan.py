"""Finding rows of the log in the bytes of a database that SQLite cannot read, or not wholly.

No tree is followed: whatever looks like the head of a log record, on any page, is read as one, and it counts only if
its checksum fits. Rows of the first format had no checksum; of those a row counts only if every field is plausible, and
only where no row with a checksum is found. See https://sqlite.org/fileformat2.html#record_format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from attncli.domain.log_row import LogRow
from attncli.store.connection import MAGIC
from attncli.store.log import RowDamaged, row_of
from attncli.store.migrations import NEVER_FITS, checksum_if_readable

USUAL_PAGE_BYTES = 4096
LONGEST_VARINT = 9
_OVERFLOW_LINK_BYTES = 4
_PAGE_SIZE_AT = slice(16, 18)
_PAGE_COUNT_AT = slice(28, 32)
# The length of a record's head, then the serial type of `seq`, which is stored as the key and so NULL in the record.
_HEAD = re.compile(rb"(?=[\x08-\x1f]\x00[\x0d-\xff])", re.DOTALL)
# The record of `meta` with the key "machine": its head, and a text of eight bytes.
_MACHINE = re.compile(rb"\x03\x1b\x1dmachine([0-9a-f]{8})")
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 0, 9: 0}
_FIRST_FORMAT, _SECOND_FORMAT = "0tttt##t", "0tttt##t#"


@dataclass(slots=True)
class FoundRows:
    """The rows by their ids; `numbers` holds what is known of their places in the log, 0 where that is lost.

    `damaged` holds what has the form of a row under its number, but another checksum. `machine` is the computer that
    the database belongs to, empty if it does not say so.
    """

    rows: dict[str, LogRow] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    damaged: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    machine: str = ""

    def add(self, number: int, row: LogRow) -> None:
        if row.id not in self.rows or not self.numbers[row.id]:
            self.rows[row.id], self.numbers[row.id] = row, number

    def add_missing(self, other: FoundRows) -> int:
        """Takes over the rows that are not here yet; how many."""
        missing = [id for id in other.rows if id not in self.rows]
        for id in missing:
            self.add(other.numbers[id], other.rows[id])
        self.machine = self.machine or other.machine
        return len(missing)

    def gaps(self, last_number: int) -> int:
        """How many of the numbers up to `last_number`, or up to the highest one here, no row bears."""
        numbers = {number for number in self.numbers.values() if number}
        return max([last_number, *numbers, 0]) - len(numbers)

    def machine_of_last_row(self) -> str:
        """The machine of the last row that was written here: such a row bears its number in its id."""
        for number, row in reversed(list(self.in_order())):
            if number and row.id.startswith(f"{number:012x}-{row.machine}-"):
                return row.machine
        return ""

    def in_order(self) -> Iterator[tuple[int | None, LogRow]]:
        """The rows with their numbers in the order of these; those without one, or with a taken one, come last."""
        taken, last = set[int](), list[str]()
        for id in sorted(self.rows, key=lambda id: (self.numbers[id], id)):
            number = self.numbers[id]
            if number and number not in taken:
                taken.add(number)
                yield number, self.rows[id]
            else:
                last.append(id)
        yield from ((None, self.rows[id]) for id in last)


def scan(content: bytes, pages: dict[int, bytes] | None = None) -> FoundRows:
    """All rows of the log in the database `content`, with `pages` in place of those of the same number."""
    checked, unchecked = FoundRows(), FoundRows()
    for page_bytes in _page_sizes(content):
        file = _File(content, pages or {}, page_bytes)
        for number, raw in file.records():
            _sort(number, raw, checked, unchecked)
    found = checked if checked.rows else unchecked
    found.machine = _machine(content, pages or {}) or found.machine_of_last_row()
    return found


def is_cut_short(content: bytes) -> bool:
    """Whether the header tells of more pages than there are; one that is overwritten tells nothing."""
    if not content.startswith(MAGIC):
        return False
    pages = int.from_bytes(content[_PAGE_COUNT_AT], "big")
    return len(content) < pages * min(_page_sizes(content))


def _machine(content: bytes, pages: dict[int, bytes]) -> str:
    named = [_MACHINE.findall(part) for part in (content, *pages.values())]
    return next((names[-1].decode() for names in reversed(named) if names), "")


def _sort(number: int, raw: tuple[Any, ...], checked: FoundRows, unchecked: FoundRows) -> None:
    if len(raw) == len(_FIRST_FORMAT):
        check = checksum_if_readable(*raw[1:])
        into, raw = unchecked, (*raw, check)
        if check == NEVER_FITS:
            return
    else:
        into = checked
    try:
        into.add(number, row_of(raw))
    except RowDamaged:
        if number and into is checked:
            into.damaged[number] = (number, *raw[1:])


def _page_sizes(content: bytes) -> set[int]:
    """What the header says, and what this program's databases have; they differ if the header is damaged."""
    said = int.from_bytes(content[_PAGE_SIZE_AT], "big")
    said = 65536 if said == 1 else said
    return {USUAL_PAGE_BYTES} | ({said} if 512 <= said <= 65536 and said & (said - 1) == 0 else set())


class _File:
    def __init__(self, content: bytes, pages: dict[int, bytes], page_bytes: int) -> None:
        self._content, self._pages, self._size = content, pages, page_bytes
        self._last = max([-(-len(content) // page_bytes), *pages])

    def page(self, number: int) -> bytes:
        if number in self._pages:
            return self._pages[number]
        return self._content[(number - 1) * self._size : number * self._size]

    def records(self) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """(number, values) of everything that has the form of a log record."""
        for page_number in range(1, self._last + 1):
            page = self.page(page_number)
            for head in _HEAD.finditer(page):
                values = self._record(page, head.start())
                if values is not None:
                    yield values

    def _record(self, page: bytes, start: int) -> tuple[int, tuple[Any, ...]] | None:
        types = _serial_types(page, start)
        if types is None:
            return None
        lengths = [_length(type) for type in types]
        total = page[start] + sum(lengths)
        content = self._whole(page, start, total)
        if len(content) < total:
            return None
        values, at = [], page[start]
        for type, length in zip(types, lengths, strict=True):
            values.append(_value(type, content[at : at + length]))
            at += length
        return _number_before(page, start, total), tuple(values)

    def _whole(self, page: bytes, start: int, total: int) -> bytes:
        """The bytes of a record, from its overflow pages too."""
        room = self._size - 35
        if total <= room:
            return page[start : start + total]
        least = (self._size - 12) * 32 // 255 - 23
        local = least + (total - least) % (self._size - _OVERFLOW_LINK_BYTES)
        local = local if local <= room else least
        content = bytearray(page[start : start + local])
        link, seen = _link(page, start + local), set[int]()
        while len(content) < total and 0 < link <= self._last and link not in seen:
            seen.add(link)
            further = self.page(link)
            content += further[_OVERFLOW_LINK_BYTES:][: total - len(content)]
            link = _link(further, 0)
        return bytes(content)


def _link(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + _OVERFLOW_LINK_BYTES], "big")


def _serial_types(page: bytes, start: int) -> list[int] | None:
    """The column types in the record head at `start`, or None if no log record begins so."""
    end = start + page[start]
    types, at = list[int](), start + 1
    while at < end and len(types) < len(_SECOND_FORMAT):
        type, at = varint(page, at)
        types.append(type)
    if at != end or not _fits(types):
        return None
    return types


def _fits(types: list[int]) -> bool:
    forms = {len(_FIRST_FORMAT): _FIRST_FORMAT, len(_SECOND_FORMAT): _SECOND_FORMAT}
    form = forms.get(len(types), "")
    accepts: dict[str, Callable[[int], bool]] = {
        "0": lambda type: type == 0,
        "t": lambda type: type >= 13 and type % 2 == 1,
        "#": lambda type: type in _INTEGER_BYTES,
    }
    return bool(form) and all(accepts[sign](type) for sign, type in zip(form, types, strict=True))


def _length(type: int) -> int:
    return (type - 12) // 2 if type >= 12 else _INTEGER_BYTES.get(type, 0)


def _value(type: int, content: bytes) -> Any:
    if type >= 12:
        return bytes(content)
    if type in (0, 8, 9):
        return {0: None, 8: 0, 9: 1}[type]
    return int.from_bytes(content, "big", signed=True)


def _number_before(page: bytes, start: int, total: int) -> int:
    """The row's number, which stands with the record's length before it; 0 if that cannot be told."""
    for number_bytes in range(1, LONGEST_VARINT + 1):
        number_at = start - number_bytes
        for length_bytes in range(1, 5):
            length_at = number_at - length_bytes
            if length_at < 0 or varint(page, length_at) != (total, number_at):
                continue
            number, end = varint(page, number_at)
            if end == start:
                return number
    return 0


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer of variable length at `at`, and where it ends; beyond the data it is 0."""
    value = 0
    for count, byte in enumerate(data[at : at + LONGEST_VARINT], 1):
        if count == LONGEST_VARINT:
            return value << 8 | byte, at + count
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count
    return 0, len(data) + 1
