"""One change of the log: all or nothing, and derived under the settings and the fit that hold now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from attncli.domain.log_row import LogRow, RowKind
from attncli.memory.evidence import CHALLENGE_ROWS
from attncli.memory.replay import HOLDS
from attncli.practice.derivation import derive_subject
from attncli.practice.stamping import stamp
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
    """Records a hold of a card, or what was done with a challenge, at `at` (now), and derives what follows."""
    with recording(workspace):
        when = stamp(workspace, subject, HOLDS if kind in HOLDS else CHALLENGE_ROWS, at)
        row = workspace.store.log.append(kind, subject, when.at, when.day, {**details, **when.details})
        derive_subject(workspace, subject)
    return row
