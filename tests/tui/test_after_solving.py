"""After a challenge is solved: own code beside the reference, interviewers' follow-ups, and the next challenge."""

from __future__ import annotations

import pytest

from attncli.practice.challenges import ASKED_NEXT
from attncli.tui.app import AttnApp
from attncli.tui.screens.challenge import ChallengeScreen
from attncli.tui.widgets.grading import AfterSolving

from .conftest import MakeApp, shown
from .test_challenge import REJECTED, Scripted, settled

ID = "online-softmax"
ACCEPTED = {**REJECTED, "challenge": ID, "verdict": "accepted", "rung": "solved", "checks": REJECTED["checks"][:1]}
OWN = '"""What is asked, word by word."""\n\ndef online_softmax_stats(chunks):\n    return "mine"\n'


def opened(make_app: MakeApp, lang: str = "en") -> AttnApp:
    app = make_app("challenges", challenge=ID, lang=lang)
    app.grader = Scripted(lambda: {**ACCEPTED, "diagnosis": []})
    folder = app.workspace.home.solutions
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{ID}.py").write_text(OWN, encoding="utf-8")
    return app


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_an_accepted_solution_is_followed_by_questions_whose_answers_open(make_app: MakeApp, lang: str) -> None:
    app = opened(make_app, lang)
    async with app.run_test(size=(100, 200)) as pilot:
        assert not app.screen.query(AfterSolving)
        await pilot.press("g")
        await settled(pilot)
        assert app.screen.query_one(AfterSolving)
        asked = app.workspace.library.challenge(ID).follow_ups
        text = shown(app)
        assert ASKED_NEXT[lang] in text and '"mine"' in text
        assert "word by word" not in text and "Milakov" not in text, "code stands beside code"
        assert len(asked) == 3
        first = asked[0].answer[lang].split("$")[0][:12]
        assert first not in text
        await pilot.press("a")
        await pilot.pause(0.2)
        assert first in shown(app)


async def test_n_opens_the_next_unsolved_challenge(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("n")
        assert app.screen.challenge_id == ID, "only once it is solved"
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("n")
        await pilot.pause(0.3)
        assert isinstance(app.screen, ChallengeScreen) and app.screen.challenge_id != ID
        assert app.screen.challenge.track == "efficient"


async def test_what_was_solved_before_still_shows_it_below_the_statement(make_app: MakeApp) -> None:
    app = opened(make_app)
    async with app.run_test(size=(100, 60)) as pilot:
        await pilot.press("g")
        await settled(pilot)
    again = make_app("challenges", challenge=ID)
    async with again.run_test(size=(100, 300)):
        assert again.screen.query_one("#statement").query_one(AfterSolving)
        assert '"mine"' in shown(again)
