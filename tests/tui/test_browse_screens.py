"""Browse cards, mark them, and write own ones, by keyboard alone."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea

from attncli.i18n import LANGS, _
from attncli.practice.authoring import CardDraft
from attncli.practice.record import annotation
from attncli.tui.screens import cards
from attncli.tui.screens.cards import AddCardScreen, CardScreen, SearchScreen
from attncli.tui.widgets.answers import AnswerField, Rows
from attncli.tui.widgets.basics import PassingField

from .conftest import MakeApp, press, running, shown, until


@pytest.mark.slow
async def test_flag_tag_and_note_are_put_on_a_card_and_shown_in_lists(make_app: MakeApp) -> None:
    async with running(make_app("search"), (100, 40)) as (app, pilot):
        await press(pilot, *"saturate", "enter", "enter")
        await pilot.press("f", "t", *"hard", "enter", "n", *"ask", "space", *"why", "enter")
        assert annotation(app.workspace, "att-02").tags == ("flag", "hard")
        assert annotation(app.workspace, "att-02").note == "ask why"
        assert "#flag #hard" in shown(app) and "Your note: ask why" in shown(app)
        await pilot.press("u")
        assert annotation(app.workspace, "att-02").note == "" and "ask why" not in shown(app)
        await press(pilot, "escape")
        assert isinstance(app.screen, SearchScreen) and "#flag #hard" in shown(app)


async def test_what_is_no_tag_stays_in_the_field_and_a_bundled_card_is_not_edited(make_app: MakeApp) -> None:
    async with running(make_app(), (100, 40), notifications=True) as (app, pilot):
        app.show("card", "att-02")
        await pilot.pause()
        await pilot.press("t", *"two", "space", *"words", "enter")
        assert app.screen.query_one(PassingField).value == "two words" and len(app._notifications) == 1
        await pilot.press("escape", "n", *"gone", "escape")
        assert isinstance(app.screen, CardScreen) and not app.screen.query_one(PassingField).display
        found = annotation(app.workspace, "att-02")
        assert (found.tags, found.note) == ((), "")
        await pilot.press("e")
        assert any("att-02 is a bundled card" in note.message for note in app._notifications)


async def test_a_card_of_ones_own_is_written_kept_and_found(make_app: MakeApp) -> None:
    async with running(make_app("search")) as (app, pilot):
        app.screen.action_add()  # type: ignore[attr-defined]
        await pilot.pause()
        assert isinstance(app.screen, AddCardScreen)
        assert "Enter a question and an answer." in await press(pilot, "ctrl+s")
        app.screen.query_one("#topic", Input).value = "no topic"
        app.screen.query_one("#question", Input).value = "What is a zebra?"
        app.screen.query_one("#answer", TextArea).text = "Striped: $x^2$."
        await pilot.pause()
        assert "hyphens for a topic" in await press(pilot, "ctrl+s")
        assert app.screen.query_one("#question", Input).value == "What is a zebra?"
        app.screen.query_one("#topic", Input).value = "mine"
        await pilot.pause()
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, SearchScreen) and "mine-01" in await press(pilot, "slash", *"zebra")
        assert app.workspace.library.card("mine-01").question["en"] == "What is a zebra?"


async def test_a_card_that_was_begun_is_left_only_where_that_is_meant(make_app: MakeApp) -> None:
    async with running(make_app("search", lang="zh")) as (app, pilot):
        app.show("add-card")
        await pilot.pause(0.2)
        await press(pilot, "escape")
        assert isinstance(app.screen, SearchScreen), "nothing was begun"
        app.show("add-card")
        await pilot.pause(0.2)
        assert "丢弃已输入的内容" in await press(pilot, "w", "h", "y", "escape")
        await press(pilot, "n")
        assert isinstance(app.screen, AddCardScreen) and app.screen.draft.question == "why"
        await press(pilot, "escape")
        await press(pilot, "y")
        assert isinstance(app.screen, SearchScreen) and not app.workspace.home.card_draft.exists()


async def test_a_card_that_was_begun_is_there_again_after_the_app_has_ended(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        app.show("add-card", "att")
        await pilot.pause(0.2)
        await press(pilot, *"why?", "enter", *"不知道", "ctrl+q")
    assert app.workspace.home.card_draft.is_file()
    again = make_app()
    async with again.run_test(size=(80, 24)) as pilot:
        again.show("add-card")
        await pilot.pause(0.2)
        assert isinstance(again.screen, AddCardScreen)
        assert again.screen.draft == CardDraft("att", "why?", "不知道")
        await press(pilot, "f2")
        await press(pilot, "ctrl+s")
    assert "不知道" in (again.workspace.home.banks / "att.yaml").read_text(encoding="utf-8")
    assert not again.workspace.home.card_draft.exists()


async def test_a_card_is_kept_while_it_is_written(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "SECONDS_BETWEEN_DRAFTS", 0.05)
    app = make_app()
    draft = app.workspace.home.card_draft
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await pilot.pause(0.3)
        assert not draft.exists(), "nothing is typed yet"
        await pilot.press(*"wh")
        await until(pilot, lambda: draft.exists() and "wh" in draft.read_text(encoding="utf-8"))
        await pilot.press("end", "backspace", "backspace")
        await until(pilot, lambda: not draft.exists())


async def test_an_unreadable_draft_is_not_written_over(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "SECONDS_BETWEEN_DRAFTS", 0.05)
    app = make_app()
    draft = app.workspace.home.card_draft
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("half a ca", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await press(pilot, *"why?")
        await pilot.pause(0.3)
    assert draft.read_text(encoding="utf-8") == "half a ca"


async def test_a_card_that_cannot_be_kept_at_the_end_is_told_once_and_the_next_try_leaves(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.home.card_draft.mkdir(parents=True)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card")
        await until(pilot, lambda: "holds your unfinished card" in shown(app))
        await press(pilot, *"why", "ctrl+q")
        assert isinstance(app.screen, AddCardScreen) and "cannot write" in shown(app)
        await press(pilot, "ctrl+q")
        assert app._exit


async def test_search_says_how_many_of_all_it_lists(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "_MOST_ROWS", 2)
    async with running(make_app("search")) as (app, pilot):
        text, count = shown(app), sum(topic.cards for topic in app.workspace.library.topics())
        assert f"2 of {count} cards" in text and "is:new|seen|due" in text
        await app.action_language()
        await pilot.pause()
        assert f"共 {count} 张，列出 2 张" in shown(app)
        await app.action_language()
        assert "Unknown filter, ignored: is:odd" in await press(pilot, *"is:odd")


async def test_rows_below_the_screen_come_a_little_later(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "_AT_ONCE", 2)
    async with running(make_app("search")) as (app, _):
        rows, screen = app.screen.query_one(Rows), app.screen
        assert isinstance(screen, SearchScreen) and screen.found is not None
        before = screen.found
        screen._search()
        assert rows.option_count == 2
        screen._show_rest(before)
        assert rows.option_count == 2, "that was looked for before"
        screen._show_rest(screen.found)
        assert rows.option_count == 6 and rows.highlighted == 0


RIGHT = {
    "att-09": ("1. Scores QKᵀ", "Correct order", "正确顺序"),
    "kv-04": ("The answer is", "The answer is ", "答案是 "),
    "pos-03": ("Expected: 1.", "Expected: ", "应为："),
    "att-15": ("Line 3 or 4: Rows no longer sum to 1.", "Line ", " 行："),
    "head-02": (" ✓ ", " ✓ ", " ✓ "),
}


@pytest.mark.slow
@pytest.mark.parametrize("question_first", [True, pytest.param(False, marks=pytest.mark.full)])
async def test_a_card_that_is_looked_up_tells_what_is_right_once(make_app: MakeApp, question_first: bool) -> None:
    async with running(make_app(), (100, 60)) as (app, pilot):
        for card, (once, *told) in RIGHT.items():
            app.show("card", card, question_first)
            await pilot.pause()
            for lang, right in zip(LANGS, told, strict=True):
                if question_first and lang == "en":
                    assert right not in shown(app)
                    await press(pilot, "space")
                text = shown(app)
                assert right in text and _("(your answer)")[lang] not in text, "nobody answered"
                assert lang == "zh" or text.count(once) == 1
                assert not app.screen.query(AnswerField), "there is nothing left to type"
                await app.action_language()
                await pilot.pause()
