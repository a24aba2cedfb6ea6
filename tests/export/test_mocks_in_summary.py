"""The interview summary lists past mock interviews and the points that were missed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from attncli.config import Settings
from attncli.domain.card_kinds import NumericCard
from attncli.domain.log_row import Rating
from attncli.domain.mock_interview import MockItem, MockPart, MockPlan
from attncli.export.render import to_html, to_markdown
from attncli.export.summary import summarise
from attncli.i18n import LANGS
from attncli.paths import Home
from attncli.practice import mock_log
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.mock_report import past_mocks
from attncli.practice.record import answer, take_back
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from ..support.interviews import write_bank, write_impl


@pytest.fixture
def held(tmp_path: Path, moving_clock: Clock) -> Iterator[Workspace]:
    """Review the first card, then miss two of its points in an interview."""
    bank, impl = write_bank(tmp_path / "bank"), write_impl(tmp_path / "impl")
    home = Home(tmp_path / "home")
    with Workspace.open(home, moving_clock, settings=Settings(), quizbank=bank, impl=impl) as workspace:
        interview = MockInterview.begin(workspace, MockOptions(30, "onsite", 3))
        assert interview.asked is not None
        answer(workspace, interview.asked.card.id, Rating.EASY)
        moving_clock.move(seconds=20)
        interview.reveal()
        interview.asked.ticked = {1}
        interview.answer()
        interview.end()
        yield workspace


def test_an_interview_is_told_with_the_points_that_were_missed_until_it_is_undone(held: Workspace) -> None:
    told = {"en": ("one", "three", "Which one, norm 5?"), "zh": ("其一", "其三", "哪一个，norm 5？")}
    for lang in LANGS:
        summary, missed = summarise(held, lang), told[lang]
        (mock,) = summary.mocks
        assert (mock.date[:5], mock.minutes, mock.missed) == ("2026-", 30, missed)
        assert mock.score == pytest.approx(1 / 6)
        lines = to_markdown(summary).splitlines()
        place = next(n for n, line in enumerate(lines) if line.startswith("**2026-"))
        assert "30" in lines[place] and "17" in lines[place]
        assert lines[place + 2] == f"- {mock.questions[0].question}"
        assert lines[place + 3 : place + 5] == [f"  - {point}" for point in missed[:2]]
        assert all(point in to_html(summary) for point in missed)
        weak = next(card for card in summary.weak if "points" in card.reasons)
        assert [point.missed for point in weak.points] == [True, False, True] and weak.reasons == ("points",)
    take_back(held)
    take_back(held)
    summary = summarise(held, "en")
    assert summary.mocks == () and summary.weak == () and "Mock interviews" not in to_markdown(summary)


NUMERIC = """\
topic: num
licence: CC-BY-4.0
title: {en: Numbers, zh: 数字}
cards:
  - id: num-01
    kind: numeric
    level: screen
    question: {en: "How many bytes have {{words}} words?", zh: "{{words}} 个字有多少字节？"}
    parameters: {words: [3, 5, 7, 9, 11, 13, 15, 17]}
    compute: 4 * words
    unit: ""
    tolerance: 1%
    explain: {en: "Four each.", zh: "每个四字节。"}
"""


def test_a_missed_number_shows_what_was_asked_what_is_right_and_what_was_answered(
    tmp_path: Path, moving_clock: Clock
) -> None:
    bank = write_bank(tmp_path / "bank")
    (bank / "num.yaml").write_text(NUMERIC, encoding="utf-8")
    with Workspace.open(Home(tmp_path / "home"), moving_clock, settings=Settings(), quizbank=bank) as workspace:
        plan = MockPlan(30, "screen", 5, False, (MockPart("warm-up", 8, (MockItem("card", "num-01"),)),))
        interview = MockInterview(workspace, mock_log.begin(workspace, plan))
        asked = interview.asked
        assert asked is not None and isinstance(asked.card, NumericCard)
        question, right = asked.question.en, f"{asked.card.expected:g}"
        asked.answer.texts = ["1"]
        interview.reveal()
        interview.answer()
        (missed,) = summarise(workspace, "en").mocks[0].questions
        assert missed.question == question and right in missed.right[0] and "you entered 1" in missed.right[0]
        (line,) = past_mocks(workspace)[0].missed
        assert missed.right[0] == line.answer.en and question == line.question.en
