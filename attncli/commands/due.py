"""`attn due`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.due_report import report
from attncli.commands.options import at_option, json_option
from attncli.commands.session import session


@click.command()
@at_option
@json_option
def due(at: datetime | None, as_json: bool) -> None:
    """What is due now."""
    report(session(), at, as_json)
