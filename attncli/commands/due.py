"""`attn due`."""

from __future__ import annotations

from datetime import datetime

import click

from attncli.commands.printed.printed_due import report
from attncli.commands.session import session
from attncli.commands.shared.shared_options import at_option, json_option


@click.command()
@at_option
@json_option
def due(at: datetime | None, as_json: bool) -> None:
    """What is due now."""
    report(session(), at, as_json)
