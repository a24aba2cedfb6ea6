"""Browse cards, mark them, and write own ones, by keyboard alone."""

from __future__ import annotations

import pytest
from textual.widgets import Input, TextArea

from attncli.i18n import Lang, _
from attncli.practice.authoring import CardDraft, keep_draft
from attncli.practice.record import annotation
from attncli.tui.screens import cards
from attncli.tui.screens.cards import AddCardScreen, CardScreen, SearchScreen
from attncli.tui.widgets.answers import AnswerField, Rows
from attncli.tui.widgets.basics import PassingField

from .conftest import MakeApp, shown, until


async def test_flag_tag_and_note_are_put_on_a_card_and_shown_in_lists(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(100, 40)) as pilot:
        await pilot.press(*"saturate", "enter", "enter")
        await pilot.pause()
        await pilot.press("f", "t", *"hard", "enter", "n", *"ask", "space", *"why", "enter")
        assert annotation(app.workspace, "att-02").tags == ("flag", "hard")
        assert annotation(app.workspace, "att-02").note == "ask why"
        assert "#flag #hard" in shown(app) and "Your note: ask why" in shown(app)
        await pilot.press("u")
        assert annotation(app.workspace, "att-02").note == "" and "ask why" not in shown(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, SearchScreen) and "#flag #hard" in shown(app)


async def test_escape_leaves_the_field_and_keeps_nothing(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 40)) as pilot:
        app.show("card", "att-02")
        await pilot.pause()
        await pilot.press("n", *"gone", "escape")
        assert isinstance(app.screen, CardScreen) and not app.screen.query_one(PassingField).display
        assert annotation(app.workspace, "att-02").note == ""


async def test_what_is_no_tag_is_told_and_stays_in_the_field(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(100, 40), notifications=True) as pilot:
        app.show("card", "att-02")
        await pilot.pause()
        await pilot.press("t", *"two", "space", *"words", "enter")
        assert app.screen.query_one(PassingField).value == "two words"
        assert annotation(app.workspace, "att-02").tags == ()
        assert len(app._notifications) == 1


async def test_filters_are_told_below_the_field_and_unknown_ones_named(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        assert "is:new|seen|due" in shown(app)
        await pilot.press(*"is:odd")
        assert "Unknown filter, ignored: is:odd" in shown(app)


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_card_of_ones_own_is_written_kept_and_found(make_app: MakeApp, lang: str) -> None:
    app = make_app("search", lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.action_add()  # type: ignore[attr-defined]
        await pilot.pause()
        assert isinstance(app.screen, AddCardScreen)
        await pilot.press("ctrl+s")
        assert ("Enter a question and an answer." if lang == "en" else "请填写问题和答案。") in shown(app)
        app.screen.query_one("#question", Input).value = "What is a zebra?"
        app.screen.query_one("#answer", TextArea).text = "Striped: $x^2$."
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(app.screen, SearchScreen)
        await pilot.press("slash", *"zebra")
        assert "mine-01" in shown(app)
        assert app.workspace.library.card("mine-01").question[lang] == "What is a zebra?"


async def test_a_topic_that_cannot_be_one_is_told_and_what_was_typed_stays(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("a")
        await pilot.pause()
        app.screen.query_one("#topic", Input).value = "no topic"
        app.screen.query_one("#question", Input).value = "Q"
        app.screen.query_one("#answer", TextArea).text = "A"
        await pilot.pause()
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, AddCardScreen) and "hyphens for a topic" in shown(app)
        assert app.screen.query_one("#question", Input).value == "Q"


async def test_a_bundled_card_is_not_edited(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("card", "att-02")
        await pilot.pause()
        await pilot.press("e")
        (notification,) = app._notifications
        assert "att-02 is a bundled card" in notification.message


@pytest.mark.parametrize(("lang", "asks"), [("en", "discard what you typed"), ("zh", "丢弃已输入的内容")])
async def test_a_card_that_was_begun_is_left_only_where_that_is_meant(make_app: MakeApp, lang: str, asks: str) -> None:
    app = make_app("search", lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card")
        await pilot.pause(0.2)
        await pilot.press("w", "h", "y", "escape")
        await pilot.pause(0.2)
        assert asks in shown(app)
        await pilot.press("n")
        await pilot.pause(0.2)
        assert isinstance(app.screen, AddCardScreen) and app.screen.draft.question == "why"
        await pilot.press("escape")
        await pilot.pause(0.2)
        await pilot.press("y")
        await pilot.pause(0.2)
        assert not isinstance(app.screen, AddCardScreen)


async def test_a_card_that_was_begun_is_there_again_after_the_app_has_ended(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await pilot.pause(0.2)
        await pilot.press(*"why?", "enter", *"不知道", "ctrl+q")
        await pilot.pause(0.2)
    assert app.workspace.home.card_draft.is_file()
    again = make_app()
    async with again.run_test(size=(80, 24)) as pilot:
        again.show("add-card")
        await pilot.pause(0.2)
        assert isinstance(again.screen, AddCardScreen)
        assert again.screen.draft == CardDraft("att", "why?", "不知道")
        await pilot.press("f2")
        await pilot.pause(0.2)
        await pilot.press("ctrl+s")
        await pilot.pause(0.2)
    assert "不知道" in (again.workspace.home.banks / "att.yaml").read_text(encoding="utf-8")
    assert not again.workspace.home.card_draft.exists()


async def test_a_card_that_was_emptied_again_is_forgotten(make_app: MakeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "SECONDS_BETWEEN_DRAFTS", 0.05)
    app = make_app()
    draft = app.workspace.home.card_draft
    keep_draft(draft, CardDraft("att", "w", ""))
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await pilot.pause()
        assert app.screen.query_one("#question", Input).value == "w"
        await pilot.press("end", "backspace")
        await until(pilot, lambda: not draft.exists())


async def test_a_card_that_is_begun_is_kept_while_it_is_written(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "SECONDS_BETWEEN_DRAFTS", 0.05)
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await pilot.pause(0.5)
        draft = app.workspace.home.card_draft
        assert not draft.exists(), "nothing is typed yet"
        await pilot.press(*"why?")
        await until(pilot, lambda: draft.exists() and "why?" in draft.read_text(encoding="utf-8"))
        await pilot.press("escape")
        await pilot.pause(0.2)
        await pilot.press("y")
        await pilot.pause(0.5)
        assert not draft.exists(), "left on purpose"


async def test_a_draft_that_cannot_be_read_is_not_written_over_meanwhile(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "SECONDS_BETWEEN_DRAFTS", 0.05)
    app = make_app()
    draft = app.workspace.home.card_draft
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("half a ca", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card", "att")
        await pilot.pause(0.2)
        await pilot.press(*"why?")
        await pilot.pause(0.5)
    assert draft.read_text(encoding="utf-8") == "half a ca"


async def test_a_card_that_cannot_be_kept_at_the_end_is_told_once_and_the_next_try_leaves(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.home.card_draft.mkdir(parents=True)
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card")
        await until(pilot, lambda: "holds your unfinished card" in shown(app))
        await pilot.press(*"why", "ctrl+q")
        await pilot.pause(0.2)
        assert isinstance(app.screen, AddCardScreen) and "cannot write" in shown(app)
        await pilot.press("ctrl+q")
        await pilot.pause(0.2)
        assert app._exit


async def test_a_card_that_was_not_begun_is_left_at_once(make_app: MakeApp) -> None:
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        app.show("add-card")
        await pilot.pause(0.2)
        await pilot.press("escape")
        await pilot.pause(0.2)
        assert not isinstance(app.screen, AddCardScreen)


@pytest.mark.parametrize(("lang", "says"), [("en", "2 of {count} cards"), ("zh", "共 {count} 张，列出 2 张")])
async def test_search_says_how_many_of_all_it_lists(
    make_app: MakeApp, lang: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "_MOST_ROWS", 2)
    app = make_app("search", lang=lang)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause(0.2)
        count = sum(topic.cards for topic in app.workspace.library.topics())
        assert says.format(count=count) in shown(app)


async def test_rows_below_the_screen_come_when_the_typing_rests(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cards, "_AT_ONCE", 2)
    app = make_app("search")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        rows, screen = app.screen.query_one(Rows), app.screen
        assert isinstance(screen, SearchScreen) and screen.found is not None
        before = screen.found
        screen._search()
        assert rows.option_count == 2
        screen._show_rest(before)
        assert rows.option_count == 2, "that was looked for before"
        screen._show_rest(screen.found)
        assert rows.option_count == 6 and rows.highlighted == 0


@pytest.mark.parametrize("question_first", [True, False])
@pytest.mark.parametrize(
    ("card", "lang", "told"),
    [
        ("att-09", "en", "Correct order"),
        ("att-09", "zh", "正确顺序"),
        ("kv-04", "en", "The answer is "),
        ("kv-04", "zh", "答案是 "),
        ("pos-03", "en", "Expected: "),
        ("pos-03", "zh", "应为："),
        ("att-15", "en", "Line "),
        ("att-15", "zh", " 行："),
        ("head-02", "en", " ✓ "),
    ],
)
async def test_a_card_that_is_looked_up_tells_what_is_right(
    make_app: MakeApp, card: str, lang: Lang, told: str, question_first: bool
) -> None:
    app = make_app(lang=lang)
    async with app.run_test(size=(100, 60)) as pilot:
        app.show("card", card, question_first)
        await pilot.pause()
        if question_first:
            assert told not in shown(app)
            await pilot.press("space")
            await pilot.pause()
        assert told in shown(app)
        assert _("(your answer)")[lang] not in shown(app), "nobody answered"
        assert not app.screen.query(AnswerField), "there is nothing left to type"
