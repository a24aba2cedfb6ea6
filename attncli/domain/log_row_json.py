"""A log row as JSON: one object, and back again with every field checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from attncli.domain import strict_json
from attncli.domain.log_row import EARLIEST, LATEST, LogRow, RowKind
from attncli.domain.log_row_payloads import check_payload

LONGEST_ID = 200
LONGEST_LINE = 8 * 1024 * 1024
DAYS_AROUND = 2
"""A study day begins at a local hour: it is never further than this from the day in UTC."""

_ABOUT_NOTHING = (RowKind.FIT, RowKind.UNDO)
"""A fit is about all cards, and so is what takes it back."""
MACHINE = re.compile("[0-9a-f]{8}")
_KINDS = frozenset(RowKind)


def line_of(row: LogRow) -> str:
    """One row as one line of JSON."""
    document = {
        "id": row.id,
        "machine": row.machine,
        "kind": row.kind.value,
        "subject": row.subject,
        "at": row.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "day": row.day,
        "payload": row.payload,
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def row_of_line(line: str) -> LogRow:
    """The row that a line holds. Raises ValueError that says what is wrong with it."""
    if len(line) > LONGEST_LINE:
        raise ValueError("the line is too long")
    document = strict_json.parse(line)
    if not isinstance(document, dict):
        raise ValueError("it is no object")
    return row_of_document(document)


def row_of_document(document: Mapping[str, Any]) -> LogRow:
    """The row that an object of JSON is. Raises ValueError as `field: what is wrong`."""
    kind = RowKind(_checked(document, "kind", _kind))
    check_payload(kind, document.get("payload"))
    id, machine = _checked(document, "id", _id), _checked(document, "machine", _id)
    subject = _checked(document, "subject", _subject if kind in _ABOUT_NOTHING else _id)
    at, day = _checked(document, "at", _moment), _checked(document, "day", _day)
    if abs(day - at.toordinal()) > DAYS_AROUND:
        raise ValueError("day: it is not the day of at")
    return LogRow(id, machine, kind, subject, at, day, dict(document["payload"]))


def checked_line(row: LogRow) -> str:
    """The line of a row. Raises ValueError where nobody would take the line for that row again."""
    line = line_of(row)
    if row_of_line(line) != row:
        raise ValueError("it does not stay as it is when it is written and read")
    return line


def is_machine(id: str) -> bool:
    """Whether `id` is what this program calls a machine, and so may be part of a file's name."""
    return MACHINE.fullmatch(id) is not None


def _checked(document: Mapping[str, Any], key: str, check: Callable[[Any], Any]) -> Any:
    if key not in document:
        raise ValueError(f"{key} is missing")
    try:
        return check(document[key])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{key}: {error}") from None


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _kind(value: Any) -> str:
    known = isinstance(value, str) and value in _KINDS
    _require(known, "unknown; a newer attn may have written it, then install that one here too")
    return str(value)


def _subject(value: Any) -> str:
    fits = isinstance(value, str) and len(value) <= LONGEST_ID and value.isprintable()
    _require(fits, f"not a text of at most {LONGEST_ID} printable characters")
    return str(value)


def _id(value: Any) -> str:
    _require(value != "", "empty")
    return _subject(value)


def _moment(value: Any) -> datetime:
    _require(isinstance(value, str), "no moment as ISO 8601 writes it")
    at = datetime.fromisoformat(value)
    _require(at.tzinfo is not None, "no offset")
    _require(EARLIEST <= at < LATEST, f"not between {EARLIEST.year} and {LATEST.year}")
    return at.astimezone(UTC)


def _day(value: Any) -> int:
    _require(type(value) is int, "no whole number")
    return int(value)
