"""`attn bank check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli.commands.session import session
from attncli.commands.shared_options import json_option, print_json
from attncli.commands.stdout import echo, verdict_counts
from attncli.errors import BankInvalid

if TYPE_CHECKING:
    from attncli.bank.check import Report
    from attncli.bank.problems import Problem

PLACES_SHOWN = 4


@click.group(no_args_is_help=False)
def bank() -> None:
    """The question bank."""


@bank.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@json_option
def check(paths: tuple[Path, ...], as_json: bool) -> None:
    """Validates banks: every problem at once, each as file:line:column: message.

    Without PATHS the bundled bank and your own banks are checked.
    """
    from attncli import paths as places
    from attncli.bank.check import check as checked
    from attncli.bank.selection import Surroundings

    home = session().home
    around = Surroundings(places.bundled_quizbank(), places.bundled_impl(), home.banks, home.challenges)
    report = checked(paths, around, session().clock().date())
    with verdict_counts():
        if as_json:
            problems = [problem.as_json() for problem in report.problems]
            notes = [note.as_json() for note in report.notes]
            print_json({"problems": problems, "cards": report.cards, "notes": notes})
        else:
            _print(report)
    if report.problems:
        raise BankInvalid(_summary(report))


def _print(report: Report) -> None:
    for problem in report.problems:
        echo(problem)
    if report.problems:
        return
    for note in _grouped(report.notes):
        echo(f"note: {note}", err=True)
    notes = f"; {_counted(len(report.notes), 'note')}" if report.notes else ""
    echo(f"{_counted(report.cards, 'card')} in {_counted(report.files, 'file')}: no problems{notes}", err=True)


def _grouped(notes: Iterable[Problem]) -> Iterator[str]:
    """One line for notes that say the same of several places."""
    places: dict[str, list[str]] = {}
    for note in notes:
        places.setdefault(note.message, []).append(f"{note.file}:{note.line}:{note.column}")
    for message, where in places.items():
        others = f" (and {len(where) - 1} more: {', '.join(where[1:PLACES_SHOWN])})" if len(where) > 1 else ""
        yield f"{where[0]}: {message}{others}"


def _summary(report: Report) -> str:
    found = _counted(len(report.problems), "problem")
    files = _counted(len({problem.file for problem in report.problems}), "file")
    return f"{found} in {files}; correct them and run attn bank check again"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
