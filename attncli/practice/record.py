"""Records a review of a card: one row of the log, on disk before the function returns."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal
from unicodedata import normalize

from attncli.domain.log_row import EARLIEST, LATEST, LONGEST_NOTE, LogRow, Rating, RowKind, Schedule, kept_text
from attncli.errors import ClockWrong, NotFound, Outdated, Unfit
from attncli.memory.replay import ANNOTATIONS, CHALLENGE_ROWS, FLAG, HOLDS, Annotation, fold_annotation, is_leech
from attncli.practice.derive import derive_everything, derive_subject, derive_subjects
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


# Taking a card out of the queue, for good or until tomorrow, and putting it back.


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


# Tags, a flag and a note on a card: rows of the log like everything else, so that they sync and can be undone.

LONGEST_TAG = 40
_TAG = re.compile(r"\w[\w-]*\Z")


def annotation(workspace: Workspace, card: str) -> Annotation:
    """The tags and the note of `card`, under all the names that it had."""
    return fold_annotation(workspace.store.log.of_subjects(workspace.store.index.names_of(card)))


def annotated_cards(workspace: Workspace) -> dict[str, Annotation]:
    """Every card that has a tag or a note."""
    log, renamed = workspace.store.log, workspace.store.index.renames()
    rows = defaultdict[str, list[LogRow]](list)
    for kind in sorted(ANNOTATIONS):
        for row in log.of_kind(kind):
            rows[renamed.get(row.subject, row.subject)].append(row)
    if rows:
        for row in log.of_kind(RowKind.UNDO):
            if (id := renamed.get(row.subject, row.subject)) in rows:
                rows[id].append(row)
    found = {id: fold_annotation(about) for id, about in rows.items()}
    return {id: said for id, said in found.items() if said != Annotation()}


def toggle_tag(workspace: Workspace, card: str, tag: str) -> bool:
    """Puts `tag` on the card, or takes it off; whether it is on now. Raises Unfit for what is no tag."""
    tag = normalize("NFC", tag.strip().lstrip("#").lower())
    if not _TAG.match(tag) or len(tag) > LONGEST_TAG:
        said = f"“{tag[:LONGEST_TAG]}” is no tag; use letters, digits and hyphens, at most {LONGEST_TAG}"
        raise Unfit(said, "tag")
    card = workspace.library.card_id(card)
    on = tag not in annotation(workspace, card).tags
    record(workspace, RowKind.TAG, card, {"tag": tag, "on": on})
    return on


def toggle_flag(workspace: Workspace, card: str) -> bool:
    """Flags the card, or no longer; whether it is flagged now."""
    return toggle_tag(workspace, card, FLAG)


def set_note(workspace: Workspace, card: str, text: str) -> None:
    """Replaces the note; an empty one takes it away. Nothing is recorded where it says that already.

    Raises Unfit for a note that is too long to keep.
    """
    text = kept_text(text.strip(), LONGEST_NOTE + 1)
    if len(text) > LONGEST_NOTE:
        raise Unfit(f"the note has more than {LONGEST_NOTE} characters; shorten it", "note")
    card = workspace.library.card_id(card)
    if text != annotation(workspace, card).note:
        record(workspace, RowKind.NOTE, card, {"text": text})


# `attn undo`: which kinds of rows are taken back, and which is the last one on this machine.

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


# One change of the log: all or nothing, and derived under the settings and the fit that hold now.


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


# When something was done: the stamp of a log row, from a clock that may be wrong.
#
# Rows of one subject follow one another, whatever the clock does: one that was set back a little gives the moment
# after the last row. Rows that lie more than a day ahead are left where they are and named; replay then sets them
# aside while they are the last (see `attncli.memory.replay.in_force`), whichever of the two clocks was the wrong one.

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
