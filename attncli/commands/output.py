"""Printing results: one JSON document, or lines for people."""

from __future__ import annotations

import json
import sys
from typing import Any

import click


def print_json(document: Any) -> None:
    """One JSON document on stdout; characters that the terminal's encoding lacks are escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    encoding = sys.stdout.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    click.echo(text)


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
