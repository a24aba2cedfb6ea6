"""Merging another machine's log into this one (`attn import reviews`, `attn sync`), and writing this one out.

Logs merge as a union by row id: nothing is lost, twice is once. Which row is here already is
decided in `store/log.py`; `read_log_file` reads what comes in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.log_row_json import checked_line
from attncli.errors import UsageError
from attncli.files import cannot_write, write_whole
from attncli.practice.derive import derive_everything, derive_subjects
from attncli.practice.log.log_transaction import recording
from attncli.practice.log.read_log_file import Placed, read_log
from attncli.practice.workspace import Workspace


def exported(workspace: Workspace, left_out: list[str]) -> Iterator[str]:
    """The whole log in replay order, one JSON document a line.

    A row that no import would take (an earlier version let it in) would keep all the others out with it: it is named
    in `left_out` instead.
    """
    for row in workspace.store.log.everything():
        try:
            yield checked_line(row)
        except ValueError as error:
            left_out.append(f"row {row.id}: {error}")


@dataclass(frozen=True, slots=True)
class Imported:
    """How many rows were new; `faults` are the rows of a damaged backup that were left out."""

    new: int
    faults: tuple[str, ...] = ()


def import_file(workspace: Workspace, path: Path) -> Imported:
    """Merges the log in `path`, if all of it can be used.

    Of a backup the rows that can be used are merged: there is no other way to them. Raises UsageError that names the
    line at fault, or the row that is here with another content; then nothing is merged.
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
    """Adds the rows that are not here yet and derives what they touch, in one transaction; the new ones.

    `conflict` is told of a row that is here with another content; if it raises, nothing is merged.
    """
    current: list[Placed] = []

    def rows() -> Iterator[LogRow]:
        for one in placed:
            current[:] = [one]
            yield one.row

    with recording(workspace):
        new = workspace.store.log.merge(rows(), lambda row: conflict(current[0]))
        if _bring_another_fit(workspace, new):
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, {row.subject for row in new})
    return new


def _bring_another_fit(workspace: Workspace, new: list[LogRow]) -> bool:
    """Whether a fit came in, or was taken back."""
    if any(row.kind is RowKind.FIT for row in new):
        return True
    undone = {row.takes_back for row in new if row.kind is RowKind.UNDO}
    return bool(undone) and any(row.id in undone for row in workspace.store.log.of_kind(RowKind.FIT))


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Writes `lines` to `path` at one stroke; how many. Raises UsageError, EnvironmentFailure if there is no room."""
    try:
        return write_whole(path, (line + "\n" for line in lines))
    except OSError as error:
        raise cannot_write(path, error, "name another place") from error
