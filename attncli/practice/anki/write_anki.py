"""Puts an Anki package together: notes from whoever draws them up, schedules and reviews from the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attncli.practice.anki.anki_schedules import anki_calendar, anki_schedule
from attncli.practice.workspace import Workspace
from attncli.store.anki_writing import Fill, package_bytes


@dataclass(frozen=True, slots=True)
class AnkiWritten:
    """How many cards are in a package, how many of them have been reviewed, and how many reviews went with them."""

    cards: int
    reviewed: int
    reviews: int


def write_package(
    workspace: Workspace, write: Callable[[bytes], object], notes: Mapping[str, str], fill: Fill
) -> AnkiWritten:
    """Gives `write` the whole package; `notes` maps the guid of each note to its card, `fill` writes them."""
    schedules = {guid: anki_schedule(workspace, card) for guid, card in notes.items()}
    calendar = anki_calendar(workspace, schedules.values())
    write(package_bytes(workspace.clock(), fill, calendar, schedules))
    reviewed = [schedule for schedule in schedules.values() if schedule.reviews]
    return AnkiWritten(len(schedules), len(reviewed), sum(len(schedule.reviews) for schedule in reviewed))
