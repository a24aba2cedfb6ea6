"""What a challenge asks for, whole: its text with the sentences that it shares with others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, cast

from attncli.domain.challenge import Challenge
from attncli.domain.fact_names import SIXTEEN_BITS, SixteenBits
from attncli.words.statement_texts import SharedFacts, Statement, statement_of


def statement(challenge: Challenge) -> Statement:
    """The three parts of what `challenge` asks for; `inputs.py` is read for its facts, never run."""
    return statement_of(challenge, shared_facts(Path(challenge.folder) / "inputs.py"))


def shared_facts(inputs: Path) -> SharedFacts:
    """The facts that shared sentences hang on. What is missing or damaged counts as not said: grading names it."""
    said = _literals(inputs)
    sixteen = said.get("SIXTEEN_BITS")
    return SharedFacts(
        sixteen_bits=cast(SixteenBits, sixteen) if sixteen in SIXTEEN_BITS else "float32",
        may_return_argument=bool(said.get("ALIAS_ALLOWED")),
        shows_state=bool(said.get("VIEWS_OF_STATE")),
    )


def _literals(path: Path) -> dict[str, Any]:
    """The names at the top of a module that are set to a literal."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, Any] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name.isupper():
                if (literal := _literal(value)) is not None:
                    found[name] = literal
    return found


def _literal(value: ast.expr) -> Any:
    """The value of a literal, None for anything else."""
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
