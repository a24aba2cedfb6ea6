"""Records a review of a card: one row of the log, on disk before the function returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from attncli.domain.log_row import RowKind
from attncli.domain.rating import Rating
from attncli.domain.schedule import Schedule
from attncli.errors import NotFound, Outdated
from attncli.memory.replay import is_leech
from attncli.practice.derive import derive_subject
from attncli.practice.log.log_transaction import recording
from attncli.practice.log.timestamps import stamp
from attncli.practice.workspace import Workspace

REVIEWS = frozenset({RowKind.REVIEW})


@dataclass(frozen=True, slots=True)
class ReviewBasis:
    """What the intervals on the buttons follow from, besides the settings: the study day and the last review."""

    day: int
    last_row: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The interval on the button that was pressed, and what it rests on."""

    basis: ReviewBasis
    interval_days: float


@dataclass(frozen=True, slots=True)
class AnsweredReview:
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
        answer = {"card": self.card, "rating": self.rating.word, "at": iso(self.at)}
        return answer | _schedule(self.schedule)


def schedule_document(schedule: Schedule | None) -> dict[str, Any] | None:
    """A schedule as JSON, or null for a card never seen."""
    if schedule is None:
        return None
    return {**_schedule(schedule), "repetitions": schedule.repetitions, "lapses": schedule.lapses}


def _schedule(schedule: Schedule) -> dict[str, Any]:
    return {
        "state": schedule.state.value,
        "stability": schedule.stability_days,
        "difficulty": schedule.difficulty,
        "due": iso(schedule.due_at),
        "interval_days": schedule.interval_days,
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
    shown: Shown | None = None,
) -> AnsweredReview:
    """Records one review of `card` at `at` (now); `details` goes into the log row.

    Raises NotFound for an unknown card, ClockWrong for a moment outside 1990…2199, and Outdated if what the intervals
    that were `shown` rest on has changed meanwhile, so that another would be stored.
    """
    card = workspace.library.card_id(card)
    store = workspace.store
    with recording(workspace):
        when = stamp(workspace, card, REVIEWS, at)
        if shown is not None:
            _require_unseen(card, shown, basis(workspace, card, when.day))
        before, last_row = store.schedules.get(card), store.schedules.last_row(card)
        is_whole = store.log.last_id(RowKind.REVIEW, store.index.names_of(card)) == last_row
        payload = {**(details or {}), **when.details, "rating": int(rating), "content": store.index.hash(card)}
        row = store.log.append(RowKind.REVIEW, card, when.at, when.day, payload)
        if is_whole and (before is None or (before.reviewed_at, last_row) < (row.at, row.id)):
            schedule = workspace.card_scheduler(card).review(card, before, rating, when.at, when.day)
            store.schedules.put(card, schedule, row.id)
            store.queue.refresh([card])
        else:
            schedule = _derived(workspace, card)
        if shown is not None:
            _require_kept(shown, schedule, when.day)
    return AnsweredReview(card, rating, when.at, schedule, row.id)


def basis(workspace: Workspace, card: str, day: int | None = None) -> ReviewBasis:
    """What the intervals of `card` rest on, on a study day (today)."""
    day = workspace.calendar.day(workspace.clock()) if day is None else day
    return ReviewBasis(day, workspace.store.schedules.last_row(card))


def _require_unseen(card: str, shown: Shown, now: ReviewBasis) -> None:
    if now.last_row != shown.basis.last_row:
        raise Outdated(f"card {card} was answered elsewhere meanwhile; nothing was recorded, rate it again", "answered")


def _require_kept(shown: Shown, stored: Schedule, day: int) -> None:
    """What the button said is what is stored; another day, or other settings, may give another interval."""
    if stored.interval_days == shown.interval_days:
        return
    if day != shown.basis.day:
        raise Outdated("another study day has begun meanwhile; nothing was recorded, rate it again", "day")
    raise Outdated("the settings were changed meanwhile; nothing was recorded, rate it again", "settings")


def _derived(workspace: Workspace, card: str) -> Schedule:
    schedule = derive_subject(workspace, card)
    if schedule is None:
        raise NotFound(f"card {card} has no standing review")
    return schedule
