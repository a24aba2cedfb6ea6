"""What commands with results share."""

from __future__ import annotations

import click

from attncli.commands.json_document import print_json

__all__ = ["json_option", "print_json"]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
