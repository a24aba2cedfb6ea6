"""The commands for authors of cards and challenges: `attn bank check`, `attn new card` and `attn new challenge`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli.commands.options import UserPath, json_option
from attncli.commands.session import echo, keep_verdict, print_json, session
from attncli.errors import BankInvalid
from attncli.i18n import N_, Lang, Localised, _, ngettext

if TYPE_CHECKING:
    from attncli.bank.check import Report
    from attncli.bank.problems import Problem

PLACES_SHOWN = 4


@click.group(no_args_is_help=False, help=N_("The question bank."))
def bank() -> None:
    pass


@bank.command(
    help=N_(
        "Check banks and list all problems, each as file:line:column: message.\n\n"
        "Without PATHS, check the bundled bank and your own banks."
    )
)
@click.argument("paths", nargs=-1, type=UserPath(path_type=Path))
@json_option
def check(paths: tuple[Path, ...], as_json: bool) -> None:
    from attncli import paths as places
    from attncli.bank.check import check as check_banks
    from attncli.bank.checked_files import Surroundings

    home = session().home
    around = Surroundings(places.bundled_quizbank(), places.bundled_impl(), home.banks, home.challenges)
    report = check_banks(paths, around, session().clock().date())
    with keep_verdict():
        if as_json:
            problems, notes = ([each.as_json() for each in found] for found in (report.problems, report.notes))
            print_json({"problems": problems, "cards": report.cards, "notes": notes})
        else:
            _print_check(report, session().message_lang)
    if report.problems:
        files = len({problem.file for problem in report.problems})
        raise BankInvalid(
            ngettext(
                "{count} problem in {files}; fix it, then run attn bank check again",
                "{count} problems in {files}; fix them, then run attn bank check again",
                len(report.problems),
                files=ngettext("{count} file", "{count} files", files),
            )
        )


def _print_check(report: Report, lang: Lang) -> None:
    for problem in report.problems:
        echo(problem.text[lang])
    if report.problems:
        return
    for note in _grouped(report.notes, lang):
        echo(_("note: {said}", said=note)[lang], err=True)
    cards = ngettext("{count} card", "{count} cards", report.cards)
    files = ngettext("{count} file", "{count} files", report.files)
    found = _("{cards} in {files}: no problems", cards=cards, files=files)[lang]
    if report.notes:
        found += _("; ")[lang] + ngettext("{count} note", "{count} notes", len(report.notes))[lang]
    echo(found, err=True)


def _grouped(notes: Iterable[Problem], lang: Lang) -> Iterator[str]:
    """Yield one line for the notes with the same message, with the first few places."""
    grouped: dict[Localised, list[Problem]] = {}
    for note in notes:
        grouped.setdefault(note.message, []).append(note)
    for first, *others in grouped.values():
        places = ", ".join(f"{note.file}:{note.line}:{note.column}" for note in others[: PLACES_SHOWN - 1])
        more = _(" (and {count} more: {places})", count=len(others), places=places)[lang] if others else ""
        yield f"{first.text[lang]}{more}"


@click.group(no_args_is_help=False, help=N_("Create a card or a challenge."))
def new() -> None:
    pass


@new.command(
    help=N_(
        "Add a card to your bank TOPIC, with the given question and answer, or blanks to fill in.\n\n"
        "Prints its place as file:line. One language, a question and an answer are enough."
    )
)
@click.argument("topic")
@click.option("--question", default="", help=N_("The question."))
@click.option("--answer", default="", help=N_("The answer."))
def card(topic: str, question: str, answer: str) -> None:
    from attncli.practice.authoring import add_card

    with session().workspace() as workspace:
        new = add_card(workspace, topic, question, answer)
        lang = workspace.lang
    echo(f"{new.path}:{new.line}")
    next_step = (
        _("Card {id} is saved. Show it: `attn show {id}`", id=new.id)
        if question.strip() and answer.strip()
        else _("Fill in the question and answer, then run: `attn bank check {path}`", path=new.path)
    )
    echo(next_step[lang], err=True)


@new.command(
    help=N_(
        "Create a folder for challenge ID of TRACK; you write its reference and a wrong solution.\n\n"
        "In a checkout it is in impl/, otherwise in challenges/ of your data folder."
    )
)
@click.argument("name", metavar="TRACK/ID")
def challenge(name: str) -> None:
    from attncli.practice.authoring import new_challenge

    with session().workspace() as workspace:
        folder = new_challenge(workspace, name)
        echo(folder)
        echo(
            _("Write reference.py and wrong/first-mistake.py, then run: `attn verify {id}`", id=folder.name)[
                workspace.lang
            ],
            err=True,
        )
