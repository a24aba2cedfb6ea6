"""What mock interviews came to: score by part, points missed, times against the 30-second answer, what to read.

Everything follows from the log and the banks as they are now.
"""

from __future__ import annotations

from collections.abc import Iterator

from attncli.domain.card import Card
from attncli.domain.mock_interview import MockItem
from attncli.domain.mock_report import MissedItem, MockReport, PartScore, SpokenTimes
from attncli.domain.review_time import ANSWER_SECONDS
from attncli.domain.text import NOTHING, Localised
from attncli.errors import NotFound
from attncli.practice.mock import asked_card
from attncli.practice.mock_log import MockState, Settled, states
from attncli.practice.workspace import Workspace


def past_mocks(workspace: Workspace) -> tuple[MockReport, ...]:
    """The interviews in which something was answered, the latest first."""
    return tuple(report_of(workspace, state) for state in states(workspace) if state.settled or state.tried)


def report_of(workspace: Workspace, state: MockState) -> MockReport:
    """What an interview has come to so far."""
    parts = tuple(_part(state, number) for number in range(len(state.plan.parts)))
    shares = [part.credit / part.asked for part in parts if part.asked]
    missed = tuple(_missed(workspace, state))
    return MockReport(
        id=state.id,
        begun_at=state.begun_at,
        minutes=state.plan.minutes,
        level=state.plan.level,
        seed=state.plan.seed,
        is_finished=state.is_over and not state.is_ended,
        is_open=not state.is_over,
        share=sum(shares) / len(shares) if shares else 0.0,
        parts=parts,
        missed=missed,
        times=_times(state),
        read=_to_read(workspace, state),
    )


def _part(state: MockState, number: int) -> PartScore:
    part, places = state.plan.parts[number], state.plan.places(number)
    asked = [state.results[place] for place in places if place in state.results]
    spent_ms = state.spent_ms.get(number, 0)
    return PartScore(
        name=part.name,
        minutes=part.minutes,
        spent_seconds=spent_ms // 1000,
        credit=sum(result.credit for result in asked),
        asked=len(asked),
        not_asked=len(places) - len(asked),
        is_over_time=spent_ms >= part.budget_ms,
    )


def _missed(workspace: Workspace, state: MockState) -> Iterator[MissedItem]:
    for item, settled in state.answered():
        if settled.is_missed:
            try:
                yield _missed_item(workspace, item, settled)
            except NotFound:
                yield MissedItem(item.id, item.is_code, NOTHING, NOTHING, ())


def _missed_item(workspace: Workspace, item: MockItem, settled: Settled) -> MissedItem:
    if item.is_code:
        challenge = workspace.library.challenge(item.id)
        return MissedItem(challenge.id, True, challenge.title, NOTHING, ())
    card = asked_card(workspace, item)
    made = settled.points or ()
    points = tuple(point for n, point in enumerate(card.points) if n not in made)
    return MissedItem(card.id, False, card.listed, NOTHING if points else _told(card), points)


def _told(card: Card) -> Localised:
    return card.short or card.explain or NOTHING


def _times(state: MockState) -> SpokenTimes | None:
    """Of answers that were given: what was left out took no time that says anything."""
    spoken = [
        (item.id, settled.answer_ms // 1000)
        for item, settled in state.answered()
        if not item.is_code and settled.answer_ms is not None
    ]
    if not spoken:
        return None
    seconds = sorted(taken for _, taken in spoken)
    longest = sorted((entry for entry in spoken if entry[1] > ANSWER_SECONDS), key=lambda entry: -entry[1])
    within = sum(taken <= ANSWER_SECONDS for taken in seconds)
    return SpokenTimes(seconds[len(seconds) // 2], within, len(seconds), tuple(longest[:5]))


def _to_read(workspace: Workspace, state: MockState) -> tuple[str, ...]:
    """Cards of which most was missed, with what their follow-ups link to; cards that explain what failed in code."""
    missing: dict[str, float] = {}
    for item, settled in state.answered():
        if settled.is_missed:
            for card in _read_for(workspace, item, settled):
                missing[card] = missing.get(card, 0.0) + 1 - settled.credit
    return tuple(sorted(missing, key=lambda card: -missing[card]))


def _read_for(workspace: Workspace, item: MockItem, settled: Settled) -> Iterator[str]:
    known = workspace.store.index.card
    try:
        if item.is_code:
            cards = settled.cards or workspace.library.challenge(item.id).cards[:2]
            yield from (card for card in cards if known(card))
            return
        card = workspace.library.card(item.id)
    except NotFound:
        return
    yield card.id
    if item.kind == "follow-up" and item.n < len(card.follow_ups) and known(card.follow_ups[item.n].card):
        yield card.follow_ups[item.n].card
