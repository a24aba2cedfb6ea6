"""Handle terminal events besides keys: shrinking, growing, and bytes that are not text."""

from __future__ import annotations

import os
from threading import Event, Thread

import pytest
from rich.traceback import Traceback
from textual import events
from textual.drivers.linux_driver import LinuxDriver
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from attncli.domain.log_row import RowKind
from attncli.errors import EnvironmentFailure
from attncli.tui import textual_fixes
from attncli.tui.screens import experiment
from attncli.tui.screens.cards import AddCardScreen
from attncli.tui.widgets.answers import AnswerField
from moved_clock import Clock

from .conftest import MakeApp, press, running, shown
from .every_screen import VIEWS, ReadyRun, to_card

QUICK = ["review-numeric", "mock-code", "editor", "palette", "settings"]
"""A view of each kind that takes keys: a field, a page, an editor, a menu, a list."""
SCREENS = [
    *["first-run", "home", "drill", "quiz-question", "mock", "mock-question", "mock-report", "challenges-narrowed"],
    *["challenge", "own-case", "search", "card", "add-card", "experiment", "stats", "plan", "help", "confirm"],
]
SMALL, LARGE = (50, 10), (80, 24)


async def covered(pilot: Pilot[None], *keys: str) -> None:
    """Make the terminal too small for any screen, press keys there, and make it large again."""
    await pilot.resize_terminal(*SMALL)
    await pilot.pause(0.1)
    assert "50×10" in shown(pilot.app)
    await pilot.press(*keys)
    await pilot.resize_terminal(*LARGE)
    await pilot.pause(0.1)


async def test_nothing_acts_behind_a_screen_that_is_covered_but_leaving(make_app: MakeApp) -> None:
    async with running(make_app("review"), LARGE) as (app, pilot):
        before, reviews = app.screen, app.workspace.store.log
        await covered(pilot, *"s3sbulq", "space", "3", "escape", "ctrl+p", "question_mark", "enter")
        await pilot.resize_terminal(*SMALL)
        await pilot.click(offset=(5, 5))
        await covered(pilot)
        assert app.screen is before and app.lang == "en" and not reviews.of_kind(RowKind.REVIEW)
        await press(pilot, "space", "3")
        assert len(reviews.of_kind(RowKind.REVIEW)) == 1
        await covered(pilot, "ctrl+q")
        assert app._exit


@pytest.mark.slow
async def test_typing_goes_on_where_it_was_after_the_terminal_was_too_small(make_app: MakeApp) -> None:
    async with running(make_app("search"), LARGE) as (app, pilot):
        await pilot.press(*"head")
        await covered(pilot)
        await pilot.press("s")
        assert app.screen.query_one(Input).value == "heads"
        await pilot.press("down", "slash", "k")
        assert app.screen.query_one(Input).value == "k", "the / asks for another search"
        app.show("add-card")
        await pilot.pause(0.2)
        await pilot.press(*"hello", "left")
        await covered(pilot)
        await pilot.press("B")
        assert app.screen.query_one("#question", Input).value == "hellBo"
        app.screen.query_one(TextArea).focus()
        await press(pilot, "x", "escape", "n", "y")
        assert isinstance(app.screen, AddCardScreen) and app.screen.query_one(TextArea).text == "xy"
    async with make_app("review").run_test(size=LARGE) as pilot:
        await to_card("kv-04", "1", "2")(pilot)
        await covered(pilot)
        await pilot.press("3")
        assert pilot.app.screen.query_one(AnswerField).value == "123"


UNDECODABLE = [(b"\xe9a", "�a"), (b"a\xc3\xa9\xff\xfeb", "aé��b"), (b"a\x1b[M \xe9\xeab", "ab"), (b"a\x1b[M !!b", "ab")]


@pytest.mark.parametrize(("sent", "pressed"), [*UNDECODABLE, ("注意".encode(), "注意")])
def test_bytes_that_are_no_text_are_shown_as_such_and_press_no_key(sent: bytes, pressed: str) -> None:
    textual_fixes.install_undecodable()
    textual_fixes.install_undecodable()
    reading, writing = os.pipe()
    app = AttnAppStandIn()
    driver = object.__new__(LinuxDriver)
    driver._debug, driver.exit_event = False, Event()
    driver.fileno = reading
    os.write(writing, sent)
    os.close(writing)
    driver.process_message = app.take  # type: ignore[method-assign]
    thread = Thread(target=driver.run_input_thread)
    thread.start()
    for _ in range(40):  # at the end of its input the driver reads on until it is told to stop
        if not thread.is_alive() or len(app.pressed) >= len(pressed):
            break
        thread.join(0.05)
    driver.exit_event.set()
    thread.join(20)
    os.close(reading)
    assert not thread.is_alive() and app.pressed == pressed


class AttnAppStandIn:
    """The parts of an app that a driver needs; it records the characters of received keys."""

    def __init__(self) -> None:
        self.pressed = ""

    def take(self, message: object) -> None:
        if isinstance(message, events.Key):
            self.pressed += message.character or f"<{message.key}>"


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.full) for name in SCREENS)])
async def test_no_screen_minds_a_sign_that_was_no_text(
    make_app: MakeApp, clock: Clock, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment, "ChildRun", ReadyRun)
    view = VIEWS[name]
    app = make_app(view.screen, **view.options)
    monkeypatch.chdir(app.workspace.home.root.parent)
    view.prepare(app, clock)
    async with app.run_test(size=LARGE) as pilot:
        await pilot.pause(0.1)
        await view.go(pilot)
        before = app.screen
        app.post_message(events.Key("�", "�"))
        await pilot.pause(0.1)
        assert app.screen is before and not app._exit
        await pilot.press("escape")  # the palette searches for the sign: the search ends with it, not after the app
        await pilot.pause(0.1)


async def test_when_no_key_can_be_read_what_was_typed_is_kept_and_one_line_says_so(make_app: MakeApp) -> None:
    app = make_app("search")
    with pytest.raises(EnvironmentFailure, match="the terminal is gone"):
        async with app.run_test(size=LARGE) as pilot:
            app.show("add-card")
            await pilot.pause(0.2)
            await pilot.press(*"hello")
            try:
                raise OSError("the terminal is gone")
            except OSError:
                app.call_later(app.panic, Traceback())
            await pilot.pause(0.5)
    assert "hello" in app.workspace.home.card_draft.read_text()
    assert isinstance(app.failure, EnvironmentFailure) and app.failure.exit_code == 3
    said = "can no longer read keys (OSError: the terminal is gone); typed text is saved; start attn again"
    assert str(app.failure) == said
