"""`attn cards`."""

from __future__ import annotations

import click

from attncli.commands.session import session
from attncli.commands.shared.shared_options import json_option, print_json
from attncli.commands.shared.stdout import echo
from attncli.errors import NothingFound


@click.command()
@click.argument("query", required=False)
@click.option("--topic", help="Only cards of this topic.")
@json_option
def cards(query: str | None, topic: str | None, as_json: bool) -> None:
    """List cards, or those whose text matches QUERY: English words and their beginnings, Chinese of any length."""
    with session().workspace() as workspace:
        found = workspace.library.cards(query, topic)
        lang = workspace.lang
    if as_json:
        print_json(
            [
                {"id": c.id, "topic": c.topic, "kind": c.kind, "level": c.level, "question": c.question(lang)}
                for c in found
            ]
        )
    else:
        for card in found:
            first_line = " ".join(card.question(lang).split())
            echo(f"{card.id:<10} {card.kind:<9} {card.level:<9} {first_line}")
    if not found:
        raise NothingFound(
            f"no card matches {query}; try fewer words or other ones"
            if query
            else "there are no cards; `attn bank check` says whether a bank is broken"
        )
