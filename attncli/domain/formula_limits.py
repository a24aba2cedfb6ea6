"""The bounds of a formula that is drawn: what goes beyond them is shown as its source, whoever wrote it."""

from __future__ import annotations

import re

MOST_CHARACTERS = 2000
MOST_DEPTH = 16
_NESTING = re.compile(r"\\(?P<opens>left|begin)(?![A-Za-z])|\\(?P<closes>right|end)(?![A-Za-z])|\\.|[{}]", re.DOTALL)
_DEPTH = {"{": 1, "}": -1}


def beyond_limits(tex: str) -> str:
    """Return why a formula is not drawn, with the remedy; empty if it is short and flat enough."""
    if len(tex) > MOST_CHARACTERS:
        return f"is longer than {MOST_CHARACTERS} characters; split it"
    if nesting_depth(tex) > MOST_DEPTH:
        return f"is nested deeper than {MOST_DEPTH}; split it"
    return ""


def nesting_depth(tex: str) -> int:
    r"""Return how many braces, `\left … \right` and `\begin … \end` are open at once, at most."""
    depth = deepest = 0
    for found in _NESTING.finditer(tex):
        depth += _DEPTH.get(found[0], bool(found["opens"]) - bool(found["closes"]))
        deepest = max(deepest, depth)
    return deepest
