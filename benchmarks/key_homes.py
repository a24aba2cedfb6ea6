"""Data folders to start random keys from: new, set up, before an interview, during one, and with history."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random

from attncli import config
from attncli.domain.log_row import LogRow, RowKind
from attncli.paths import Home
from attncli.practice import record
from attncli.practice.authoring import add_card
from attncli.practice.mock import MockInterview, MockOptions
from attncli.practice.workspace import Workspace
from large_home import refuse

MACHINE = "0badcafe"
BEGINNING = datetime(2026, 6, 12, 9, 0, tzinfo=UTC)
DAYS_OF_HISTORY, REVIEWS = 120, 2500


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = BEGINNING

    def __call__(self) -> datetime:
        return self.now


def _open(home: Home) -> Workspace:
    return Workspace.open(home, Clock())


@cache
def _indexed(room: Path) -> Path:
    """Return a database with the bundled bank indexed; every folder starts from a copy of it."""
    _open(Home(room / "indexed")).close()
    return Home(room / "indexed").database


def _set(home: Home, **values: str) -> None:
    for key, text in values.items():
        config.save(home.config, key, text)


def _new(home: Home) -> None:
    """Set up nothing: the first run."""


def _set_up(home: Home) -> None:
    _set(home, lang="zh", new_per_day="25")


def _dated(home: Home) -> None:
    _set(home, lang="en", interview=f"{BEGINNING + timedelta(days=20):%Y-%m-%d}", level="onsite", minutes_per_day="45")
    _fill(home, 400)


def _in_a_mock(home: Home) -> None:
    """Start an interview and go on to the whiteboard."""
    _set(home, lang="en")
    with _open(home) as workspace:
        interview = MockInterview.begin(workspace, MockOptions(60, "onsite", 3))
        interview.skip()
        interview.leave_part()
        interview.leave_part()


def _with_history(home: Home) -> None:
    """Record months of reviews of every card; suspend, tag and annotate some, and add own cards."""
    _set(home, lang="en", new_per_day="40")
    _fill(home, REVIEWS)
    with _open(home) as workspace:
        for card in Random(3).sample(workspace.store.index.card_ids(), 12):
            record.toggle_tag(workspace, card, "hard")
            record.set_note(workspace, card, "ask again 再看")
            record.hold(workspace, RowKind.SUSPEND, card)
        for number in range(4):
            add_card(workspace, "mine", f"Own question {number}?", "An answer of one's own, in a sentence or two.")
        workspace.read_banks()


def _fill(home: Home, reviews: int) -> None:
    with _open(home) as workspace:
        with workspace.store.transaction():
            workspace.store.log.merge(_reviews(workspace, reviews), refuse)
        workspace.derive_all()


def _reviews(workspace: Workspace, reviews: int) -> Iterator[LogRow]:
    rng, machine, cards = Random(1), MACHINE, workspace.store.index.card_ids()
    first = BEGINNING - timedelta(days=DAYS_OF_HISTORY)
    for number in range(1, reviews + 1):
        at = first + (number - 1) * timedelta(days=DAYS_OF_HISTORY) / reviews
        told = {"rating": rng.choice((1, 2, 3, 3, 3, 4)), "elapsed_ms": rng.randrange(2_000, 90_000)}
        id = f"{number:012x}-{machine}-{rng.getrandbits(32):08x}"
        yield LogRow(id, machine, RowKind.REVIEW, rng.choice(cards), at, workspace.calendar.day(at), told)


STARTS: dict[str, Callable[[Home], None]] = {
    "new": _new,
    "set-up": _set_up,
    "dated": _dated,
    "in-a-mock": _in_a_mock,
    "history": _with_history,
}


@cache
def _made(start: str, room: Path) -> Path:
    folder = room / start
    folder.mkdir()
    if start != "new":
        shutil.copy(_indexed(room), Home(folder).database)
        STARTS[start](Home(folder))
    return folder


def begun(start: str, room: Path) -> Home:
    """Return a fresh copy of the folder `start`; both lie in `room`."""
    folder = room / "played"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_made(start, room), folder)
    return Home(folder)
