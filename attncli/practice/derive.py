"""From the log to schedules: for one subject after a row was written, or for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from attncli.domain.log_row import LogRow, Schedule
from attncli.memory.queue_order import asked_order, introduction_order, unseen_cards
from attncli.memory.replay import (
    CHALLENGE_ROWS,
    Hold,
    fold_attempts,
    fold_hold,
    fold_reviews,
    solved_reviews,
    standing_reviews,
)
from attncli.store.queue_table import ORDERED_FOR

if TYPE_CHECKING:
    from attncli.config import Settings
    from attncli.memory.scheduler import Scheduler
    from attncli.store.database import Database


class ScheduleSources(Protocol):
    """What schedules are derived with; a workspace is one."""

    store: Database
    settings: Settings

    def card_scheduler(self, card: str) -> Scheduler: ...
    @property
    def challenge_scheduler(self) -> Scheduler: ...


def derive_subject(sitting: ScheduleSources, subject: str) -> Schedule | None:
    """Folds the whole log of one card (under all its names) or challenge; inside a transaction."""
    names = sitting.store.index.names_of(subject)
    schedule = _derive(sitting, subject, sitting.store.log.of_subjects(names))
    sitting.store.queue.refresh([subject])
    return schedule


def derive_subjects(sitting: ScheduleSources, subjects: Iterable[str]) -> None:
    """Derives what rows about these subjects count for, whatever the subjects are called now; inside a transaction."""
    store = sitting.store
    renames = store.index.renames()
    given = set(subjects)
    for subject in sorted({renames.get(subject, subject) for subject in given} | given):
        if subject in renames and not store.index.challenge_owner(subject):
            _put(store, subject, None, "", Hold())
        else:
            derive_subject(sitting, subject)


def derive_everything(sitting: ScheduleSources, progress: Callable[[int], None] | None = None) -> int:
    """Folds the whole log; the number of subjects. Inside a transaction."""
    store = sitting.store
    renames = store.index.renames()
    joined = (set(renames) - set(store.index.challenge_ids())) | set(renames.values())
    done = 0
    store.schedules.clear()
    for subject, rows in store.log.by_subject():
        if subject not in joined:
            _derive(sitting, subject, rows)
            done += 1
            if progress:
                progress(done)
    for subject in sorted(set(renames.values())):
        _derive(sitting, subject, store.log.of_subjects(store.index.names_of(subject)))
        done += 1
    store.log.review_days.rebuild()
    rebuild_queue(store)
    store.remember_scheduling(sitting.settings.scheduling)
    return done


def _derive(sitting: ScheduleSources, subject: str, rows: Sequence[LogRow]) -> Schedule | None:
    if _is_challenge(sitting.store, subject, rows):
        schedule = fold_attempts(sitting.challenge_scheduler, rows)
        last = [row for row, _ in solved_reviews(rows)]
    else:
        schedule = fold_reviews(sitting.card_scheduler(subject), rows)
        last = standing_reviews(rows)
    _put(sitting.store, subject, schedule, last[-1].id if last else "", fold_hold(rows))
    return schedule


def _put(store: Database, subject: str, schedule: Schedule | None, last_row: str, hold: Hold) -> None:
    store.schedules.put(subject, schedule, last_row)
    store.schedules.put_hold(subject, hold.suspended, hold.buried_day)


def _is_challenge(store: Database, subject: str, rows: Iterable[LogRow]) -> bool:
    """What the bank says it is; of a subject that has left the bank, what its rows say."""
    if store.index.challenge_owner(subject):
        return True
    return not store.index.owner(subject) and any(row.kind in CHALLENGE_ROWS for row in rows)


def rebuild_queue(store: Database, level: str = "") -> None:
    """Joins cards, schedules and holds anew, with who waits and in what order unseen cards come; in a transaction.

    Without a `level` the order is for the one that it was for.
    """
    cards, level = unseen_cards(store.index.introduction()), level or store.note(ORDERED_FOR)
    store.queue.rebuild(introduction_order(cards, level), asked_order(cards, level))
