"""Derive schedules from the log: of one card or challenge after a row was written, or of all of them.

Every function here runs inside a transaction of the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from attncli.domain.log_row import LogRow, Schedule
from attncli.memory.queue_order import introduction_order, unseen_cards
from attncli.memory.replay import (
    CHALLENGE_ROWS,
    Hold,
    fold_attempts,
    fold_hold,
    fold_reviews,
    solved_reviews,
    standing_reviews,
)
from attncli.store.schedules import ORDERED_FOR

if TYPE_CHECKING:
    from attncli.config import Settings
    from attncli.memory.scheduler import SchedulePolicy, Scheduler
    from attncli.store.database import Database
    from attncli.store.schedules import Moment


class ScheduleSources(Protocol):
    """Sources of a schedule. `Workspace` implements this protocol, which avoids a circular import."""

    store: Database
    settings: Settings

    @property
    def policy(self) -> SchedulePolicy: ...
    def card_scheduler(self, card: str) -> Scheduler: ...
    @property
    def challenge_scheduler(self) -> Scheduler: ...


def derive_subject(workspace: ScheduleSources, subject: str) -> Schedule | None:
    """Replay the whole log of one card (under all its names) or challenge, and store its schedule."""
    names = workspace.store.index.names_of(subject)
    schedule = _derive(workspace, subject, workspace.store.log.of_subjects(names))
    workspace.store.queue.refresh([subject])
    return schedule


def derive_subjects(workspace: ScheduleSources, subjects: Iterable[str]) -> None:
    """Derive the schedules to which rows about these subjects belong, even if a card was renamed later."""
    store = workspace.store
    renames = store.index.renames()
    given = set(subjects)
    for subject in sorted({renames.get(subject, subject) for subject in given} | given):
        if subject in renames and not store.index.challenge_owner(subject):
            _store(store, subject, None, "", Hold())
        else:
            derive_subject(workspace, subject)


def derive_everything(workspace: ScheduleSources, progress: Callable[[int], None] | None = None) -> int:
    """Replay the whole log. Return the number of subjects; `progress` gets the count so far."""
    store = workspace.store
    renames = store.index.renames()
    renamed = (set(renames) - set(store.index.challenge_ids())) | set(renames.values())
    done = 0
    store.schedules.clear()
    for subject, rows in store.log.by_subject():
        if subject not in renamed:
            _derive(workspace, subject, rows)
            done += 1
            if progress:
                progress(done)
    for subject in sorted(set(renames.values())):
        _derive(workspace, subject, store.log.of_subjects(store.index.names_of(subject)))
        done += 1
    rebuild_queue(store)
    store.keep_note("scheduling", workspace.settings.scheduling)
    return done


def _derive(workspace: ScheduleSources, subject: str, rows: Sequence[LogRow]) -> Schedule | None:
    if _is_challenge(workspace.store, subject, rows):
        schedule = fold_attempts(workspace.challenge_scheduler, rows)
        reviews = [row for row, _ in solved_reviews(rows)]
    else:
        schedule = fold_reviews(workspace.card_scheduler(subject), rows)
        reviews = standing_reviews(rows)
    _store(workspace.store, subject, schedule, reviews[-1].id if reviews else "", fold_hold(rows))
    return schedule


def _store(store: Database, subject: str, schedule: Schedule | None, last_row: str, hold: Hold) -> None:
    store.schedules.put(subject, schedule, last_row)
    store.schedules.put_hold(subject, hold.suspended, hold.buried_day)


def _is_challenge(store: Database, subject: str, rows: Iterable[LogRow]) -> bool:
    """Return True if the subject is a challenge in the bank or, if it has left the bank, by its rows."""
    if store.index.challenge_owner(subject):
        return True
    return not store.index.owner(subject) and any(row.kind in CHALLENGE_ROWS for row in rows)


def rebuild_queue(store: Database, level: str = "") -> None:
    """Rebuild the queue: cards with their schedules and holds, siblings that wait, and the order of unseen cards.

    Without `level`, the level of the last order is used again.
    """
    cards, level = unseen_cards(store.index.introduction()), level or store.note(ORDERED_FOR)
    store.queue.rebuild(introduction_order(cards, level))


@contextmanager
def as_day_began(workspace: ScheduleSources, when: Moment) -> Iterator[None]:
    """Show log, schedules and queue as they were when the study day of `when` began; changes inside are rolled back."""
    _policy = workspace.policy  # read before rows are hidden: today's fit applies to the morning too
    store = workspace.store
    if not store.has_rows_since(when.day_start):
        yield
        return
    with store.log.until(when.day_start) as changed:
        derive_subjects(workspace, changed)
        yield
