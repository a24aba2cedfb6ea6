"""Try an own case in the app: the input, both answers, rejected cases, and preserved text."""

from __future__ import annotations

from typing import Any

import pytest

from attncli.domain.grade_report import BothAnswers, Counterexample, read
from attncli.errors import JudgeFailed
from attncli.i18n import Localised, quoted
from attncli.practice.grade import GradingCancelled, TryRequest
from attncli.tui.app import AttnApp
from attncli.tui.screens.challenge import CaseField, ChallengeScreen, OwnCaseScreen

from .conftest import MakeApp, press, shown
from .test_challenge import DUE, GOT, REJECTED, Q, Scripted, write_solution

SHOWN = read(Counterexample, {"args": {"q": Q}, "expected": DUE, "got": GOT, "first_wrong_index": [0, 1]})
SAID, FORBIDDEN = Localised("largest error 0.41", "最大误差 0.41"), (Localised("d is 3", "d 是 3"),)
DIFFER = BothAnswers(said=SAID, shown=SHOWN, same=False, forbidden=FORBIDDEN, printed="a line of mine")


class Trying(Scripted):
    """A judge that gives these answers, or fails."""

    def __init__(self, answers: BothAnswers | JudgeFailed) -> None:
        super().__init__(lambda: REJECTED)
        self.answers = answers
        self.tried: list[TryRequest] = []

    def try_case(self, request: TryRequest) -> BothAnswers:
        self.tried.append(request)
        if isinstance(self.answers, JudgeFailed):
            raise self.answers
        return self.answers


def opened(make_app: MakeApp, answers: BothAnswers | JudgeFailed = DIFFER, **options: Any) -> tuple[AttnApp, Trying]:
    app, judge = make_app("challenges", challenge="sdpa", **options), Trying(answers)
    app.grader = judge
    write_solution(app)
    return app, judge


@pytest.mark.slow
async def test_both_answers_stand_beside_each_other_in_both_languages(make_app: MakeApp) -> None:
    app, judge = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        text = await press(pilot, "t", *"1-2", "enter")
        for words in (
            ("✗ The answers differ: largest", "never asks for this", "d is 3", "the reference", "your file"),
            ("✗ 答案不同：最大误差 0.41", "本题不会这样考", "d 是 3", "参考解", "你的文件"),
        ):
            assert all(word in text for word in words) and "0.91*" in text
            await app.action_language()
            await pilot.pause(0.2)
            text = shown(app)
        assert [request.text for request in judge.tried] == ["1-2"]
        assert isinstance(app.screen, OwnCaseScreen) and app.screen.query_one(CaseField).value == "1-2"
        judge.answers = BothAnswers(shown=SHOWN, same=True)
        text = await press(pilot, "enter")
        assert "✓ Both answers are the same" in text and "0.91 " in text and "*" not in text
        await pilot.press("escape")
        assert isinstance(app.screen, ChallengeScreen)


async def test_the_counterexample_of_the_last_grading_is_there_to_begin_with(make_app: MakeApp) -> None:
    app, _ = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "g")
        await press(pilot, "t")
        assert app.screen.query_one(CaseField).value == "sdpa(q=torch.tensor([[1.0, 0.0]]), scale=None)"


async def test_what_cannot_be_tried_is_one_line_and_the_text_stays(make_app: MakeApp) -> None:
    app, judge = opened(make_app)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t", "1")
        for answers, says in (
            (BothAnswers(refused=Localised("this is no Python", "这不是 Python")), "Not run: this is no Python"),
            (JudgeFailed(quoted("the judge died; run attn doctor")), "Not run: the judge died; run attn doctor"),
            (GradingCancelled(quoted("cancelled")), "Not run: Grading cancelled."),
        ):
            judge.answers = answers
            assert says in await press(pilot, "enter") and app.screen.query_one(CaseField).value == "1"
        (app.workspace.home.solutions / "sdpa.py").unlink()
        assert "Not run: there is no file" in " ".join((await press(pilot, "enter")).split())
        assert len(judge.tried) == 3


async def test_a_starter_is_written_where_there_is_no_file(make_app: MakeApp) -> None:
    app, _ = opened(make_app)
    (app.workspace.home.solutions / "sdpa.py").unlink()
    async with app.run_test(size=(80, 24)) as pilot:
        assert "sdpa(q, k, v, mask=None, scale=None)" in await press(pilot, "t")
        assert "def sdpa(" in (app.workspace.home.solutions / "sdpa.py").read_text(encoding="utf-8")
