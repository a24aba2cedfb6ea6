"""`attn export`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from attncli.commands.session import (
    REMEDY,
    Target,
    TargetType,
    UserPath,
    echo,
    json_option,
    json_text,
    print_result,
    say_left_out,
    session,
)
from attncli.domain.text import LANGS, Lang, escaped, printable
from attncli.errors import NotFound, UsageError
from attncli.practice import sync
from attncli.practice.sync import sync as synchronise
from attncli.words.anki_texts import ANKI_IMPORTED, ANKI_WRITTEN, FROM_ANKI_LEFT_OUT
from attncli.words.command_texts import (
    EXPORTED,
    IMPORTED,
    MISSING,
    RENEWED,
    RESTORED,
    ROWS_LEFT_OUT,
    SEMICOLON,
    SYNCED,
    WHAT_WAS_KEPT,
    counted,
)

if TYPE_CHECKING:
    from attncli.anki.importer import AnkiImported
    from attncli.export.summary import Summary
    from attncli.practice.workspace import Workspace


# `attn export anki`.


@click.command()
@click.option(
    "-o", "--output", "target", type=TargetType(), required=True, help="Where to write: a file such as DECK.apkg."
)
@click.option("--topic", default=None, help="The cards of one topic.")
@click.option("--lang", type=click.Choice([*LANGS, "both"]), default="both", help="Which languages (default: both).")
def export_anki(target: Target, topic: str | None, lang: str) -> None:
    """A deck for Anki, with schedules and review history; importing a later one there updates its cards."""
    target.refuse_other_endings(["apkg"], "a deck for Anki")
    target.refuse_terminal("a deck", "deck.apkg")
    from attncli.anki.exporter import export_deck

    with session().workspace() as workspace:
        done = export_deck(workspace, target.write_bytes, topic, LANGS if lang == "both" else [cast(Lang, lang)])
        if done.from_anki:
            echo(FROM_ANKI_LEFT_OUT[workspace.lang].format(count=done.from_anki), err=True)
        written = done.package
        file, told = target.file or "-", ANKI_WRITTEN[workspace.lang]
        echo(told.format(cards=written.cards, file=file, reviewed=written.reviewed, reviews=written.reviews), err=True)


# `attn export reviews`.


@click.command()
@click.option("-o", "--output", "target", type=TargetType(), default="-", help="Where to write (default: stdout).")
def export_reviews(target: Target) -> None:
    """The whole review log, one JSON document a line: what `attn import reviews` merges."""
    target.refuse_other_endings(["jsonl", "ndjson"], "the review log")
    left_out = list[str]()
    with session().workspace() as workspace:
        lines = sync.exported(workspace, left_out)
        if target.file is None:
            for line in lines:
                echo(escaped(line))
        else:
            count = sync.write_lines(target.file, lines)
            echo(EXPORTED[workspace.lang].format(count=count, file=target.file), err=True)
    say_left_out(left_out)


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
    from attncli.export.summary import summarise

    with session().workspace() as workspace:
        day = _day(workspace, interview.date() if interview else None)
        parts = [summarise(workspace, language, day) for language in _languages(lang, workspace.lang)]
    if chosen == "pdf":
        from attncli.export.render import to_pdf

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
    from attncli.export.render import to_markdown

    return to_markdown(*parts)


def _day(workspace: Workspace, asked: date | None) -> date | None:
    """The day that was asked for, else the setting `interview` while it lies ahead."""
    from attncli.export.summary import day_ahead
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


# `attn import anki`.


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Say what is in it, and write nothing.")
@json_option
def import_anki(file: Path, dry_run: bool, as_json: bool) -> None:
    """Cards and review history from FILE, an .apkg or .colpkg that Anki exported; what is here already counts once."""
    from attncli.anki.importer import import_package

    with session().workspace() as workspace:
        done = import_package(workspace, file, dry_run)
        if not dry_run:
            workspace.keep_daily_copy()
        print_result(as_json, done.document, lambda: _told(done, file, dry_run, workspace.lang))


def _told(done: AnkiImported, file: Path, dry_run: bool, lang: Lang) -> list[str]:
    known = done.cards - done.new_cards - done.own - done.unreadable
    lines = [
        ANKI_IMPORTED["done"][lang].format(
            file=file,
            cards=done.cards,
            new_cards=done.new_cards,
            own=done.own,
            known=known,
            reviews=done.reviews,
            new_reviews=done.new_reviews,
        )
    ]
    counts = {
        "suspended": done.suspended,
        "unreadable": done.unreadable,
        "media": done.media,
        "gone": done.gone,
        "forgotten": done.forgotten,
        "taken_back": done.taken_back,
        "lost": done.lost_reviews,
    }
    lines += [ANKI_IMPORTED[name][lang].format(count=count) for name, count in counts.items() if count]
    if dry_run:
        return [*lines, ANKI_IMPORTED["dry-run"][lang]]
    return [*lines, *(ANKI_IMPORTED["file"][lang].format(file=path) for path in done.files)]


# `attn import reviews`: what another program or machine has comes in here.


@click.group(name="import", no_args_is_help=False)
def import_() -> None:
    """Take over what another program or machine has."""


import_.add_command(import_anki, "anki")


@import_.command()
@click.argument("file", type=click.Path(path_type=Path))
def reviews(file: Path) -> None:
    """Merge the log in FILE, from `attn export reviews` or `attn backup`; rows that are here already count once."""
    with session().workspace() as workspace:
        done = sync.import_file(workspace, file)
        workspace.keep_daily_copy()
        say_left_out(done.faults)
        echo(IMPORTED[workspace.lang].format(new=done.new))


# `attn backup`.


@click.command()
@click.option("-o", "output", type=UserPath(path_type=Path), help="The new file (default: attn-DATE-TIME.db here).")
def backup(output: Path | None) -> None:
    """Write a consistent copy of your progress."""
    current = session()
    path = output or Path(f"attn-{current.clock():%Y%m%d-%H%M%S}.db")
    if path == Path("-"):
        raise UsageError("a backup is a database, and is not written to standard output; name a file with -o")
    if path.exists():
        raise UsageError(f"{path} already exists and is not overwritten; {REMEDY}")
    Target(path).refuse_place()
    with current.workspace() as workspace:
        problems = workspace.store.copy_to(path)
    echo(str(path))
    if problems:
        echo(f"attn: the copy is as damaged as the database ({problems[0]}); run `attn doctor --rebuild`", err=True)


# `attn restore`.


@click.command()
@click.argument("file", type=UserPath(path_type=Path))
def restore(file: Path) -> None:
    """Replace your progress by the backup FILE; a copy of what was there is kept."""
    from attncli.store.restore_backup import restore_database

    if not file.exists():
        raise NotFound(f"there is no file {file}; `attn backup` writes one")
    if not file.is_file():
        raise UsageError(f"{file} is no file; name the one that `attn backup` wrote")
    current = session()
    home, lang = current.home, current.lang
    done = restore_database(home.database, file, home.backups, current.clock())
    with current.workspace():
        """Schedules are derived when a database is first opened."""
    if done.refused:
        first = " ".join(printable(done.refused[0]).split())
        echo(ROWS_LEFT_OUT.format(rows=counted(len(done.refused), "row"), first=first, file=file)[lang], err=True)
    said = [RESTORED.format(rows=counted(done.rows, "row"), file=file)]
    if done.missing:
        said.append(MISSING.format(rows=counted(done.missing, "row"), kept=done.kept))
    elif done.kept:
        said.append(WHAT_WAS_KEPT.format(kept=done.kept))
    echo(SEMICOLON.join(said)[lang])


# `attn sync`.


@click.command()
@click.argument("folder", metavar="DIR", type=UserPath(path_type=Path))
def sync_(folder: Path) -> None:
    """Merge the logs of all machines that share the folder DIR, and leave this one's there."""
    with session().workspace() as workspace:
        done = synchronise(workspace, folder)
        workspace.keep_daily_copy()
        say_left_out([*done.faults, *done.left_out])
        if done.renewed:
            echo(RENEWED[workspace.lang].format(id=workspace.store.log.machine), err=True)
        echo(SYNCED[workspace.lang].format(received=done.received, written=done.written, file=done.file))
