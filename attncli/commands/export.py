"""`attn export`."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from attncli.commands.export_anki import export_anki
from attncli.commands.export_reviews import export_reviews
from attncli.commands.json_document import json_text
from attncli.commands.session import session
from attncli.commands.stdout import echo
from attncli.domain.text import Lang
from attncli.errors import UsageError
from attncli.files import cannot_write, write_whole

if TYPE_CHECKING:
    from attncli.practice.workspace import Workspace

FORMATS = ("md", "html", "json")


@click.group(no_args_is_help=False)
def export() -> None:
    """Take something along: the interview summary, a deck for Anki, the review log."""


export.add_command(export_anki, "anki")
export.add_command(export_reviews, "reviews")


@export.command()
@click.option("--format", "form", type=click.Choice(FORMATS), default=None, help="Default: by FILE's ending, else md.")
@click.option("--lang", type=click.Choice(["en", "zh"]), default=None, help="Language of the summary.")
@click.option(
    "--interview",
    type=click.DateTime(["%Y-%m-%d"]),
    default=None,
    help="The day to forecast recall for (default: the setting interview).",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), default=None, help="Where to write (default: stdout).")
def summary(form: str | None, lang: str | None, interview: datetime | None, output: Path | None) -> None:
    """Strengths, gaps, weak cards with short answers, your solutions, what to review before the day."""
    from attncli.export.summary import summarise

    with session().workspace() as workspace:
        language = cast(Lang, lang or workspace.lang)
        found = summarise(workspace, language, _day(workspace, interview.date() if interview else None))
    chosen = form or _by_ending(output)
    if chosen == "json":
        text = json_text(found.document()) + "\n"
    elif chosen == "html":
        from attncli.export.html import to_html

        text = to_html(found)
    else:
        from attncli.export.markdown import to_markdown

        text = to_markdown(found)
    _write(text, output)


def _day(workspace: Workspace, asked: date | None) -> date | None:
    """The day that was asked for, else the setting `interview` while it lies ahead."""
    today = workspace.clock().astimezone().date()
    if asked is not None and asked < today:
        raise UsageError(f"--interview: {asked} is past; give the day of the interview, or leave it out")
    day = asked or workspace.settings.interview
    return day if day is not None and day >= today else None


def _by_ending(output: Path | None) -> str:
    ending = output.suffix.removeprefix(".").lower() if output else ""
    return {"html": "html", "htm": "html", "json": "json"}.get(ending, "md")


def _write(text: str, output: Path | None) -> None:
    if output is None:
        echo(text, end="")
        return
    try:
        write_whole(output, [text])
    except OSError as error:
        raise cannot_write(output, error, "name another file with -o") from error
    echo(f"wrote {output}", err=True)
