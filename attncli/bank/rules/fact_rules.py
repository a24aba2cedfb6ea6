"""The facts that `inputs.py` declares: one that the judge does not know would be passed over in silence."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from attncli.bank.problems import did_you_mean
from attncli.domain.fact_names import FACTS, MOTIFS, SIXTEEN_BITS


def fact_faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) of each name in capitals that is no fact."""
    for node in tree.body:
        for name in _assigned(node):
            if name.id.isupper() and not name.id.startswith("_") and name.id not in FACTS:
                guess = did_you_mean(name.id, FACTS) or "see the list in docs/challenge-format.md"
                own = "a constant of the challenge's own begins with an underscore"
                yield name.lineno, f"there is no fact {name.id}; {guess} ({own})"


def name_faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) of each word in a fact that names nothing: an edge case, a motif, a rule for 16 bits."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    recorded = {name for name in functions if name == "stable" or name.startswith("edge_")}
    known: dict[str, Collection[str]] = {
        "HARDENED": recorded | MOTIFS,
        "WITHOUT_MOTIFS": MOTIFS,
        "SIXTEEN_BITS": SIXTEEN_BITS,
    }
    for node in tree.body:
        for name in _assigned(node):
            if name.id in known and isinstance(node, ast.Assign):
                yield from _unknown_words(name.id, node.value, known[name.id])


def _unknown_words(fact: str, value: ast.expr, known: Collection[str]) -> Iterator[tuple[int, str]]:
    for part in ast.walk(value):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value not in known:
            guess = did_you_mean(part.value, known) or "see docs/challenge-format.md"
            yield part.lineno, f'{fact} names "{part.value}", which is not there; {guess}'


def _assigned(node: ast.stmt) -> Iterator[ast.Name]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    for target in targets:
        yield from (part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
