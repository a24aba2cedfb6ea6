"""The log as JSON lines, out and in again.

Logs of several machines merge as a union: nothing is lost, twice is once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from attncli.domain.review import LogRow, RowKind
from attncli.errors import UsageError
from attncli.practice.answering import EARLIEST, LATEST, iso
from attncli.practice.derivation import derive_everything, derive_subjects
from attncli.practice.recording import recording
from attncli.practice.workspace import Workspace

LONGEST_ID = 200
LONGEST_REASON = 200


def exported(workspace: Workspace) -> Iterator[str]:
    """The whole log in replay order, one JSON document a line."""
    return (line_of(row) for row in workspace.store.log.everything())


def line_of(row: LogRow) -> str:
    """One row as one line of JSON."""
    document = {
        "id": row.id,
        "machine": row.machine,
        "kind": row.kind.value,
        "subject": row.subject,
        "at": iso(row.at),
        "day": row.day,
        "payload": row.payload,
    }
    return json.dumps(document, ensure_ascii=False, sort_keys=True)


def import_file(workspace: Workspace, path: Path) -> int:
    """Merges the log in `path`; how many rows were new. Raises UsageError that names the line at fault."""
    return merge(workspace, read_rows(path))


def merge(workspace: Workspace, rows: Iterable[LogRow]) -> int:
    """Adds the rows that are not here yet and derives what they touch, in one transaction; how many were new."""
    with recording(workspace):
        new = workspace.store.log.merge(rows)
        if any(row.kind is RowKind.FIT for row in new):
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, {row.subject for row in new})
    return len(new)


@dataclass(frozen=True, slots=True)
class Synced:
    """How many rows came in, and how many stand in this machine's file."""

    received: int
    written: int
    file: Path


def sync(workspace: Workspace, folder: Path) -> Synced:
    """Merges every log in `folder`, a folder that all machines share, and leaves this machine's own there.

    Each machine writes only the file that bears its id, so that no two ever write the same one.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; create it where your machines share files")
    own = folder / f"{workspace.store.log.machine}.jsonl"
    others = {path: read_rows(path) for path in sorted(folder.glob("*.jsonl")) if path != own}
    received = merge(workspace, [row for rows in others.values() for row in rows])
    theirs = {row.id for rows in others.values() for row in rows}
    lines = [line_of(row) for row in workspace.store.log.everything() if row.id not in theirs]
    write_lines(own, lines)
    return Synced(received, len(lines), own)


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Writes `lines` to `path` at one stroke; how many."""
    part = path.with_name(path.name + ".part")
    count = 0
    try:
        with part.open("w", encoding="utf-8") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        part.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path} ({error.strerror}); name another place") from error
    return count


def read_rows(path: Path) -> list[LogRow]:
    """The rows of a file of JSON lines. Raises UsageError as `file:line: what is wrong`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path} ({error}); give a file that `attn export reviews` wrote") from error
    return [_row(line, f"{path}:{number}") for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _row(line: str, place: str) -> LogRow:
    document = _document(line, place)
    kind = _checked(document, "kind", _kind, place)
    payload = _checked(document, "payload", _PAYLOADS.get(kind, _mapping), place)
    return LogRow(
        id=_checked(document, "id", _id, place),
        machine=_checked(document, "machine", _id, place),
        kind=kind,
        subject=_checked(document, "subject", _text, place),
        at=_checked(document, "at", _moment, place),
        day=_checked(document, "day", _day, place),
        payload=payload,
    )


def _document(line: str, place: str) -> dict[str, Any]:
    try:
        document = json.loads(line, parse_constant=_no_constant)
        json.dumps(document, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{place}: no line of a review log ({error}); export the file again") from error
    if not isinstance(document, dict):
        raise UsageError(f"{place}: no line of a review log; export the file again")
    return document


def _checked(document: dict[str, Any], key: str, check: Callable[[Any], Any], place: str) -> Any:
    try:
        return check(document[key])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UsageError(
            f"{place}: {key} is missing or unusable ({str(error)[:LONGEST_REASON]}); export the file again"
        ) from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _text(value: Any) -> str:
    _require(isinstance(value, str) and len(value) <= LONGEST_ID, "not a short text")
    return str(value)


def _id(value: Any) -> str:
    _require(isinstance(value, str) and 0 < len(value) <= LONGEST_ID, "not a short text")
    return str(value)


def _kind(value: Any) -> RowKind:
    return RowKind(value)


def _moment(value: Any) -> datetime:
    at = datetime.fromisoformat(value)
    _require(at.tzinfo is not None, "no offset")
    _require(EARLIEST <= at < LATEST, f"not between {EARLIEST.year} and {LATEST.year}")
    return at.astimezone(UTC)


def _day(value: Any) -> int:
    _require(isinstance(value, int) and not isinstance(value, bool), "no whole number")
    _require(EARLIEST.toordinal() - 2 <= value <= LATEST.toordinal() + 2, "no study day")
    return int(value)


def _mapping(value: Any) -> dict[str, Any]:
    _require(isinstance(value, dict), "not an object")
    return dict(value)


def _review(value: Any) -> dict[str, Any]:
    payload = _mapping(value)
    _require(type(payload["rating"]) is int and 1 <= payload["rating"] <= 4, "rating is not 1 to 4")
    return payload


def _undo(value: Any) -> dict[str, Any]:
    payload = _mapping(value)
    _id(payload["row"])
    return payload


def _attempt(value: Any) -> dict[str, Any]:
    payload = _mapping(value)
    _require(payload["verdict"] in ("accepted", "rejected"), "unknown verdict")
    return payload


def _fit(value: Any) -> dict[str, Any]:
    from attncli.memory.policy import Policy
    from attncli.memory.scheduler import Scheduler

    payload = _mapping(value)
    _require(all(isinstance(weight, int | float) for weight in payload["parameters"]), "parameters are not numbers")
    Scheduler(Policy(parameters=tuple(payload["parameters"])))
    return payload


_PAYLOADS: dict[RowKind, Callable[[Any], dict[str, Any]]] = {
    RowKind.REVIEW: _review,
    RowKind.UNDO: _undo,
    RowKind.ATTEMPT: _attempt,
    RowKind.FIT: _fit,
}
