"""`attn export anki`."""

from __future__ import annotations

from typing import cast

import click

from attncli.commands.session import session
from attncli.commands.shared.export_target import Target, TargetType
from attncli.commands.shared.stdout import echo
from attncli.domain.text import LANGS, Lang
from attncli.words.anki_texts import ANKI_WRITTEN, FROM_ANKI_LEFT_OUT


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
    from attncli.export.anki_deck import export_deck

    with session().workspace() as workspace:
        done = export_deck(workspace, target.write_bytes, topic, LANGS if lang == "both" else [cast(Lang, lang)])
        if done.from_anki:
            echo(FROM_ANKI_LEFT_OUT[workspace.lang].format(count=done.from_anki), err=True)
        written = done.package
        file, told = target.file or "-", ANKI_WRITTEN[workspace.lang]
        echo(told.format(cards=written.cards, file=file, reviewed=written.reviewed, reviews=written.reviews), err=True)
