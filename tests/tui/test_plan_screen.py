"""The plan in the app: its key on Home, both languages, studying today's list from it, and setting a date."""

from __future__ import annotations

from datetime import date

from attncli.config import Settings
from attncli.tui.app import AttnApp
from attncli.tui.screens.home import HomeScreen
from attncli.tui.screens.plan import PlanScreen
from attncli.tui.screens.review import ReviewScreen
from attncli.tui.screens.settings import SettingsScreen

from .conftest import MakeApp, press, running, shown

DAY = date(2026, 6, 20)


def before_interview(make_app: MakeApp) -> AttnApp:
    app = make_app()
    app.workspace.adopt(app.workspace.settings._replace(interview=DAY))
    return app


async def test_the_plan_opens_from_home_and_says_what_matters_first(make_app: MakeApp) -> None:
    async with running(before_interview(make_app)) as (app, pilot):
        assert isinstance(app.screen, HomeScreen) and "8 days to the interview" in shown(app)
        text = await press(pilot, "p")
        assert isinstance(app.screen, PlanScreen)
        for words in (
            ("The interview is in 8 days (Sat 20 Jun 2026).", "Based on published averages", "Day by day"),
            ("距离面试还有 8 天（2026年6月20日 周六）。", "依据公开的平均值", "每日安排"),
        ):
            assert all(said in text for said in words), text
            text = await press(pilot, "l")
        app.workspace.adopt(app.workspace.settings._replace(lang="zh", interview=date(2026, 6, 1)))
        await press(pilot, "escape", "l")
        text = await press(pilot, "p")
        assert "面试日期已过" in text and "attn config" not in text


async def test_a_missing_date_leads_to_the_settings_and_r_studies_today_s_list(make_app: MakeApp) -> None:
    async with running(make_app()) as (app, pilot):
        assert "No interview date is set" in await press(pilot, "p")
        await press(pilot, "r")
        assert isinstance(app.screen, PlanScreen)
        await press(pilot, "comma")
        assert isinstance(app.screen, SettingsScreen)
        app.workspace.adopt(Settings(interview=DAY, fuzz=False, minutes_per_day=3))
        assert "The interview is in 8 days" in await press(pilot, "escape")
        assert isinstance(app.screen, PlanScreen) and app.screen.plan is not None
        first = app.screen.plan.days[0].new
        await press(pilot, "r")
        assert isinstance(app.screen, ReviewScreen) and app.screen.item is not None
        assert app.screen.item.card.id == first[0] and app.screen.session.progress.new == len(first) == 1
        await press(pilot, "escape")
        assert isinstance(app.screen, HomeScreen)
