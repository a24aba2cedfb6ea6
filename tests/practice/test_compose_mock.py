"""Compose mock interviews: minutes split over parts, topics spread, the same interview for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.log_row import RowKind
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES, plan_document, plan_of
from attncli.domain.vocabulary import LEVELS, Level
from attncli.errors import NoCardMatches, UsageError
from attncli.practice import record
from attncli.practice.mock import MockOptions, draw_plan, split
from attncli.practice.workspace import Workspace

from ..support.interviews import TOPICS, offer_rounds


@given(minutes=st.integers(LEAST_MINUTES, MOST_MINUTES), assistant=st.booleans())
def test_the_minutes_are_split_whole_and_code_takes_the_most(minutes: int, assistant: bool) -> None:
    parts = split(minutes, assistant)
    assert sum(parts.values()) == minutes and all(count >= 2 for count in parts.values())
    others = parts["warm-up"], parts["deep-dive"]
    assert parts.get("whiteboard", parts.get("tests", 0) + parts.get("repair", 0)) > max(others)
    assert ("repair" in parts) == (assistant or minutes >= 25) and ("tests" in parts) == assistant


@pytest.mark.parametrize(
    ("minutes", "parts"), [(15, [3, 4, 8]), (30, [4, 8, 12, 6]), (45, [7, 11, 18, 9]), (60, [9, 15, 24, 12])]
)
def test_the_usual_lengths(minutes: int, parts: list[int]) -> None:
    assert list(split(minutes).values()) == parts


@pytest.mark.parametrize("minutes", [-1, 0, LEAST_MINUTES - 1, MOST_MINUTES + 1])
def test_other_lengths_are_refused(minutes: int) -> None:
    with pytest.raises(UsageError, match=f"takes 10 to 120 minutes, not {minutes}"):
        split(minutes)


def test_the_same_seed_draws_the_same_and_another_another(interview_room: Workspace) -> None:
    plans = [draw_plan(interview_room, MockOptions(45, "onsite", seed)) for seed in (*range(6), 3)]
    assert plans[3].parts == plans[6].parts
    assert len({str(plan.parts) for plan in plans}) > 4


def test_what_was_learned_does_not_change_the_draw(interview_room: Workspace) -> None:
    from attncli.domain.log_row import Rating
    from attncli.practice.record import answer

    before = draw_plan(interview_room, MockOptions(seed=4))
    answer(interview_room, "att-02", Rating.AGAIN)
    assert draw_plan(interview_room, MockOptions(seed=4)) == before


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(5))
def test_topics_are_spread_kinds_mixed_and_nothing_is_asked_twice(
    interview_room: Workspace, level: Level, seed: int
) -> None:
    plan = draw_plan(interview_room, MockOptions(30, level, seed))
    warm_up, dive, whiteboard, repair = plan.parts
    cards = [interview_room.library.card(item.id) for item in warm_up.items]
    assert len(cards) == 4 and len({card.topic for card in cards[:3]}) == len(TOPICS) - 1
    assert {card.kind for card in cards} == {"qa", "choice"} and {card.level for card in cards} == {"screen"}
    assert len({(item.id, item.kind, item.n) for item in plan.items}) == len(plan.items)
    assert {item.id for item in warm_up.items}.isdisjoint(item.id for item in dive.items)
    assert whiteboard.items[0].id.partition("-")[0] != repair.items[0].id.partition("-")[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_dive_goes_along_the_follow_ups_and_then_to_the_linked_card(interview_room: Workspace, seed: int) -> None:
    dive = draw_plan(interview_room, MockOptions(45, "onsite", seed)).parts[1]
    first = dive.items[0]
    assert interview_room.library.card(first.id).level == "onsite"
    assert [(item.kind, item.id, item.n) for item in dive.items[1:4]] == [("follow-up", first.id, n) for n in range(3)]
    assert dive.items[4].kind == "card" and dive.items[4].id == first.id.replace("02", "01")


@pytest.mark.parametrize(("level", "levels"), [("screen", "12"), ("onsite", "23"), ("research", "3")])
def test_code_is_of_the_level(interview_room: Workspace, level: Level, levels: str) -> None:
    drawn = [draw_plan(interview_room, MockOptions(60, level, seed)).parts[2].items[0].id[-1] for seed in range(8)]
    assert set(drawn) <= set(levels)


@pytest.mark.parametrize(("minutes", "bugs"), [(10, 1), (30, 1), (45, 2), (120, 2)])
def test_an_assistants_draft_is_tested_and_then_repaired(interview_room: Workspace, minutes: int, bugs: int) -> None:
    options = MockOptions(minutes, "onsite", 3, assistant=True)
    assert [part.name for part in draw_plan(interview_room, options).parts] == ["warm-up", "deep-dive"]  # none drafted
    offer_rounds(interview_room.source_files.impl)
    plan = draw_plan(interview_room, options)
    assert [part.name for part in plan.parts[2:]] == ["tests", "repair"] and plan_of(plan_document(plan)) == plan
    (tests,), (repair,) = (part.items for part in plan.parts[2:])
    assert (tests.kind, repair.kind, repair.id, tests.n, repair.n) == ("tests", "repair", tests.id, bugs, bugs)
    assert options.command == f"attn mock --minutes {minutes} --level onsite --seed 3 --assistant"


def test_suspended_cards_are_left_out_and_none_left_is_said(interview_room: Workspace) -> None:
    ids = [card.id for card in interview_room.library.cards()]
    for id in ids[1:]:
        record.hold(interview_room, RowKind.SUSPEND, id)
    only = draw_plan(interview_room, MockOptions())
    assert {item.id for item in only.items if not item.is_code} == {ids[0]}
    record.hold(interview_room, RowKind.SUSPEND, ids[0])
    with pytest.raises(NoCardMatches, match="there are no cards"):
        draw_plan(interview_room, MockOptions())


def test_a_bank_without_follow_ups_and_one_challenge_is_enough(workspace: Workspace) -> None:
    plan = draw_plan(workspace, MockOptions(45, "research", 1))
    assert [part.name for part in plan.parts] == ["warm-up", "deep-dive", "whiteboard"]
    assert plan_of(plan_document(plan)) == plan


@pytest.mark.parametrize(
    "damage",
    [
        {"parts": []},
        {"parts": "x"},
        {"parts": [{"name": "warm-up", "minutes": 3, "items": []}]},
        {"parts": [{"name": "coffee", "minutes": 3, "items": [{"kind": "card", "id": "a"}]}]},
        {"parts": [{"name": "warm-up", "minutes": True, "items": [{"kind": "card", "id": "a"}]}]},
        {"parts": [{"name": "warm-up", "minutes": 3, "items": [{"kind": "card", "id": ""}]}]},
        {"parts": [{"name": "warm-up", "minutes": 3, "items": ["x"]}]},
        {"parts": ["x"]},
        {"level": "junior"},
        {"minutes": 10_000},
        {"seed": -1},
    ],
)
def test_what_is_no_plan_is_refused(workspace: Workspace, damage: dict[str, object]) -> None:
    document = plan_document(draw_plan(workspace, MockOptions()))
    with pytest.raises(ValueError, match=r"^(not|no|none|a) "):
        plan_of({**document, **damage})
