"""Mock interviews in the log: one row a step. The state of an interview is folded from its rows.

Rows may come from an import, so every field is checked when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.mock_interview import MockItem, MockPart, MockPlan, plan_document, plan_of
from attncli.domain.parts import Answer
from attncli.memory.replay import standing
from attncli.practice.record import recording, stamp
from attncli.practice.workspace import Workspace

KINDS = frozenset({RowKind.MOCK, RowKind.MOCK_CLOCK})


@dataclass(frozen=True, slots=True)
class Settled:
    """The result of a question: `got` of `of`; 0 of 0 if it was skipped.

    `answer_ms` is the time to the answer, None if it was not measured; `late` means after the time of the part.
    `points` are the ticked ones, None if the card has none. `cards` explain the mistake. `answer` was chosen or
    typed; None if it was spoken.
    """

    got: int
    of: int
    at: datetime
    answer_ms: int | None = None
    late: bool = False
    points: tuple[int, ...] | None = None
    tries: int = 0
    cards: tuple[str, ...] = ()
    answer: Answer | None = None

    @property
    def credit(self) -> float:
        """The share that was right, from 0 to 1."""
        return self.got / self.of if self.of else 0.0

    @property
    def is_missed(self) -> bool:
        return self.got < self.of or self.of == 0


@dataclass(slots=True)
class MockState:
    """The state of an interview: results by place, and the time that each part has taken."""

    id: str
    begun_at: datetime
    plan: MockPlan
    settled: dict[int, Settled] = field(default_factory=dict)
    tried: dict[int, Settled] = field(default_factory=dict)
    spent_ms: dict[int, int] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)
    is_ended: bool = False

    def is_closed(self, part: int) -> bool:
        """Return True if nothing more is asked in a part: all was asked, its time is up, or it was left."""
        places = self.plan.places(part)
        done = [place for place in places if place in self.settled]
        return part in self.left or len(done) == len(places) or any(self.settled[place].late for place in done)

    @property
    def place(self) -> int | None:
        """The place of the item to ask, None at the end."""
        if self.is_ended:
            return None
        for part in range(len(self.plan.parts)):
            if not self.is_closed(part):
                return next(place for place in self.plan.places(part) if place not in self.settled)
        return None

    @property
    def part(self) -> MockPart | None:
        return None if self.place is None else self.plan.parts[self.plan.part_of(self.place)]

    @property
    def item(self) -> MockItem | None:
        return None if self.place is None else self.plan.items[self.place]

    @property
    def is_over(self) -> bool:
        return self.place is None

    @property
    def results(self) -> dict[int, Settled]:
        """Results by place, including code that was graded but not yet settled."""
        return {**self.tried, **self.settled}

    def answered(self) -> Iterator[tuple[int, MockItem, Settled]]:
        """Return the place, item and result of each item that has one, in the order of the interview."""
        results = self.results
        return ((place, item, results[place]) for place, item in enumerate(self.plan.items) if place in results)


def fold_mock(rows: Iterable[LogRow]) -> MockState | None:
    """Fold the rows of one interview; None without a valid first row."""
    state: MockState | None = None
    for row in standing(row for row in rows if row.kind in KINDS or row.kind is RowKind.UNDO):
        payload = row.payload if isinstance(row.payload, Mapping) else {}
        if payload.get("step") == "begin" and state is None:
            try:
                state = MockState(row.subject, row.at, plan_of(payload))
            except ValueError:
                return None
        elif state is not None:
            _apply(state, row, payload)
    return state


def _apply(state: MockState, row: LogRow, payload: Mapping[str, Any]) -> None:
    step, place = payload.get("step"), _number(payload, "item", -1)
    if step == "end":
        state.is_ended = True
    if not 0 <= place < len(state.plan.items):
        return
    part = state.plan.part_of(place)
    # Two machines may have resumed one interview: time never runs backwards.
    state.spent_ms[part] = max(_number(payload, "spent_ms"), state.spent_ms.get(part, 0))
    late = _number(payload, "spent_ms") >= state.plan.parts[part].budget_ms
    match step:
        case "answer":
            state.settled[place] = _result(row.at, payload, late)
        case "skip" | "leave" | "end":
            # Code that was graded and then left keeps the result of its best grading.
            state.settled[place] = replace(state.tried.get(place, Settled(0, 0, row.at)), at=row.at, late=late)
        case "grade":
            state.tried[place] = _better(state.tried.get(place), _result(row.at, payload, late))
            if payload.get("settles") is True:
                state.settled[place] = state.tried[place]
    if step == "leave":
        state.left.add(part)


def _better(before: Settled | None, now: Settled) -> Settled:
    """Return the better of two gradings, with the explanation of the last one and the number of tries."""
    if before is None:
        return replace(now, tries=1)
    best = before if before.credit > now.credit else now
    return replace(best, tries=before.tries + 1, late=now.late, cards=now.cards, at=now.at)


def _result(at: datetime, payload: Mapping[str, Any], late: bool) -> Settled:
    of = min(_number(payload, "of"), 1000)
    points, cards, answer_ms = payload.get("points"), payload.get("cards"), payload.get("answer_ms")
    return Settled(
        got=min(_number(payload, "got"), of),
        of=of,
        at=at,
        answer_ms=answer_ms if type(answer_ms) is int and answer_ms >= 0 else None,
        late=late,
        points=tuple(n for n in points if type(n) is int) if isinstance(points, list) else None,
        cards=tuple(card for card in cards if isinstance(card, str)) if isinstance(cards, list) else (),
        answer=_answer(payload),
    )


def _answer(payload: Mapping[str, Any]) -> Answer | None:
    places, texts = payload.get("places"), payload.get("texts")
    if not isinstance(places, list) or not isinstance(texts, list):
        return None
    return Answer([n for n in places if type(n) is int], [text for text in texts if isinstance(text, str)])


def _number(payload: Mapping[str, Any], key: str, default: int = 0) -> int:
    value = payload.get(key)
    return value if type(value) is int and value >= 0 else default


def begin(workspace: Workspace, plan: MockPlan) -> MockState:
    """Record a new interview; on disk when this returns."""
    with recording(workspace):
        at = workspace.clock()
        id = f"mock-{workspace.store.history.machine}-{at:%Y%m%dT%H%M%S%f}"
        state = fold_mock([_append(workspace, RowKind.MOCK, id, {"step": "begin", **plan_document(plan)})])
    assert state is not None
    return state


def step(workspace: Workspace, id: str, name: str, details: Mapping[str, Any]) -> LogRow:
    """Record a step of the learner, which `attn undo` can undo."""
    with recording(workspace):
        return _append(workspace, RowKind.MOCK, id, {"step": name, **details})


def pause(workspace: Workspace, id: str, place: int, spent_ms: int) -> None:
    """Record the time that a part has taken; undo does not see this row."""
    with recording(workspace):
        _append(workspace, RowKind.MOCK_CLOCK, id, {"step": "pause", "item": place, "spent_ms": spent_ms})


def _append(workspace: Workspace, kind: RowKind, id: str, payload: dict[str, Any]) -> LogRow:
    when = stamp(workspace, id, KINDS)
    return workspace.store.log.append(kind, id, when.now, when.day, payload)


def state_of(workspace: Workspace, id: str) -> MockState | None:
    """Return the state of interview `id`; None if its first row was undone."""
    return fold_mock(workspace.store.log.of_subjects([id]))


def states(workspace: Workspace) -> list[MockState]:
    """Return every interview that was started, the latest first."""
    begun = {row.subject for row in workspace.store.log.of_kind(RowKind.MOCK)}
    found = [state for id in begun if (state := state_of(workspace, id)) is not None]
    return sorted(found, key=lambda state: (state.begun_at, state.id), reverse=True)


def unfinished(workspace: Workspace) -> MockState | None:
    """Return the latest interview if it is not over."""
    latest = next(iter(states(workspace)), None)
    return None if latest is None or latest.is_over else latest


def last_results(workspace: Workspace) -> dict[str, Settled]:
    """Return the result of each card in the last interview that asked it; a missed follow-up of it comes first."""
    renamed = workspace.store.index.renames()
    last: dict[str, Settled] = {}
    for state in reversed(states(workspace)):
        asked: dict[str, Settled] = {}
        for _place, item, settled in state.answered():
            id = renamed.get(item.id, item.id)
            if not item.is_code and (id not in asked or not asked[id].is_missed):
                asked[id] = settled
        last |= asked
    return last
