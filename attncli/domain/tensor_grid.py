"""A counterexample's values as text: a small tensor as a grid, differences starred."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from attncli.domain.cells import cells as width_of
from attncli.domain.cells import left
from attncli.domain.grade_report import ShownTensor, Value
from attncli.domain.printable import printable

_MOST_NUMBERS, _MOST_MARKS = 12, 32
DIGITS = 4
GAP_CELLS = 4


def tensor_lines(tensor: ShownTensor, other: Value = None, digits: int = DIGITS) -> list[str]:
    """A heading with shape and dtype, then one line a row; every value that is unlike `other`'s gets a star.

    A mask is a grid of signs, 1 for True and a dot for False.
    """
    head = f"{tensor.named_shape} {tensor.dtype}"
    if tensor.values is None:
        return [head]
    is_mask = tensor.dtype == "bool" and len(tensor.shape) > 1
    cells = [("1" if v is True else "·") if is_mask else number_text(v, digits) for v in tensor.values]
    if isinstance(other, ShownTensor) and other.shape == tensor.shape:
        pairs = zip(cells, tensor.values, other.values or (), strict=False)
        cells = [cell + ("*" if differ(a, b, digits) else " ") for cell, a, b in pairs]
    grid = _grid(cells, tensor.shape, *((_MOST_MARKS, " ") if is_mask else (_MOST_NUMBERS, "  ")))
    return [head + (", 1 = True" if is_mask else ""), *grid]


def value_lines(value: Value, other: Value = None, digits: int = DIGITS) -> list[str]:
    """Any value as lines: tensors as grids, containers by key, the rest as Python would write it."""
    if isinstance(value, ShownTensor):
        return tensor_lines(value, other, digits)
    if isinstance(value, Mapping):
        rivals = other if isinstance(other, Mapping) else {}
        return [line for key, part in value.items() for line in named_lines(str(key), part, rivals.get(key), digits)]
    if isinstance(value, list) and any(isinstance(part, (Mapping, list, ShownTensor)) for part in value):
        beside = other if isinstance(other, list) and len(other) == len(value) else [None] * len(value)
        pairs = enumerate(zip(value, beside, strict=True))
        return [line for index, (part, rival) in pairs for line in named_lines(f"[{index}]", part, rival, digits)]
    return [printable(value) if isinstance(value, str) else repr(value)]


def named_lines(name: str, value: Value, other: Value = None, digits: int = DIGITS) -> list[str]:
    """`value_lines` behind its name, later lines indented below it."""
    first, *rest = value_lines(value, other, digits) or [""]
    joint = " " if isinstance(value, ShownTensor) else " = "
    return [f"{name}{joint}{first}", *(f"  {line}" for line in rest)]


def number_text(value: Any, digits: int = DIGITS) -> str:
    """A number with so many significant digits, as short as it can be."""
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        if value == int(value) and abs(value) < 1e6:
            return str(int(value))
        return f"{value:.{digits}g}"
    return str(value)


def differ(a: Any, b: Any, digits: int = DIGITS) -> bool:
    """Whether two printed values are unlike; NaN is like NaN."""
    return number_text(a, digits) != number_text(b, digits)


def side_by_side(blocks: Sequence[Sequence[str]], width: int) -> list[str]:
    """Blocks of lines beside each other, in as many rows of blocks as the width asks for, a blank line between rows."""
    rows: list[list[Sequence[str]]] = []
    used = 0
    for block in blocks:
        size = max((width_of(line) for line in block), default=0)
        if rows and used + GAP_CELLS + size <= width:
            rows[-1].append(block)
            used += GAP_CELLS + size
        else:
            rows.append([block])
            used = size
    lines: list[str] = []
    for row in rows:
        lines += [""] if lines else []
        lines += _joined(row)
    return lines


def _joined(blocks: Sequence[Sequence[str]]) -> list[str]:
    sizes = [max((width_of(line) for line in block), default=0) for block in blocks]
    lines = []
    for index in range(max(map(len, blocks))):
        cells = [block[index] if index < len(block) else "" for block in blocks]
        lines.append((" " * GAP_CELLS).join(left(cell, size) for cell, size in zip(cells, sizes, strict=True)).rstrip())
    return lines


def _grid(cells: list[str], shape: Sequence[int], most: int, gap: str) -> list[str]:
    if not shape:
        return cells[:1]
    if 0 in shape:
        return ["(empty)"]
    width = max(map(len, cells), default=1)
    columns = shape[-1]
    rows = shape[-2] if len(shape) > 1 else 1
    lines: list[str] = []
    for block, index in enumerate(product(*(range(size) for size in shape[:-2]))):
        if len(lines) >= most:
            return [*lines, "…"]
        label = f"[{', '.join(map(str, index))}]" if index and math.prod(shape[:-2]) > 1 else ""
        for row in range(min(rows, most + 1)):
            start = (block * rows + row) * columns
            part = cells[start : start + columns]
            shown = gap.join(cell.rjust(width) for cell in part[:most])
            more = f"{gap}…" if columns > most else ""
            lines.append(f"{label if row == 0 else ' ' * len(label)}{' ' if label else ''}{shown}{more}")
    return lines if len(lines) <= most else [*lines[:most], "…"]
