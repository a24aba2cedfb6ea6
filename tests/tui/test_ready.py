"""What the next key shows is ready before it is pressed: the key mounts nothing, and styles next to nothing anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot
from textual.widget import Widget

from attncli.domain.log_row import Rating
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.widgets.answers import MarkedRows
from attncli.tui.widgets.basics import KeyBar, Prerendered
from attncli.tui.widgets.card import Points, Sheet
from attncli.tui.widgets.session import RatingBar

from .conftest import MakeApp, shown, until
from .test_review import KINDS, reviewing

SIDES_THAT_DEPEND = {"qa": 0, "numeric": 6, "choice": 1, "cloze": 10, "ordering": 3, "debug": 1}
"""So many widgets come with the answer: the verdict, a right order, fields that say what was typed."""


@pytest.fixture
def mounted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Widget]]:
    """Grows by each widget that is styled because it is new."""
    found: list[Widget] = []
    start = Widget._start_messages

    def note(widget: Widget) -> None:
        found.append(widget)
        start(widget)

    monkeypatch.setattr(Widget, "_start_messages", note)
    yield found


async def made_ready(pilot: Pilot[None], screen: ReviewScreen) -> None:
    await until(pilot, lambda: screen.is_prepared)
    await pilot.pause()


def behind_the_question(screen: ReviewScreen) -> Prerendered:
    return next(place for place in reversed(screen.query_one(Sheet).query(Prerendered)) if place.display)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_answer_is_mounted_before_the_key_that_shows_it(
    make_app: MakeApp, mounted: list[Widget], kind: str
) -> None:
    async with reviewing(make_app, kind) as (pilot, screen):
        await made_ready(pilot, screen)
        mounted.clear()
        assert screen.asked is not None
        screen.asked.texts = ["7" for _ in screen.asked.texts]
        await screen.action_submit()
        assert screen.asked.revealed and len(mounted) == SIDES_THAT_DEPEND[kind], mounted


async def test_what_is_ready_is_laid_out_and_drawn_but_neither_seen_nor_found_by_a_key(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        before = shown(screen.attn)
        await made_ready(pilot, screen)
        behind = behind_the_question(screen)
        points = behind.query_one(Points)
        assert points.size.height > 0 and shown(screen.attn) == before
        assert points not in screen.focus_chain and points not in screen.query_one(Sheet).rows
        await pilot.press("a")
        assert screen.asked is not None and not screen.asked.ticked
        await pilot.press("space")
        assert points in screen.focus_chain and screen.focused is points


async def test_a_key_that_comes_before_all_is_ready_shows_the_whole_answer(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        await made_ready(pilot, screen)
        whole = [type(part) for part in behind_the_question(screen).children]
        screen.prepare()
        screen._take_step()
        screen._take_step()
        await pilot.press("space")
        await pilot.pause()
        assert [type(part) for part in behind_the_question(screen).children] == whole


async def test_the_rating_bar_stays_and_is_covered_while_there_is_nothing_to_rate(
    make_app: MakeApp, mounted: list[Widget]
) -> None:
    async with reviewing(make_app) as (pilot, screen):
        bar = screen.query_one(RatingBar)
        assert "1 Again" not in shown(screen.attn)
        await pilot.press("space")
        assert "1 Again" in shown(screen.attn)
        await pilot.press("3")
        await pilot.pause()
        assert "1 Again" not in shown(screen.attn) and screen.query_one(RatingBar) is bar


async def test_a_card_that_was_answered_is_taken_away_at_rest_and_with_the_next_key(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        sheet = screen.query_one(Sheet)
        await pilot.press("space", "3")
        await made_ready(pilot, screen)
        away = [child for child in sheet.children if not child.display]
        assert away and not any(child.children for child in away)
        assert screen.asked is not None
        screen.asked.revealed = True
        await screen._rate(Rating.GOOD)
        await pilot.pause()
        assert not any(child in away for child in sheet.children)


async def test_a_page_that_gets_the_keys_styles_itself_alone(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reviewing(make_app, "choice") as (pilot, screen):
        styled: list[object] = []
        apply = Stylesheet.apply

        def note(stylesheet: Stylesheet, node: object, **options: object) -> None:
            styled.append(node)
            apply(stylesheet, node, **options)  # type: ignore[arg-type]

        await made_ready(pilot, screen)
        sheet = screen.query_one(Sheet)
        screen.set_focus(None)
        await pilot.pause()
        monkeypatch.setattr(Stylesheet, "apply", note)
        screen.set_focus(sheet)
        await pilot.pause()
        assert sheet in styled and not any(isinstance(node, MarkedRows) for node in styled)


async def test_the_question_keeps_its_width_when_the_scrollbar_comes(make_app: MakeApp) -> None:
    async with reviewing(make_app) as (pilot, screen):
        sheet = screen.query_one(Sheet)
        question = sheet.parts[0]
        assert not sheet.show_vertical_scrollbar
        width = question.size.width
        await pilot.press("space")
        await pilot.pause()
        assert sheet.show_vertical_scrollbar and sheet.parts[0] is question and question.size.width == width


async def test_the_key_bar_is_drawn_anew_only_where_the_keys_changed(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with reviewing(make_app) as (pilot, screen):
        drawn: list[KeyBar] = []
        bar = screen.query_one(KeyBar)
        monkeypatch.setattr(KeyBar, "refresh", lambda bar, *_regions, **_options: drawn.append(bar))
        screen.refresh_bindings()
        await pilot.pause()
        assert not drawn
        screen.asked = None
        screen.refresh_bindings()
        await pilot.pause()
        assert bar in drawn
