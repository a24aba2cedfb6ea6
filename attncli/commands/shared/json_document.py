"""`--json`: one document on stdout and nothing else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any

from attncli.commands.shared.stdout import echo
from attncli.domain.printable import escaped


def json_text(document: Any) -> str:
    """`document` as JSON; signs that would steer a terminal or hide are written as escapes."""
    return escaped(json.dumps(document, ensure_ascii=False, indent=2))


def print_json(document: Any) -> None:
    """Prints `document`; characters that the terminal's encoding lacks are escaped."""
    text = json_text(document)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    echo(text)


def print_result(as_json: bool, document: Callable[[], Any], lines: Callable[[], Iterable[object]]) -> None:
    """Prints the document or the lines; only what is printed is made."""
    if as_json:
        print_json(document())
        return
    for line in lines():
        echo(line)
