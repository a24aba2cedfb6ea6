"""Characters that no reader sees: direction overrides, zero-width and tag characters, controls."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from attncli.bank.problems import Finding, Way
from attncli.domain.printable import hidden_in

NAMED = 3


def hidden_findings(value: object, way: Way = ()) -> Iterator[Finding]:
    """Every text and key below a value that holds any; they are left out wherever the text is shown."""
    if isinstance(value, str):
        if found := hidden_in(value):
            yield Finding(way, _said(found))
    elif isinstance(value, dict):
        for key, inner in value.items():
            if found := hidden_in(str(key)):
                yield Finding((*way, key), f"this key holds {_said(found)}", at_key=True)
            yield from hidden_findings(inner, (*way, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from hidden_findings(inner, (*way, number))


def _said(found: list[str]) -> str:
    names = [f"U+{ord(char):04X} ({unicodedata.name(char, 'a control character').lower()})" for char in found]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    what = "hidden character" if len(names) == 1 else "hidden characters"
    return f"{what} {', '.join(names[:NAMED])}{more}; take {'it' if len(names) == 1 else 'them'} out"
