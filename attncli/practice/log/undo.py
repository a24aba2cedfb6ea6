"""`attn undo`: which kinds of rows are taken back, and which is the last one on this machine."""

from __future__ import annotations

from typing import Literal

from attncli.domain.log_row import LogRow, RowKind
from attncli.errors import Unfit
from attncli.memory.annotations import ANNOTATIONS
from attncli.memory.replay import HOLDS
from attncli.practice.derive import derive_everything, derive_subjects
from attncli.practice.log.log_transaction import recording
from attncli.practice.log.timestamps import utc
from attncli.practice.workspace import Workspace

TAKEN_BACK = HOLDS | ANNOTATIONS | {RowKind.REVIEW, RowKind.ATTEMPT, RowKind.REPAIR, RowKind.FIT, RowKind.MOCK}


Act = Literal["review", "hold", "annotation", "attempt", "fit", "mock"]


def sort_of_act(row: LogRow) -> Act:
    """What was taken back, in a word."""
    of_its_own: dict[RowKind, Act] = {RowKind.REVIEW: "review", RowKind.FIT: "fit", RowKind.MOCK: "mock"}
    if row.kind in of_its_own:
        return of_its_own[row.kind]
    return "hold" if row.kind in HOLDS else "annotation" if row.kind in ANNOTATIONS else "attempt"


def take_back(workspace: Workspace, row: LogRow | None = None) -> LogRow:
    """Takes back `row`, or what was last done on this machine; the row that was taken back.

    A review, a suspension, a bury, their lifting, a tag, a note, an attempt, a repair, a fit or a step of a mock
    interview; what a hint or a solution showed stays seen.
    """
    store, at = workspace.store, utc(workspace.clock())
    with recording(workspace):
        done = row or store.log.last_here(TAKEN_BACK)
        if done is None:
            raise Unfit("there is no review on this machine to take back, nor anything else that was done here", "undo")
        store.log.append(RowKind.UNDO, done.subject, at, workspace.calendar.day(at), {"row": done.id})
        if done.kind is RowKind.FIT:
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, [done.subject])
    return done
