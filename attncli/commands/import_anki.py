"""`attn import anki`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_result
from attncli.domain.text import Lang
from attncli.words.anki_texts import ANKI_IMPORTED

if TYPE_CHECKING:
    from attncli.anki.importer import AnkiImported


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
