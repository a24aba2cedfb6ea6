"""Show notices on lines of their own above the key bar: the screen makes room, and no text is covered."""

from __future__ import annotations

from threading import Thread

import pytest
from textual.widgets._toast import Toast

from .conftest import MakeApp

KEY_BAR = 1


@pytest.mark.parametrize(("lang", "size"), [("en", (80, 24)), ("zh", (120, 40))])
@pytest.mark.parametrize(
    "screen", ["home", "review", "drill", "mock", "quiz", "add-card", "search", "challenges", "stats", "settings"]
)
async def test_a_notice_covers_no_text(make_app: MakeApp, screen: str, lang: str, size: tuple[int, int]) -> None:
    app = make_app(screen, lang=lang)
    async with app.run_test(size=size, notifications=True) as pilot:
        await pilot.press("space" if screen == "review" else "down")
        app.notify("att-01")
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.height == 1 and toast.region.bottom == size[1] - KEY_BAR
        shown = app.screen._compositor.visible_widgets.items()
        seen = {widget: region.intersection(clip) for widget, (region, clip) in shown if not widget.children}
        assert [widget for widget in seen if seen[widget].overlaps(toast.region)] == [toast]


async def test_a_long_notice_stays_within_the_screen(make_app: MakeApp) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        app.notify("word " * 40)
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.right <= 80 and toast.region.height <= 4


async def test_a_notice_takes_the_place_of_the_one_before_it(make_app: MakeApp) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("minus")
        await pilot.pause(0.3)
        await pilot.press("u")
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.height == 1 and toast.region.bottom == 24 - KEY_BAR


async def test_what_one_key_leads_to_may_be_told_in_two_notices(make_app: MakeApp) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("down")
        app.notify("one")
        app.notify("two")
        await pilot.pause(0.3)
        assert len(app.screen.query(Toast)) == 2


@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_a_key_that_is_refused_again_and_again_is_told_in_one_place(make_app: MakeApp, lang: str) -> None:
    app = make_app("review", lang=lang)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        for _ in range(5):
            await pilot.press("minus")
            await pilot.press("u")
            await pilot.pause(0.3)
            [toast] = app.screen.query(Toast)
            assert toast.region.bottom == 24 - KEY_BAR and toast.region.height == 1


async def test_a_thread_may_tell_something_after_a_key(make_app: MakeApp) -> None:
    app = make_app("review")
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        await pilot.press("minus")
        await pilot.pause(0.3)
        await pilot.press("down")
        thread = Thread(target=app.notify, args=("written",))
        thread.start()
        thread.join()
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.bottom == 24 - KEY_BAR and app.failure is None
