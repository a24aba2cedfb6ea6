"""What changed in a shared folder since the last sync: without reading again what was read then.

After a sync without faults each file is remembered by its stamp, its size, and a hash of its last bytes. A file that
has only grown is read from there on, and our own is added to. Anything else is for a whole sync to look at.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from attncli.domain.log_row import LogRow
from attncli.domain.log_row_json import LONGEST_LINE, checked_line, is_machine, row_of_line
from attncli.files import cannot_write
from attncli.practice.log.merge_logs import merge
from attncli.practice.log.read_log_file import Placed
from attncli.practice.workspace import Workspace

ENDING = ".jsonl"
TAIL_BYTES = 64 * 1024
MOST_NEW_BYTES = 64 * 1024 * 1024
NOTE = "sync "

Stamp = tuple[int, int, int] | None


class WholeSyncNeeded(Exception):
    """The folder holds something other than what was there and more; `received` rows have come in all the same."""

    received = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """How many rows came in, and how many stand in our file now."""

    received: int
    written: int


def stamp_of(path: Path) -> Stamp:
    """What changes whenever the file is written; None where there is none."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def take_changes(workspace: Workspace, folder: Path, names: list[Path]) -> Changes:
    """Merges what was added to the files in `folder`, `names`, and adds what is new here to our own.

    Raises WholeSyncNeeded, with nothing changed in the folder.
    """
    known = _remembered(workspace, folder)
    own = folder / f"{workspace.store.log.machine}{ENDING}"
    if known.get("machine") != workspace.store.log.machine or set(known["files"]) != {path.name for path in names}:
        raise WholeSyncNeeded
    if own.name not in known["files"] or list(stamp_of(own) or ()) != known["files"][own.name]["stamp"]:
        raise WholeSyncNeeded
    if known["rows"] != workspace.store.log.rows_until(known["seq"]):
        raise WholeSyncNeeded
    stamps = {path: stamp_of(path) for path in names}
    if (before := stamps[own]) is None:
        raise WholeSyncNeeded
    placed = [row for path in names if path != own for row in _added(path, known["files"][path.name], stamps[path])]
    received, held = _merged(workspace, placed)
    try:
        lines = [_line(row) for row in workspace.store.log.since(known["seq"]) if row.id not in held]
        if lines:
            _append(own, lines, before)
            stamps[own] = stamp_of(own)
    except WholeSyncNeeded as needed:
        needed.received = received
        raise
    written = known["written"] + len(lines)
    if placed or lines or any(list(stamps[path] or ()) != known["files"][path.name]["stamp"] for path in names):
        remember(workspace, folder, stamps, written)
    return Changes(received, written)


def remember(workspace: Workspace, folder: Path, stamps: dict[Path, Stamp], written: int) -> None:
    """Notes what the files in `folder` were like when they were read, or written; nothing if they changed since."""
    files = {}
    for path, stamp in stamps.items():
        tail = _tail(path, stamp[1]) if stamp else ""
        if stamp is None or stamp_of(path) != stamp:
            return
        files[path.name] = {"stamp": list(stamp), "tail": tail}
    log = workspace.store.log
    seq = log.last_number()
    document = {
        "machine": log.machine,
        "seq": seq,
        "rows": log.rows_until(seq),
        "written": written,
        "files": files,
    }
    workspace.store.keep_note(_key(folder), json.dumps(document))


def forget(workspace: Workspace, folder: Path) -> None:
    """Lets the next sync read everything."""
    workspace.store.keep_note(_key(folder), "")


def _key(folder: Path) -> str:
    return NOTE + str(folder.resolve())


def _remembered(workspace: Workspace, folder: Path) -> dict[str, Any]:
    known = json.loads(workspace.store.note(_key(folder)) or "null")
    if not isinstance(known, dict):
        raise WholeSyncNeeded
    return known


def _added(path: Path, known: dict[str, Any], stamp: Stamp) -> Iterator[Placed]:
    """The rows that were added to a file since; it may not have changed before that."""
    if stamp is None:
        raise WholeSyncNeeded
    if list(stamp) == known["stamp"]:
        return
    size = known["stamp"][1]
    if not size <= stamp[1] <= size + MOST_NEW_BYTES or path.is_symlink() or _tail(path, size) != known["tail"]:
        raise WholeSyncNeeded
    try:
        with path.open("rb") as file:
            file.seek(size)
            added = file.read(stamp[1] - size)
        for line in added.decode().splitlines():
            if len(line) > LONGEST_LINE:
                raise WholeSyncNeeded
            yield Placed(row_of_line(line), str(path))
    except (OSError, ValueError) as error:
        raise WholeSyncNeeded from error


def _tail(path: Path, size: int) -> str:
    """A hash of the last bytes before `size`; empty where they cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            return sha256(file.read(min(size, TAIL_BYTES))).hexdigest()
    except OSError:
        return ""


def _merged(workspace: Workspace, placed: list[Placed]) -> tuple[int, set[str]]:
    """How many rows were new, and those that another machine keeps in the folder."""
    if any(one.row.machine == workspace.store.log.machine for one in placed):
        raise WholeSyncNeeded

    def refuse(one: Placed) -> None:
        raise WholeSyncNeeded

    new = merge(workspace, placed, refuse) if placed else []
    held = {one.row.id for one in placed if is_machine(Path(one.place).name.removesuffix(ENDING))}
    return len(new), held


def _line(row: LogRow) -> str:
    try:
        return checked_line(row) + "\n"
    except ValueError as error:
        raise WholeSyncNeeded from error


def _append(own: Path, lines: list[str], read: tuple[int, int, int]) -> None:
    """Adds lines to our file. A run that dies here leaves a part of a line, which the next one finds and mends."""
    try:
        with own.open("ab") as file:
            if stamp_of(own) != read:
                raise WholeSyncNeeded
            try:
                file.write("".join(lines).encode())
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                file.truncate(read[1])
                raise
    except OSError as error:
        raise cannot_write(own, error, "make the folder writable, or name another") from error
