"""`attn export`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

import click

from attncli.commands.export_anki import export_anki
from attncli.commands.export_reviews import export_reviews
from attncli.commands.session import session
from attncli.commands.shared.export_target import Target, TargetType
from attncli.commands.shared.json_document import json_text
from attncli.commands.shared.stdout import echo
from attncli.domain.text import LANGS, Lang
from attncli.errors import UsageError

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
@click.option("-o", "--output", "target", type=TargetType(), default="-", help="Where to write (default: stdout).")
def summary(form: str | None, lang: str | None, interview: datetime | None, target: Target) -> None:
    """One page at a glance, weak cards with their answers, your own code, what to review before the day."""
    chosen = _format(form, target)
    if chosen == "pdf":
        target.refuse_terminal("a PDF", "summary.pdf")
    from attncli.export.gather_summary import summarise

    with session().workspace() as workspace:
        day = _day(workspace, interview.date() if interview else None)
        parts = [summarise(workspace, language, day) for language in _languages(lang, workspace.lang)]
    if chosen == "pdf":
        from attncli.export.summary_pdf import to_pdf

        target.write_bytes(to_pdf(*parts))
    else:
        target.write_text(_text(chosen, parts))
    if target.file:
        echo(f"wrote {target.file}", err=True)


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
        from attncli.export.render import to_html

        return to_html(*parts)
    from attncli.export.summary_markdown import to_markdown

    return to_markdown(*parts)


def _day(workspace: Workspace, asked: date | None) -> date | None:
    """The day that was asked for, else the setting `interview` while it lies ahead."""
    from attncli.export.gather_summary import day_ahead
    from attncli.practice.plan import local_date

    today = local_date(workspace)
    if asked is not None and asked < today:
        raise UsageError(f"--interview: {asked} is past; give the day of the interview, or leave it out")
    return asked or day_ahead(workspace)


def _format(asked: str | None, target: Target) -> str:
    """The format that was asked for; the file's ending asks for one too, and both have to agree."""
    meant = ENDINGS.get(target.ending)
    if asked and meant and asked != meant:
        raise UsageError(f"--format {asked} contradicts {target.file}, which ends as {meant}; change one of them")
    if target.ending and not meant and not asked:
        known = ", ".join(f".{name}" for name in ENDINGS)
        raise UsageError(f"{target.file} ends in no format ({known}); rename it, or say which with --format")
    return asked or meant or "md"
