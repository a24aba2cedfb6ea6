"""From the log to schedules: for one subject after a row was written, or for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attncli.domain.memory import Schedule
from attncli.domain.review import LogRow, RowKind
from attncli.memory.evidence import fold_attempts, solved_reviews
from attncli.memory.replay import fold_hold, fold_reviews, standing_reviews
from attncli.practice.introduction import rebuild_queue

if TYPE_CHECKING:
    from attncli.practice.workspace import Workspace

_CHALLENGE_ROWS = frozenset({RowKind.ATTEMPT, RowKind.START, RowKind.HINT, RowKind.SOLUTION})


def derive_subject(workspace: Workspace, subject: str) -> Schedule | None:
    """Folds the whole log of one card (under all its names) or challenge; inside a transaction."""
    names = workspace.store.index.names_of(subject)
    schedule = _derive(workspace, subject, workspace.store.log.of_subjects(names))
    workspace.store.queue.refresh([subject])
    return schedule


def derive_everything(workspace: Workspace, progress: Callable[[int], None] | None = None) -> int:
    """Folds the whole log; the number of subjects. Inside a transaction."""
    store = workspace.store
    renames = store.index.renames()
    joined = set(renames) | set(renames.values())
    done = 0
    store.schedules.clear()
    for subject, rows in store.log.by_subject():
        if subject not in joined:
            _derive(workspace, subject, rows)
            done += 1
            if progress:
                progress(done)
    for subject in sorted(set(renames.values())):
        _derive(workspace, subject, store.log.of_subjects(store.index.names_of(subject)))
        done += 1
    rebuild_queue(store)
    store.remember_scheduling(workspace.settings.scheduling)
    return done


def _derive(workspace: Workspace, subject: str, rows: Sequence[LogRow]) -> Schedule | None:
    if any(row.kind in _CHALLENGE_ROWS for row in rows):
        schedule = fold_attempts(workspace.challenge_scheduler, rows)
        last = [row for row, _ in solved_reviews(rows)]
    else:
        schedule = fold_reviews(workspace.scheduler, rows)
        last = standing_reviews(rows)
    hold = fold_hold(rows)
    workspace.store.schedules.put(subject, schedule, last[-1].id if last else "")
    workspace.store.schedules.put_hold(subject, hold.suspended, hold.buried_day)
    return schedule
