"""Review by keyboard: reveal, tick, rate, undo, bury and suspend; every kind is answered and marked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from attncli.domain.card import FollowUp
from attncli.domain.card_kinds import NumericCard
from attncli.domain.log_row import Rating, RowKind
from attncli.i18n import Localised
from attncli.practice.marking import Asked
from attncli.practice.record import annotation, answer, hold
from attncli.tui.app import AttnApp
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.answers import MarkedRow, MarkedRows
from attncli.tui.widgets.card import AskedNext, Sheet
from attncli.tui.widgets.session import RatingBar, RatingButton
from moved_clock import Clock
from right_answer import right_answer_to

from .conftest import MakeApp, press, running, shown

KINDS = {"qa": "att-02", "numeric": "kv-04", "choice": "head-02", "cloze": "pos-03", "ordering": "att-09"}
KINDS["debug"] = "att-15"
Reviewing = AsyncIterator[tuple[Pilot[None], ReviewScreen]]


@asynccontextmanager
async def reviewing(make_app: MakeApp, kind: str = "qa", **options: Any) -> Reviewing:
    """Open the review with the card of `kind` in front."""
    async with running(make_app("review", **options)) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        while screen.asked is not None and screen.asked.card.id != KINDS[kind]:
            screen.session.bury()
            screen._take_next()
        await screen._show()
        await pilot.pause()
        assert asked(screen).card.kind == kind
        yield pilot, screen


def asked(screen: ReviewScreen) -> Asked:
    assert screen.asked is not None
    return screen.asked


def rows(app: AttnApp) -> list[tuple[str, str, dict[str, Any]]]:
    return [(row.kind.value, row.subject, row.payload) for row in app.workspace.store.log.of_kind(RowKind.REVIEW)]


async def answer_with(pilot: Pilot[None], *texts: str) -> str:
    """Paste these texts, each followed by Enter; return the screen."""
    for text in texts:
        assert pilot.app.focused is not None
        pilot.app.focused.post_message(events.Paste(text))
        await pilot.pause()
        await pilot.press("enter")
    await pilot.pause()
    return shown(pilot.app)  # type: ignore[arg-type]


async def test_the_answer_is_hidden_until_it_is_asked_for_and_every_button_shows_its_interval(
    make_app: MakeApp,
) -> None:
    async with reviewing(make_app) as (pilot, screen):
        text = await press(pilot, "1")
        assert "Why are attention scores divided" in text and "independent components" not in text
        assert not rows(screen.attn), "a rating before the answer is shown would be a guess"
        assert "independent components" in await press(pilot, "space")
        assert len(screen.query(RatingButton)) == 4 and screen.item is not None
        preview = screen.item.interval(Rating.EASY)
        days = round(preview.total_seconds() / 86_400)
        assert f"{days} d" in shown(screen.attn)
        await pilot.press("4")
        [(_, card, _)] = rows(screen.attn)
        schedule = screen.workspace.store.schedules.get(card)
        assert schedule is not None and schedule.interval_days == pytest.approx(preview.total_seconds() / 86_400)


async def test_the_ticked_points_suggest_the_rating_that_enter_stores(make_app: MakeApp, clock: Clock) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await pilot.press("space")
        seen = [screen.query_one(RatingBar).suggested]
        for letter in "acdb":
            await pilot.press(letter)
            seen.append(screen.query_one(RatingBar).suggested)
        assert seen == [Rating.AGAIN, Rating.AGAIN, Rating.HARD, Rating.HARD, Rating.GOOD]
        clock.move(seconds=42)
        await pilot.press("b", "enter")
        [(_, card, payload)] = rows(screen.attn)
        assert card == "att-02" and payload["rating"] == Rating.HARD
        assert payload["points"] == [0, 2, 3] and payload["elapsed_ms"] == 42_000
        assert screen.session.progress.answered == 1


async def test_points_and_ratings_are_chosen_with_arrows_mouse_and_full_width_letters(make_app: MakeApp) -> None:
    async with reviewing(make_app, lang="zh") as (pilot, screen):
        await pilot.press("space", "down", "space")
        assert asked(screen).ticked == {1}
        await pilot.click(screen.query(MarkedRow)[0])
        assert asked(screen).ticked == {0, 1}
        await pilot.press("ａ")
        assert asked(screen).ticked == {1}, "a full-width letter of an input method unticks"
        await press(pilot, "３")
        assert rows(screen.attn)[0][2]["rating"] == 3


async def test_undo_asks_the_last_card_again(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await pilot.press("u")
        assert asked(screen).card.id == "att-02", "nothing to take back yet"
        await pilot.press("space")
        await pilot.click(".rating-hard")
        assert rows(screen.attn)[0][2]["rating"] == Rating.HARD and asked(screen).card.id != "att-02"
        await pilot.press("escape", "u") if screen.query("AnswerField") else await pilot.press("u")
        assert asked(screen).card.id == "att-02" and not asked(screen).revealed
        assert screen.workspace.store.schedules.get("att-02") is None and screen.session.progress.answered == 0


async def test_suspended_and_buried_cards_leave_the_queue(make_app: MakeApp) -> None:
    async with running(make_app("review")) as (app, pilot):
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        first = asked(screen).card.id
        await pilot.press("exclamation_mark")
        second = asked(screen).card.id
        await pilot.press(*["escape"] * (asked(screen).card.kind in ("numeric", "cloze")), "minus")
        third = asked(screen).card.id
        assert len({first, second, third}) == 3
        rows_of = app.workspace.store.log.of_kind
        put_away = [[row.subject for row in rows_of(kind)] for kind in (RowKind.SUSPEND, RowKind.BURY)]
        assert put_away == [[first], [second]]


async def test_an_answer_shows_formula_pitfalls_follow_ups_and_sources_in_either_language(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await pilot.press("space", "b")
        await pilot.resize_terminal(80, 70)
        await pilot.pause(0.2)
        text = shown(screen.attn)
        assert "▐╸ Var(qᵢkᵢ)" in text
        assert "! “Without it gradients explode”" in text
        assert "att-04" in text and "arXiv:1706.03762 §3.2.1, footnote 4" in text
        assert "pᵢ(δᵢⱼ − pⱼ)" in text
        assert "logits 过大使 softmax 饱和" in await press(pilot, "l") and asked(screen).ticked == {1}
        await pilot.press("3")
        assert rows(screen.attn)[0][2]["points"] == [1]


NEXT = (
    FollowUp(None, None, "att-04"),
    FollowUp(Localised("Why a sum?", "为什么是求和？"), Localised("Independent terms add.", "独立项相加。")),
    FollowUp(Localised("What breaks?", "会坏在哪？"), Localised("It saturates.", "会饱和。"), "att-23"),
)


async def test_a_follow_up_shows_its_answer_once_it_is_opened_and_that_rates_nothing(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        asked(screen).card = replace(asked(screen).card, follow_ups=NEXT)
        await pilot.press("space")
        await pilot.resize_terminal(80, 70)
        await pilot.pause()
        assert "▸ Why a sum?" in shown(screen.attn) and "Independent terms" not in shown(screen.attn)
        text = await press(pilot, "o")
        assert "▾ Why a sum?" in text and "Independent terms add." in text and "It saturates" not in text
        text = await press(pilot, "o", "o", "l")
        assert "独立项相加。" in text and "会饱和。  → att-23" in text and asked(screen).opened == {1, 2}
        screen.query(AskedNext).last().focus()
        await press(pilot, "enter")
        assert asked(screen).opened == {1} and rows(screen.attn) == []
        await press(pilot, "enter")
        assert asked(screen).opened == {1, 2}


async def test_a_choice_is_marked_and_every_wrong_option_says_why(make_app: MakeApp) -> None:
    async with reviewing(make_app, "choice") as (pilot, screen):
        wrong = asked(screen).card.drawn.index(1)
        text = await press(pilot, "abcd"[wrong], "enter")
        assert asked(screen).marked is not None and asked(screen).correct is False
        assert "✗ Not right" in text and "(your answer)" in text and "n² · d" in text
        assert screen.query_one(RatingBar).suggested is Rating.AGAIN
        chosen = list(asked(screen).answer.places)
        await pilot.press("abcd"[wrong - 1], "space")
        assert asked(screen).answer.places == chosen and all(rows.closed for rows in screen.query(MarkedRows))


async def test_enter_on_an_option_answers_with_it(make_app: MakeApp) -> None:
    async with reviewing(make_app, "choice") as (pilot, screen):
        text = await press(pilot, *["down"] * asked(screen).card.drawn.index(0), "enter")
        assert asked(screen).correct is True and "✓ Right" in text
        await pilot.press("enter")
        assert rows(screen.attn)[0][2] | {"rating": 3, "correct": True} == rows(screen.attn)[0][2]


async def test_a_number_is_marked_in_any_notation_and_unit_and_what_is_none_is_told(make_app: MakeApp) -> None:
    async with reviewing(make_app, "numeric") as (pilot, screen):
        card = asked(screen).card
        assert isinstance(card, NumericCard) and "{{" not in asked(screen).question.en
        assert len({Asked.of(card, screen.attn.rng).question.en for _ in range(20)}) > 5, "fresh numbers each time"
        await answer_with(pilot, "lots")
        assert not asked(screen).revealed
        assert any("Enter a number" in note.message for note in screen.attn._notifications)
        screen.query_one("AnswerField").value = ""  # type: ignore[attr-defined]
        await answer_with(pilot, f"{float(card.expected) * 1024:.6f} MiB")
        assert asked(screen).correct is True and screen.query_one(RatingBar).suggested is Rating.GOOD


async def test_keys_of_the_review_are_typed_into_a_field_except_undo_where_it_is_empty(make_app: MakeApp) -> None:
    async with reviewing(make_app, "numeric") as (pilot, screen):
        text = await press(pilot, "enter")
        assert "no answer" in text and "The answer is" in text
        await pilot.press("1", "u")
        assert asked(screen).card.id == "kv-04" and screen.session.progress.answered == 0
        await pilot.press("1", "minus", "u", "slash", "exclamation_mark")
        assert asked(screen).answer.texts == ["1-u/!"] and asked(screen).card.id == "kv-04"
    async with reviewing(make_app, "cloze") as (pilot, screen):
        await pilot.press("enter", "enter", "3", "ctrl+z")
        assert asked(screen).card.id == "pos-03"


async def test_blanks_accept_equal_formulas_in_their_order_and_each_is_marked(make_app: MakeApp) -> None:
    async with reviewing(make_app, "cloze") as (pilot, screen):
        await answer_with(pilot, "1/10000**(2*i/d)", "q, K")
        assert asked(screen).correct is True
    async with reviewing(make_app, "cloze", lang="zh") as (pilot, screen):
        text = await answer_with(pilot, "i/d", "Q and K")
        assert "2 项中对 1 项" in text and "第 1 空 ✗" in text and "第 2 空 ✓" in text


@pytest.mark.slow
async def test_items_are_moved_into_order_and_a_wrong_order_is_told_with_a_right_one(make_app: MakeApp) -> None:
    async with reviewing(make_app, "ordering") as (pilot, screen):
        wanted = right_answer_to(asked(screen).card).places
        for place, item in enumerate(wanted):
            await pilot.press(*["up"] * 4)
            now = asked(screen).answer.places.index(item)
            await pilot.press(*["down"] * now, *["K"] * (now - place))
        assert asked(screen).answer.places == wanted
        await press(pilot, "enter")
        assert asked(screen).correct is True
    async with reviewing(make_app, "ordering") as (pilot, screen):
        asked(screen).choose(right_answer_to(asked(screen).card).places[::-1])
        assert "Correct order" in await press(pilot, "enter") and asked(screen).correct is False


@pytest.mark.parametrize(
    ("line", "words"), [(2, ("Rows no longer sum to 1.", " 3 ✓")), (0, ("/ d ** 0.5  (your answer)", " 1 ✗", " 3 ✓"))]
)
async def test_the_line_under_the_cursor_is_the_answer(make_app: MakeApp, line: int, words: tuple[str, ...]) -> None:
    async with reviewing(make_app, "debug") as (pilot, screen):
        text = await press(pilot, *["down"] * line, "enter")
        assert asked(screen).answer.places == [line] and asked(screen).correct is (line == 2)
        assert all(part in text for part in words), text


@pytest.mark.parametrize("kind", ["qa", *(pytest.param(kind, marks=pytest.mark.full) for kind in ("choice", "cloze"))])
async def test_the_points_or_the_sheet_take_the_keys_when_the_answer_comes(make_app: MakeApp, kind: str) -> None:
    async with reviewing(make_app, kind) as (pilot, screen):
        await press(pilot, *{"qa": ["space"], "choice": ["enter"], "cloze": ["7", "enter", "enter"]}[kind])
        points = [rows for rows in screen.query(MarkedRows) if not rows.closed]
        assert asked(screen).revealed and screen.focused is (points[0] if points else screen.query_one(Sheet))
        assert bool(points) == (kind == "qa")


@pytest.mark.parametrize("is_known", [False, True])
async def test_the_end_sums_up_and_leads_home(make_app: MakeApp, clock: Clock, is_known: bool) -> None:
    app = make_app("review", limit=2)
    for card in app.workspace.store.index.card_ids() if is_known else ():
        answer(app.workspace, card, Rating.HARD, clock() - timedelta(days=60))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, ReviewScreen)
        for rating in (Rating.AGAIN, Rating.GOOD):
            asked(screen).revealed = True
            await screen._rate(rating)
            clock.move(minutes=1)
        await pilot.pause()
        text = shown(app)
        assert screen.asked is None and "2 reviews" in text and "Rated Again" in text
        assert ("50% recalled" in text) is is_known and ("% recalled" in text) is is_known
        await pilot.press("enter")
        assert isinstance(app.screen, HomeScreen)
        await pilot.pause()
        assert "1-day streak" in shown(app)
    async with running(make_app("review", limit=0)) as (app, _):
        assert "Nothing to review" in shown(app)


@pytest.mark.full
async def test_long_answers_scroll_with_the_keyboard(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await press(pilot, "space")
        sheet = screen.query_one(Sheet)
        assert "▼" in shown(screen.attn)
        await pilot.press("pagedown", "pagedown")
        await pilot.pause(0.5)
        assert sheet.scroll_y == sheet.max_scroll_y > 0 and "▼" not in shown(screen.attn)
        await pilot.press(*"kkkkkkkkkkkkkkkkkkkkkkkkkk")
        await pilot.pause(0.5)
        assert sheet.scroll_y == 0


async def test_a_card_is_flagged_noted_and_tagged_without_leaving_the_review(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await press(pilot, "n", *"hm", "enter", "escape")
        assert pilot.app.screen is screen and not asked(screen).revealed
        text = await press(pilot, "t", *"sum", "enter")
        assert "会" not in text and "Press Space" not in text
        await pilot.press("escape")
        commands = {command.title: command for command in screen.app.get_system_commands(screen)}
        assert {"Ask again today", "Flag", "Note", "Tag", "Open the card", "Bury"} <= set(commands)
        assert "Rate" not in commands
        commands["Flag"].callback()
        await pilot.pause()
        found = annotation(screen.workspace, "att-02")
        assert set(found.tags) == {"flag", "sum"} and found.note == "hm"
        await press(pilot, "asterisk")
        assert not annotation(screen.workspace, "att-02").flagged


async def test_a_card_is_asked_again_at_the_end_without_a_second_review(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        assert "r Ask again today" in shown(screen.attn)
        for card in screen.workspace.store.index.card_ids():
            if card != asked(screen).card.id:
                hold(screen.workspace, RowKind.SUSPEND, card)
        text = await press(pilot, "space", "r", "4")
        assert "asked again, not recorded" in text and "1 learning ·" in text
        assert "1 review  ·  1 min" in await press(pilot, "space", "1")
        assert len(screen.workspace.store.log.of_kind(RowKind.REVIEW)) == 1


async def test_an_option_is_chosen_by_its_number_and_a_rating_by_the_same_key_afterwards(make_app: MakeApp) -> None:
    async with reviewing(make_app, "choice") as (pilot, screen):
        await press(pilot, "2")
        assert asked(screen).answer.places == [1] and not asked(screen).revealed
        await press(pilot, "enter")
        card = asked(screen).card.id
        await press(pilot, "2")
        assert screen.session.answers[-1].card == card and screen.session.answers[-1].rating is Rating.HARD
