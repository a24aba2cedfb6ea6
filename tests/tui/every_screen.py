"""Paths to every screen and to its visibly different states, for the snapshots."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from random import Random
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from attncli.domain.log_row import Rating
from attncli.experiments.runner import outcome_of
from attncli.practice import record
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.quiz import Quiz, QuizOptions
from attncli.tui.app import AttnApp
from attncli.tui.screens.base import AttnScreen
from attncli.tui.screens.mock import MockCodeScreen, MockTestsScreen, show_next
from attncli.tui.screens.quiz import QuizScreen
from attncli.tui.screens.review import ReviewScreen

from .test_challenge import ACCEPTED, REJECTED, Scripted, write_solution

Go = Callable[[Pilot[None]], Awaitable[None]]
Prepare = Callable[[AttnApp, Any], object]
DAYS_OF_HISTORY = 40
CODE = MockOptions(30, "screen", 2)
DRAFT = MockOptions(45, "screen", 2, assistant=True)


async def nowhere(pilot: Pilot[None]) -> None:
    """Stay on the screen as it opens."""


def keys(*pressed: str) -> Go:
    async def go(pilot: Pilot[None]) -> None:
        for key in pressed:
            await pilot.press(key)
            if graded := [found for found in pilot.app.workers if found._thread_worker]:
                await pilot.app.workers.wait_for_complete(graded)
            await pilot.pause(0.05)

    return go


def to_card(id: str, *pressed: str) -> Go:
    """Go to the review of this card."""

    async def go(pilot: Pilot[None]) -> None:
        screen = pilot.app.screen
        assert isinstance(screen, ReviewScreen)
        while screen.asked is not None and screen.asked.card.id != id:
            screen.session.bury()
            screen._take_next()
        await screen._show()
        await pilot.pause(0.1)
        await keys(*pressed)(pilot)

    return go


def calling(act: Callable[[AttnApp], object], *pressed: str) -> Go:
    """Go to a screen that no key of Home opens."""

    async def go(pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, AttnApp)
        act(pilot.app)
        await pilot.pause()
        await keys(*pressed)(pilot)

    return go


async def to_score(pilot: Pilot[None]) -> None:
    """Go to the end of a quiz."""
    screen = pilot.app.screen
    assert isinstance(screen, QuizScreen)
    while screen.asked is not None:
        screen.asked.submit()
        screen.quiz.count_current()
    await screen._show_current()


def history(app: AttnApp, clock: Any) -> None:
    """Log some weeks of reviews that end today."""
    now, rng = clock.now, Random(3)
    clock.move(days=-DAYS_OF_HISTORY)
    cards = sorted(app.workspace.store.index.card_ids())
    for day in range(DAYS_OF_HISTORY):
        for card in cards if day == DAYS_OF_HISTORY - 1 else rng.sample(cards, rng.randrange(len(cards))):
            record.answer(app.workspace, card, Rating(rng.choice((1, 2, 3, 3, 3, 4))))
        clock.move(days=1)
    clock.now = now


def judged(outcome: dict[str, Any]) -> Prepare:
    def prepare(app: AttnApp, clock: Any) -> None:
        app.grader = Scripted(lambda: outcome)
        write_solution(app)

    return prepare


def with_quiz(app: AttnApp, clock: Any) -> None:
    app.first, app.given = "quiz", {"quiz": Quiz(app.workspace, QuizOptions(seed=7))}


def with_mock(app: AttnApp, clock: Any) -> None:
    app.grader = Scripted(lambda: REJECTED)
    app.given = {"options": CODE}


def interview(app: AttnApp, part: int, options: MockOptions = CODE) -> MockInterview:
    """Return an interview at the start of a part."""
    begun = MockInterview.begin(app.workspace, options)
    for _ in range(part):
        begun.leave_part()
    return begun


async def to_code(pilot: Pilot[None], options: MockOptions) -> None:
    """Show an interview's whiteboard or tests of a draft, with its files named relative to the working folder."""
    app = pilot.app
    assert isinstance(app, AttnApp) and isinstance(app.screen, AttnScreen)
    show_next(app.screen, interview(app, 2, options))
    await pilot.pause()
    screen = app.screen
    assert isinstance(screen, MockCodeScreen | MockTestsScreen)
    path, draft = (file and file.relative_to(Path.cwd()) for file in (screen.round.path, screen.round.draft))
    screen.round = replace(screen.round, path=path, draft=draft)
    await screen.recompose()


def ended(app: AttnApp) -> None:
    """Show the report of an interview with one of four points made."""
    held = interview(app, 1)
    held.reveal()
    assert held.asked is not None
    held.asked.ticked = {0}
    held.answer()
    held.end()
    assert isinstance(app.screen, AttnScreen)
    show_next(app.screen, held)


def before_interview(app: AttnApp, clock: Any) -> None:
    history(app, clock)
    app.workspace.adopt(app.workspace.settings._replace(interview=date(2026, 6, 26)))


@dataclass(frozen=True)
class View:
    """A path to a view: the screen to open, the data to prepare, and the keys to press."""

    screen: str = "home"
    go: Go = nowhere
    prepare: Prepare = lambda app, clock: None
    options: dict[str, Any] = field(default_factory=dict)


SDPA = {"challenge": "sdpa"}
VIEWS = {
    "first-run": View("first-run", keys("enter", *"soon", "enter")),
    "first-run-last": View("first-run", keys("enter", "enter", "enter")),
    "home": View("home", prepare=before_interview),
    "home-new": View("home"),
    "review-question": View("review", to_card("att-02")),
    "review-answer": View("review", to_card("att-02", "space", "a", "c")),
    "review-choice": View("review", to_card("head-02", "b", "enter")),
    "review-numeric": View("review", to_card("kv-04", *"12", "enter")),
    "review-cloze": View("review", to_card("pos-03", *"cos", "enter")),
    "review-ordering": View("review", to_card("att-09", "down")),
    "review-debug": View("review", to_card("att-15", "down")),
    "review-end": View("review", to_card("")),
    "home-nothing-due": View("review", to_card("", "escape"), history),
    "drill": View("drill", keys("down", "down", "right")),
    "quiz-question": View("home", prepare=with_quiz),
    "quiz-score": View("home", to_score, with_quiz),
    "mock": View("mock", keys("down", "left"), with_mock),
    "mock-question": View(
        "mock", calling(lambda app: show_next(app.screen, interview(app, 1)), "space", "a"), with_mock
    ),
    "mock-code": View("mock", lambda pilot: to_code(pilot, CODE), with_mock),
    "mock-draft": View("mock", lambda pilot: to_code(pilot, DRAFT), with_mock),
    "mock-report": View("mock", calling(ended), with_mock),
    "challenges": View("challenges", keys("down")),
    "challenges-narrowed": View("challenges", keys("slash", *"rope")),
    "challenge": View("challenges", keys("h"), judged(REJECTED), SDPA),
    "challenge-repair": View("challenges", keys("r", "2"), judged(REJECTED), SDPA),
    "challenge-rejected": View("challenges", keys("g"), judged(REJECTED), SDPA),
    "challenge-solved": View("challenges", keys("g"), judged(ACCEPTED), SDPA),
    "editor": View("challenges", keys("w"), judged(REJECTED), SDPA),
    "confirm": View("challenges", keys("o"), judged(REJECTED), SDPA),
    "own-case": View("challenges", keys("t"), judged(REJECTED), SDPA),
    "bug-count": View("challenges", keys("r"), judged(REJECTED), SDPA),
    "search": View("search", keys(*"heads")),
    "search-nothing": View("search", keys(*"zzz")),
    "card": View("home", calling(lambda app: app.show("card", "kv-04"))),
    "card-order": View("home", calling(lambda app: app.show("card", "att-09"))),
    "add-card": View("home", keys("a", *"Why?")),
    "experiment": View("home", calling(lambda app: app.show("experiment", "qk-variance"))),
    "stats": View("stats", prepare=before_interview),
    "stats-new": View("stats"),
    "plan-new": View("plan"),
    "plan": View("plan", prepare=before_interview),
    "settings": View("settings", keys("down", "down")),
    "help": View("review", keys("question_mark")),
    "help-home": View("home", keys("question_mark")),
    "palette": View("home", keys("ctrl+p")),
}


def stand_still(pilot: Pilot[None]) -> None:
    """Stop blinking cursors."""
    for field_ in [*pilot.app.screen.query(Input), *pilot.app.screen.query(TextArea)]:
        field_.cursor_blink = False


class ReadyRun:
    """A finished experiment."""

    def __init__(self, experiment: Any, *others: object) -> None:
        self.experiment = experiment

    def outcomes(self, on_progress: Callable[[float], None]) -> list[Any]:
        def both(en: str, zh: str) -> dict[str, str]:
            return {"en": en, "zh": zh}

        measured = {"name": both("measured", "实测"), "y": [16, 64, 256]}
        lines = [measured, {"name": both("claimed", "论断"), "y": [15, 66, 250]}]
        title = both("Variance of q·k", "q·k 的方差")
        plot = {"kind": "line", "title": title, "x": [16, 64, 256], "series": lines, "log": "xy"}
        check = {"says": both("the slope is one", "斜率为一"), "holds": True, "got": "0.99", "due": "0.9 … 1.1"}
        columns = [both("d", "d"), both("variance", "方差")]
        told = {"columns": columns, "rows": [[16, 16.1], [64, 63.2]], "plots": [plot], "checks": [check]}
        return [outcome_of(self.experiment.id, 0, {**told, "seen": both("it grows with d.", "随 d 增长。")})]

    def kill(self) -> None:
        """Do nothing, as there is no process."""

    close = kill
