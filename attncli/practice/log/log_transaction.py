"""One change of the log: all or nothing, and derived under the settings and the fit that hold now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from attncli.domain.log_row import LogRow, RowKind
from attncli.memory.annotations import ANNOTATIONS
from attncli.memory.attempt_rating import CHALLENGE_ROWS
from attncli.memory.replay import HOLDS
from attncli.practice.derive import derive_subject
from attncli.practice.log.timestamps import stamp
from attncli.practice.workspace import Workspace


@contextmanager
def recording(workspace: Workspace) -> Iterator[None]:
    """A transaction. What another process has changed since this one opened the workspace is taken over first."""
    with workspace.store.transaction():
        workspace.catch_up()
        yield


def record(
    workspace: Workspace, kind: RowKind, subject: str, details: Mapping[str, Any], at: datetime | None = None
) -> LogRow:
    """Records a hold, tag or note of a card, or what was done with a challenge, at `at` (now); derives what follows."""
    with recording(workspace):
        sort = next((kinds for kinds in (HOLDS, ANNOTATIONS) if kind in kinds), CHALLENGE_ROWS)
        when = stamp(workspace, subject, sort, at)
        row = workspace.store.log.append(kind, subject, when.at, when.day, {**details, **when.details})
        derive_subject(workspace, subject)
    return row
