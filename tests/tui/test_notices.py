"""Show notices on lines of their own above the key bar: the screen makes room, and no text is covered."""

from __future__ import annotations

from threading import Thread

import pytest
from textual.widgets._toast import Toast

from .conftest import MakeApp, running

KEY_BAR = 1
SCREENS = ["review", "drill", "mock", "quiz", "add-card", "search", "challenges", "stats", "settings"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.full)])
async def test_a_notice_covers_no_text(make_app: MakeApp, size: tuple[int, int]) -> None:
    async with running(make_app("review"), size, notifications=True) as (app, pilot):
        for screen in (*SCREENS, "home"):
            app.show(screen) if screen != "home" else await pilot.press("escape")
            await pilot.press("space" if screen == "review" else "down")
            app.notify("att-01")
            await pilot.pause(0.3)
            [toast] = app.screen.query(Toast)
            assert toast.region.height == 1 and toast.region.bottom == size[1] - KEY_BAR, screen
            shown = app.screen._compositor.visible_widgets.items()
            seen = {widget: region.intersection(clip) for widget, (region, clip) in shown if not widget.children}
            assert [widget for widget in seen if seen[widget].overlaps(toast.region)] == [toast], screen
            app.clear_notifications()


@pytest.mark.slow
async def test_a_key_has_its_notices_which_take_the_place_of_those_before(make_app: MakeApp) -> None:
    async with running(make_app("review"), notifications=True) as (app, pilot):
        for key in ("minus", "u", "minus", "u"):
            await pilot.press(key)
            await pilot.pause(0.3)
            [toast] = app.screen.query(Toast)
            assert toast.region.bottom == 24 - KEY_BAR and toast.region.height == 1
        await pilot.press("down")
        app.notify("one")
        app.notify("two")
        await pilot.pause(0.3)
        assert len(app.screen.query(Toast)) == 2
        await pilot.press("down")
        thread = Thread(target=app.notify, args=("written",))
        thread.start()
        thread.join()
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.bottom == 24 - KEY_BAR and app.failure is None
        await pilot.press("down")
        app.notify("word " * 40)
        await pilot.pause(0.3)
        [toast] = app.screen.query(Toast)
        assert toast.region.right <= 80 and toast.region.height <= 4
