"""What a challenge declares in `inputs.py`: its public names in capitals, each one known."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from attncli.domain.arithmetic import Number, compile_expression, names_in
from attncli.domain.fact_names import FACTS
from attncli.errors import JudgeFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts of one challenge; `attncli.domain.fact_names` says what each means."""

    axes: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    lead: tuple[int, int] = (0, 3)
    sixteen_bits: str = "float32"
    large: float = 60.0
    offset: float = 100.0
    profiles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    tolerance: Mapping[str, float] = field(default_factory=dict)
    tolerance_stable: Mapping[str, float] | None = None
    gradients: bool = True
    alias_allowed: Sequence[str] = ()
    views_of_state: Sequence[str] = ()
    without_graph: Sequence[str] = ()
    modules_unchanged: bool = False
    hardened: frozenset[str] | set[str] = frozenset()
    without_motifs: frozenset[str] | set[str] = frozenset()
    contracts: Sequence[Mapping[str, Any]] = ()

    def axes_of(self, name: str) -> list[str]:
        """The axes of an argument, `...` among them. JudgeFailed where none are declared."""
        if name not in self.axes:
            raise JudgeFailed(f'AXES says nothing of "{name}"; add it to inputs.py')
        return self.axes[name].split()

    def inputs_of(self, axis: str) -> frozenset[str]:
        """The axes that one follows from."""
        return _compiled(self.derived.get(axis, axis))[0] - {axis}

    def size_of(self, axis: str, drawn: Mapping[str, int]) -> int:
        """The size of an axis that follows from drawn ones: by DERIVED, or itself a sum or product."""
        return int(_compiled(self.derived.get(axis, axis))[1](drawn))


def facts_of(module: ModuleType, path: Path) -> Facts:
    """The facts that a loaded `inputs.py` declares. JudgeFailed, with place and guess, for one that is not known."""
    said = {name: value for name, value in vars(module).items() if name.isupper() and not name.startswith("_")}
    for name in said:
        if name not in FACTS:
            close = difflib.get_close_matches(name, FACTS, 1)
            guess = f"did you mean {close[0]}?" if close else "a constant of its own starts with an underscore"
            raise JudgeFailed(f"{path}:{_line(path, name)}: there is no fact {name}; {guess}")
    return Facts(**{name.lower(): value for name, value in said.items()})


@lru_cache(maxsize=1024)
def _compiled(says: str) -> tuple[frozenset[str], Callable[[Mapping[str, Number]], Number]]:
    return names_in(says), compile_expression(says)


def _line(path: Path, name: str) -> int:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)
    return min((node.lineno for node in targets), default=1)
