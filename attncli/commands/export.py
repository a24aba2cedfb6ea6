"""`attn export`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli.commands.export_anki import export_anki
from attncli.commands.export_reviews import export_reviews
from attncli.commands.json_document import json_text
from attncli.commands.session import session
from attncli.commands.stdout import echo, echo_bytes
from attncli.domain.text import LANGS, Lang
from attncli.errors import UsageError
from attncli.files import cannot_write, write_bytes, write_whole

if TYPE_CHECKING:
    from attncli.export.summary import Summary
    from attncli.practice.workspace import Workspace

ENDINGS = {"md": "md", "markdown": "md", "html": "html", "htm": "html", "pdf": "pdf", "json": "json"}
FORMATS = ("md", "html", "pdf", "json")


@click.group(no_args_is_help=False)
def export() -> None:
    """Take something along: the interview summary, a deck for Anki, the review log."""


export.add_command(export_anki, "anki")
export.add_command(export_reviews, "reviews")


@export.command()
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="Default: by FILE's ending, else md.")
@click.option("--lang", type=click.Choice([*LANGS, "both"]), default=None, help="Language of the summary.")
@click.option(
    "--interview",
    type=click.DateTime(["%Y-%m-%d"]),
    default=None,
    help="The day to forecast recall for (default: the setting interview).",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="Where to write (default: stdout).")
def summary(form: str | None, lang: str | None, interview: datetime | None, output: Path | None) -> None:
    """One page at a glance, weak cards with their answers, your own code, what to review before the day."""
    chosen = _format(form, output)
    if chosen == "pdf" and output is None and sys.stdout.isatty():
        raise UsageError("a PDF is nothing for a terminal; name a file: -o summary.pdf")
    from attncli.export.summarise import summarise

    with session().workspace() as workspace:
        day = _day(workspace, interview.date() if interview else None)
        parts = [summarise(workspace, language, day) for language in _languages(lang, workspace.lang)]
    if chosen == "pdf":
        from attncli.export.pdf import to_pdf

        _write_bytes(to_pdf(*parts), output)
    else:
        _write(_text(chosen, parts), output)


def _languages(asked: str | None, own: Lang) -> list[Lang]:
    """Those of the summary, the learner's own first."""
    if asked == "both":
        return sorted(LANGS, key=lambda lang: lang != own)
    return [lang for lang in LANGS if lang == (asked or own)]


def _text(form: str, parts: Sequence[Summary]) -> str:
    if form == "json":
        first, *others = parts
        document = {part.lang: part.document() for part in parts} if others else first.document()
        return json_text(document) + "\n"
    if form == "html":
        from attncli.export.html import to_html

        return to_html(*parts)
    from attncli.export.markdown import to_markdown

    return to_markdown(*parts)


def _day(workspace: Workspace, asked: date | None) -> date | None:
    """The day that was asked for, else the setting `interview` while it lies ahead."""
    from attncli.practice.plan.plan import local_date

    today = local_date(workspace)
    if asked is not None and asked < today:
        raise UsageError(f"--interview: {asked} is past; give the day of the interview, or leave it out")
    day = asked or workspace.settings.interview
    return day if day is not None and day >= today else None


def _format(asked: str | None, output: Path | None) -> str:
    """The format that was asked for; the file's ending asks for one too, and both have to agree."""
    ending = output.suffix.removeprefix(".").lower() if output else ""
    meant = ENDINGS.get(ending)
    if asked and meant and asked != meant:
        raise UsageError(f"--format {asked} contradicts {output}, which ends as {meant}; change one of them")
    if ending and not meant and not asked:
        known = ", ".join(f".{name}" for name in ENDINGS)
        raise UsageError(f"{output} ends in no format ({known}); rename it, or say which with --format")
    return asked or meant or "md"


def _write(text: str, output: Path | None) -> None:
    if output is None:
        echo(text, end="")
        return
    try:
        write_whole(output, [text])
    except OSError as error:
        raise cannot_write(output, error, "name another file with -o") from error
    echo(f"wrote {output}", err=True)


def _write_bytes(document: bytes, output: Path | None) -> None:
    if output is None:
        echo_bytes(document)
        return
    try:
        write_bytes(output, document)
    except OSError as error:
        raise cannot_write(output, error, "name another file with -o") from error
    echo(f"wrote {output}", err=True)
