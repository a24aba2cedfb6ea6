"""Run mock interviews in the app: choose, answer against the clock, leave and resume, grade, report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from attncli.config import Settings
from attncli.domain.grade_report import CheckResult, Diagnosis, GradeReport
from attncli.domain.log_row import RowKind
from attncli.domain.tests_report import Caught, FalseAlarm, OwnTestsReport
from attncli.errors import JudgeFailed, NoCardMatches
from attncli.i18n import NOTHING, Lang, quoted
from attncli.paths import Home
from attncli.practice import mock_log, record
from attncli.practice.grade import Judge
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.mock_report import past_mocks
from attncli.practice.record import take_back
from attncli.practice.workspace import Workspace
from attncli.tui import app as app_module
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import HelpScreen
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.screens.editor import EditorScreen
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.mock import MockCodeScreen, MockInterviewScreen, MockReportScreen, MockScreen, MockTestsScreen
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.basics import PointsTicked
from attncli.tui.widgets.card import Sheet
from attncli.tui.widgets.session import MockTimeLine
from moved_clock import Clock

from ..support.interviews import offer_rounds, write_bank, write_impl
from .conftest import running, shown

WISH = MockOptions(30, "onsite", 3)
MakeRoom = Callable[..., AttnApp]


@pytest.fixture
def room(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeRoom]:
    """`room(screen, lang=…)` makes apps over one home, with enough items for an interview, and no judge."""
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")
    monkeypatch.setattr(Judge, "restart", lambda self: None)
    opened: list[AttnApp] = []

    def make(screen: str = "mock", lang: Lang = "en", theme: str = "dark", **options: Any) -> AttnApp:
        settings = Settings(lang=lang, theme=theme, fuzz=False)
        workspace = Workspace.open(Home(tmp_path / "home"), clock, settings=settings, quizbank=bank, impl=impl)
        app = AttnApp(workspace, Random(7), screen, **({"options": WISH} if screen == "mock" else {}), **options)
        opened.append(app)
        return app

    yield make
    for app in opened:
        app.workspace.close()


@pytest.fixture
def verdict(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The judge's verdicts, used from the end; if empty, the judge fails."""
    waiting: list[str] = []

    def grade(self: Judge, request: Any, on_check: object) -> GradeReport:
        if not waiting:
            raise JudgeFailed(quoted("there is no torch here; install it"))
        said = waiting.pop()
        status = "pass" if said == "accepted" else "fail"
        check = CheckResult(name="matches-reference", status=status, message=NOTHING, rung="solved")  # type: ignore[arg-type]
        told = (Diagnosis(wrong="by-3", says="Times 3.", cards=("att-03",)),) if status == "fail" else ()
        rung = "solved" if status == "pass" else "none"
        id = request.spec["id"]
        return GradeReport(challenge=id, file="x.py", verdict=said, rung=rung, checks=(check,), diagnosis=told)  # type: ignore[arg-type]

    monkeypatch.setattr(Judge, "grade", grade)
    return waiting


async def press(pilot: Pilot[None], *keys: str) -> str:
    """Press keys, each on the screen that the one before it leads to; return the screen."""
    for key in keys:
        await pilot.press(key)
        await pilot.pause()
    return shown(pilot.app)


async def run(pilot: Pilot[None]) -> str:
    """Run the code that is shown; return the screen with its result."""
    await press(pilot, "g")
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
    return shown(pilot.app)


def interview_of(app: AttnApp) -> MockInterview:
    assert isinstance(app.screen, (MockInterviewScreen, MockCodeScreen))
    return app.screen.interview


async def answer(pilot: Pilot[None], app: AttnApp) -> None:
    """Give a full answer to the current question."""
    asked = interview_of(app).asked
    assert asked is not None
    if asked.card.kind == "choice":
        await press(pilot, "abc"[asked.card.drawn.index(0)], "enter")
    elif asked.card.points:
        await press(pilot, "space", "a", "b", "c", "enter")
    else:
        await press(pilot, "space", "2")


@pytest.mark.slow
async def test_a_whole_interview_by_keyboard(room: MakeRoom, verdict: list[str]) -> None:
    app = room()
    verdict += ["accepted", "rejected", "rejected"]
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert isinstance(app.screen, MockScreen) and "Warm-up 4 · Deep dive 8" in shown(app)
        await press(pilot, "enter")
        while isinstance(app.screen, MockInterviewScreen):
            await answer(pilot, app)
        assert isinstance(app.screen, MockCodeScreen) and "Write it as you would at the whiteboard:" in shown(app)
        assert "✗ Rejected" in await run(pilot) and not app.screen.is_settled
        assert "Find and fix 1 bug in this file:" in await press(pilot, "s")
        assert isinstance(app.screen, MockCodeScreen)
        await run(pilot)
        assert "Press Enter to continue." in await run(pilot) and app.screen.is_settled
        text = await press(pilot, "enter")
        assert isinstance(app.screen, MockReportScreen)
        assert "75% · 30 min · onsite" in text and "Whiteboard: 0 of 1" in text and "Repair: 1 of 1" in text
        assert "Read: att-03" in text and "not solved: " in text
        await press(pilot, "enter")
        assert isinstance(app.screen, ChallengeScreen)
        await press(pilot, "escape", "escape")
        assert isinstance(app.screen, HomeScreen)
    (report,) = past_mocks(app.workspace)
    assert report.is_finished and report.parts[0].credit == 4
    assert list(app.workspace.store.schedules.all()) == []


async def test_leaving_or_closing_stops_the_clock_and_it_goes_on_later(room: MakeRoom, clock: Clock) -> None:
    async with running(room()) as (app, pilot):
        await press(pilot, "enter")
        await answer(pilot, app)
        clock.move(seconds=65)
        app.screen.query_one(MockTimeLine).tick()
        await pilot.pause()
        assert "2/4" in shown(app) and "2:55 left" in shown(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)
        clock.move(hours=9)
        assert "▶ Resume: Warm-up" in await press(pilot, "m")
        assert "2:55 left" in await press(pilot, "enter") and interview_of(app).number == (2, 4)
        clock.move(seconds=30)
        await press(pilot, "ctrl+q")
    state = mock_log.unfinished(app.workspace)
    assert state is not None and state.spent_ms == {0: 95_000} and state.place == 1


async def test_another_screen_stops_the_clock_and_help_does_not(room: MakeRoom, clock: Clock) -> None:
    async with running(room()) as (app, pilot):
        assert "Next part" in await press(pilot, "enter", "question_mark") and isinstance(app.screen, HelpScreen)
        clock.move(seconds=10)
        await press(pilot, "escape")
        assert interview_of(app).time.spent_ms == 10_000
        app.show("stats")
        await pilot.pause()
        clock.move(seconds=500)
        await press(pilot, "escape")
        assert interview_of(app).time.spent_ms == 10_000 and interview_of(app).is_running
        clock.move(seconds=5)
        assert interview_of(app).time.spent_ms == 15_000


async def test_when_the_time_is_up_it_is_said_once_and_the_next_part_follows(room: MakeRoom, clock: Clock) -> None:
    async with running(room()) as (app, pilot):
        await press(pilot, "enter", "space", "a")
        clock.move(minutes=4, seconds=5)
        line = app.screen.query_one(MockTimeLine)
        focused = app.focused
        for _ in range(3):
            line.tick()
        await pilot.pause()
        assert "Time is up +0:05" in shown(app) and app.focused is focused
        assert len([note for note in app._notifications if "It ends after this question" in note.message]) == 1
        await press(pilot, "enter")
        assert interview_of(app).part.name == "deep-dive"  # type: ignore[union-attr]
        assert interview_of(app).state.settled[0].points == (0,)


@pytest.mark.slow
async def test_skip_next_part_undo_and_end(room: MakeRoom) -> None:
    async with running(room(lang="zh")) as (app, pilot):
        await press(pilot, "enter", "u")
        assert any("没有" in note.message or "there is no answer" in note.message for note in app._notifications)
        await press(pilot, "s", "u")
        assert interview_of(app).number == (1, 4)
        await press(pilot, "n")
        assert "深入追问" in shown(app)
        await press(pilot, "s", "x", "n")
        assert isinstance(app.screen, MockInterviewScreen)
        await press(pilot, "x", "y")
        await pilot.pause()
        assert isinstance(app.screen, MockReportScreen) and "提前结束" in shown(app)
        missed = {one.card for one in app.screen.report.missed}
        await press(pilot, "d")
        assert isinstance(app.screen, ReviewScreen) and app.screen.session.done_of_all == (0, len(missed))
        await press(pilot, "escape")
        await press(pilot, "enter")
        assert isinstance(app.screen, CardScreen)
        await press(pilot, "escape", "n")
        assert isinstance(app.screen, MockScreen) and "2026-06-12" in shown(app)
        await press(pilot, *["down"] * 5, "enter")
        assert isinstance(app.screen, MockReportScreen)


async def test_one_enter_too_many_skips_nothing(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        await press(pilot, "enter")
        while (asked := interview_of(app).asked) is None or asked.card.kind != "choice":
            await answer(pilot, app)
        place = interview_of(app).state.place
        asked.choose([])
        app.screen.complete = lambda: None  # type: ignore[attr-defined]
        await press(pilot, "enter")
        assert interview_of(app).state.place == place
        await press(pilot, "enter")
        assert interview_of(app).state.place != place


async def test_enter_pressed_twice_begins_one_interview_and_a_late_tick_changes_nothing(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        for _ in range(2):
            app.post_message(events.Key("enter", None))
        await press(pilot, "space")
        begun = interview_of(app).state.id
        rows = app.workspace.store.log.everything()
        steps = [(row.subject, row.payload["step"]) for row in rows if row.kind in mock_log.KINDS]
        assert steps == [(begun, "begin")]
        await app.screen.query_one(Sheet).remove_children()
        app.screen.post_message(PointsTicked())
        await pilot.pause()
        assert app.failure is None and interview_of(app).asked is not None


async def test_a_follow_up_may_be_judged_with_the_mouse_and_in_either_language(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        lines = (await press(pilot, "enter", "n", "s", "space", "l")).splitlines()
        await pilot.click(offset=(3, next(n for n, line in enumerate(lines) if "2 完整" in line)))
        await pilot.pause()
        assert interview_of(app).state.settled[5].got == 2


async def test_an_interview_is_chosen_row_by_row_and_an_interviewer_sees_the_points_at_once(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        assert "Enter Open" not in await press(pilot, "down", "enter")
        assert isinstance(app.screen, MockScreen) and app.screen.options.minutes != WISH.minutes
        text = await press(pilot, *["left"] * 3, "down", "right", "down", "right", "home", "enter")
        assert interview_of(app).options == MockOptions(60, "research", 3, interviewer=True) and "[ ] one" in text
        await press(pilot, "b", "enter")
        assert interview_of(app).state.settled[0].points == (1,)


async def test_without_a_judge_whoever_looks_says_what_it_came_to(room: MakeRoom, verdict: list[str]) -> None:
    async with running(room()) as (app, pilot):
        await press(pilot, "enter", "n", "n")
        assert isinstance(app.screen, MockCodeScreen) and not app.screen.check_action("tick", (1,))
        text = await run(pilot)
        assert "there is no torch here" in text and "1 correct, 0 wrong" in text
        await press(pilot, "0")
        assert interview_of(app).item.kind == "whiteboard"  # type: ignore[union-attr]
        await press(pilot, "1")
        assert interview_of(app).item.kind == "repair"  # type: ignore[union-attr]
        assert list(app.workspace.store.log.of_kind(mock_log.RowKind.ATTEMPT)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("verdict")
async def test_a_draft_is_tested_and_repaired_by_keyboard(room: MakeRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    app = room()
    offer_rounds(app.workspace.source_files.impl)
    found = OwnTestsReport(challenge="", file="t.py", verdict="rejected", all=Caught(1, 1))
    alarm = replace(found, false_alarms=(FalseAlarm("reference", "test_a", 3),))
    reports: list[OwnTestsReport] = [found, alarm]
    monkeypatch.setattr(Judge, "run_tests", lambda *_: reports.pop() if reports else Judge.grade(*_))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "Tests 11 · Repair 7" in await press(pilot, "down", "down", "down", "down", "right")
        assert "An AI assistant wrote this draft. It has 1 bug." in await press(pilot, "s", "n", "n")
        assert isinstance(app.screen, MockTestsScreen) and not app.screen.check_action("go_on", ())
        await press(pilot, "w")
        await pilot.pause(0.3)
        await press(pilot, "escape")
        assert "1 false alarm: a test fails" in await run(pilot)
        text = await run(pilot)
        assert "1 of 1 bugs exposed" in text and "Press Enter to continue." in text
        assert not app.screen.check_action("run", ())
        assert "Find and fix 1 bug in this file:" in await press(pilot, "enter")
        assert isinstance(app.screen, MockCodeScreen)
        await press(pilot, "u")
        assert isinstance(app.screen, MockTestsScreen)
        assert "1 correct, 0 wrong" in await run(pilot)
        text = await press(pilot, "1", "s")
        assert isinstance(app.screen, MockReportScreen)
        assert all(part in text for part in ("AI-assisted", "Tests: 1 of 1", "Repair: 0 of 1"))


@pytest.mark.slow
async def test_code_is_written_while_the_clock_goes_on(room: MakeRoom, clock: Clock, verdict: list[str]) -> None:
    app = room()
    verdict.append("rejected")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "enter", "n", "n", "w")
        assert isinstance(app.screen, EditorScreen)
        clock.move(minutes=1)
        await press(pilot, "q", "z", "ctrl+g")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, MockCodeScreen) and "✗ Rejected" in shown(app)
        assert interview_of(app).time.spent_ms == 60_000 and interview_of(app).is_running
        file = app.screen.file
        assert "qz" in file.read_text(encoding="utf-8")
        clock.move(minutes=1)
        assert "10:00 left" in await press(pilot, "escape", "m", "enter")
        assert isinstance(app.screen, MockCodeScreen) and app.screen.file == file
        assert "qz" in file.read_text(encoding="utf-8")
        await press(pilot, "u", "u")
        assert isinstance(app.screen, MockInterviewScreen)


async def test_a_file_that_cannot_be_written_is_said(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        app.workspace.home.solutions.write_text("a file", encoding="utf-8")
        await press(pilot, "enter", "n", "n")
        assert any("cannot write" in note.message for note in app._notifications)
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)


async def test_an_interview_that_was_taken_back_elsewhere_is_said(room: MakeRoom) -> None:
    async with running(room()) as (app, pilot):
        await press(pilot, "enter")
        take_back(app.workspace)
        await press(pilot, "s")
        assert any("undone elsewhere" in note.message for note in app._notifications)


async def test_without_a_card_none_begins(room: MakeRoom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the command line, the screen is not taken."""
    app, open_workspace, none = room(), Workspace.open, tmp_path / "none"
    for card in app.workspace.library.cards():
        record.hold(app.workspace, RowKind.SUSPEND, card.id)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "enter")
        assert isinstance(app.screen, MockScreen) and app._notifications
    none.mkdir()
    monkeypatch.setattr(Workspace, "open", lambda *given, **options: open_workspace(*given, **options, quizbank=none))
    with pytest.raises(NoCardMatches):
        app_module.run(Home(tmp_path / "other"), Settings(), app.workspace.clock, "mock", mock=WISH)
