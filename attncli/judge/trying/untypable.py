"""What cannot be used of a case that a learner typed."""

from __future__ import annotations

import ast

from attncli.domain.text import Localised
from attncli.judge.messages import say

_SHOWN = 60


class Untypable(Exception):
    """The case cannot be tried; `message` is one line that says why."""

    def __init__(self, message: Localised) -> None:
        super().__init__(message.en)
        self.message = message


def untypable(key: str, **parts: object) -> Untypable:
    """The error that says a sentence of this name."""
    return Untypable(say(key, **parts))


def code_of(node: ast.AST) -> str:
    """A part of what was typed, shortened."""
    try:
        text = " ".join(ast.unparse(node).split())
    except RecursionError:
        return "…"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
