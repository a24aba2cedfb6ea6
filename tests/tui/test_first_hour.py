"""Check the situations of a first hour, and the program's responses."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from attncli.i18n import Lang
from attncli.tui.theme import theme_named
from attncli.tui.widgets.basics import KeyBar

from .conftest import MakeApp, shown
from .every_screen import keys
from .test_challenge import REJECTED, Scripted, write_solution


async def test_with_room_home_names_settings_and_plan_too_and_help_in_words(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.pause()
        bar = str(app.screen.query_one(KeyBar).render())
        assert all(named in bar for named in ("? Help", ", Settings", "p Plan", "a Add a card"))


async def test_the_last_question_of_the_first_run_finishes(make_app: MakeApp) -> None:
    app = make_app("first-run")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Next question" in shown(app) and "Finish" not in shown(app)
        await pilot.press("enter", "enter", "enter")
        await pilot.pause()
        assert "Finish" in shown(app) and "Next question" not in shown(app)


async def test_help_names_the_key_of_the_palette(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Ctrl+P" in shown(app) and "All commands" in shown(app)


@pytest.mark.parametrize(("lang", "said"), [("en", "has no repair round"), ("zh", "没有排错环节")])
async def test_r_says_where_a_challenge_has_no_repair_round(make_app: MakeApp, lang: Lang, said: str) -> None:
    app = make_app("challenges", lang=lang, challenge="causal-mask")
    app.grader = Scripted(lambda: REJECTED)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("r")
        await app.workers.wait_for_complete()
        assert said in [*app._notifications][-1].message and not app.screen.is_modal


async def test_a_quiz_from_home_asks_nothing_above_the_level_that_is_set(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.adopt(app.workspace.settings._replace(level="screen"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z")
        await pilot.pause()
        quiz = app.screen.quiz  # type: ignore[attr-defined]
        assert quiz.options.level == "screen" and "--level screen" in quiz.options.command
        assert {asked.card.level for asked in quiz._questions} == {"screen"}


@pytest.mark.parametrize(
    ("card", "right"),
    [
        ("kv-04", "The answer is"),
        ("pos-03", "Expected: 1."),
        ("att-09", "1. Scores QKᵀ"),
        ("att-15", "Line 3 or 4: Rows no longer sum to 1."),
    ],
)
async def test_a_card_that_is_read_shows_what_is_right_once(make_app: MakeApp, card: str, right: str) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("card", card)
        await pilot.pause(0.2)
        assert shown(app).count(right) == 1


async def test_tab_is_named_after_the_side_that_it_turns_to(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await keys("g")(pilot)
        assert "Tab Statement" in shown(app) and "Tab Report" not in shown(app)
        await keys("tab")(pilot)
        assert "Tab Report" in shown(app) and "Tab Statement" not in shown(app)


async def test_the_statement_has_the_whole_width_until_there_is_a_report(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.screen.query_one("#statement").size.width > 110
        await keys("g")(pilot)
        assert app.screen.query_one("#statement").size.width < 62 < app.screen.query_one("#report").size.width + 10


async def test_enter_is_called_open_on_a_report_alone_where_an_interview_is_chosen(make_app: MakeApp) -> None:
    app = make_app("mock")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Enter Open" not in shown(app)
        before = app.screen.options.minutes  # type: ignore[attr-defined]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "Enter Open" not in shown(app) and app.screen.options.minutes != before  # type: ignore[attr-defined]


async def test_code_takes_the_colours_of_the_theme_at_once(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await keys("w")(pilot)
        for name in ("light", "contrast", "dark"):
            app.theme = theme_named(name)
            await pilot.pause()
            assert app.screen.query_one(TextArea).theme == theme_named(name)
        app.theme = "textual-light"
        await pilot.pause()
        assert app.screen.query_one(TextArea).theme == "github_light"
