"""Merge logs: with a folder that several machines share, and with a file; and report rows from the future.

In a shared folder each machine writes only the file that bears its id, never with fewer rows than before, and reads the
files of the others. An id belongs to one machine: if rows under our own id turn up that were not written here, this
home was copied or restored from a backup, and gets a new id.

After a sync without faults each file is remembered by its stamp, its size and a hash of its last bytes. A file that has
only grown is read from there on, and our own is appended to. Anything else takes a whole sync.

Logs merge as a union by row id, so merging twice changes nothing. `store/log.py` decides which rows are new.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from attncli.domain.log_row import LONGEST_LINE, LogRow, RowKind, checked_line, is_machine, line_of, row_of_line
from attncli.errors import EnvironmentFailure, UsageError, remedy_for
from attncli.memory.replay import in_force, standing
from attncli.paths import cannot_write, free_name, replace_whole, write_whole
from attncli.practice.derive import derive_everything, derive_subjects
from attncli.practice.record import TOLERATED_LEAD, recording
from attncli.practice.workspace import Workspace
from attncli.store.connection import MAGIC
from attncli.store.foreign_database import foreign_rows, workshop

MOST_TRIES = 8
ENDING = ".jsonl"
TAIL_BYTES = 64 * 1024
MOST_NEW_BYTES = 64 * 1024 * 1024
NOTE = "sync "
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_REASON = 200
SHOWN_AHEAD = 5

Stamp = tuple[int, int, int] | None
"""Inode, size and modification time of a file; None if there is none."""


@dataclass(frozen=True, slots=True)
class Synced:
    """The number of rows received, and of rows in this machine's file.

    `faults` name lines and files that could not be used; `left_out` are own rows that no other machine would accept;
    `renewed` is True if this machine got a new id.
    """

    received: int
    written: int
    file: Path
    faults: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    renewed: bool = False


def sync(workspace: Workspace, folder: Path) -> Synced:
    """Merge every log in the shared `folder`, and write this machine's own there.

    What cannot be read is named and left as it is; the rest is merged. Raises UsageError if there is no such folder,
    EnvironmentFailure if it cannot be written to.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; create it where your machines share files")
    received, renewed = 0, not is_machine(workspace.store.log.machine)
    try:
        changes = take_changes(workspace, folder, _names(folder))
        return Synced(changes.received, changes.written, _own(workspace, folder))
    except WholeSyncNeeded as needed:
        received = needed.received
        forget(workspace, folder)
    if renewed:
        workspace.store.renew_machine()
    for _ in range(MOST_TRIES):
        shared = _Shared(folder, workspace.home.root)
        result = _take(workspace, shared)
        received += result.received
        if result.is_not_from_here or _own(workspace, folder) in shared.unreadable:
            workspace.store.renew_machine()
            renewed = True
        try:
            written, left_out = _leave(workspace, shared, _own(workspace, folder))
        except _Changed:
            continue
        faults = (*shared.faults, *result.conflicts)
        if not (faults or left_out or renewed):
            own = _own(workspace, folder)
            remember(workspace, folder, {**shared.stamps, own: stamp_of(own)}, written)
        return Synced(received, written, _own(workspace, folder), faults, left_out, renewed)
    raise EnvironmentFailure(f"other programs keep writing to {folder}; try again when they are done")


class _Changed(Exception):
    """Another program has written our file since it was read."""


class _Shared:
    """The logs in the folder. Conflict copies of file-sync tools have other names, and are read like any file."""

    def __init__(self, folder: Path, copies: Path) -> None:
        self.files: dict[Path, LogFile] = {}
        self.stamps: dict[Path, Stamp] = {}
        self.unreadable: set[Path] = set()
        self.faults: list[str] = []
        for path in _names(folder):
            self.stamps[path] = stamp_of(path)
            try:
                if not path.is_file():
                    raise UsageError(f"{path} is no file, and was left out; remove it from the shared folder")
                log = read_log(path, copies)
            except UsageError as error:
                self.unreadable.add(path)
                self.faults.append(error.message)
                continue
            self.files[path] = log
            if log.faults:
                count = f"{len(log.faults)} of {len(log.faults) + len(log.rows)} rows cannot be used"
                self.faults.append(f"{log.faults[0]}; {count}, the others are")

    def rows(self) -> Iterator[Placed]:
        for log in self.files.values():
            yield from log.rows

    def ids_in(self, path: Path) -> set[str]:
        return {placed.row.id for placed in self.files[path].rows} if path in self.files else set()

    def held_by_others(self, own: Path) -> set[str]:
        """Return the rows that another machine keeps here; a conflict copy may be deleted at any time."""
        others = [path for path in self.files if path != own and is_machine(path.name.removesuffix(ENDING))]
        return set().union(*map(self.ids_in, others))


@dataclass(slots=True)
class _Received:
    received: int = 0
    conflicts: list[str] = field(default_factory=list)
    is_not_from_here: bool = False


def _take(workspace: Workspace, shared: _Shared) -> _Received:
    """Merge all logs in the folder. Rows under our own id that are new here or differ were not written here."""
    result, machine = _Received(), workspace.store.log.machine

    def conflict(placed: Placed) -> None:
        result.conflicts.append(f"{placed.place}: row {placed.row.id} is here with another content, and stays as it is")
        result.is_not_from_here |= placed.row.machine == machine

    new = merge(workspace, shared.rows(), conflict)
    result.received = len(new)
    result.is_not_from_here |= any(row.machine == machine for row in new)
    return result


def _leave(workspace: Workspace, shared: _Shared, own: Path) -> tuple[int, tuple[str, ...]]:
    """Write our file: the rows in it before, those written here, and those that no other machine holds."""
    machine, before, held = workspace.store.log.machine, shared.ids_in(own), shared.held_by_others(own)
    lines, left_out = list[str](), list[str]()
    for row in workspace.store.log.everything():
        if row.id in before:
            lines.append(line_of(row))
        elif row.machine == machine or row.id not in held:
            try:
                lines.append(checked_line(row))
            except ValueError as error:
                left_out.append(f"row {row.id}: {error}")
    damaged = own in shared.files and bool(shared.files[own].faults)
    if len(lines) > len(before) or damaged:
        _write(own, lines, shared.stamps.get(own), damaged)
    return len(lines), tuple(left_out)


def _write(own: Path, lines: list[str], read: Stamp, damaged: bool) -> None:
    def confirm() -> None:
        if stamp_of(own) != read:
            raise _Changed
        if damaged:
            shutil.copyfile(own, free_name(own, "{name}.unreadable-{number}"))

    try:
        replace_whole(own, (line + "\n" for line in lines), confirm)
    except OSError as error:
        raise cannot_write(own, error, "make the folder writable, or name another") from error


def _own(workspace: Workspace, folder: Path) -> Path:
    return folder / f"{workspace.store.log.machine}{ENDING}"


def _names(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ENDING and not path.name.startswith("."))
    except OSError as error:
        remedy = remedy_for(error, "make it readable")
        raise UsageError(f"cannot read the folder {folder} ({error.strerror}); {remedy}") from error


# Incremental sync


class WholeSyncNeeded(Exception):
    """A file has changed other than by growing; `received` rows have been merged all the same."""

    received = 0


@dataclass(frozen=True, slots=True)
class Changes:
    """The number of rows received, and of rows in our file now."""

    received: int
    written: int


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file, which changes whenever it is written; None if there is none."""
    try:
        status = path.stat(follow_symlinks=False)
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


def take_changes(workspace: Workspace, folder: Path, names: list[Path]) -> Changes:
    """Merge what was added to the files `names` in `folder`, and append new rows to our own.

    Raises WholeSyncNeeded, with nothing changed in the folder.
    """
    state = _remembered(workspace, folder)
    own = _own(workspace, folder)
    if state.get("machine") != workspace.store.log.machine or set(state["files"]) != {path.name for path in names}:
        raise WholeSyncNeeded
    if own.name not in state["files"] or list(stamp_of(own) or ()) != state["files"][own.name]["stamp"]:
        raise WholeSyncNeeded
    if state["rows"] != workspace.store.log.rows_until(state["seq"]):
        raise WholeSyncNeeded
    stamps = {path: stamp_of(path) for path in names}
    if (before := stamps[own]) is None:
        raise WholeSyncNeeded
    placed = [row for path in names if path != own for row in _added(path, state["files"][path.name], stamps[path])]
    received, held = _merged(workspace, placed)
    try:
        lines = [_line(row) for row in workspace.store.log.since(state["seq"]) if row.id not in held]
        if lines:
            _append(own, lines, before)
            stamps[own] = stamp_of(own)
    except WholeSyncNeeded as needed:
        needed.received = received
        raise
    written = state["written"] + len(lines)
    if placed or lines or any(list(stamps[path] or ()) != state["files"][path.name]["stamp"] for path in names):
        remember(workspace, folder, stamps, written)
    return Changes(received, written)


def remember(workspace: Workspace, folder: Path, stamps: dict[Path, Stamp], written: int) -> None:
    """Save the state of the files in `folder` after reading and writing; nothing if they have changed since."""
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
    """Make the next sync read everything."""
    workspace.store.keep_note(_key(folder), "")


def _key(folder: Path) -> str:
    return NOTE + str(folder.resolve())


def _remembered(workspace: Workspace, folder: Path) -> dict[str, Any]:
    known = json.loads(workspace.store.note(_key(folder)) or "null")
    if not isinstance(known, dict):
        raise WholeSyncNeeded
    return known


def _added(path: Path, known: dict[str, Any], stamp: Stamp) -> Iterator[Placed]:
    """Yield the rows that were added to a file since; raise WholeSyncNeeded if it has changed before that."""
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
    """Hash the last bytes before `size`; empty if they cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, size - TAIL_BYTES))
            return sha256(file.read(min(size, TAIL_BYTES))).hexdigest()
    except OSError:
        return ""


def _merged(workspace: Workspace, placed: list[Placed]) -> tuple[int, set[str]]:
    """Merge rows. Return how many were new, and the ids of those that another machine keeps in the folder."""
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
    """Append lines to our file. If this process dies here, the next whole sync finds and repairs the partial line."""
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


# Import and export


def exported(workspace: Workspace, left_out: list[str]) -> Iterator[str]:
    """Yield the whole log in replay order, one JSON document a line.

    A row that no import would accept (an earlier version let it in) would keep all others out: it is named in
    `left_out` instead.
    """
    for row in workspace.store.log.everything():
        try:
            yield checked_line(row)
        except ValueError as error:
            left_out.append(f"row {row.id}: {error}")


@dataclass(frozen=True, slots=True)
class Imported:
    """The number of new rows; `faults` are the rows of a damaged backup that were left out."""

    new: int
    faults: tuple[str, ...] = ()


def import_file(workspace: Workspace, path: Path) -> Imported:
    """Merge the log in `path` if all of it can be used.

    From a backup, the usable rows are merged, because there is no other way to them. Raises UsageError that names the
    faulty line, or the row that is here with another content; then nothing is merged.
    """
    log = read_log(path, workspace.home.root)
    if log.faults and not log.is_database:
        raise UsageError(f"{log.faults[0]}; nothing was merged; export the file again")

    def refuse(placed: Placed) -> None:
        raise UsageError(
            f"{placed.place}: row {placed.row.id} is here with another content; nothing was merged; "
            "one of the two logs is damaged or was changed by hand"
        )

    return Imported(len(merge(workspace, log.rows, refuse)), tuple(log.faults))


def merge(workspace: Workspace, placed: Iterable[Placed], conflict: Callable[[Placed], None]) -> list[LogRow]:
    """Add the rows that are new here and derive their schedules, in one transaction. Return the new rows.

    `conflict` gets a row that is here with another content; if it raises, nothing is merged.
    """
    current: list[Placed] = []

    def rows() -> Iterator[LogRow]:
        for one in placed:
            current[:] = [one]
            yield one.row

    with recording(workspace):
        new = workspace.store.log.merge(rows(), lambda row: conflict(current[0]))
        if _changes_fit(workspace, new):
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, {row.subject for row in new})
    return new


def _changes_fit(workspace: Workspace, new: list[LogRow]) -> bool:
    """Return True if a fit came in or was taken back."""
    if any(row.kind is RowKind.FIT for row in new):
        return True
    undone = {row.takes_back for row in new if row.kind is RowKind.UNDO}
    return bool(undone) and any(row.id in undone for row in workspace.store.log.of_kind(RowKind.FIT))


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines` to `path` atomically. Return how many. Raises UsageError, or EnvironmentFailure without room."""
    try:
        return write_whole(path, (line + "\n" for line in lines))
    except OSError as error:
        raise cannot_write(path, error, "name another place") from error


# Reading a log file


@dataclass(frozen=True, slots=True)
class Placed:
    """A row and its place: `file:line`, or `file` in a database."""

    row: LogRow
    place: str


@dataclass(slots=True)
class LogFile:
    """The usable rows of a file, and its faults; each fault begins with its place."""

    path: Path
    rows: list[Placed] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    is_database: bool = False


def read_log(path: Path, folder: Path) -> LogFile:
    """Read the rows in the file `path`: JSON lines from `attn export reviews`, or a database from `attn backup`.

    `folder` is where a database may be copied to be read. Raises UsageError for a file that cannot be read at all.
    """
    try:
        with path.open("rb") as file:
            if file.peek(len(MAGIC)).startswith(MAGIC):
                return _read_database(path, folder)
            return _read_lines(file, LogFile(path))
    except OSError as error:
        raise UsageError(
            f"cannot read {path} ({error.strerror}); give a file that `attn export reviews` wrote"
        ) from error


def _read_database(path: Path, folder: Path) -> LogFile:
    with workshop(folder) as scratch:
        found = foreign_rows(path, scratch)
    rows = [Placed(row, str(path)) for row in found.rows]
    return LogFile(path, rows, [f"{path}: {refused}" for refused in found.refused], is_database=True)


def _read_lines(file: BinaryIO, log: LogFile) -> LogFile:
    for number, line in enumerate(_lines(file), 1):
        place = f"{log.path}:{number}"
        try:
            text = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).decode()
            if text.strip():
                log.rows.append(Placed(row_of_line(text), place))
        except UnicodeDecodeError:
            log.faults.append(f"{place}: no line of a review log (it is not UTF-8)")
        except ValueError as error:
            log.faults.append(f"{place}: no line of a review log ({str(error)[:LONGEST_REASON]})")
    return log


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of a line that is too long, only its beginning."""
    most = LONGEST_LINE + 2
    while line := file.readline(most):
        yield line
        while len(line) == most and not line.endswith(b"\n"):
            line = file.readline(most)


# Rows from the future


def rows_ahead(workspace: Workspace) -> list[LogRow]:
    """Return the reviews and attempts in force that are more than a day ahead of the clock, the latest first."""
    found: list[LogRow] = []
    log, index = workspace.store.log, workspace.store.index
    late = workspace.clock() + TOLERATED_LEAD
    for kind in (RowKind.REVIEW, RowKind.ATTEMPT):
        for subject in log.subjects_after(kind, late):
            rows = standing(log.of_subjects(index.names_of(index.renamed_to(subject) or subject)))
            in_line = in_force(row for row in rows if row.kind is kind)
            found += [row for row in in_line if row.at > late and row.subject == subject]
    return sorted(found, key=lambda row: (row.at, row.id), reverse=True)


def ahead_in_words(workspace: Workspace) -> list[str]:
    """Return what `attn doctor` says about rows from the future, and what to do about them."""
    found = rows_ahead(workspace)
    lines = [
        f"the {row.kind} of {row.subject} is stamped {row.at:%Y-%m-%d %H:%M}Z, more than a day ahead of this clock"
        for row in found[:SHOWN_AHEAD]
    ]
    if len(found) > SHOWN_AHEAD:
        lines.append(f"more of them: {len(found) - SHOWN_AHEAD}")
    if found:
        lines.append(
            "if this clock is right, answer those again (what came from the future is then set aside) or take the last "
            "one back with `attn undo`; if it is wrong, set it"
        )
    return lines
