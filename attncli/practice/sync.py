"""Merge histories: with a folder that several machines share, and with a file; and report rows from the future.

A shared folder contains the files of every machine's history. `sync` first merges every row in the folder, under any
file name. Then it replaces this machine's own file there, and adds other files of which the folder has none or an older
part. So two machines never write the same file.

Histories merge as a union by row id, so merging twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from attncli.domain.log_row import LONGEST_LINE, LogRow, RowKind, checked_line, is_machine, row_of_line
from attncli.errors import UsageError, unreadable
from attncli.i18n import Localised, _
from attncli.paths import cannot_write, write_bytes, write_whole
from attncli.practice.backups import BEFORE_RESTORE, keep_copy
from attncli.practice.derive import derive_everything, derive_subjects
from attncli.practice.record import recording
from attncli.practice.workspace import Workspace
from attncli.store.history import ENDING, Damage, Entry, decoded, encoded, read
from attncli.store.old_database import MAGIC, rows_of_database

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LONGEST_REASON = 200
SHOWN_AHEAD = 5


@dataclass(frozen=True, slots=True)
class Synced:
    """The number of rows received, and of rows in this machine's file; `faults` name unusable lines and files."""

    received: int
    written: int
    file: Path
    faults: tuple[Localised, ...] = ()


def sync(workspace: Workspace, folder: Path) -> Synced:
    """Merge every history file in the shared `folder`, and publish this machine's files there.

    Unreadable files and lines are reported and left unchanged; the rest is merged. Raises UsageError if there is no
    such folder, EnvironmentFailure if it cannot be written to.
    """
    if not folder.is_dir():
        raise UsageError(_("there is no folder {folder}; create it where your machines sync files", folder=folder))
    faults: list[Localised] = []
    received = sum(_take(workspace, path, faults) for path in _names(folder))
    history = workspace.store.history
    with history.writing():
        pass  # a machine without a row gets its id
    own = folder / f"{history.machine}{ENDING}"
    # Our own file comes last: rows that only its old copy there had are then already in other files of the folder.
    for path in sorted(history.files(), key=lambda path: path.name == own.name):
        _publish(path, folder, path.name == own.name)
    written = sum(1 for line in own.read_bytes().splitlines() if line) if own.is_file() else 0
    return Synced(received, written, own if written else folder, tuple(faults))


def _names(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ENDING and not path.name.startswith("."))
    except OSError as error:
        raise UsageError(unreadable(folder, error, _("make it readable"))) from error


def _take(workspace: Workspace, path: Path, faults: list[Localised]) -> int:
    """Merge the rows of one file in the folder; return the number of rows new here."""
    here = workspace.store.history.folder / path.name
    try:
        if not path.is_file():
            raise UsageError(_("{path} is not a file and was skipped; remove it from the shared folder", path=path))
        if here.is_file() and here.read_bytes().startswith(path.read_bytes()):
            return 0
        log = read_log(path)
    except (OSError, UsageError) as error:
        unread = _("cannot read {path} ({why})", path=path, why=getattr(error, "strerror", ""))
        faults.append(error.message if isinstance(error, UsageError) else unread)
        return 0
    is_whole = not log.faults and not any(isinstance(found, Damage) for found in read(path))
    if is_machine(path.stem) and is_whole and (received := _copy_in(workspace, path)) is not None:
        return received
    if log.faults:
        faults.append(
            _(
                "{first}; skipped {bad} of {all} rows",
                first=log.faults[0],
                bad=len(log.faults),
                all=len(log.faults) + len(log.rows),
            )
        )

    def conflict(row: LogRow) -> None:
        place = log.places[row.id]
        faults.append(_("{place}: row {id} differs from the local one; kept the local one", place=place, id=row.id))

    return len(merge(workspace, log.rows, conflict))


def _copy_in(workspace: Workspace, path: Path) -> int | None:
    """Copy a machine's file into the history; return the number of new rows, None if it does not extend our copy."""
    store = workspace.store
    before = store.log.length()
    with store.transaction():
        if not store.history.extend_file(path.name, path.read_bytes()):
            return None
    with store.following():
        workspace.catch_up()
    return store.log.length() - before


def _publish(path: Path, folder: Path, own: bool) -> None:
    """Write a history file to the folder; if a different file has its name, write its new rows under another name."""
    there, content = folder / path.name, path.read_bytes()
    try:
        if there.exists() and not own:
            if (known := there.read_bytes()).startswith(content):
                return
            if not content.startswith(known):
                has = {found.row.id for found in read(there) if isinstance(found, Entry)}
                rows = [found.row for found in read(path) if isinstance(found, Entry) and found.row.id not in has]
                content = b"".join(encoded(number, row) for number, row in enumerate(rows, 1))
                there = folder / f"import-{sha256(content).hexdigest()[:16]}{ENDING}"
                if not rows:
                    return
        if not there.exists() or there.read_bytes() != content:
            write_bytes(there, content)
    except OSError as error:
        raise cannot_write(there, error, _("make the folder writable, or choose another")) from error


# Import and export


def exported(workspace: Workspace, left_out: list[Localised]) -> Iterator[str]:
    """Yield the whole log in replay order, one JSON document a line.

    A row that no import would accept would block all others, so it is added to `left_out` instead.
    """
    for row in workspace.store.log.everything():
        try:
            yield checked_line(row)
        except ValueError as error:
            left_out.append(_("row {id}: {error}", id=row.id, error=error))


@dataclass(frozen=True, slots=True)
class Imported:
    """The number of new rows; `faults` are the rows of a damaged backup that were left out."""

    new: int
    faults: tuple[Localised, ...] = ()


def import_file(workspace: Workspace, path: Path) -> Imported:
    """Merge the log in the file or folder `path` if all of it can be used.

    From an old database the usable rows are merged, because nothing else can read them. Raises UsageError that names
    the faulty line, or a row whose content differs from the local one; then nothing is merged.
    """
    if not path.exists():
        raise UsageError(_("there is no file {path}; create one with `attn backup`", path=path))
    logs = [read_log(file) for file in (_names(path) if path.is_dir() else [path])]
    for log in logs:
        if log.faults and not log.is_database:
            raise UsageError(_("{faults}; nothing was merged; export the file again", faults=log.faults[0]))

    def refuse(row: LogRow) -> None:
        raise UsageError(
            _(
                "{place}: row {id} differs from the local one; nothing was merged; one of the logs "
                "is damaged or was edited",
                place=next(log.places[row.id] for log in reversed(logs) if row.id in log.places),
                id=row.id,
            )
        )

    rows = [row for log in logs for row in log.rows]
    return Imported(len(merge(workspace, rows, refuse)), tuple(fault for log in logs for fault in log.faults))


@dataclass(frozen=True, slots=True)
class Restored:
    """The number of rows restored; `faults` name those that cannot be used.

    `kept` is the copy of the former history, None if that was empty; `missing` counts its rows that the file lacks.
    """

    rows: int
    faults: tuple[Localised, ...]
    kept: Path | None
    missing: int


def restore(workspace: Workspace, path: Path) -> Restored:
    """Replace the history by the rows in `path`, after saving a copy of it.

    Raises UsageError if the file has no usable row, StoreError if nothing can be written; then nothing has changed.
    """
    log, store = read_log(path), workspace.store
    rows = list({row.id: row for row in log.rows}.values())
    if not rows:
        raise UsageError(_("{path} has no usable rows; nothing was restored", path=path))
    before, kept = set[str](), list[Path]()

    def keep() -> None:
        before.update(store.log.ids())
        if before:
            size, now = sum(store.history.sizes().values()), workspace.clock()
            kept.append(keep_copy(store.log.everything(), size, workspace.home.backups, BEFORE_RESTORE, now))

    store.require_writable()
    store.replace_history(rows, keep)
    workspace.forget_policy()
    with store.following():
        workspace.derive_all()
    return Restored(len(rows), tuple(log.faults), kept[0] if kept else None, len(before - {row.id for row in rows}))


def merge(workspace: Workspace, rows: Iterable[LogRow], conflict: Callable[[LogRow], None]) -> list[LogRow]:
    """Add the rows that are new here and derive their schedules, in one transaction. Return the new rows.

    `conflict` gets each row whose content differs from the local one; if it raises, nothing is merged.
    """
    with recording(workspace):
        new = workspace.store.log.merge(rows, conflict)
        if _changes_fit(workspace, new):
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, {row.subject for row in new})
    return new


def _changes_fit(workspace: Workspace, new: list[LogRow]) -> bool:
    """Return True if a new row is a fit or undoes one."""
    if any(row.kind is RowKind.FIT for row in new):
        return True
    undone = {row.takes_back for row in new if row.kind is RowKind.UNDO}
    return bool(undone) and any(row.id in undone for row in workspace.store.log.of_kind(RowKind.FIT))


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write `lines` to `path` atomically. Return how many. Raises UsageError, or EnvironmentFailure without room."""
    try:
        return write_whole(path, (line + "\n" for line in lines))
    except OSError as error:
        raise cannot_write(path, error, _("choose another location")) from error


# Reading a log file


@dataclass(slots=True)
class LogFile:
    """The usable rows of a file, and messages (`faults`) about the others; each starts with its place.

    `places` maps the id of a row to its place: `file:line`, or `file` in a database.
    """

    path: Path
    rows: list[LogRow] = field(default_factory=list)
    faults: list[Localised] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    is_database: bool = False


def read_log(path: Path) -> LogFile:
    """Read the rows in `path`: lines of an export, a backup or a history, or an old `progress.db`.

    Every field of a row is checked. Raises UsageError for a file that cannot be read at all.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                rows, refused = rows_of_database(path)
                faults: list[Localised] = [_("{path}: {why}", path=path, why=why) for why in refused]
                return LogFile(path, rows, faults, {row.id: str(path) for row in rows}, is_database=True)
            file.seek(0)
            return _read_lines(file, LogFile(path))
    except OSError as error:
        raise UsageError(unreadable(path, error, _("make it readable"))) from error


def _read_lines(file: BinaryIO, log: LogFile) -> LogFile:
    for number, line in enumerate(_lines(file), 1):
        place = f"{log.path}:{number}"
        try:
            line = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            text = line.decode()
            if line.startswith(b'{"n":'):
                decoded(line.rstrip())
            if text.strip():
                log.rows.append(row_of_line(text))
                log.places[log.rows[-1].id] = place
        except UnicodeDecodeError:
            log.faults.append(_("{place}: not a history row (not UTF-8)", place=place))
        except ValueError as error:
            reason = error.args[0] if isinstance(error.args[0], Localised) else str(error)[:LONGEST_REASON]
            log.faults.append(_("{place}: not a history row ({error})", place=place, error=reason))
    return log


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of a line that is too long, only its beginning."""
    most = LONGEST_LINE + 2
    while line := file.readline(most):
        yield line
        while len(line) == most and not line.endswith(b"\n"):
            line = file.readline(most)


# Rows from the future


def ahead_in_words(workspace: Workspace) -> list[Localised]:
    """Return the lines of `attn doctor` on rows that are more than a day ahead of the clock."""
    workspace.store.catch_up()
    found = workspace.store.log.waiting()
    lines: list[Localised] = [
        _(
            "the {kind} of {subject} is dated {at:%Y-%m-%d %H:%M}Z, more than a day ahead of this clock",
            kind=row.kind,
            subject=row.subject,
            at=row.at,
        )
        for row in found[:SHOWN_AHEAD]
    ]
    if len(found) > SHOWN_AHEAD:
        lines.append(_("{count} more", count=len(found) - SHOWN_AHEAD))
    if found:
        lines.append(_("it counts from that time on; if this clock is wrong, set it"))
    return lines
