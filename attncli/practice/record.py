"""Record actions of the learner: reviews, holds, tags, notes, undo. Each is one row of the log.

A row is on disk, and the schedule derived from it, before the function returns. Undo appends a row too, so that logs of
several machines merge as a union.

Rows of one subject keep their order under any clock: if the clock was set back a little, a row is stamped just after
the last one. Rows more than a day ahead of the clock wait until their time has come.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import normalize

from attncli.domain.log_row import EARLIEST, LATEST, LONGEST_NOTE, LogRow, Rating, RowKind, Schedule, iso, kept_text
from attncli.errors import ClockWrong, InvalidInput, NotFound, Outdated, UsageError
from attncli.i18n import Lang, Localised, _
from attncli.memory.replay import ANNOTATIONS, CHALLENGE_ROWS, FLAG, HOLDS, Annotation, fold_annotation, is_leech
from attncli.practice.derive import derive_everything, derive_subject, derive_subjects
from attncli.practice.workspace import Workspace
from attncli.store.schedules import Moment

REVIEWS = frozenset({RowKind.REVIEW})
TAKEN_BACK = HOLDS | ANNOTATIONS | {RowKind.REVIEW, RowKind.ATTEMPT, RowKind.REPAIR, RowKind.FIT, RowKind.MOCK}
"""The kinds of rows that `attn undo` takes back; a hint or solution that was shown stays seen."""
LONGEST_TAG = 40
_TAG = re.compile(r"\w[\w-]*\Z")
_NEXT = timedelta(microseconds=1)
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


@dataclass(frozen=True, slots=True)
class AnsweredReview:
    """A recorded review and the schedule after it."""

    card: str
    rating: Rating
    at: datetime
    schedule: Schedule
    row: str

    @property
    def leech(self) -> bool:
        """True if the card was forgotten eight times or more."""
        return is_leech(self.schedule)

    def document(self) -> dict[str, Any]:
        """Return the JSON of `attn answer --json`."""
        answer = {"card": self.card, "rating": self.rating.word, "at": iso(self.at)}
        return answer | _schedule(self.schedule)


def schedule_document(schedule: Schedule | None) -> dict[str, Any] | None:
    """Return a schedule as JSON, None for a card never seen."""
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


def answer(
    workspace: Workspace,
    card: str,
    rating: Rating,
    at: datetime | None = None,
    details: Mapping[str, Any] | None = None,
    shown: Schedule | None = None,
) -> AnsweredReview:
    """Record one review of `card` at `at` (now); `details` are added to the log row.

    Raises NotFound for an unknown card, ClockWrong for a moment outside 1990…2199, and Outdated if another interval or
    repetition than the `shown` one would be stored.
    """
    card = workspace.library.card_id(card)
    store = workspace.store
    with recording(workspace, at):
        when = stamp(workspace, card, REVIEWS, at)
        before, last_row = store.schedules.get(card), store.schedules.last_row(card)
        last = store.log.last_about(store.index.names_of(card), REVIEWS)
        is_whole = (last.id if last else "") == last_row
        payload = {**(details or {}), "rating": int(rating), "content": store.index.hash(card)}
        row = store.log.append(RowKind.REVIEW, card, when.now, when.day, payload)
        if is_whole and (before is None or (before.reviewed_at, last_row) < (row.at, row.id)):
            schedule = workspace.card_scheduler(card).review(card, before, rating, when.now, when.day)
            store.schedules.put(card, schedule, row.id)
            store.queue.refresh([card])
        else:
            derived = derive_subject(workspace, card)
            if derived is None:
                raise NotFound(_("card {card} has no valid review", card=card))
            schedule = derived
        if shown and (shown.interval_days, shown.repetitions) != (schedule.interval_days, schedule.repetitions):
            raise Outdated(
                _("the intervals of card {card} have changed; nothing was recorded, rate it again", card=card)
            )
    return AnsweredReview(card, rating, when.now, schedule, row.id)


def interval_text(interval: timedelta, lang: Lang) -> str:
    """Format an interval as `10 min`, `4 d`, `2.1 mo`, `1.3 y`."""
    return _interval(interval.total_seconds())[lang]


def _interval(seconds: float) -> Localised:
    days = seconds / _DAY
    if seconds < _MINUTE:
        return _("{n} s", n=round(max(0.0, seconds)))
    if seconds < _HOUR:
        return _("{n} min", n=round(seconds / _MINUTE))
    if seconds < _DAY:
        return _("{n} h", n=_short(seconds / _HOUR))
    if days < _MONTH_DAYS:
        return _("{n} d", n=round(days))
    if days < _YEAR_DAYS:
        return _("{n} mo", n=_short(days / _MONTH_DAYS))
    return _("{n} y", n=_short(days / _YEAR_DAYS))


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:.0f}"


# Holds


def hold(workspace: Workspace, kind: RowKind, card: str) -> LogRow:
    """Record a hold of `card`: suspended for good, buried until the next study day, or neither. Return the row."""
    return record(workspace, kind, workspace.library.card_id(card), {})


# Tags, flag and note


def annotation(workspace: Workspace, card: str) -> Annotation:
    """Return tags, flag and note of `card`, under all its former ids."""
    return fold_annotation(workspace.store.log.of_subjects(workspace.store.index.names_of(card)))


def annotated_cards(workspace: Workspace) -> dict[str, Annotation]:
    """Return the annotation of every card that has one."""
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
    return {id: annotation for id, annotation in found.items() if annotation != Annotation()}


def toggle_tag(workspace: Workspace, card: str, tag: str) -> bool:
    """Add or remove `tag`. Return True if the card has it now. Raises UsageError for an invalid tag."""
    tag = normalize("NFC", tag.strip().lstrip("#").lower())
    if not _TAG.match(tag) or len(tag) > LONGEST_TAG:
        raise UsageError(_("Use letters, digits and hyphens for a tag, at most 40."))
    card = workspace.library.card_id(card)
    on = tag not in annotation(workspace, card).tags
    record(workspace, RowKind.TAG, card, {"tag": tag, "on": on})
    return on


def toggle_flag(workspace: Workspace, card: str) -> bool:
    """Flag or unflag the card. Return True if it is flagged now."""
    return toggle_tag(workspace, card, FLAG)


def set_note(workspace: Workspace, card: str, text: str) -> None:
    """Replace the note; an empty one removes it. Nothing is recorded if it does not change.

    Raises UsageError for a note that is too long to keep.
    """
    text = kept_text(text.strip(), LONGEST_NOTE + 1)
    if len(text) > LONGEST_NOTE:
        raise UsageError(_("The note is too long; shorten it."))
    card = workspace.library.card_id(card)
    if text != annotation(workspace, card).note:
        record(workspace, RowKind.NOTE, card, {"text": text})


# Undo


def take_back(workspace: Workspace, row: LogRow | None = None) -> LogRow:
    """Undo `row`, or the last row of TAKEN_BACK on this machine. Return that row.

    Raises InvalidInput if there is nothing to undo.
    """
    store, at = workspace.store, utc(workspace.clock())
    with recording(workspace):
        done = row or store.log.last_here(TAKEN_BACK)
        if done is None:
            raise InvalidInput(_("there is nothing to undo on this machine"), "undo")
        store.log.append(RowKind.UNDO, done.subject, at, workspace.calendar.day(at), {"row": done.id})
        if done.kind is RowKind.FIT:
            workspace.forget_policy()
            derive_everything(workspace)
        else:
            derive_subjects(workspace, [done.subject])
    return done


# Writing a row


@contextmanager
def recording(workspace: Workspace, at: datetime | None = None) -> Iterator[None]:
    """Open a transaction; changes by other processes since this workspace was opened are applied first.

    With `at`, rows until then count.
    """
    if at is not None:
        workspace.store.count_until(utc(at))
    workspace.catch_up()
    with workspace.store.transaction():
        workspace.follow_settings()
        yield


def record(
    workspace: Workspace, kind: RowKind, subject: str, details: Mapping[str, Any], at: datetime | None = None
) -> LogRow:
    """Record a hold, an annotation or an act on a challenge at `at` (now), and derive its schedule."""
    with recording(workspace, at):
        kinds = next((some for some in (HOLDS, ANNOTATIONS) if kind in some), CHALLENGE_ROWS)
        when = stamp(workspace, subject, kinds, at)
        row = workspace.store.log.append(kind, subject, when.now, when.day, dict(details))
        derive_subject(workspace, subject)
    return row


def stamp(workspace: Workspace, subject: str, kinds: Collection[RowKind], at: datetime | None = None) -> Moment:
    """Return the moment of a row about `subject` at `at` (now); call inside a transaction.

    Without `at`, it is later than the last row of these `kinds`. Raises ClockWrong for a moment outside 1990…2199.
    """
    moment = utc(at or workspace.clock())
    if at is None:
        last = workspace.store.log.last_about(workspace.store.index.names_of(subject), kinds)
        if last is not None and last.at > moment:
            moment = last.at + _NEXT
            workspace.store.count_until(moment)
    return workspace.moment(moment)


def utc(at: datetime) -> datetime:
    """Convert `at` to UTC. Raises ClockWrong outside 1990…2199."""
    if not EARLIEST <= at < LATEST:
        message = _(
            "{at} is not between {year} and {year_2}", at=at.isoformat(), year=EARLIEST.year, year_2=LATEST.year
        )
        raise ClockWrong(_("{message}; give another time, or set this machine's clock", message=message))
    return at.astimezone(UTC)
