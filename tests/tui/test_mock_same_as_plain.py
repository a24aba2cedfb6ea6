"""Run a mock interview in the app and line by line: the same questions, marks and report."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attncli.commands.plain import PlainMock
from attncli.config import Settings
from attncli.domain.card_kinds import ClozeCard
from attncli.i18n import LANGS, Lang
from attncli.paths import Home
from attncli.practice.mock import MockInterview, MockOptions, asked_card
from attncli.practice.mock_report import report_of, score_lines
from attncli.practice.workspace import Workspace
from attncli.tui.screens.mock import MockInterviewScreen
from moved_clock import Clock
from same_answer import answer_in_app

from .conftest import BANK, MakeApp

SEED = 5


@pytest.mark.parametrize("lang", LANGS)
async def test_a_mock_interview_asks_and_counts_the_same_in_the_app_and_line_by_line(
    make_app: MakeApp, indexed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: Lang
) -> None:
    options = MockOptions(20, "screen", SEED)
    app = make_app("home", lang=lang)
    in_app = MockInterview.begin(app.workspace, options)
    lines: list[str] = []
    async with app.run_test(size=(120, 60)) as pilot:
        app.push_screen(MockInterviewScreen(in_app))
        await pilot.pause()
        while (asked := in_app.asked) is not None:
            match asked.card.kind:
                case "qa" if asked.card.points:
                    await pilot.press("space", "b", "enter")
                    lines += ["", "2"]
                case "qa":
                    await pilot.press("space", "1")
                    lines += ["", "1"]
                case _:
                    lines += await answer_in_app(pilot, asked)
            await pilot.pause()
        in_app.end()
    home = Home(tmp_path / "plain")
    home.root.mkdir()
    shutil.copy(indexed, home.database)
    with Workspace.open(home, Clock(), lang, Settings(fuzz=False), BANK) as workspace:
        by_line, waiting = MockInterview.begin(workspace, options), iter([*lines, "n"])
        PlainMock(workspace, lambda: next(waiting, "n") + "\n", by_line, app.grader).run()
        results = [
            {place: (found.got, found.of, found.points) for place, found in interview.state.results.items()}
            for interview in (in_app, by_line)
        ]
        # One more: the code that was on the screen when the interview ended.
        assert results[0] == results[1] and len(results[0]) == len(lines) - lines.count("") - _blanks(in_app) + 1
        reports = [report_of(room, held.state) for room, held in ((app.workspace, in_app), (workspace, by_line))]
    assert reports[0].missed == reports[1].missed and reports[0].share == reports[1].share
    printed = capsys.readouterr().out
    assert all(text in printed for kind, text in score_lines(reports[1], lang) if kind == "line")


def _blanks(interview: MockInterview) -> int:
    """Count the lines of cloze cards beyond one per card."""
    cards = [asked_card(interview.workspace, item) for item in interview.state.plan.items if not item.is_code]
    return sum(len(card.blanks) - 1 for card in cards if isinstance(card, ClozeCard))
