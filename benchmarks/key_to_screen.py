"""Print the 95th percentile of the time from key to screen, in review, browse, challenges and statistics.

    python benchmarks/key_to_screen.py                      the bundled bank, some two minutes
    python benchmarks/key_to_screen.py --large              also 100,000 cards and 1,000,000 reviews
    python benchmarks/key_to_screen.py --large --keep DIR   with the home of `scale.py --keep DIR`

Times run from the key's arrival to the first frame after it, and to the last frame that it causes, for a terminal of
120×40 without animations. Wall time includes the work of other programs; the app can only change its process time.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from attncli import config
from attncli.paths import Home
from attncli.practice.workspace import Workspace
from attncli.tui.app import AttnApp
from key_acts import key_event
from key_homes import begun
from timing import Budget

SIZE = (120, 40)
FIRST_SECONDS, QUIET_SECONDS, LONGEST_SECONDS = 0.5, 0.08, 5.0
"""Seconds to wait for a key's first frame, for one more frame after it, and at most."""
BUDGET_MS = 100
LOOKING_SECONDS = 3.0
"""Seconds on Home before the first key; the screens' data is loaded then."""
KEYS = 80
PLAYED = {
    "review": ("r", ["enter", "down", "enter", "enter", "3", "u", "enter", "up", "enter"]),
    "browse": ("slash", [*"attention", *["backspace"] * 9, *"kv cache", *["backspace"] * 8, "enter", "down", "/"]),
    "challenges": ("c", ["down", "down", "pagedown", "up", "t", "end", "home"]),
    "stats": ("s", ["down", "pagedown", "end", "home", "escape", "s"]),
}


class SilentDriver(HeadlessDriver):
    """A driver that discards the output and records when the app drew."""

    def write(self, data: str) -> None:
        if data and isinstance(app := self._app, TimedApp):
            app.frames.append(_now())

    @property
    def is_headless(self) -> bool:
        return False


Moment = tuple[float, float]
"""Seconds of wall time and of this process's time."""


class TimedApp(AttnApp):
    """The app with the times of the frames since the last key."""

    def __init__(self, workspace: Workspace, rng: Random) -> None:
        super().__init__(workspace, rng)
        self.frames: list[Moment] = []


@dataclass
class Times:
    """Milliseconds to the first and last frame of each key, as (wall time, process time)."""

    first: list[Moment] = field(default_factory=list)
    last: list[Moment] = field(default_factory=list)


def _now() -> Moment:
    return time.perf_counter(), time.process_time()


def _since(began: Moment, ended: Moment) -> Moment:
    return (ended[0] - began[0]) * 1000, (ended[1] - began[1]) * 1000


async def _pressed(pilot: Pilot[Any], key: str, times: Times) -> None:
    app = pilot.app
    assert isinstance(app, TimedApp)
    for field_ in app.screen.query(Input):
        field_.cursor_blink = False
    app.frames.clear()
    began = _now()
    app.post_message(key_event(app, key))
    while _is_awaited(began, app.frames) or _is_behind(app.screen):
        await asyncio.sleep(0.01)
        if time.perf_counter() - began[0] > LONGEST_SECONDS:
            break
    if app.frames:
        times.first.append(_since(began, app.frames[0]))
        times.last.append(_since(began, app.frames[-1]))


def _is_awaited(began: Moment, frames: Sequence[Moment]) -> bool:
    if not frames:
        return time.perf_counter() - began[0] < FIRST_SECONDS
    return time.perf_counter() - frames[-1][0] < QUIET_SECONDS


def _is_behind(screen: Screen[Any]) -> bool:
    return bool(screen._dirty_widgets or screen._layout_required)


async def _measured(home: Home) -> dict[str, Times]:
    found = {}
    for name, (opening, keys) in PLAYED.items():
        with Workspace.open(home, lambda: datetime.now(UTC)) as workspace:
            app = TimedApp(workspace, Random(0))
            app.driver_class = SilentDriver
            app.animation_level = "none"
            async with app.run_test(headless=False, size=SIZE) as pilot:
                await _pressed(pilot, "down", Times())
                await asyncio.sleep(LOOKING_SECONDS)
                times = found[name] = Times()
                for key in (opening, *islice(cycle(keys), KEYS)):
                    await _pressed(pilot, key, times)
    return found


def rows(what: str, home: Home) -> None:
    """Print two rows per screen."""
    for name, times in asyncio.run(_measured(home)).items():
        for moments, which in ((times.first, "first frame"), (times.last, "last frame")):
            clock, process = zip(*moments, strict=True)
            row = Budget(f"key to screen, {name}, {what}, {which}: 95th percentile", BUDGET_MS, "ms")
            own = (
                f"of the process {_p95(process):.0f}, median {statistics.median(process):.0f}, worst {max(process):.0f}"
            )
            told = f"median {statistics.median(clock):.0f}, worst {max(clock):.0f}; {own}"
            print(f"{row.line(_p95(clock))} of {len(moments)} ({told})", flush=True)


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def large_home(folder: Path) -> Home:
    """Return a home with 100,000 cards and 1,000,000 reviews; make it if it is missing."""
    import scale

    return Home(Path(scale.home(folder, 1_000_000)["ATTN_HOME"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", type=Path, help="where the large home is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows("the bundled bank", begun("history", Path(folder)))
        if options.large:
            home = large_home((options.keep or Path(folder)).absolute())
            config.save(home.config, "lang", "en")
            rows("100,000 cards", home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
