"""The mistakes of a challenge: one file each in `wrong/`, read on demand. Loads neither yaml nor pydantic."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from attncli.domain.challenge import Mistake, mistake_in


class Mistakes(Mapping[str, Mistake]):
    """Maps the name of each file of `wrong/` to its mistake."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(sorted(path.stem for path in (self._folder / "wrong").glob("*.py")))

    def __getitem__(self, name: str) -> Mistake:
        if name not in self._names:
            raise KeyError(name)
        return mistake_in(_docstring(self._folder / "wrong" / f"{name}.py"))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _docstring(path: Path) -> str:
    """Return the docstring of a file, empty if it cannot be parsed; `attn verify` reports the reason."""
    try:
        return ast.get_docstring(ast.parse(path.read_bytes()), clean=False) or ""
    except (OSError, SyntaxError, ValueError):
        return ""
