"""A folder that several machines share: each leaves its log there and reads those of the others.

A machine writes only the file that bears its id, and never one with fewer rows than stood there. An id belongs to one
machine: where rows under our own turn up that are not from here, this home was copied or restored from a backup, and
what is written here from then on has another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attncli.domain.log_row_json import checked_line, is_machine, line_of
from attncli.errors import EnvironmentFailure, UsageError, remedy_for
from attncli.files import cannot_write, free_name, replace_whole
from attncli.practice.log.merge_logs import merge
from attncli.practice.log.read_log_file import LogFile, Placed, read_log
from attncli.practice.log.sync_changes import (
    ENDING,
    Stamp,
    WholeSyncNeeded,
    forget,
    remember,
    stamp_of,
    take_changes,
)
from attncli.practice.workspace import Workspace

MOST_TURNS = 8


@dataclass(frozen=True, slots=True)
class Synced:
    """How many rows came in, and how many stand in this machine's file.

    `faults` are the lines and files that could not be used, each named; `left_out` are rows of our own that no other
    machine would take; `renewed` says that this machine has a new id.
    """

    received: int
    written: int
    file: Path
    faults: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    renewed: bool = False


def sync(workspace: Workspace, folder: Path) -> Synced:
    """Merges every log in `folder`, a folder that all machines share, and leaves this machine's own there.

    What cannot be read is named and left as it is, the rest is merged. Raises UsageError if there is no such folder,
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
    for _ in range(MOST_TURNS):
        shared = _Shared(folder, workspace.home.root)
        taken = _take(workspace, shared)
        received += taken.received
        if taken.is_not_from_here or _own(workspace, folder) in shared.unreadable:
            workspace.store.renew_machine()
            renewed = True
        try:
            written, left_out = _leave(workspace, shared, _own(workspace, folder))
        except _Changed:
            continue
        faults = (*shared.faults, *taken.conflicts)
        if not (faults or left_out or renewed):
            own = _own(workspace, folder)
            remember(workspace, folder, {**shared.stamps, own: stamp_of(own)}, written)
        return Synced(received, written, _own(workspace, folder), faults, left_out, renewed)
    raise EnvironmentFailure(f"other programs keep writing to {folder}; try again when they are done")


class _Changed(Exception):
    """Somebody has written our file since it was read."""


class _Shared:
    """What lies in the folder. Conflict copies of file-sync tools have names of their own, and are read like others."""

    def __init__(self, folder: Path, room: Path) -> None:
        self.files: dict[Path, LogFile] = {}
        self.stamps: dict[Path, Stamp] = {}
        self.unreadable: set[Path] = set()
        self.faults: list[str] = []
        for path in _names(folder):
            self.stamps[path] = stamp_of(path)
            try:
                log = read_log(_ordinary(path), room)
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
        """The rows that some other machine keeps here; a conflict copy may be deleted at any time."""
        others = [path for path in self.files if path != own and is_machine(path.name.removesuffix(ENDING))]
        return set().union(*map(self.ids_in, others))


@dataclass(slots=True)
class _Taken:
    received: int = 0
    conflicts: list[str] = field(default_factory=list)
    is_not_from_here: bool = False


def _take(workspace: Workspace, shared: _Shared) -> _Taken:
    """Merges what the folder holds. Rows under our own id that are new here or differ were written by somebody else."""
    taken, machine = _Taken(), workspace.store.log.machine

    def conflict(placed: Placed) -> None:
        taken.conflicts.append(f"{placed.place}: row {placed.row.id} is here with another content, and stays as it is")
        taken.is_not_from_here |= placed.row.machine == machine

    new = merge(workspace, shared.rows(), conflict)
    taken.received = len(new)
    taken.is_not_from_here |= any(row.machine == machine for row in new)
    return taken


def _leave(workspace: Workspace, shared: _Shared, own: Path) -> tuple[int, tuple[str, ...]]:
    """Writes our file: what stood in it, what was written here, and what no other machine holds."""
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


def _ordinary(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"{path} is no file, and was left out; remove it from the shared folder")
    return path
