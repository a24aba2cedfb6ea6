"""`x` on a card runs the experiment behind its claim in the background, and leaving ends it."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest
from textual.pilot import Pilot

from attncli import paths
from attncli.tui.app import AttnApp
from attncli.tui.screens.cards import CardScreen
from attncli.tui.screens.experiment import ExperimentScreen

from .conftest import MakeApp, press, running, shown, until
from .every_screen import to_card

TOY = '''\
"""A toy."""

TITLE = {"en": "A sink", "zh": "汇"}
CLAIM = {"en": "Something is seen.", "zh": "能看到某样东西。"}
CARDS = ("att-09",)
CAVEATS = ()
SEEDS = 3
SECONDS = (1, 2)


def both(en, zh):
    return {"en": en, "zh": zh}


def run(seed, quick, progress):
    WORK
    line = {"name": both("s", "线"), "y": [2]}
    return {
        "columns": [both("seed", "种子")],
        "rows": [[seed]],
        "plots": [{"kind": "bar", "title": both("Plot", "图"), "x": ["x"], "series": [line]}],
        "checks": [{"says": both("it is seen", "看到了"), "holds": quick, "got": "1", "due": "1"}],
        "seen": both("it was seen.", "看到了。"),
    }
'''
HOLDS = """import fcntl, time
    held = open({lock!r}, "w")
    fcntl.flock(held, fcntl.LOCK_EX)
    progress(0.25)
    while True:
        time.sleep(1)"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    file = tmp_path / "impl" / "experiments" / "attention-sink.py"
    file.parent.mkdir(parents=True)
    file.write_text(TOY.replace("WORK", "progress(0.5)"), encoding="utf-8")
    return file


@pytest.fixture
def make_toy_app(make_app: MakeApp, toy: Path, monkeypatch: pytest.MonkeyPatch) -> MakeApp:
    """Like `make_app`, with the bundled challenges replaced by the toys after the app was opened."""

    def make(screen: str) -> AttnApp:
        app = make_app(screen)
        monkeypatch.setattr(paths, "bundled_impl", lambda: toy.parents[1])
        return app

    return make


async def seen(pilot: Pilot[None], text: str) -> str:
    """Return the screen once it shows `text`, within a minute."""
    for _ in range(1200):
        if text in (found := shown(pilot.app)):
            return found
        await pilot.pause(0.05)
    raise AssertionError(f"{text} is not on the screen:\n{shown(pilot.app)}")


async def test_the_experiment_of_a_card_is_run_and_told(make_toy_app: MakeApp) -> None:
    async with running(make_toy_app("search"), (80, 60)) as (app, pilot):
        app.show("card", "kv-04")
        await seen(pilot, "kv-04")
        await press(pilot, "x")
        assert isinstance(app.screen, CardScreen) and "Run the experiment" not in shown(app), "this card has none"
        app.show("card", "att-09")
        await seen(pilot, "Press x to run the experiment: attention-sink")
        await pilot.press("x")
        text = await seen(pilot, "As claimed: it was seen.")
        assert "A sink" in text and "Claimed: Something is seen." in text and "holds  it is seen: 1" in text
        assert "Full run: attn experiment attention-sink" in text
        await pilot.press("l")
        assert "与论断相符：看到了。" in await seen(pilot, "论断：能看到某样东西。")
        await press(pilot, "escape")
        assert isinstance(app.screen, CardScreen)


async def test_leaving_it_ends_it(make_toy_app: MakeApp, toy: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    toy.write_text(TOY.replace("WORK", HOLDS.format(lock=str(lock))), encoding="utf-8")
    async with running(make_toy_app("search"), (80, 40)) as (app, pilot):
        app.show("experiment", "attention-sink")
        await seen(pilot, "Running… 25%")
        await pilot.press("escape")
        await until(pilot, lambda: freed(lock))
        assert not isinstance(app.screen, ExperimentScreen)


def freed(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


async def test_an_experiment_that_dies_says_why(make_toy_app: MakeApp, toy: Path) -> None:
    toy.write_text(TOY.replace("WORK", "raise RuntimeError('no luck')"), encoding="utf-8")
    async with running(make_toy_app("search"), (80, 40)) as (app, pilot):
        app.show("experiment", "attention-sink")
        await seen(pilot, "RuntimeError: no luck")


async def test_in_a_review_the_key_is_there_once_the_answer_is(make_toy_app: MakeApp) -> None:
    async with running(make_toy_app("review"), (80, 40)) as (app, pilot):
        await to_card("att-09", "x")(pilot)
        assert not isinstance(app.screen, ExperimentScreen)
        await pilot.press("enter", "x")
        await seen(pilot, "As claimed: it was seen.")
