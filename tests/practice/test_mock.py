"""Step through a mock interview: questions, scores, times, and undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attncli.domain.grade_report import Diagnosis, GradeReport, LeftBug, RepairedBugs
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.mock_interview import MockItem
from attncli.errors import NotFound, UsageError
from attncli.practice import mock, mock_log
from attncli.practice.grade import GradeOptions, Judge, request_for
from attncli.practice.mock import MISSED, PARTLY, WHOLE, MockInterview, MockOptions, asked_card
from attncli.practice.mock_report import past_mocks, report_lines, report_of
from attncli.practice.own_tests import request_of, run_on_draft
from attncli.practice.queue import CardFilter, matching_cards
from attncli.practice.record import answer, take_back
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..support.interviews import offer_rounds

WISH = MockOptions(30, "onsite", 3)


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
    interview = until(MockInterview.begin(interview_room, WISH), "follow-up")
    interview.reveal()
    interview.answer(PARTLY)
    interview.reveal()
    interview.answer(MISSED)
    report = report_of(interview_room, interview.state)
    assert report.parts[1].credit == 1.5 and report.parts[1].asked == 3 and report.is_open
    missed = [missed.question.en.split()[0] for missed in report.missed]
    assert missed == ["Why", "What"] and all(missed.answer.en for missed in report.missed)


def test_the_points_that_were_not_made_are_told(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    assert interview.asked is not None and interview.asked.card.points
    interview.reveal()
    interview.asked.ticked = {1}
    card = interview.asked.card.id
    interview.answer()
    report = report_of(interview_room, interview.state)
    assert [point.en for point in report.missed[0].points] == ["one", "three"] and report.read == (card,)
    assert report.parts[0].credit == pytest.approx(1 / 3)


def test_a_follow_up_is_asked_as_a_card_of_its_own(interview_room: Workspace) -> None:
    card = asked_card(interview_room, MockItem("follow-up", "att-02", 0))
    assert (card.question.en, card.short and card.short.zh, card.points) == ("Why 2?", "因此 2。", ())
    whole = asked_card(interview_room, MockItem("card", "att-02"))
    assert whole.points and not whole.follow_ups and whole.explain is None
    with pytest.raises(NotFound, match="card att-02 has no follow-up 8; list them with `attn show att-02`"):
        asked_card(interview_room, MockItem("follow-up", "att-02", 7))


def test_the_answer_counts_until_it_is_revealed_and_the_part_until_it_is_settled(
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


def test_when_the_time_is_up_what_is_in_hand_is_finished_and_the_next_part_begins(
    interview_room: Workspace, moving_clock: Clock
) -> None:
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
    again = MockInterview.resume(interview_room)
    assert again is not None and again.time.spent_ms == 50_000 and again.number == (2, 4)
    moving_clock.move(seconds=5)
    settle(again)
    moving_clock.move(seconds=30)
    crashed = MockInterview.resume(interview_room)
    assert crashed is not None and crashed.time.spent_ms == 55_000 and crashed.number == (3, 4)
    crashed.pause()
    crashed.pause()
    crashed.go_on()
    assert crashed.time.spent_ms == 55_000


def test_the_same_question_comes_back_with_its_options_in_the_same_order(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    while interview.asked is None or interview.asked.card.kind != "choice":
        settle(interview)
    again = MockInterview.resume(interview_room)
    assert again is not None and again.asked is not None
    assert again.asked.card.drawn == interview.asked.card.drawn


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
    settle(interview)
    settle(interview)
    interview.pause()
    assert take_back(interview_room).kind is RowKind.MOCK
    again = MockInterview.resume(interview_room)
    assert again is not None and again.number == (2, 4)
    again.undo()
    assert again.number == (1, 4) and again.asked is not None and not again.asked.revealed
    take_back(interview_room)
    assert MockInterview.resume(interview_room) is None
    with pytest.raises(UsageError, match="was undone elsewhere"):
        settle(again)


def test_undo_reopens_an_interview_that_was_over(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    interview.end()
    interview.undo()
    assert interview.number == (1, 4)


def test_a_card_that_has_left_its_bank_is_left_out(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
    (interview_room.source_files.quizbank / f"{interview.state.plan.items[0].id[:-3]}.yaml").unlink()
    with Workspace.open(
        interview_room.home,
        interview_room.clock,
        settings=interview_room.settings,
        quizbank=interview_room.source_files.quizbank,
        impl=interview_room.source_files.impl,
    ) as later:
        again = MockInterview.resume(later)
        assert again is not None and again.state.place == 1
        report = report_of(later, again.state)
        assert report.missed[0].question.en == "" and report.read == ()


def test_an_interviewer_sees_the_points_at_once(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, MockOptions(30, "onsite", 3, interviewer=True))
    assert interview.asked is not None and interview.asked.revealed
    interview.asked.ticked = {0}
    interview.answer()
    assert interview.state.settled[0].got == 1 and interview.state.settled[0].of == 3


@pytest.mark.parametrize("credit", [None, -1, 3])
def test_an_answer_without_points_needs_to_be_judged(interview_room: Workspace, credit: int | None) -> None:
    interview = until(MockInterview.begin(interview_room, WISH), "follow-up")
    with pytest.raises(UsageError, match="the answer is not revealed yet"):
        interview.answer(WHOLE)
    interview.reveal()
    with pytest.raises(UsageError, match="scores 0, 1 or 2"):
        interview.answer(credit)
    with pytest.raises(UsageError, match="this part asks for no code"):
        interview.tick_code(1, 1)
    with pytest.raises(UsageError, match="this part asks for no code"):
        mock.hand_out(interview)


def test_nothing_can_be_done_once_it_is_over(interview_room: Workspace) -> None:
    interview = MockInterview.begin(interview_room, WISH)
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


def test_code_that_is_left_or_late_is_missed_with_the_cards_that_explain_it(
    interview_room: Workspace, moving_clock: Clock
) -> None:
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


def test_the_planted_bug_is_drawn_by_the_seed_and_seen_by_the_first_rung(interview_room: Workspace) -> None:
    texts = []
    for _ in range(2):
        interview = until(MockInterview.begin(interview_room, WISH), "repair")
        handed = mock.hand_out(interview)
        assert handed.bugs == 1 and "Right for 0 only." in handed.path.read_text(encoding="utf-8")
        texts.append(handed.path.read_text(encoding="utf-8"))
        interview_room.clock.move(minutes=1)  # type: ignore[attr-defined]
    assert texts[0] == texts[1] and "x * 5" not in texts[0]
    bugs = set()
    for seed in range(12):
        interview_room.clock.move(minutes=1)  # type: ignore[attr-defined]
        interview = until(MockInterview.begin(interview_room, MockOptions(30, "onsite", seed)), "repair")
        mock.hand_out(interview)
        bugs.add(interview_room.store.log.of_kind(RowKind.START)[-1].bug)
    assert bugs == {"by-3", "by-4"}


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


# Which number each planted bug makes of `double(3.0)`.
MADE = {"by-3": 9.0, "by-4": 12.0, "by-6": 0.0, "by-7": 12.0}


@pytest.mark.sandbox
def test_an_assisted_round_scores_the_exposed_bugs_and_then_the_repaired_ones(
    interview_room: Workspace, moving_clock: Clock
) -> None:
    offer_rounds(interview_room.source_files.impl)
    options = MockOptions(45, "onsite", 3, assistant=True)
    interview = until(MockInterview.begin(interview_room, options), "tests")
    code = mock.hand_out(interview)
    assert code.draft == code.path.with_name(f"{code.challenge.id}.repair.py")
    assert code.draft_text.startswith("def double")
    assert "An AI assistant wrote this draft. It has 2 bugs." in code.path.read_text(encoding="utf-8")
    first, _ = code.repairs
    with Judge.start() as judge:
        for assertion, exposed in (
            ("double(3.0)", 0),  # no assertion
            ("assert double(3.0) == 7.0", 0),  # a false alarm
            (f"assert double(3.0) != {MADE[first.wrong]}", 1),
        ):
            tests = f"def test_value(double):\n    {assertion}\n".encode()
            request = request_of(code.challenge, tests, "test_double.py", mock.OPTIONS)
            mock.settle_tests(interview, code, run_on_draft(judge, request, code.repairs))
            assert interview.state.tried[interview.state.place or 0].got == exposed
    interview.pause()
    resumed = MockInterview.resume(interview_room)
    assert resumed is not None and mock.hand_out(resumed) == code and resumed.options == options
    assert report_of(interview_room, resumed.state).read == ("att-02",)
    resumed.skip()
    repair = mock.hand_out(resumed)
    assert (repair.path, repair.bugs, repair.draft) == (code.draft, 2, None)
    request = request_for(interview_room, repair.challenge.id, repair.path, mock.OPTIONS)
    mock.settle(resumed, request, replace(graded("accepted", repair.challenge.id), repaired=RepairedBugs(2)))
    lines = [line for _, line in report_lines(report_of(interview_room, resumed.state), "en")]
    assert "AI-assisted" in lines[0] and any(line.startswith("Tests: 0.5 of 1") for line in lines)
    assert any(line.startswith("Repair: 1 of 1") for line in lines)
    assert any("(tests) (`attn start" in line for line in lines)
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
