"""Shapes and places in a tensor with the names of their axes: `[B=2, T=1, d=3]`."""

from __future__ import annotations

from collections.abc import Sequence


def named(numbers: Sequence[int], axes: Sequence[str] | None) -> str:
    """Sizes or an index, each behind the name of its axis where there is one."""
    names = axes if axes and len(axes) == len(numbers) else [""] * len(numbers)
    parts = [f"{name}={number}" if name else str(number) for name, number in zip(names, numbers, strict=True)]
    return f"[{', '.join(parts)}]"


def spread(says: str, dimensions: int) -> list[str]:
    """The names of axes from `"... T d"`: one each, "" for those that `...` stands for; [] where they do not fit."""
    names = says.split()
    if names[:1] == ["..."] and 0 < dimensions < len(names) - 1:
        return names[-dimensions:]  # a mask may lack its leading axes
    free = dimensions - len(names) + names.count("...")
    if names.count("...") > 1 or free < 0 or (free and "..." not in names):
        return []
    at = names.index("...") if "..." in names else len(names)
    return [*names[:at], *[""] * free, *names[at + 1 :]]
