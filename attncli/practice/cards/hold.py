"""Taking a card out of the queue, for good or until tomorrow, and putting it back."""

from __future__ import annotations

from attncli.domain.log_row import LogRow, RowKind
from attncli.practice.log.log_transaction import record
from attncli.practice.workspace import Workspace


def suspend(workspace: Workspace, card: str) -> str:
    """Takes `card` out of the queue for good; its id."""
    return hold(workspace, RowKind.SUSPEND, card).subject


def bury(workspace: Workspace, card: str) -> str:
    """Takes `card` out of the queue until the next study day; its id."""
    return hold(workspace, RowKind.BURY, card).subject


def unsuspend(workspace: Workspace, card: str) -> str:
    """Puts a suspended or buried `card` back into the queue; its id."""
    return hold(workspace, RowKind.UNSUSPEND, card).subject


def hold(workspace: Workspace, kind: RowKind, card: str) -> LogRow:
    """Records one of HOLDS; the row."""
    return record(workspace, kind, workspace.library.card_id(card), {})
