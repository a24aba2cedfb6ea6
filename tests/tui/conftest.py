"""The app over a bank with one card of every kind, with a clock that the test moves and fixed randomness."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot, WaitForScreenTimeout
from textual.widget import Widget

from attncli.config import Settings
from attncli.i18n import Lang
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from attncli.tui.screens.cards import SearchScreen
from moved_clock import Clock

BANK = Path(__file__).with_name("bank")
# Timers due later than this, such as a blinking cursor's, are not waited for.
SOON_SECONDS = 0.03
# How long the event loop must have had nothing to do; where a thread works, how long the process must have been idle.
QUIET_SECONDS, IDLE_SECONDS = 0.003, 0.02


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(autouse=True)
def patient_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a pause of some seconds also wait until the widgets have handled their pending messages.

    On a busy machine the seconds alone are too few. Textual waits in vain for a widget that is removed meanwhile.
    """
    pause = Pilot.pause

    async def patient(self: Pilot[None], delay: float | None = None) -> None:
        try:
            await pause(self, delay)
        except WaitForScreenTimeout:
            await pause(self, delay)
        if delay is not None and not self.app._exit:
            await pause(self)
        if isinstance(screen := self.app.screen_stack[-1] if self.app.screen_stack else None, SearchScreen):
            await screen.searched()
            await pause(self, 0)

    monkeypatch.setattr(Pilot, "pause", patient)


@pytest.fixture(autouse=True, scope="session")
def parsed_once() -> Iterator[None]:
    """Share the rules of equal style sheets between the apps of a run, as parsing them is much of an app's start."""
    known: dict[tuple[Any, ...], Any] = {}
    parse = Stylesheet._parse_rules

    def parsed(sheet: Stylesheet, *source: Any, **options: Any) -> Any:
        key = (source, *options.items(), *sheet._variables.items())
        if key not in known:
            known[key] = parse(sheet, *source, **options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        yield


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """Wait until the event loop has nothing to do soon; where a thread works, until it waits itself.

    It takes `max_sleep` seconds at most. Textual's version takes at least 20 ms, twice per key.
    """
    loop: Any = asyncio.get_running_loop()
    end, was_quiet = loop.time() + max_sleep, False
    while (now := loop.time()) < end:
        await asyncio.sleep(0)
        due = [timer._when for timer in loop._scheduled if not timer._cancelled and timer._when < now + SOON_SECONDS]
        if loop._ready or due:
            was_quiet = False
            await asyncio.sleep(max(0.0, min(due) - now) if due and not loop._ready else 0)
            continue
        if was_quiet:
            return
        seconds = IDLE_SECONDS if _threads_at_work(loop) else QUIET_SECONDS
        worked = process_time()
        await asyncio.sleep(seconds)
        was_quiet = process_time() - worked < seconds / 5


def _threads_at_work(loop: Any) -> bool:
    executor = loop._default_executor
    return executor is not None and len(executor._threads) > executor._idle_semaphore._value


@pytest.fixture(autouse=True, scope="session")
def no_waiting() -> Iterator[None]:
    """Run apps without animations, draw frames at once, and end the wait for a key when the app has nothing to do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", wait_for_idle)
        patch.setattr("textual.pilot.wait_for_idle", wait_for_idle)
        patch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
        patch.setattr("textual.screen.UPDATE_PERIOD", 0.001)
        yield


@pytest.fixture(autouse=True, scope="session")
def drawn_when_looked_at() -> Iterator[None]:
    """Skip partial redraws, as tests have no terminal. `shown`, `running` and the snapshots draw the whole screen."""
    update = Compositor.render_update

    def drawn(compositor: Compositor, full: bool = False, **options: Any) -> Any:
        if full:
            return update(compositor, full, **options)
        compositor._dirty_regions.clear()
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", drawn)
        yield


MakeApp = Callable[..., AttnApp]


def app_at(workspace: Workspace, screen: str, *, challenge: str | None = None, **options: Any) -> AttnApp:
    """Return an app with fixed randomness, which opens at `screen`, or at a challenge."""
    if challenge is not None:
        return AttnApp(workspace, Random(7), "challenge", id=challenge)
    return AttnApp(workspace, Random(7), screen, **options)


@pytest.fixture(scope="session")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache with the bank and the challenges indexed; each test starts from a copy of it."""
    home = Home(tmp_path_factory.mktemp("indexed"))
    Workspace.open(home, Clock(), settings=Settings(fuzz=False), quizbank=BANK).close()
    return home.database


@pytest.fixture
def make_app(tmp_path: Path, clock: Clock, indexed: Path) -> Iterator[MakeApp]:
    """`make_app(screen, lang=…, topic=…)` makes apps over one home, at `screen` or `challenge`, and closes them."""
    opened: list[AttnApp] = []
    home = Home(tmp_path / "home")
    home.root.mkdir(exist_ok=True)
    shutil.copy(indexed, home.database)

    def make(
        screen: str = "home", lang: Lang = "en", theme: str = "dark", bank: Path = BANK, **options: Any
    ) -> AttnApp:
        settings = Settings(lang=lang, theme=theme, fuzz=False)
        workspace = Workspace.open(home, clock, settings=settings, quizbank=bank)
        app = app_at(workspace, screen, **options)
        app.NOTIFICATION_TIMEOUT = 600  # on a busy machine a notice would be gone before a test looks for it
        opened.append(app)
        return app

    yield make
    for app in opened:
        app.grader.close()
        app.workspace.close()


@asynccontextmanager
async def running(
    app: AttnApp, size: tuple[int, int] = (80, 24), **options: Any
) -> AsyncIterator[tuple[AttnApp, Pilot[None]]]:
    """Run an app; yield it, and its keyboard once its first screen is there."""
    async with app.run_test(size=size, **options) as pilot:
        await pilot.pause()
        yield app, pilot
        if app.is_running and not app._exit:
            shown(app)


OpenOther = Callable[..., Workspace]


@pytest.fixture
def open_other(tmp_path: Path, indexed: Path) -> OpenOther:
    """`open_other(name, lang, clock)` opens the same bank over another home."""

    def open_home(name: str, lang: Lang = "en", clock: Clock | None = None) -> Workspace:
        home = Home(tmp_path / name)
        home.root.mkdir()
        shutil.copy(indexed, home.database)
        return Workspace.open(home, clock or Clock(), lang, Settings(lang=lang, fuzz=False), BANK)

    return open_home


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait until `holds` returns True; fail after some time."""
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.05)
    raise AssertionError("it never came to hold")


async def press(pilot: Pilot[None], *keys: str) -> str:
    """Press keys; return the screen once the threads that they started have ended."""
    await pilot.press(*keys)
    if threads := [found for found in pilot.app.workers if found._thread_worker]:
        await pilot.app.workers.wait_for_complete(threads)
    await pilot.pause()
    return shown(pilot.app)


def shown(app: App[Any]) -> str:
    """Return all text on the screen."""
    return "\n".join("".join(segment.text for segment in strip) for strip in app.screen._compositor.render_strips())


def text_of(widget: Widget) -> str:
    """Return the rendered text of one widget."""
    return str(widget.render())
