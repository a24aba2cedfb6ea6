"""Statistics: actual against predicted recall, as charts and counts, in both languages."""

from __future__ import annotations

from rich.cells import cell_len
from textual.pilot import Pilot

from attncli.domain.log_row import Rating
from attncli.practice import record
from attncli.tui.app import AttnApp
from attncli.tui.screens.stats import StatsScreen
from attncli.tui.widgets.charts import RecallReport
from moved_clock import Clock

from .conftest import MakeApp, running, text_of, until

CARDS = ("att-02", "att-09", "kv-04")
GAPS_DAYS = (1, 3, 9, 20)


def study(app: AttnApp, clock: Clock) -> None:
    for gap in (0, *GAPS_DAYS):
        clock.move(days=gap)
        for card in CARDS:
            rating = Rating.AGAIN if (gap, card) == (20, "kv-04") else Rating.EASY
            record.answer(app.workspace, card, rating, details={"elapsed_ms": 30_000})


async def read(pilot: Pilot[None]) -> str:
    screen = pilot.app.screen
    assert isinstance(screen, StatsScreen)
    await until(pilot, lambda: screen.record.is_whole)
    await pilot.pause()
    return text_of(screen.query_one(RecallReport))


async def test_recall_stands_beside_its_prediction_in_either_language(make_app: MakeApp, clock: Clock) -> None:
    app = make_app("stats")
    study(app, clock)
    async with app.run_test(size=(80, 24)) as pilot:
        for words in (
            ("Actual vs. predicted recall", "12 reviews on later days", "Your forgetting curve", "By kind", "1.5"),
            ("实际与预测的回忆率", "共 12 次隔天复习", "你的遗忘曲线", "按题型", "按主题", "1.5"),
        ):
            text = await read(pilot)
            assert all(word in text for word in (*words, "67%", "100%")), text
            width = app.screen.query_one(RecallReport).size.width
            assert all(cell_len(line) <= width for line in text.splitlines())
            await app.action_language()
            await pilot.pause(0.2)


async def test_without_a_later_day_it_says_that_there_is_nothing_to_compare(make_app: MakeApp) -> None:
    async with running(make_app("stats")) as (_, pilot):
        text = await read(pilot)
        assert "No card has been reviewed on a later day yet" in text and "No timed reviews" in text


async def test_two_groups_of_days_are_a_table_and_no_curve(make_app: MakeApp, clock: Clock) -> None:
    app = make_app("stats")
    for gap in (0, 1):
        clock.move(days=gap)
        record.answer(app.workspace, "att-02", Rating.EASY)
    async with app.run_test(size=(80, 24)) as pilot:
        text = await read(pilot)
        assert "By days since the last review" in text and "Your forgetting curve" not in text
