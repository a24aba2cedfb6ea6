"""When something was done: the stamp of a log row, from a clock that may be wrong.

Rows of one subject follow one another, whatever the clock does: one that was set back a little gives the moment after
the last row. Rows that lie more than a day ahead are left where they are and named; replay then sets them aside while
they are the last (see `attncli.memory.replay.in_force`), whichever of the two clocks was the wrong one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attncli.domain.log_row import EARLIEST, LATEST, RowKind
from attncli.errors import ClockWrong

if TYPE_CHECKING:
    from attncli.practice.workspace import Workspace

TOLERATED_LEAD = timedelta(days=1)
# More rows than this do not all come from the future: the clock of today is behind.
MOST_AHEAD = 100
_NEXT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A UTC moment, the study day it lies in, and the rows that were found ahead of the clock."""

    at: datetime
    day: int
    ahead: tuple[str, ...] = ()

    @property
    def details(self) -> dict[str, Any]:
        """What goes into the payload."""
        return {"ahead": list(self.ahead)} if self.ahead else {}


def stamp(workspace: Workspace, subject: str, sort: Collection[RowKind], at: datetime | None = None) -> Stamp:
    """The stamp of a row about `subject`, for the given moment `at` or for the present; inside a transaction.

    `sort` are the kinds of rows that it stands in line with. Raises ClockWrong for a moment outside 1990…2199.
    """
    if at is not None:
        return _stamp(workspace, at)
    now, log, names = utc(workspace.clock()), workspace.store.log, workspace.store.index.names_of(subject)
    ahead = log.ids_after(names, sort, now + TOLERATED_LEAD)
    if len(ahead) > MOST_AHEAD:
        ahead = []
    last = log.last_moment(names, sort, now + TOLERATED_LEAD if ahead else LATEST)
    return _stamp(workspace, now if last is None or last <= now else last + _NEXT, tuple(ahead))


def _stamp(workspace: Workspace, at: datetime, ahead: tuple[str, ...] = ()) -> Stamp:
    at = utc(at)
    return Stamp(at, workspace.calendar.day(at), ahead)


def utc(at: datetime) -> datetime:
    """`at` in UTC. Raises ClockWrong outside 1990…2199."""
    if not EARLIEST <= at < LATEST:
        said = f"{at.isoformat()} is no time between {EARLIEST.year} and {LATEST.year}"
        raise ClockWrong(f"{said}; give another, or set the clock of this machine")
    return at.astimezone(UTC)
