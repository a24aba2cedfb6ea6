"""The facts that `inputs.py` declares: one that the judge does not know would be passed over in silence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attncli.bank.problems import did_you_mean
from attncli.domain.fact_names import FACTS


def fact_faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) of each name in capitals that is no fact."""
    for node in tree.body:
        for name in _assigned(node):
            if name.id.isupper() and not name.id.startswith("_") and name.id not in FACTS:
                guess = did_you_mean(name.id, FACTS) or "see the list in docs/challenge-format.md"
                own = "a constant of the challenge's own begins with an underscore"
                yield name.lineno, f"there is no fact {name.id}; {guess} ({own})"


def _assigned(node: ast.stmt) -> Iterator[ast.Name]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    for target in targets:
        yield from (part for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))
