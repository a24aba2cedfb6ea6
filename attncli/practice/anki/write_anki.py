"""Puts an Anki package together and on disk: notes from whoever draws them up, schedules and reviews from the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attncli.files import cannot_write, write_bytes
from attncli.practice.anki.anki_schedules import anki_calendar, anki_schedule
from attncli.practice.workspace import Workspace
from attncli.store.anki_writing import Fill, package_bytes
from attncli.store.foreign_database import workshop


@dataclass(frozen=True, slots=True)
class AnkiWritten:
    """How many cards are in a package, how many of them have been reviewed, and how many reviews went with them."""

    cards: int
    reviewed: int
    reviews: int


def write_package(workspace: Workspace, path: Path, notes: Mapping[str, str], fill: Fill) -> AnkiWritten:
    """Writes the package to `path` at one stroke; `notes` maps the guid of each note to its card, `fill` writes them.

    Raises UsageError where there can be no such file, EnvironmentFailure where there is no room.
    """
    schedules = {guid: anki_schedule(workspace, card) for guid, card in notes.items()}
    calendar = anki_calendar(workspace, schedules.values())
    with workshop(workspace.home.root) as room:
        content = package_bytes(room, workspace.clock(), fill, calendar, schedules)
    try:
        write_bytes(path, content)
    except OSError as error:
        raise cannot_write(path, error, "name another file with -o") from error
    reviewed = [schedule for schedule in schedules.values() if schedule.reviews]
    return AnkiWritten(len(schedules), len(reviewed), sum(len(schedule.reviews) for schedule in reviewed))
