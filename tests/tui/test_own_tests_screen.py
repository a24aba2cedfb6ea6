"""Tests of a challenge in the app: written, run, hints on survivors, the reference tests, and every way to fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli.domain.tests_report import Caught, FalseAlarm, OwnTestsReport, Survivor, TimedTest
from attncli.errors import JudgeFailed
from attncli.i18n import quoted
from attncli.judge.client import OwnTestsRequest
from attncli.practice import own_tests
from attncli.practice.grade import GradingCancelled
from attncli.tui.app import AttnApp
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.screens.own_tests import OwnTestsScreen

from .conftest import MakeApp, press, shown
from .test_challenge import REJECTED, Scripted, noted, settled

NAMES: dict[str, Any] = {"challenge": "sdpa", "file": "test_sdpa.py", "verdict": "rejected"}
REPORT = OwnTestsReport(
    **NAMES,
    first=Caught(1, 2),
    all=Caught(1, 3),
    right=2,
    caught={"values": Caught(1, 2), "dtype": Caught(0, 1)},
    survivors=(Survivor(1, "values", "solved"), Survivor(2, "dtype", "hardened")),
    survived=("no-scale", "float32-always"),
    tests=(TimedTest("test_values", 0.25, 1),),
)
SAID = FalseAlarm("reference", "test_a", 3, "assert x == 1", quoted("AssertionError"), "float32 [1]: 2")
ALARM = OwnTestsReport(**NAMES, false_alarms=(SAID,))


class Testing(Scripted):
    """A judge that catches one wrong solution and misses one, then gives this report, or fails."""

    __test__ = False

    def __init__(self, report: OwnTestsReport | JudgeFailed) -> None:
        super().__init__(lambda: REJECTED)
        self.report = report
        self.asked: list[OwnTestsRequest] = []

    def run_tests(self, request: OwnTestsRequest, on_caught: Callable[[bool], None] | None = None) -> OwnTestsReport:
        self.asked.append(request)
        if isinstance(self.report, JudgeFailed):
            raise self.report
        assert on_caught is not None
        on_caught(True)
        on_caught(False)
        return self.report


def opened(make_app: MakeApp, report: OwnTestsReport | JudgeFailed = REPORT) -> tuple[AttnApp, Testing]:
    app, judge = make_app("challenges", challenge="sdpa"), Testing(report)
    app.grader = judge
    return app, judge


def written(app: AttnApp) -> Path:
    file = own_tests.tests_file(app.workspace, "sdpa")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("def test_a(sdpa):\n    assert sdpa\n", encoding="utf-8")
    return file


@pytest.mark.slow
async def test_a_run_shows_what_is_caught_in_both_languages_and_is_recorded(make_app: MakeApp) -> None:
    app, judge = opened(make_app)
    file = written(app)
    async with app.run_test(size=(80, 24)) as pilot:
        text = await press(pilot, "T", "g")
        assert "1 of 3 caught; solved needs 2" in text
        assert "Not caught: values 1; dtype 2" in text
        assert "Slowest test: test_values, 0.25 s" in text
        assert own_tests.tests_standing(app.workspace, "sdpa") == "tried"
        (request,) = judge.asked
        assert request.source == file.read_bytes()
        assert request.rejected_by["no-scale"] == ["matches-reference", "solved"]
        await app.action_language()
        await pilot.pause(0.2)
        assert "未查出：数值 1; dtype 2" in shown(app)
        assert isinstance(app.screen, OwnTestsScreen)
        await pilot.press("escape")
        assert isinstance(app.screen, ChallengeScreen)


async def test_hints_name_the_survivors_one_by_one_and_the_reference_tests_come_after_yes(make_app: MakeApp) -> None:
    app, _ = opened(make_app)
    written(app)
    async with app.run_test(size=(80, 60)) as pilot:
        await pilot.press("T", "h")
        assert await noted(pilot, "Run your tests first: g.")
        await press(pilot, "g")
        await pilot.press("h", "h")
        await settled(pilot)
        text, mistakes = shown(app), app.workspace.library.challenge("sdpa").mistakes
        assert "Hint 1 of 2" in text and "Hint 2 of 2" in text
        assert mistakes["no-scale"].says.en[:30] in text
        await press(pilot, "o")
        await pilot.press("y")
        await settled(pilot)
        assert "Reference" in shown(app)


async def test_what_went_wrong_is_told(make_app: MakeApp) -> None:
    app, judge = opened(make_app)
    written(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("T")
        for report, says in (
            (ALARM, "False alarm: test_a:3 fails reference"),
            (JudgeFailed(quoted("the judge died; run attn doctor")), "the judge died; run attn doctor"),
            (GradingCancelled(quoted("cancelled")), "Grading cancelled."),
        ):
            judge.report = report
            assert says in await press(pilot, "g")


async def test_without_a_file_nothing_is_run_and_w_writes_one(make_app: MakeApp) -> None:
    app, judge = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "T", "g")
        assert not judge.asked
        await press(pilot, "w")
        await press(pilot, "escape")
        assert "def test_example(sdpa):" in own_tests.tests_file(app.workspace, "sdpa").read_text(encoding="utf-8")
