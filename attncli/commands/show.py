"""`attn show`."""

from __future__ import annotations

from typing import Any

import click

from attncli.commands.printed.card_markdown import whole_card
from attncli.commands.session import on_terminal, session
from attncli.commands.shared.shared_options import json_option, print_json
from attncli.commands.shared.stdout import echo
from attncli.domain.text import LANGS, Lang
from attncli.practice.record import schedule_document


@click.command()
@click.argument("card")
@click.option("--lang", type=click.Choice(LANGS), help="In this language; with --json, in this one only.")
@json_option
def show(card: str, lang: Lang | None, as_json: bool) -> None:
    """Print one CARD, whole."""
    current = session()
    current.lang_option = lang or current.lang_option
    with current.workspace() as workspace:
        found = workspace.library.card(card)
        if as_json:
            document = dict(workspace.library.document(found.id))
            narrowed = _in_one_language(document, lang) if lang else document
            print_json({**narrowed, "schedule": schedule_document(workspace.store.schedules.get(found.id))})
            return
        text = whole_card(found, workspace.lang)
    if on_terminal():
        from attncli.commands.printed.drawn_markdown import print_markdown

        print_markdown(text)
    else:
        echo(text)


def _in_one_language(value: Any, lang: Lang) -> Any:
    """Every pair of texts becomes the one of `lang`."""
    if isinstance(value, dict):
        if set(value) == set(LANGS):
            return value[lang]
        inner = {key: _in_one_language(child, lang) for key, child in value.items()}
        return {key: child for key, child in inner.items() if key not in LANGS or key == lang}
    return [_in_one_language(child, lang) for child in value] if isinstance(value, list) else value
