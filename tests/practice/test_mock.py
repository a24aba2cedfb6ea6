"""Compose a mock interview and step through it, also in any order of acts: questions, scores, times, and undo."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, stateful
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from attncli.config import Settings
from attncli.domain.grade_report import Diagnosis, GradeReport, LeftBug, RepairedBugs
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES, MockItem, plan_document, plan_of
from attncli.domain.vocabulary import LEVELS, Level
from attncli.errors import NoCardMatches, NotFound, UsageError
from attncli.judge.client import Judge as JudgeClient
from attncli.paths import Home
from attncli.practice import mock, mock_log, record
from attncli.practice.grade import GradeOptions, request_for
from attncli.practice.mock import MISSED, PARTLY, WHOLE, MockInterview, MockOptions, asked_card, draw_plan, split
from attncli.practice.mock_report import past_mocks, report_lines, report_of
from attncli.practice.own_tests import request_of, run_on_draft
from attncli.practice.queue import CardFilter, matching_cards
from attncli.practice.record import answer, take_back
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..support.interviews import TOPICS, offer_rounds, write_bank, write_impl

WISH = MockOptions(30, "onsite", 3)
# Which number each planted bug makes of `double(3.0)`.
MADE = {"by-3": 9.0, "by-4": 12.0, "by-6": 0.0, "by-7": 12.0}
EXAMPLES = int(os.environ.get("ATTN_EXAMPLES", "10"))
Results = dict[int, float]


def settle(interview: MockInterview, credit: int = WHOLE) -> None:
    """Answer the current item with full credit or none."""
    if (asked := interview.asked) is None:
        interview.tick_code(int(credit == WHOLE), 1)
        if interview.item and interview.item.is_code and credit != WHOLE:
            interview.skip()
        return
    if asked.card.kind == "choice":
        asked.choose([asked.card.drawn.index(0 if credit == WHOLE else 1)])
    interview.reveal()
    asked.ticked = set(range(len(asked.card.points))) if credit == WHOLE else set()
    interview.answer(credit)


def resumed(workspace: Workspace) -> MockInterview:
    found = MockInterview.resume(workspace)
    assert found is not None
    return found


def until(interview: MockInterview, kind: str) -> MockInterview:
    while interview.item is not None and interview.item.kind != kind:
        settle(interview)
    assert interview.item is not None
    return interview


def test_everything_right_is_a_hundred_percent_and_changes_no_schedule(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    asked = []
    while interview.item is not None:
        asked.append(interview.item)
        settle(interview)
    assert tuple(asked) == interview.state.plan.items
    report = report_of(interview_room, interview.state)
    assert report.share == 1 and report.is_finished and not report.missed and not report.read
    assert [(part.credit, part.not_asked) for part in report.parts] == [(4, 0), (5, 0), (1, 0), (1, 0)]
    assert list(interview_room.store.schedules.all()) == []
    assert past_mocks(interview_room) == (report,)


def test_points_partly_made_and_partial_answers_count_in_part(interview_room: Workspace) -> None:
    led = MockInterview.begin(interview_room, MockOptions(30, "onsite", 3, interviewer=True))
    assert led.asked is not None and led.asked.revealed, "an interviewer sees the points at once"
    led.asked.ticked = {0}
    led.answer()
    assert led.state.settled[0].got == 1 and led.state.settled[0].of == 3
    interview = MockInterview.begin(interview_room, WISH)
    assert interview.asked is not None and interview.asked.card.points
    card = interview.asked.card.id
    interview.reveal()
    interview.asked.ticked = {1}
    interview.answer()
    report = report_of(interview_room, interview.state)
    assert [point.en for point in report.missed[0].points] == ["one", "three"] and report.read == (card,)
    assert report.parts[0].credit == pytest.approx(1 / 3)
    until(interview, "follow-up")
    for credit in (PARTLY, MISSED):
        interview.reveal()
        interview.answer(credit)
    report = report_of(interview_room, interview.state)
    assert report.parts[1].credit == 1.5 and report.parts[1].asked == 3 and report.is_open
    _, *missed = report.missed
    assert [one.question.en.split()[0] for one in missed] == ["Why", "What"] and all(one.answer.en for one in missed)


def test_a_follow_up_is_asked_as_a_card_of_its_own(interview_room: Workspace) -> None:
    card = asked_card(interview_room, MockItem("follow-up", "att-02", 0))
    assert (card.question.en, card.short and card.short.zh, card.points) == ("Why 2?", "因此 2。", ())
    whole = asked_card(interview_room, MockItem("card", "att-02"))
    assert whole.points and not whole.follow_ups and whole.explain is None
    with pytest.raises(NotFound, match="card att-02 has no follow-up 8; list them with `attn show att-02`"):
        asked_card(interview_room, MockItem("follow-up", "att-02", 7))


def test_answers_count_until_revealed_and_when_the_time_is_up_the_question_is_the_last(
    interview_room: Workspace, moving_clock: Clock
) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    moving_clock.move(seconds=41)
    interview.reveal()
    moving_clock.move(seconds=9)
    interview.answer()
    moving_clock.move(seconds=20)
    assert interview.time.spent_ms == 70_000 and interview.time.left_seconds == 170
    settle(interview)
    report = report_of(interview_room, interview.state)
    assert report.answer_seconds == (20, 41) and report.parts[0].spent_seconds == 70
    interview = MockInterview.begin(interview_room, WISH)
    settle(interview)
    moving_clock.move(minutes=4)
    assert interview.time.is_up and interview.number == (2, 4)
    settle(interview)
    assert interview.part is not None and interview.part.name == "deep-dive"
    warm_up = report_of(interview_room, interview.state).parts[0]
    assert (warm_up.asked, warm_up.not_asked, warm_up.is_over_time, warm_up.credit) == (2, 2, True, 2)
    assert interview.time.spent_ms == 0


def test_quitting_stops_the_clock_and_a_crash_loses_no_step(interview_room: Workspace, moving_clock: Clock) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    settle(interview)
    moving_clock.move(seconds=50)
    interview.pause()
    moving_clock.move(hours=20)
    again = resumed(interview_room)
    assert again.time.spent_ms == 50_000 and again.number == (2, 4)
    moving_clock.move(seconds=5)
    settle(again)
    moving_clock.move(seconds=30)
    crashed = resumed(interview_room)
    assert crashed.time.spent_ms == 55_000 and crashed.number == (3, 4)
    crashed.pause()
    crashed.pause()
    crashed.go_on()
    assert crashed.time.spent_ms == 55_000
    while crashed.asked is None or crashed.asked.card.kind != "choice":
        settle(crashed)
    same = resumed(interview_room).asked
    assert same is not None and same.card.drawn == crashed.asked.card.drawn, "options keep their order"


def test_a_new_one_ends_the_unfinished_one_and_keeps_its_report(interview_room: Workspace, moving_clock: Clock) -> None:
    first = MockInterview.begin(interview_room, WISH)
    settle(first)
    moving_clock.move(minutes=1)
    second = MockInterview.begin(interview_room, MockOptions(15, "screen", 8))
    assert second.options == MockOptions(15, "screen", 8) and mock_log.unfinished(interview_room) == second.state
    (kept,) = past_mocks(interview_room)
    assert kept.id == first.state.id and not kept.is_open and not kept.is_finished


def test_what_was_shown_counts_as_missed_and_later_parts_as_not_reached(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    interview.leave_part()
    assert interview.part is not None and interview.part.name == "deep-dive"
    interview.end()
    (report,) = past_mocks(interview_room)
    shown = [interview.state.plan.items[place].id for place in (0, 4)]
    assert interview.item is None and [missed.card for missed in report.missed] == shown
    assert [(part.asked, part.credit, part.not_asked) for part in report.parts[:2]] == [(1, 0, 3), (1, 0, 4)]
    lines = [line for kind, line in report_lines(report, "en") if kind in ("head", "line")]
    assert lines[0] == "0% · 30 min · onsite · ended early"
    assert lines[1] == "Warm-up: 0 of 1, 0:00 of 4 min, 3 not asked"
    assert lines[3:5] == ["Whiteboard: not reached", "Repair: not reached"] and report.share == 0


def test_undo_takes_back_the_last_step_here_and_from_outside(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    with pytest.raises(UsageError, match="there is no answer in this interview"):
        interview.undo()
    interview.end()
    interview.undo()
    assert interview.number == (1, 4), "it goes on although it was over"
    settle(interview)
    settle(interview)
    interview.pause()
    assert take_back(interview_room).kind is RowKind.MOCK
    again = resumed(interview_room)
    assert again.number == (2, 4)
    again.undo()
    assert again.number == (1, 4) and again.asked is not None and not again.asked.revealed
    take_back(interview_room)
    assert MockInterview.resume(interview_room) is None
    with pytest.raises(UsageError, match="was undone elsewhere"):
        settle(again)


def test_a_card_that_has_left_its_bank_is_left_out(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    (interview_room.source_files.quizbank / f"{interview.state.plan.items[0].id[:-3]}.yaml").unlink()
    interview_room.read_banks()
    again = resumed(interview_room)
    assert again.state.place == 1
    report = report_of(interview_room, again.state)
    assert report.missed[0].question.en == "" and report.read == ()


def test_what_does_not_fit_the_question_or_comes_after_the_end_is_refused(interview_room: Workspace) -> None:
    interview = until(MockInterview.begin(interview_room, WISH), "follow-up")
    with pytest.raises(UsageError, match="the answer is not revealed yet"):
        interview.answer(WHOLE)
    interview.reveal()
    for credit in (None, -1, 3):
        with pytest.raises(UsageError, match="scores 0, 1 or 2"):
            interview.answer(credit)
    for act in (lambda: interview.tick_code(1, 1), lambda: mock.hand_out(interview)):
        with pytest.raises(UsageError, match="this part asks for no code"):
            act()
    interview.end()
    interview.end()
    interview.pause()
    for act in (interview.skip, interview.leave_part):
        with pytest.raises(UsageError, match="the interview is over"):
            act()
    with pytest.raises(UsageError, match="there is no current question"):
        interview.reveal()


def graded(verdict: str, challenge: str) -> GradeReport:
    told = (Diagnosis(wrong="by-3", says="Times 3.", cards=("att-03", "nosuch")),) if verdict == "rejected" else ()
    rung = "solved" if verdict == "accepted" else "none"
    return GradeReport(challenge=challenge, file="x.py", verdict=verdict, rung=rung, diagnosis=told)  # type: ignore[arg-type]


def test_code_is_handed_out_once_graded_at_the_first_rung_and_an_attempt(interview_room: Workspace) -> None:
    interview = until(MockInterview.begin(interview_room, WISH), "whiteboard")
    handed = mock.hand_out(interview)
    assert not handed.bugs and handed.path.parent.name == "mock-20260612-090000"
    handed.path.write_text("def double(x):\n    return 3 * x\n", encoding="utf-8")
    assert mock.hand_out(interview) == handed and "3 * x" in handed.path.read_text(encoding="utf-8")
    request = request_for(interview.workspace, handed.challenge.id, handed.path, mock.OPTIONS)
    assert request.options == GradeOptions()
    mock.settle(interview, request, graded("rejected", handed.challenge.id))
    assert interview.item is not None and interview.item.kind == "whiteboard"
    mock.settle(interview, request, graded("accepted", handed.challenge.id))
    assert interview.item.kind == "repair"
    report = report_of(interview_room, interview.state)
    assert report.parts[2].credit == 1 and interview.state.results[interview.state.place - 1].tries == 2  # type: ignore[operator]
    attempts = interview_room.store.log.of_kind(RowKind.ATTEMPT)
    assert [row.verdict for row in attempts] == ["rejected", "accepted"]


def test_code_that_is_left_or_late_is_missed_with_its_cards(interview_room: Workspace, moving_clock: Clock) -> None:
    interview = until(MockInterview.begin(interview_room, WISH), "whiteboard")
    handed = mock.hand_out(interview)
    request = request_for(interview.workspace, handed.challenge.id, handed.path, mock.OPTIONS)
    mock.settle(interview, request, graded("rejected", handed.challenge.id))
    assert report_of(interview_room, interview.state).read == ("att-03",)
    interview.skip()
    moving_clock.move(minutes=7)
    interview.tick_code(0, 1)
    report = report_of(interview_room, interview.state)
    assert not report.is_open and report.parts[3].is_over_time
    assert [missed.is_code for missed in report.missed] == [True, True]
    assert report.read == ("att-03", "att-02")


def test_the_planted_bug_is_drawn_by_the_seed(interview_room: Workspace, moving_clock: Clock) -> None:
    texts, bugs = dict[int, set[str]](), set[str]()
    for seed in (3, 3, 0, 1, 2, 4):
        interview = until(MockInterview.begin(interview_room, MockOptions(30, "onsite", seed)), "repair")
        handed = mock.hand_out(interview)
        text = handed.path.read_text(encoding="utf-8")
        assert handed.bugs == 1 and "Right for 0 only." in text and "x * 5" not in text
        texts.setdefault(seed, set()).add(text)
        bugs.add(interview_room.store.log.of_kind(RowKind.START)[-1].bug)
        moving_clock.move(minutes=1)
    assert len(texts[3]) == 1 and bugs == {"by-3", "by-4"}


def test_a_repair_round_has_several_bugs_and_counts_each(interview_room: Workspace) -> None:
    offer_rounds(interview_room.source_files.impl)
    interview = until(MockInterview.begin(interview_room, MockOptions(60, "onsite", 3)), "repair")
    handed = mock.hand_out(interview)
    assert handed.bugs == 3 and mock.hand_out(interview) == handed
    start = interview_room.store.log.of_kind(RowKind.START)[-1]
    assert len(start.repairs) == 3 and start.bug == ""
    request = request_for(interview.workspace, handed.challenge.id, handed.path, mock.OPTIONS)
    for left, verdict in ((2, "rejected"), (0, "rejected")):
        repaired = RepairedBugs(3, tuple(LeftBug(bug) for bug in start.repairs[:left]))
        mock.settle(interview, request, replace(graded(verdict, handed.challenge.id), repaired=repaired))
    part = report_of(interview_room, interview.state).parts[3]
    assert part.credit == pytest.approx(2 / 3) and interview.item is not None
    mock.settle(interview, request, replace(graded("accepted", handed.challenge.id), repaired=RepairedBugs(3)))
    assert interview.item is None and report_of(interview_room, interview.state).parts[3].credit == 1
    assert len(interview_room.store.log.of_kind(RowKind.REPAIR)) == 3
    again = MockInterview.begin(interview_room, MockOptions(60, "onsite", 3))
    assert again.state.plan == interview.state.plan


@pytest.mark.slow
@pytest.mark.sandbox
def test_an_assisted_round_scores_exposed_and_repaired_bugs(interview_room: Workspace, judge: JudgeClient) -> None:
    offer_rounds(interview_room.source_files.impl)
    options = MockOptions(45, "onsite", 3, assistant=True)
    interview = until(MockInterview.begin(interview_room, options), "tests")
    code = mock.hand_out(interview)
    assert code.draft == code.path.with_name(f"{code.challenge.id}.repair.py")
    assert code.draft_text.startswith("def double")
    assert "An AI assistant wrote this draft. It has 2 bugs." in code.path.read_text(encoding="utf-8")
    for assertion, exposed in (
        ("double(3.0)", 0),  # no assertion
        ("assert double(3.0) == 7.0", 0),  # a false alarm
        (f"assert double(3.0) != {MADE[code.repairs[0].wrong]}", 1),
    ):
        tests = f"def test_value(double):\n    {assertion}\n".encode()
        request = request_of(code.challenge, tests, "test_double.py", mock.OPTIONS)
        mock.settle_tests(interview, code, run_on_draft(judge, request, code.repairs))
        assert interview.state.tried[interview.state.place or 0].got == exposed
    interview.pause()
    again = resumed(interview_room)
    assert mock.hand_out(again) == code and again.options == options
    assert report_of(interview_room, again.state).read == ("att-02",)
    again.skip()
    repair = mock.hand_out(again)
    assert (repair.path, repair.bugs, repair.draft) == (code.draft, 2, None)
    request = request_for(interview_room, repair.challenge.id, repair.path, mock.OPTIONS)
    mock.settle(again, request, replace(graded("accepted", repair.challenge.id), repaired=RepairedBugs(2)))
    lines = [line for _, line in report_lines(report_of(interview_room, again.state), "en")]
    assert "AI-assisted" in lines[0] and any("(tests) (`attn start" in line for line in lines)
    for part in ("Tests: 0.5 of 1", "Repair: 1 of 1"):
        assert any(line.startswith(part) for line in lines)
    assert not interview_room.store.log.of_kind(RowKind.ATTEMPT)


def test_what_was_missed_is_weak_until_it_is_reviewed(interview_room: Workspace, moving_clock: Clock) -> None:
    def weak() -> set[str]:
        return {card.id for card in matching_cards(interview_room, CardFilter(weak=True))}

    interview = MockInterview.begin(interview_room, WISH)
    cards = [item.id for item in interview.state.plan.items[:2]]
    answer(interview_room, cards[1], Rating.EASY)
    moving_clock.move(minutes=1)
    assert weak() == set()
    settle(interview, MISSED)
    settle(interview, MISSED)
    assert weak() == set(cards)
    moving_clock.move(minutes=1)
    for card in cards:
        answer(interview_room, card, Rating.EASY)
    assert weak() == set()
    interview.undo()
    interview.undo()
    settle(interview)
    assert weak() == set()


def test_rows_that_say_nothing_are_passed_over(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    settle(interview)
    before = mock_log.state_of(interview_room, interview.state.id)
    at = interview_room.clock()
    with interview_room.store.transaction():
        for payload in ({"step": "answer", "item": 999}, {"step": "dance", "item": 1}, {"step": "answer"}, {}):
            interview_room.store.log.append(RowKind.MOCK, interview.state.id, at, at.toordinal(), payload)
        interview_room.store.log.append(RowKind.MOCK, "mock-x", at, at.toordinal(), {"step": "begin", "parts": 3})
        interview_room.store.log.append(RowKind.MOCK, "mock-y", at, at.toordinal(), {"step": "skip", "item": 0})
    after = mock_log.state_of(interview_room, interview.state.id)
    assert before is not None and after is not None and after.settled == before.settled
    assert [state.id for state in mock_log.states(interview_room)] == [interview.state.id]


@given(minutes=st.integers(LEAST_MINUTES, MOST_MINUTES), assistant=st.booleans())
def test_the_minutes_are_split_whole_and_code_takes_the_most_of_usual_lengths(minutes: int, assistant: bool) -> None:
    parts = split(minutes, assistant)
    assert sum(parts.values()) == minutes and all(count >= 2 for count in parts.values())
    others = parts["warm-up"], parts["deep-dive"]
    assert parts.get("whiteboard", parts.get("tests", 0) + parts.get("repair", 0)) > max(others)
    assert ("repair" in parts) == (assistant or minutes >= 25) and ("tests" in parts) == assistant
    usual = {15: [3, 4, 8], 30: [4, 8, 12, 6], 45: [7, 11, 18, 9], 60: [9, 15, 24, 12]}
    assert {minutes: [*split(minutes).values()] for minutes in usual} == usual
    for minutes in (-1, 0, LEAST_MINUTES - 1, MOST_MINUTES + 1):
        with pytest.raises(UsageError, match=f"takes 10 to 120 minutes, not {minutes}"):
            split(minutes)


def test_the_same_seed_draws_the_same_whatever_was_learned_of_cards_that_are_not_suspended(
    interview_room: Workspace,
) -> None:
    plans = [draw_plan(interview_room, MockOptions(45, "onsite", seed)) for seed in range(6)]
    answer(interview_room, "att-02", Rating.AGAIN)
    assert draw_plan(interview_room, MockOptions(45, "onsite", 3)) == plans[3]
    assert len({str(plan.parts) for plan in plans}) > 4
    ids = [card.id for card in interview_room.library.cards()]
    for id in ids[1:]:
        record.hold(interview_room, RowKind.SUSPEND, id)
    only = draw_plan(interview_room, MockOptions())
    assert {item.id for item in only.items if not item.is_code} == {ids[0]}
    record.hold(interview_room, RowKind.SUSPEND, ids[0])
    with pytest.raises(NoCardMatches, match="there are no cards"):
        draw_plan(interview_room, MockOptions())


def test_topics_are_spread_kinds_mixed_nothing_is_asked_twice_and_a_dive_follows_its_card(
    interview_room: Workspace,
) -> None:
    for seed, level in enumerate((*LEVELS, *LEVELS)):
        plan = draw_plan(interview_room, MockOptions(30, level, seed))
        warm_up, dive, whiteboard, repair = plan.parts
        cards = [interview_room.library.card(item.id) for item in warm_up.items]
        assert len(cards) == 4 and len({card.topic for card in cards[:3]}) == len(TOPICS) - 1
        assert {card.kind for card in cards} == {"qa", "choice"} and {card.level for card in cards} == {"screen"}
        assert len({(item.id, item.kind, item.n) for item in plan.items}) == len(plan.items)
        assert {item.id for item in warm_up.items}.isdisjoint(item.id for item in dive.items)
        assert whiteboard.items[0].id.partition("-")[0] != repair.items[0].id.partition("-")[0]
    for level, levels in (("screen", "12"), ("onsite", "23"), ("research", "3")):
        plans = [draw_plan(interview_room, MockOptions(60, level, seed)) for seed in range(8)]
        assert {plan.parts[2].items[0].id[-1] for plan in plans} <= set(levels)
    for seed in range(5):
        first, *others = draw_plan(interview_room, MockOptions(45, "onsite", seed)).parts[1].items
        assert interview_room.library.card(first.id).level == "onsite"
        follow_ups = [("follow-up", first.id, n) for n in range(3)]
        assert [(item.kind, item.id, item.n) for item in others[:3]] == follow_ups
        assert others[3].kind == "card" and others[3].id == first.id.replace("02", "01")


def test_a_short_dive_needs_one_follow_up_and_a_long_one_three(tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "bank")
    for topic, left_out in (("att", ("      - {ask",)), ("kv", ("    follow_ups", "      - ", "        "))):
        lines = (bank / f"{topic}.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith(left_out) or "text:" in line]
        (bank / f"{topic}.yaml").write_text("".join(kept), encoding="utf-8")  # att has one follow-up a card, kv none
    home, impl = Home(tmp_path / "home"), write_impl(tmp_path / "impl")
    with Workspace.open(
        home, lambda: datetime(2026, 6, 12, tzinfo=UTC), settings=Settings(), quizbank=bank, impl=impl
    ) as opened:
        for minutes, drawn in ((LEAST_MINUTES, {"att-02", "moe-02", "norm-02"}), (45, {"moe-02", "norm-02"})):
            plans = [draw_plan(opened, MockOptions(minutes, "onsite", seed)) for seed in range(12)]
            assert {plan.parts[1].items[0].id for plan in plans} == drawn


def test_an_assistants_draft_is_tested_and_then_repaired(interview_room: Workspace) -> None:
    options = MockOptions(30, "onsite", 3, assistant=True)
    assert [part.name for part in draw_plan(interview_room, options).parts] == ["warm-up", "deep-dive"]  # none drafted
    offer_rounds(interview_room.source_files.impl)
    for minutes, bugs in ((10, 1), (30, 1), (45, 2), (120, 2)):
        options = MockOptions(minutes, "onsite", 3, assistant=True)
        plan = draw_plan(interview_room, options)
        assert [part.name for part in plan.parts[2:]] == ["tests", "repair"] and plan_of(plan_document(plan)) == plan
        (tests,), (repair,) = (part.items for part in plan.parts[2:])
        assert (tests.kind, repair.kind, repair.id, tests.n, repair.n) == ("tests", "repair", tests.id, bugs, bugs)
        assert options.command == f"attn mock --minutes {minutes} --level onsite --seed 3 --assistant"


def test_what_is_no_plan_is_refused(workspace: Workspace) -> None:
    plan = draw_plan(workspace, MockOptions(45, "research", 1))
    document = plan_document(plan)
    assert plan_of(document) == plan, "a bank without follow-ups and one challenge is enough"
    assert [part.name for part in plan.parts] == ["warm-up", "deep-dive", "whiteboard"]
    part, card = {"name": "warm-up", "minutes": 3, "items": []}, {"kind": "card", "id": "a"}
    parts: list[Any] = ["x", part, {**part, "items": ["x"]}, {**part, "items": [{**card, "id": ""}]}]
    parts += [{**part, "name": "coffee", "items": [card]}, {**part, "minutes": True, "items": [card]}]
    damages: list[dict[str, Any]] = [{"parts": [one]} for one in parts]
    damages += [{"parts": []}, {"parts": "x"}, {"level": "junior"}, {"minutes": 10_000}, {"seed": -1}]
    for damage in damages:
        with pytest.raises(ValueError, match=r"^(not|no|none|a) "):
            plan_of({**document, **damage})


def is_open(machine: Interviews) -> bool:
    return not machine.interview.state.is_over


class Interviews(RuleBasedStateMachine):
    """`given` is each item's score as the learner saw it; `before` the scores before each step."""

    def __init__(self, root: Path, open_home: Callable[[Home, Callable[[], datetime]], Workspace]) -> None:
        super().__init__()
        self.home, self.open_home = Home(Path(mkdtemp(dir=root))), open_home
        self.now = datetime(2026, 6, 12, 9, tzinfo=UTC)
        self.workspace = self.open_home(self.home, lambda: self.now)
        self.given: Results = {}
        self.before: list[tuple[Results, int | None]] = []

    @initialize(minutes=st.sampled_from([10, 15, 30, 60]), level=st.sampled_from(LEVELS), seed=st.integers(0, 99))
    def begin(self, minutes: int, level: Level, seed: int) -> None:
        self.interview = MockInterview.begin(self.workspace, MockOptions(minutes, level, seed))

    def step(self, act: Callable[[], None], came_to: float | None = None) -> None:
        place = self.interview.state.place
        before = dict(self.given)
        act()
        self.before.append((before, place))
        if came_to is not None and place is not None:
            self.given[place] = came_to

    def leave_by(self, act: Callable[[], None]) -> None:
        assert self.interview.state.place is not None
        self.step(act, self.given.get(self.interview.state.place, 0.0))

    @precondition(lambda self: self.interview.asked is not None)
    @rule(ticks=st.sets(st.integers(0, 2)), credit=st.integers(0, 2), right=st.booleans(), seconds=st.integers(0, 90))
    def answer(self, ticks: set[int], credit: int, right: bool, seconds: int) -> None:
        asked = self.interview.asked
        assert asked is not None
        if asked.card.drawn:
            asked.choose([asked.card.drawn.index(0 if right else 2)])
        self.now += timedelta(seconds=seconds)
        self.interview.reveal()
        asked.ticked = ticks
        marked = float(right)
        spoken = len(ticks) / 3 if asked.card.points else credit / 2
        self.step(lambda: self.interview.answer(credit), marked if asked.card.kind == "choice" else spoken)

    @precondition(is_open)
    @rule(act=st.sampled_from(["skip", "leave_part"]))
    def leave(self, act: str) -> None:
        self.leave_by(getattr(self.interview, act))

    @precondition(lambda self: self.interview.item is not None and self.interview.item.is_code)
    @rule(got=st.integers(0, 3), minutes=st.integers(0, 8))
    def grade(self, got: int, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        place = self.interview.state.place
        assert place is not None
        best = max(got / 3, self.given.get(place, 0.0))
        self.step(lambda: self.interview.tick_code(got, 3), best)

    @precondition(lambda self: is_open(self) and len(self.before) > 12)
    @rule()
    def end(self) -> None:
        self.leave_by(self.interview.end)

    @rule(seconds=st.integers(1, 200))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @precondition(lambda self: self.before)
    @rule(outside=st.booleans())
    def undo(self, outside: bool) -> None:
        if outside:
            take_back(self.workspace)
            state = mock_log.state_of(self.workspace, self.interview.state.id)
            assert state is not None
            self.interview = MockInterview(self.workspace, state)
        else:
            self.interview.undo()
        self.given, place = self.before.pop()
        assert self.interview.state.place == place

    @precondition(is_open)
    @rule(hours=st.integers(0, 30), crash=st.booleans())
    def come_back(self, hours: int, crash: bool) -> None:
        place, spent = self.interview.state.place, self.interview.time.spent_ms
        if not crash:
            self.interview.pause()
        self.workspace.close()
        self.now += timedelta(hours=hours)
        self.workspace = self.open_home(self.home, lambda: self.now)
        self.interview = resumed(self.workspace)
        assert self.interview.state.place == place
        again = self.interview.time.spent_ms
        assert again <= spent if crash else again == spent

    @invariant()
    def the_log_says_what_was_given(self) -> None:
        if not hasattr(self, "interview"):
            return
        state = mock_log.state_of(self.workspace, self.interview.state.id)
        assert state is not None and state.place == self.interview.state.place
        assert {place: result.credit for place, result in state.results.items()} == pytest.approx(self.given)
        report = report_of(self.workspace, state)
        assert sum(part.asked for part in report.parts) == len(self.given) and 0 <= report.share <= 1
        assert sum(part.credit for part in report.parts) == pytest.approx(sum(self.given.values()))
        assert report.is_open == (state.place is not None)
        assert sum(part.asked + part.not_asked for part in report.parts) == len(state.plan.items)

    @invariant()
    def what_is_over_asks_nothing(self) -> None:
        if hasattr(self, "interview") and self.interview.state.is_over:
            assert self.interview.asked is None and self.interview.item is None
            with pytest.raises(UsageError):
                self.interview.skip()

    def teardown(self) -> None:
        assert list(self.workspace.store.schedules.all()) == []
        self.workspace.close()


@pytest.mark.slow
def test_nothing_is_lost_and_the_score_is_what_was_given(tmp_path: Path) -> None:
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")

    def open_home(home: Home, clock: Callable[[], datetime]) -> Workspace:
        return Workspace.open(home, clock, settings=Settings(), quizbank=bank, impl=impl)

    chosen = settings(max_examples=EXAMPLES, stateful_step_count=30)
    quiet = settings(chosen, deadline=None, suppress_health_check=list(HealthCheck))
    stateful.run_state_machine_as_test(lambda: Interviews(tmp_path, open_home), settings=quiet)
