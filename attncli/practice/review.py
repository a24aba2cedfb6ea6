"""Review sessions: choose the next card, compute the interval of each rating, save each answer before the next card.

`ReviewSession` asks the rest of today's list, `DrillSession` the cards that the learner chose.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from random import Random

from attncli.domain.card import Card
from attncli.domain.log_row import LogRow, Rating, RowKind, Schedule, State
from attncli.errors import NotFound, Outdated, UsageError
from attncli.i18n import Localised, _
from attncli.practice import record
from attncli.practice.queue import CardFilter, draw_cards
from attncli.practice.record import AnsweredReview, take_back
from attncli.practice.today import cards_left
from attncli.practice.workspace import Workspace
from attncli.store.schedules import Moment, Waiting

LEARN_AHEAD = timedelta(minutes=20)
RATINGS: dict[Rating, Localised] = {
    Rating.AGAIN: _("Again"),
    Rating.HARD: _("Hard"),
    Rating.GOOD: _("Good"),
    Rating.EASY: _("Easy"),
}


@dataclass(frozen=True, slots=True)
class SessionItem:
    """A card to ask now; `schedule` is None for a card never seen, `is_repeat` True for one asked again on request."""

    card: Card
    schedule: Schedule | None
    previews: dict[Rating, Schedule]
    number: int
    is_repeat: bool = False

    @property
    def state(self) -> State:
        return self.schedule.state if self.schedule else State.NEW

    def interval(self, rating: Rating) -> timedelta:
        """Return the interval on the button of `rating`; answering applies exactly this one or is refused."""
        return timedelta(days=self.previews[rating].interval_days)


@dataclass(frozen=True, slots=True)
class RatedCard:
    """An answer of this session; `due_at` is when the card comes back, None if nothing was recorded.

    `tests_memory` is True for the first answer of a day to a card that was seen on an earlier one.
    """

    card: str
    rating: Rating
    due_at: datetime | None
    tests_memory: bool


@dataclass(frozen=True, slots=True)
class SessionProgress:
    """Cards `answered` in this session, and those still to come.

    The counts change with the learner's actions, never with the clock alone. `learning` counts the cards that come
    back on this study day, each until the answer that ends its steps, and those to ask again at the end.
    """

    answered: int
    new: int
    learning: int
    review: int

    @property
    def remaining(self) -> int:
        return self.new + self.learning + self.review


def again_text(card: str, is_wanted: bool) -> Localised:
    """Return the message that a card will be asked again, or will not."""
    if is_wanted:
        return _("{card} comes again at the end; rate it now", card=card)
    return _("{card} does not come again", card=card)


class ReviewSession:
    """A session over the rest of today's list, or its cards of one `topic`; at most `limit` answers.

    `next()` returns the item to ask (also in `current`), or None at the end. `rate`, `suspend` and `bury` settle it;
    `drop` leaves out a card that has left its bank. Steps that are due come first, then the cards in the order of the
    list. When nothing else is left, steps due within 20 minutes are asked early, then the cards to `ask_again`, whose
    second answer is not recorded. Calling `next()` twice without an answer returns the same item.
    """

    def __init__(self, workspace: Workspace, topic: str | None = None, limit: int | None = None) -> None:
        if topic is not None:
            topic = workspace.library.topic(topic).id
        self.workspace = workspace
        self.topic = topic
        self.limit = limit
        self.current: SessionItem | None = None
        self._answered: list[RatedCard] = []
        self._done: list[LogRow] = []
        self._missing: set[str] = set()
        self._skipped: set[str] = set()
        self._repeats: list[str] = []
        self._asked_at = workspace.clock()
        self._plan = deque(self._planned(workspace.moment()))

    def next(self) -> SessionItem | None:
        """Return the item to ask now; None when the session is over."""
        while self.current is None:
            is_open = self.limit is None or len(self._answered) < self.limit
            waiting = self._take(self.workspace.moment()) if is_open else None
            if waiting is None and not self._repeats:
                break
            id = waiting.id if waiting else self._repeats.pop(0)
            try:
                self._ask(self._item(id, is_repeat=waiting is None))
            except NotFound:
                self._missing.add(id)
        return self.current

    def refresh(self) -> SessionItem:
        """Update the current item: its intervals follow from study day, last review and settings."""
        item = self._required()
        self.current = self._item(item.card.id, item.is_repeat)
        return self.current

    def ask_again(self) -> bool:
        """Switch on or off that the current card is asked again at the end of the session. Return True if it is on."""
        id = self._required().card.id
        is_wanted = id not in self._repeats
        self._repeats = [*(other for other in self._repeats if other != id), *[id] * is_wanted]
        return is_wanted

    @property
    def is_recorded(self) -> bool:
        """True if the answer to the current card is recorded as a review."""
        return self.current is None or not self.current.is_repeat

    def rate(
        self, rating: Rating, *, points: Sequence[int] | None = None, correct: bool | None = None
    ) -> AnsweredReview | None:
        """Record the review of the current item; on disk when this returns.

        An answer in a cram is kept for this session only, that to a repeat not at all; then this returns None.
        `points` are the indices of the ticked points, `correct` the result of automatic marking; both, and the time
        since the card was asked, go into the log. Raises Outdated if the intervals that were shown are no longer valid:
        `current` then has the valid ones. Raises NotFound if the card has left its bank.
        """
        item = self._required()
        if not self.is_recorded:
            if not item.is_repeat:
                self._keep(item, rating, None)
            at, repeat = self.workspace.clock(), {"is_repeat": item.is_repeat}
            self._settle(LogRow("", "", RowKind.REVIEW, item.card.id, at, 0, repeat))
            return None
        elapsed_ms = max(0, round((self.workspace.clock() - self._asked_at).total_seconds() * 1000))
        fields = {"points": None if points is None else list(points), "correct": correct, "elapsed_ms": elapsed_ms}
        details = {key: value for key, value in fields.items() if value is not None}
        shown = item.previews[rating]
        try:
            answered = record.answer(self.workspace, item.card.id, rating, details=details, shown=shown)
        except Outdated:
            self.refresh()
            raise
        self._keep(item, rating, answered.schedule.due_at)
        self._settle(LogRow(answered.row, "", RowKind.REVIEW, answered.card, answered.at, 0))
        return answered

    def undo(self) -> SessionItem:
        """Undo the last action of this session and ask its card again. Raises UsageError if there is none."""
        if not self._done:
            raise UsageError(_("there is no answer in this session to undo"))
        row = self._done[-1]
        if row.id:
            take_back(self.workspace, row)
        self._done.pop()
        is_repeat = row.payload.get("is_repeat", False)
        if row.kind is RowKind.REVIEW and not is_repeat:
            self._answered.pop()
        item = self._item(row.subject, is_repeat)
        if self.current is not None:
            self._put_back(self.current)
        self._ask(item)
        return item

    def suspend(self) -> None:
        """Take the current card out of the queue for good."""
        self._hold(RowKind.SUSPEND)

    def bury(self) -> None:
        """Put the current card off until the next study day."""
        self._hold(RowKind.BURY)

    def _hold(self, kind: RowKind) -> None:
        row = record.hold(self.workspace, kind, self._required().card.id)
        self._repeats = [id for id in self._repeats if id != row.subject]
        self._settle(row)

    def drop(self) -> None:
        """Leave out the current card, which is no longer in its bank."""
        self._missing.add(self._required().card.id)
        self.current = None

    @property
    def last_done(self) -> RowKind | None:
        """The kind of row that `undo` would undo."""
        return self._done[-1].kind if self._done else None

    @property
    def progress(self) -> SessionProgress:
        counts = self._counts()
        repeats = len(self._repeats) + (self.current is not None and self.current.is_repeat)
        return replace(counts, learning=counts.learning + repeats)

    def _counts(self) -> SessionProgress:
        steps, item = self._step_ids(), self.current
        waiting = [card.is_new for card in self._plan]
        if item is not None and not item.is_repeat and item.card.id not in steps:
            waiting.append(item.state is State.NEW)
        new = sum(waiting)
        return self._within_limit(SessionProgress(len(self._answered), new, len(steps), len(waiting) - new))

    @property
    def done_of_all(self) -> tuple[int, int]:
        """(cards asked, cards in all); a card that comes back counts once. With a limit, answers are counted."""
        if self.limit is not None:
            waiting = max(self.progress.remaining, 1 if self.current is not None else 0)
            return len(self._answered), len(self._answered) + waiting
        plan = {card.id for card in self._plan}
        asked = ({row.subject for row in self._done} | self._skipped) - plan
        current = {self.current.card.id} if self.current is not None else set()
        return len(asked), len(asked | plan | current | self._step_ids())

    @property
    def next_step(self) -> timedelta | None:
        """The time until the first step of another card is due; None if there is none, or one is due now."""
        current = {self.current.card.id} if self.current is not None else set()
        steps = [self.workspace.store.schedules.get(id) for id in self._step_ids() - current]
        wait = min((step.due_at for step in steps if step), default=self._asked_at) - self.workspace.clock()
        return timedelta(seconds=ceil(wait.total_seconds())) if wait > timedelta(0) else None

    @property
    def answers(self) -> tuple[RatedCard, ...]:
        """The answers of this session that were not undone, in order."""
        return tuple(self._answered)

    def _step_ids(self) -> set[str]:
        """Return the cards with a step that is due by the end of the study day."""
        when = self.workspace.moment()
        return {card.id for card in self._steps(when._replace(now=when.day_end))}

    def _steps(self, when: Moment) -> list[Waiting]:
        """Return the steps that are due, the longest-waiting first."""
        return self.workspace.store.queue.learning(when, self.topic)

    def _ask(self, item: SessionItem) -> None:
        self.current, self._asked_at = item, self.workspace.clock()

    def _keep(self, item: SessionItem, rating: Rating, due_at: datetime | None) -> None:
        seen_on = item.schedule.review_day if item.schedule else None
        tests_memory = seen_on is not None and seen_on < self.workspace.moment().day
        self._answered.append(RatedCard(item.card.id, rating, due_at, tests_memory))

    def _settle(self, row: LogRow) -> None:
        self._done.append(row)
        self.current = None

    def _planned(self, when: Moment) -> list[Waiting]:
        return cards_left(self.workspace, when, self.topic)

    def _take(self, when: Moment) -> Waiting | None:
        if learning := self._first_step(when):
            return learning
        while self._plan:
            waiting = self._plan.popleft()
            if self._may_ask(waiting, when):
                return waiting
            self._skipped.add(waiting.id)
        return self._first_step(when._replace(now=when.now + LEARN_AHEAD))

    def _first_step(self, when: Moment) -> Waiting | None:
        """Return the longest-waiting step of a card that is still in its bank."""
        return next((waiting for waiting in self._steps(when) if waiting.id not in self._missing), None)

    def _may_ask(self, waiting: Waiting, when: Moment) -> bool:
        """Return True if a planned card may still be asked."""
        return bool(self.workspace.store.queue.still_open([waiting.id], when))

    def _item(self, id: str, is_repeat: bool = False) -> SessionItem:
        card, at = self.workspace.library.card(id), self.workspace.clock()
        self.workspace.reload_settings()
        schedule, day = self.workspace.store.schedules.get(card.id), self.workspace.calendar.day(at)
        previews = self.workspace.card_scheduler(card.id).previews(card.id, schedule, at, day)
        return SessionItem(card, schedule, previews, len(self._answered) + 1, is_repeat)

    def _put_back(self, item: SessionItem) -> None:
        if item.is_repeat:
            self._repeats.insert(0, item.card.id)
        elif item.card.id not in self._step_ids():
            self._plan.appendleft(Waiting(item.card.id, item.card.topic, item.state is State.NEW))

    def _within_limit(self, counts: SessionProgress) -> SessionProgress:
        if self.limit is None:
            return counts
        remaining = max(0, self.limit - counts.answered)
        learning = min(counts.learning, remaining)
        review = min(counts.review, remaining - learning)
        return SessionProgress(counts.answered, min(counts.new, remaining - learning - review), learning, review)

    def _required(self) -> SessionItem:
        if self.current is None:
            raise UsageError(_("there is no current card"))
        return self.current


class DrillSession(ReviewSession):
    """A session of cards that fit a filter, each asked once, due or not.

    Answers are reviews like any other, unless it is a cram. Suspending and burying are recorded in a cram too. Raises
    NoCardMatches if no card fits.
    """

    def __init__(self, workspace: Workspace, card_filter: CardFilter, rng: Random) -> None:
        self.card_filter = card_filter
        self._chosen = [
            Waiting(card.id, card.topic, workspace.store.schedules.get(card.id) is None)
            for card in draw_cards(workspace, card_filter, rng)
        ]
        super().__init__(workspace)

    @property
    def is_recorded(self) -> bool:
        return super().is_recorded and not self.card_filter.cram

    def _planned(self, when: Moment) -> list[Waiting]:
        return self._chosen

    def _steps(self, when: Moment) -> list[Waiting]:
        """Return none: each card is asked once."""
        return []

    def _may_ask(self, waiting: Waiting, when: Moment) -> bool:
        return waiting.id in self.workspace.store.queue.available(when)
