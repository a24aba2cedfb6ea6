"""A mock interview: what is asked now, how long it has taken, and each step on disk before the next one.

It changes no card's schedule: like a quiz it tells where one stands, and what it found missing counts as weak
(`attncli.practice.cards.weakness`). Code that is graded in it is an attempt like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from random import Random
from typing import Any

from attncli.domain.card import Card, QaCard
from attncli.domain.log_row import RowKind
from attncli.domain.mock_interview import MockItem, MockPart
from attncli.errors import NotFound, UsageError
from attncli.memory.replay import standing
from attncli.practice import mock_log
from attncli.practice.cards.ask import Asked
from attncli.practice.compose_mock import MockWish, draw_plan
from attncli.practice.log.undo import take_back
from attncli.practice.mock_log import MockState
from attncli.practice.workspace import Workspace

WHOLE, PARTLY, NOTHING = 2, 1, 0
"""What a spoken answer without points to tick comes to."""


@dataclass(frozen=True, slots=True)
class MockTime:
    """What a part has taken, and how much is left of its time: below zero once that is up."""

    spent_ms: int
    budget_ms: int

    @property
    def left_seconds(self) -> int:
        return -((self.spent_ms - self.budget_ms) // 1000)

    @property
    def is_up(self) -> bool:
        return self.spent_ms >= self.budget_ms


class MockInterview:
    """`item` is what is asked now, None at the end; `asked` is the card that puts it, None for code.

    A follow-up is asked as a spoken card of its own. When the time of a part is up, what is in hand may be finished;
    the rest of the part is not asked.
    """

    def __init__(self, workspace: Workspace, state: MockState) -> None:
        self.workspace = workspace
        self.state = state
        self.asked: Asked | None = None
        self._asked_at = workspace.clock()
        self._answered_at: datetime | None = None
        self._since: datetime | None = None
        self._go_on()

    @classmethod
    def begin(cls, workspace: Workspace, wish: MockWish) -> MockInterview:
        """Draws a new interview and records it; one that is not finished ends. Raises NothingFits, UsageError."""
        plan = draw_plan(workspace, wish)
        if (before := mock_log.unfinished(workspace)) is not None:
            mock_log.step(workspace, before.id, "end", {})
        return cls(workspace, mock_log.begin(workspace, plan))

    @classmethod
    def resume(cls, workspace: Workspace) -> MockInterview | None:
        """The interview that was not finished, where it stopped; None if there is none."""
        state = mock_log.unfinished(workspace)
        return None if state is None else cls(workspace, state)

    @property
    def item(self) -> MockItem | None:
        return self.state.item

    @property
    def part(self) -> MockPart | None:
        return self.state.part

    @property
    def wish(self) -> MockWish:
        plan = self.state.plan
        return MockWish(plan.minutes, plan.level, plan.seed, plan.interviewer)

    @property
    def number(self) -> tuple[int, int]:
        """Which item of its part is asked, from 1, and how many there are."""
        place = self._place()
        places = self.state.plan.places(self.state.plan.part_of(place))
        return place - places.start + 1, len(places)

    @property
    def is_running(self) -> bool:
        """Whether the clock of the current part runs."""
        return self._since is not None and not self.state.is_over

    @property
    def time(self) -> MockTime:
        """The time of the current part, now."""
        part = self.state.plan.part_of(self._place())
        return MockTime(self._spent_ms(), self.state.plan.parts[part].budget_ms)

    def reveal(self) -> None:
        """The answer has been given aloud, or marks what was entered: from here on no time counts towards it.

        Raises UsageError for what cannot be marked.
        """
        asked = self._asked()
        if not asked.revealed:
            asked.submit()
        if self._answered_at is None:
            self._answered_at = self.workspace.clock()

    def answer(self, credit: int | None = None) -> None:
        """Settles the current question; on disk when this returns.

        A marked one counts as it was marked, one with points by those that are ticked; any other takes `credit`, from
        NOTHING to WHOLE. Raises UsageError without one, or before the answer was revealed.
        """
        asked = self._asked()
        if not asked.revealed and not self.state.plan.interviewer:
            raise UsageError("the answer has not been given yet")
        got, of = _result(asked, credit)
        told: dict[str, Any] = {"got": got, "of": of, "answer_ms": self._answer_ms()}
        if asked.correct is None and asked.card.points:
            told["points"] = sorted(asked.ticked)
        self._step("answer", told)

    def skip(self) -> None:
        """Leaves the current question; code keeps what its best grading came to."""
        self._step("skip", {})

    def leave_part(self) -> None:
        """Goes on to the next part; what was not asked in this one stays so."""
        self._step("leave", {})

    def end(self) -> None:
        """Ends the interview before everything was asked; its report stands."""
        if not self.state.is_over:
            self._step("end", {})

    def tick_code(self, got: int, of: int, cards: tuple[str, ...] = (), verdict: str = "") -> None:
        """What a grading of the current code came to. It settles the round if all is right, or the time is up.

        Without a judge whoever ticks says what it came to.
        """
        if self.item is None or not self.item.is_code:
            raise UsageError("no code is asked for now; `attn mock` shows what is")
        settles = got >= of or self.time.is_up
        self._step("grade", {"got": got, "of": of, "settles": settles, "cards": list(cards[:20]), "verdict": verdict})

    def pause(self) -> None:
        """Stops the clock and keeps what it said; the next step starts it again."""
        if not self.state.is_over and self._since is not None:
            mock_log.pause(self.workspace, self.state.id, self._place(), self._spent_ms())
            self._read_anew()
            self._since = None

    def go_on(self) -> None:
        """Starts the clock again after a pause."""
        if self._since is None:
            self._asked_at = self._since = self.workspace.clock()

    def undo(self) -> None:
        """Takes back the last step of this interview. Raises UsageError where there is none but its beginning."""
        rows = standing(self.workspace.store.log.of_subjects([self.state.id]))
        steps = [row for row in rows if row.kind is RowKind.MOCK and row.payload.get("step") != "begin"]
        if not steps:
            raise UsageError("nothing was answered in this interview that could be taken back")
        take_back(self.workspace, steps[-1])
        self._read_anew()

    def _step(self, name: str, told: dict[str, Any]) -> None:
        place = self._place()
        mock_log.step(self.workspace, self.state.id, name, {"item": place, "spent_ms": self._spent_ms(), **told})
        self._read_anew()

    def _read_anew(self) -> None:
        before = self.state.place
        found = mock_log.state_of(self.workspace, self.state.id)
        if found is None:
            raise UsageError("this interview was taken back elsewhere; begin another")
        self.state = found
        if found.place != before or self.asked is None:
            self._go_on()
        else:
            self._since = self.workspace.clock()

    def _go_on(self) -> None:
        """Asks what is next; what has left its bank is settled as left out."""
        self.asked = None
        self._answered_at = None
        self._asked_at = self._since = self.workspace.clock()
        item = self.item
        if item is None:
            return
        try:
            if item.is_code:
                self.workspace.library.challenge(item.id)
                return
            card = asked_card(self.workspace, item)
        except NotFound:
            self.skip()
            return
        self.asked = Asked.of(card, Random(f"{self.state.plan.seed} {self._place()} {item.id}"))
        if self.state.plan.interviewer and not self.asked.is_marked_automatically:
            self.asked.revealed = True

    def _spent_ms(self) -> int:
        part = self.state.plan.part_of(self._place())
        before = self.state.spent_ms.get(part, 0)
        return before if self._since is None else before + _milliseconds(self._since, self.workspace.clock())

    def _answer_ms(self) -> int:
        return _milliseconds(self._asked_at, self._answered_at or self.workspace.clock())

    def _place(self) -> int:
        if self.state.place is None:
            raise UsageError("the interview is over")
        return self.state.place

    def _asked(self) -> Asked:
        if self.asked is None:
            raise UsageError("no question is being asked")
        return self.asked


def asked_card(workspace: Workspace, item: MockItem) -> Card:
    """The card as an interview asks it: its answer and points alone; a follow-up as a spoken card of its own.

    Raises NotFound where the card, or its follow-up, is not there.
    """
    card = workspace.library.card(item.id)
    if item.kind == "follow-up":
        entry = card.follow_ups[item.n] if item.n < len(card.follow_ups) else None
        if entry is None or entry.ask is None or entry.answer is None:
            raise NotFound(f"card {card.id} has no follow-up {item.n + 1}; `attn show {card.id}` shows those it has")
        return QaCard(
            id=card.id, topic=card.topic, level=card.level, core=card.core, question=entry.ask, short=entry.answer
        )
    return replace(
        card,
        explain=None if card.short else card.explain,
        pitfalls=(),
        follow_ups=(),
        sources=(),
        experiment="",
        challenges=(),
    )


def _result(asked: Asked, credit: int | None) -> tuple[int, int]:
    if asked.correct is not None:
        return int(asked.correct), 1
    if asked.card.points:
        return len(asked.ticked), len(asked.card.points)
    if credit is None or not NOTHING <= credit <= WHOLE:
        raise UsageError(f"an answer without points comes to {NOTHING}, {PARTLY} or {WHOLE}")
    return credit, WHOLE


def _milliseconds(since: datetime, now: datetime) -> int:
    return max(0, round((now - since).total_seconds() * 1000))
