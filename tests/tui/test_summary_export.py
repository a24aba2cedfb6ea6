"""`e` on Home and on Stats exports the interview summary as a page beside the learner's data, and shows its path."""

from __future__ import annotations

from datetime import date

from textual.pilot import Pilot

from attncli.config import Settings
from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.tui.app import AttnApp
from attncli.tui.screens.stats import export_summary

from .conftest import MakeApp, running


async def told(pilot: Pilot[None], app: AttnApp) -> str:
    await app.workers.wait_for_complete()
    await pilot.pause()
    return " ".join(note.message for note in app._notifications)


async def test_e_writes_the_page_of_the_day_and_says_where(make_app: MakeApp) -> None:
    app = make_app("stats")
    record.answer(app.workspace, "att-02", Rating.AGAIN)
    async with app.run_test(size=(80, 24)) as pilot:
        for lang, title, said in (("en", "Interview summary", "summary: "), ("zh", "面试总结", "面试总结：")):
            await pilot.press("e")
            assert said in await told(pilot, app)
            page = (app.workspace.home.root / "summaries" / f"2026-06-12-{lang}.html").read_text(encoding="utf-8")
            assert title in page and "att-02" in page
            await pilot.press("l")
    assert len(list((app.workspace.home.root / "summaries").iterdir())) == 2


async def test_the_help_of_home_names_the_key(make_app: MakeApp) -> None:
    async with running(make_app("home")) as (app, pilot):
        await pilot.press("question_mark")
        assert ("e", "Export summary") in app.screen._keys  # type: ignore[attr-defined]
        await pilot.press("escape", "e")
        assert "Interview summary: " in await told(pilot, app)


async def test_it_counts_towards_the_interview_while_that_lies_ahead(make_app: MakeApp) -> None:
    async with running(make_app("home")) as (app, pilot):
        for day, shown in (("2026-07-12", True), ("2026-06-01", False)):
            app.workspace.settings = Settings(fuzz=False, interview=date.fromisoformat(day))
            export_summary(app, app.workspace)
            await told(pilot, app)
            page = (app.workspace.home.summaries / "2026-06-12-en.html").read_text(encoding="utf-8")
            assert (day in page) == shown


async def test_where_it_cannot_be_written_that_is_said_and_the_app_goes_on(make_app: MakeApp) -> None:
    app = make_app("home")
    app.workspace.home.summaries.write_text("a file", encoding="utf-8")
    async with app.run_test(size=(80, 24)) as pilot:
        commands = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        commands["Export the interview summary"]()
        said = await told(pilot, app)
        assert "cannot write" in said and "move that file out of the way" in said and app.is_running
