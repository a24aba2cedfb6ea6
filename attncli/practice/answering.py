"""Recording what the learner did with a card: each is one row of the log, on disk before the function returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from attncli.domain.memory import Schedule
from attncli.domain.rating import Rating
from attncli.domain.review import EARLIEST, LATEST, LogRow, RowKind
from attncli.errors import NotFound, UsageError
from attncli.memory.replay import is_leech
from attncli.practice.derivation import derive_subject
from attncli.practice.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Answered:
    """A recorded review and the schedule that follows from it."""

    card: str
    rating: Rating
    at: datetime
    schedule: Schedule
    row: str

    @property
    def leech(self) -> bool:
        """Forgotten eight times or more."""
        return is_leech(self.schedule)

    def document(self) -> dict[str, Any]:
        """What `attn answer --json` prints."""
        return {
            "card": self.card,
            "rating": self.rating.word,
            "at": iso(self.at),
            "state": self.schedule.state.value,
            "stability": self.schedule.stability_days,
            "difficulty": self.schedule.difficulty,
            "due": iso(self.schedule.due_at),
            "interval_days": self.schedule.interval_days,
        }


def schedule_document(schedule: Schedule | None) -> dict[str, Any] | None:
    """A schedule as JSON, or null for a card never seen."""
    if schedule is None:
        return None
    return {
        "state": schedule.state.value,
        "stability": schedule.stability_days,
        "difficulty": schedule.difficulty,
        "due": iso(schedule.due_at),
        "interval_days": schedule.interval_days,
        "repetitions": schedule.repetitions,
        "lapses": schedule.lapses,
    }


def iso(at: datetime) -> str:
    """UTC, ISO 8601."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def answer(
    workspace: Workspace,
    card: str,
    rating: Rating,
    at: datetime | None = None,
    details: Mapping[str, Any] | None = None,
) -> Answered:
    """Records one review of `card` at `at` (now); `details` goes into the log row.

    Raises NotFound for an unknown card and UsageError for a moment outside 1990…2199.
    """
    at = _utc(at or workspace.clock())
    card = workspace.library.card(card).id
    store, day = workspace.store, workspace.calendar.day(at)
    payload = {**(details or {}), "rating": int(rating), "content": store.index.hash(card)}
    with store.transaction():
        before, last_row = store.schedules.get(card), store.schedules.last_row(card)
        row = store.log.append(RowKind.REVIEW, card, at, day, payload)
        if before is None or (before.reviewed_at, last_row) < (row.at, row.id):
            schedule = workspace.scheduler.review(card, before, rating, at, day)
            store.schedules.put(card, schedule, row.id)
            store.queue.refresh([card])
        else:
            schedule = _derived(workspace, card)
        _distrust_other_settings(workspace)
    return Answered(card, rating, at, schedule, row.id)


def undo(workspace: Workspace, row: LogRow | None = None) -> LogRow:
    """Takes back `row`, or the last review that was recorded on this machine; the review that was taken back."""
    store, at = workspace.store, _utc(workspace.clock())
    with store.transaction():
        review = row or store.log.last_review_here()
        if review is None:
            raise UsageError("there is no review on this machine to take back")
        store.log.append(RowKind.UNDO, review.subject, at, workspace.calendar.day(at), {"row": review.id})
        derive_subject(workspace, store.index.renamed_to(review.subject) or review.subject)
        _distrust_other_settings(workspace)
    return review


def suspend(workspace: Workspace, card: str) -> str:
    """Takes `card` out of the queue for good; its id."""
    return _hold(workspace, RowKind.SUSPEND, card)


def bury(workspace: Workspace, card: str) -> str:
    """Takes `card` out of the queue until the next study day; its id."""
    return _hold(workspace, RowKind.BURY, card)


def unsuspend(workspace: Workspace, card: str) -> str:
    """Puts a suspended or buried `card` back into the queue; its id."""
    return _hold(workspace, RowKind.UNSUSPEND, card)


def _hold(workspace: Workspace, kind: RowKind, card: str) -> str:
    card, at = workspace.library.card(card).id, _utc(workspace.clock())
    with workspace.store.transaction():
        workspace.store.log.append(kind, card, at, workspace.calendar.day(at), {})
        derive_subject(workspace, card)
    return card


def _derived(workspace: Workspace, card: str) -> Schedule:
    schedule = derive_subject(workspace, card)
    if schedule is None:
        raise NotFound(f"card {card} has no standing review")
    return schedule


def _distrust_other_settings(workspace: Workspace) -> None:
    """If another process has changed the settings meanwhile, the schedules are derived anew at the next start."""
    if workspace.store.scheduling != workspace.settings.scheduling:
        workspace.store.remember_scheduling("")


def _utc(at: datetime) -> datetime:
    if not EARLIEST <= at < LATEST:
        raise UsageError(f"{at.isoformat()} is no time between {EARLIEST.year} and {LATEST.year}")
    return at.astimezone(UTC)
