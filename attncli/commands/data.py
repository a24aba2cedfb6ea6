"""The commands that move data: `export`, `import`, `backup`, `restore` and `sync`."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from attncli.commands.options import REMEDY, STDOUT, DayType, Target, TargetType, UserPath, json_option, topic_option
from attncli.commands.session import echo, json_text, print_left_out, print_result, session
from attncli.domain.text import escaped, printable
from attncli.errors import NotFound, UsageError
from attncli.i18n import LANGS, N_, Lang, Localised, _, ngettext
from attncli.practice import sync
from attncli.practice.sync import sync as synchronise

if TYPE_CHECKING:
    from attncli.anki.importer import AnkiImported
    from attncli.export.summary import Summary, SummaryPart
    from attncli.practice.workspace import Workspace

ENDINGS = {"md": "md", "markdown": "md", "html": "html", "htm": "html", "pdf": "pdf", "json": "json"}

FORMATS = ("md", "html", "pdf", "json")


# `attn export`


@click.group(no_args_is_help=False, help=N_("Export the interview summary, an Anki deck or the history."))
def export() -> None:
    pass


@export.command(help=N_("Export the interview summary: a cheat sheet of one page, and notes with weak cards and code."))
@click.option("--part", type=click.Choice(["sheet", "notes"]), default=None, help=N_("Only this part (default: both)."))
@click.option(
    "--format", type=click.Choice(FORMATS), default=None, help=N_("Format (default: from FILE's extension, else md).")
)
@click.option("--lang", type=click.Choice([*LANGS, "both"]), default=None, help=N_("Language of the summary."))
@click.option(
    "--interview", type=DayType(), default=None, help=N_("Day to forecast recall for (default: the setting interview).")
)
@click.option("-o", "--output", "target", type=TargetType(), default="-", help=N_("File to write (default: stdout)."))
def summary(part: str | None, format: str | None, lang: str | None, interview: date | None, target: Target) -> None:
    chosen = _summary_format(format, target)
    if chosen == "pdf":
        target.refuse_terminal(_("a PDF"), "summary.pdf")
    from attncli.export.summary import PARTS, summarise

    parts = [name for name in PARTS if part in (None, name)]
    with session().workspace() as workspace:
        day = _interview_day(workspace, interview)
        summaries = [summarise(workspace, language, day) for language in _summary_languages(lang, workspace.lang)]
    if chosen == "pdf":
        from attncli.export.render import to_pdf

        target.write_bytes(to_pdf(*summaries, parts=parts))
    else:
        target.write_text(_summary_text(chosen, summaries, parts))
    if target.file:
        echo(f"wrote {target.file}", err=True)


def _summary_format(requested: str | None, target: Target) -> str:
    """Return the format that the option or the ending of the file names. Raises UsageError if they disagree."""
    by_ending = ENDINGS.get(target.ending)
    if requested and by_ending and requested != by_ending:
        raise UsageError(
            _(
                "--format {requested} does not match {file} ({by_ending}); change one of them",
                requested=requested,
                file=target.file,
                by_ending=by_ending,
            )
        )
    if target.ending and not by_ending and not requested:
        known = ", ".join(f".{name}" for name in ENDINGS)
        raise UsageError(
            _("{file} has no known extension ({known}); rename it, or set --format", file=target.file, known=known)
        )
    return requested or by_ending or "md"


def _interview_day(workspace: Workspace, requested: date | None) -> date | None:
    """Return the requested day, else the setting `interview` if it is not past. Raises UsageError."""
    from attncli.export.summary import day_ahead
    from attncli.practice.plan import local_date

    today = local_date(workspace)
    if requested is not None and requested < today:
        raise UsageError(
            _("--interview: {requested} is in the past; give a future date, or leave it out", requested=requested)
        )
    return requested or day_ahead(workspace)


def _summary_languages(requested: str | None, own: Lang) -> list[Lang]:
    """Return the languages of the summary, the learner's own first."""
    if requested == "both":
        return sorted(LANGS, key=lambda lang: lang != own)
    return [lang for lang in LANGS if lang == (requested or own)]


def _summary_text(format: str, summaries: Sequence[Summary], parts: Sequence[SummaryPart]) -> str:
    if format == "json":
        first, *others = summaries
        document = {each.lang: asdict(each) for each in summaries} if others else asdict(first)
        return json_text(document) + "\n"
    if format == "html":
        from attncli.export.render import to_html

        return to_html(*summaries, parts=parts)
    from attncli.export.render import to_markdown

    return to_markdown(*summaries, parts=parts)


@export.command(
    "anki",
    help=N_("Export an Anki deck with schedules and review history. Importing a newer export updates its cards."),
)
@click.option("-o", "--output", "target", type=TargetType(), required=True, help=N_("File to write, e.g. DECK.apkg."))
@topic_option
@click.option(
    "--lang", type=click.Choice([*LANGS, "both"]), default="both", help=N_("Languages of the deck (default: both).")
)
def export_anki(target: Target, topic: str | None, lang: str) -> None:
    target.refuse_other_endings(["apkg"], _("a deck for Anki"))
    target.refuse_terminal(_("a deck"), "deck.apkg")
    from attncli.anki.exporter import export_deck

    with session().workspace() as workspace:
        done = export_deck(workspace, target.write_bytes, topic, LANGS if lang == "both" else [cast(Lang, lang)])
        if done.from_anki:
            left_out = ngettext(
                "Skipped {count} card that came from Anki; use `--topic` to export its topic",
                "Skipped {count} cards that came from Anki; use `--topic` to export a topic of theirs",
                done.from_anki,
            )
            echo(left_out[workspace.lang], err=True)
        exported = _(
            "Exported to {file}: {cards} ({reviewed} with a schedule), {reviews}",
            file=target.file or STDOUT,
            cards=ngettext("{count} card", "{count} cards", done.cards),
            reviewed=done.reviewed,
            reviews=ngettext("{count} review", "{count} reviews", done.reviews),
        )
        echo(exported[workspace.lang], err=True)


@export.command("log", help=N_("Export the whole history as JSON lines, to merge with `attn import log`."))
@click.option("-o", "--output", "target", type=TargetType(), default="-", help=N_("File to write (default: stdout)."))
def export_log(target: Target) -> None:
    target.refuse_other_endings(["jsonl", "ndjson"], _("the history"))
    left_out = list[Localised]()
    with session().workspace() as workspace:
        lines = sync.exported(workspace, left_out)
        if target.file is None:
            for line in lines:
                echo(escaped(line))
        else:
            count = sync.write_lines(target.file, lines)
            echo(
                ngettext("{count} row in {file}", "{count} rows in {file}", count, file=target.file)[workspace.lang],
                err=True,
            )
    print_left_out(left_out)


# `attn import`


@click.group(name="import", no_args_is_help=False, help=N_("Import data from another program or machine."))
def import_() -> None:
    pass


@import_.command(
    "anki",
    help=N_("Import cards and reviews from FILE, an .apkg or .colpkg exported by Anki. Nothing is imported twice."),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help=N_("Show what would be imported, without writing anything."))
@json_option
def import_anki(file: Path, dry_run: bool, as_json: bool) -> None:
    from attncli.anki.importer import import_package

    with session().workspace() as workspace:
        done = import_package(workspace, file, dry_run)
        if not dry_run:
            workspace.keep_daily_copy()
        print_result(as_json, done.document, lambda: _import_lines(done, file, dry_run, workspace.lang))


def _import_lines(done: AnkiImported, file: Path, dry_run: bool, lang: Lang) -> list[str]:
    known = done.cards - done.new_cards - done.own - done.unreadable
    counts = (
        (done.suspended, _("suspended as in Anki: {count}")),
        (done.unreadable, _("cards skipped, no text on one side (only pictures or sounds): {count}")),
        (done.media, _("pictures and sounds dropped from texts: {count}")),
        (done.gone, _("attn cards missing from the banks: {count}; their reviews count once you add them")),
        (done.forgotten, _("reviews from before a reset in Anki, not counted: {count}")),
        (done.taken_back, _("reviews replaced by corrections in this package: {count}")),
        (done.lost_reviews, _("reviews skipped, their cards are missing: {count}")),
    )
    messages: list[Localised] = [
        _(
            "{file}: {cards} (new: {new_cards}, of attn: {own}, known: {known}), {reviews} (new: {new_reviews})",
            file=file,
            cards=ngettext("{count} card", "{count} cards", done.cards),
            new_cards=done.new_cards,
            own=done.own,
            known=known,
            reviews=ngettext("{count} review", "{count} reviews", done.reviews),
            new_reviews=done.new_reviews,
        ),
        *(text.format(count=count) for count, text in counts if count),
    ]
    if dry_run:
        messages.append(_("nothing written (--dry-run)"))
    else:
        messages += [_("new cards: {file}", file=path) for path in done.files]
    return [message[lang] for message in messages]


@import_.command(
    "log",
    help=N_(
        "Merge a history: FILE from `attn export log` or `attn backup`, or a FOLDER of them. Duplicate rows "
        "are ignored."
    ),
)
@click.argument("path", metavar="FILE|FOLDER", type=UserPath())
def import_log(path: str) -> None:
    if not path:
        raise UsageError(_("the file name is empty; give a file or folder to merge"))
    with session().workspace() as workspace:
        done = sync.import_file(workspace, Path(path))
        workspace.keep_daily_copy()
        print_left_out(done.faults)
        echo(ngettext("{count} new row", "{count} new rows", done.new)[workspace.lang])


def _also_known_as(command: click.Command, name: str) -> click.Command:
    """Return the command under a former name, which help does not list."""
    former = copy(command)
    former.name, former.hidden = name, True
    return former


export.add_command(_also_known_as(export_log, "reviews"))
import_.add_command(_also_known_as(import_log, "reviews"))


# `attn backup`, `attn restore` and `attn sync`


@click.command(help=N_("Back up your progress to one file."))
@click.option(
    "-o", "output", type=UserPath(path_type=Path), help=N_("The new file (default: attn-DATE-TIME.jsonl here).")
)
def backup(output: Path | None) -> None:
    from attncli.practice.backups import write_copy

    current = session()
    path = output or Path(f"attn-{current.clock():%Y%m%d-%H%M%S}.jsonl")
    if path == Path("-"):
        raise UsageError(_("a backup cannot go to stdout; give a file with -o"))
    if path.exists():
        raise UsageError(_("{path} already exists and will not be overwritten; {remedy}", path=path, remedy=REMEDY))
    Target(path).refuse_place()
    with current.workspace() as workspace:
        write_copy(workspace.store.log.everything(), path)
    echo(str(path))


@click.command(help=N_("Replace your progress with the backup FILE; a copy of the old data is kept."))
@click.argument("file", type=UserPath(path_type=Path))
def restore(file: Path) -> None:
    if not file.exists():
        raise NotFound(_("there is no file {file}; create one with `attn backup`", file=file))
    if not file.is_file():
        raise UsageError(_("{file} is not a file; give one written by `attn backup`", file=file))
    with session().workspace() as workspace:
        done, lang = sync.restore(workspace, file), workspace.lang
    if done.faults:
        first = " ".join(printable(done.faults[0][lang]).split())
        left_out = ngettext(
            "Skipped {count} unusable row ({first}); {file} is unchanged",
            "Skipped {count} unusable rows, the first: {first}; {file} is unchanged",
            len(done.faults),
            first=first,
            file=file,
        )
        echo(left_out[lang], err=True)
    echo(ngettext("Restored {count} row from {file}", "Restored {count} rows from {file}", done.rows, file=file)[lang])
    if done.missing:
        missing = ngettext(
            "{count} earlier row is not in the backup: it is kept in {kept}; add it: `attn import log {kept}`",
            "{count} earlier rows are not in the backup: they are kept in {kept}; add them: `attn import log {kept}`",
            done.missing,
            kept=done.kept,
        )
        echo(missing[lang])
    elif done.kept:
        echo(_("The previous history is kept in {kept}", kept=done.kept)[lang])


@click.command(help=N_("Sync the history with the machines that share folder DIR."))
@click.argument("folder", metavar="DIR", type=UserPath(path_type=Path))
def sync_(folder: Path) -> None:
    with session().workspace() as workspace:
        done = synchronise(workspace, folder)
        workspace.keep_daily_copy()
        print_left_out(done.faults)
        received = ngettext(
            "{count} new row from other machines", "{count} new rows from other machines", done.received
        )
        written = ngettext(
            "{count} row of this machine in {file}",
            "{count} rows of this machine in {file}",
            done.written,
            file=done.file,
        )
        echo(_("; ").join([received, written])[workspace.lang])
