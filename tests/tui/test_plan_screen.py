"""The plan in the app: its key on Home, both languages, studying today's list from it, and setting a date."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from attncli.config import Settings
from attncli.i18n import Lang
from attncli.tui.app import AttnApp
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.plan import PlanScreen
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.screens.settings import SettingsScreen

from .conftest import MakeApp, shown

DAY = date(2026, 6, 20)


def before_interview(make_app: MakeApp, lang: Lang = "en", **settings: Any) -> AttnApp:
    app = make_app(lang=lang)
    app.workspace.adopt(app.workspace.settings._replace(interview=DAY, **settings))
    return app


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("The interview is in 8 days (Sat 20 Jun 2026).", "Based on published averages", "Day by day")),
        ("zh", ("距离面试还有 8 天（2026年6月20日 周六）。", "依据公开的平均值", "每日安排")),
    ],
)
@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_the_plan_opens_from_home_and_says_what_matters_first(
    make_app: MakeApp, lang: Lang, words: tuple[str, ...], size: tuple[int, int]
) -> None:
    app = before_interview(make_app, lang)
    async with app.run_test(size=size) as pilot:
        assert isinstance(app.screen, HomeScreen)
        assert ("8 days to the interview" if lang == "en" else "距面试 8 天") in shown(app)
        await pilot.press("p")
        await pilot.pause()
        assert isinstance(app.screen, PlanScreen)
        text = shown(app)
        assert all(said in text for said in words), text


async def test_a_date_that_has_gone_by_is_told_in_chinese_alone(make_app: MakeApp) -> None:
    app = before_interview(make_app, "zh")
    app.workspace.adopt(app.workspace.settings._replace(interview=date(2026, 6, 1)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("p")
        await pilot.pause()
        assert "面试日期已过" in shown(app) and "attn config" not in shown(app)


async def test_without_a_date_the_screen_leads_to_the_settings(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("p")
        await pilot.pause()
        assert "No interview date is set" in shown(app)
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, PlanScreen)
        await pilot.press("comma")
        await pilot.pause()
        assert isinstance(app.screen, SettingsScreen)
        app.workspace.adopt(Settings(interview=DAY, fuzz=False))
        await pilot.press("escape")
        await pilot.pause()
        assert "The interview is in 8 days" in shown(app)


async def test_r_studies_today_s_list_in_its_order(make_app: MakeApp) -> None:
    app = before_interview(make_app, minutes_per_day=3)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("p")
        await pilot.pause()
        assert isinstance(app.screen, PlanScreen) and app.screen.plan is not None
        first = app.screen.plan.days[0].new
        await pilot.press("r")
        await pilot.pause()
        assert isinstance(app.screen, ReviewScreen) and app.screen.item is not None
        assert app.screen.item.card.id == first[0] and app.screen.session.progress.new == len(first) == 1
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, HomeScreen)


async def test_the_palette_knows_the_plan(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)):
        assert "Show the interview plan" in {command.title for command in app.get_system_commands(app.screen)}
