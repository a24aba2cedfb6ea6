"""`attn new`."""

from __future__ import annotations

import click

from attncli.commands.new_card import card


@click.group(no_args_is_help=False)
def new() -> None:
    """Scaffolds a card in place."""


new.add_command(card)
