"""Grade reports: the checks of a submission, the smallest counterexample, the likely mistake.

`document` writes the JSON form of the public interface, for the judge, `--json` and all views of a report; `read`
parses it. Fields have the order of that form. The last section formats values of counterexamples as lines of text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from itertools import product, zip_longest
from types import UnionType
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from attncli.domain.challenge import named
from attncli.domain.text import cells as width_of
from attncli.domain.text import left, printable
from attncli.domain.vocabulary import CaseRung, Rung
from attncli.i18n import NOTHING, Localised

Verdict = Literal["accepted", "rejected", "error"]
Status = Literal["pass", "fail", "skipped", "info", "running"]
INTERPRETER: Final = "interpreter"
"""The device of kernels that are not compiled: Triton's interpreter, on the CPU."""
ALWAYS: Final = {"always": True}
"""Metadata of a field that the JSON form has even if it has its default."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ShownTensor:
    """The first `values` of a tensor, row by row; `truncated` if there are more. `axes` are names, if known."""

    shape: tuple[int, ...]
    dtype: str
    device: str = field(default="", kw_only=True)
    values: tuple[Any, ...] | None = None
    truncated: bool = False
    axes: tuple[str, ...] = ()

    def at(self, index: Sequence[int]) -> Any:
        """Return the entry at an index; None where it is not shown."""
        if len(index) != len(self.shape):
            return None
        place = 0
        for size, step in zip(self.shape, index, strict=True):
            place = place * size + step
        return self.values[place] if self.values and place < len(self.values) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """Marker for a missing value, since None is a value."""


ABSENT: Final = Absent()
Value = ShownTensor | Absent | Mapping[str, Any] | list[Any] | str | float | bool | None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One of several calls, with its arguments."""

    call: str
    args: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the learner's file in the traceback of an exception."""

    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest failing input found. Of several `calls`, the failing one has number `call`, from 1."""

    args: Mapping[str, Value] | None = None
    calls: tuple[ShownCall, ...] = ()
    call: int = 0
    profile: str = ""
    edge_case: str = ""
    edge_case_zh: str = ""
    expected: Value = ABSENT
    got: Value = ABSENT
    first_wrong_index: tuple[int, ...] | None = None
    frames: tuple[CodeLine, ...] = ()
    truncated: bool = False

    @property
    def first_wrong(self) -> str:
        """The first wrong index with the axis names of the expected tensor; empty where there is none."""
        if not self.first_wrong_index:
            return ""
        return named(self.first_wrong_index, self.expected.axes if isinstance(self.expected, ShownTensor) else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One check of a grade report; `reason` is one of the contract's words when it failed.

    `rung` is the one at which it failed, or the highest that it passed. `growth` has the measurements for each promise
    about work or memory. While grading is in progress, a check has the status `running`.
    """

    name: str
    status: Status
    required: bool = field(default=True, metadata=ALWAYS)
    examples: int = field(default=0, metadata=ALWAYS)
    seconds: float = field(default=0.0, metadata=ALWAYS)
    rung: CaseRung | None = None
    reason: str = ""
    message: Localised = NOTHING
    counterexample: Counterexample | None = None
    growth: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A known wrong solution that gives the same outputs as the submission on the failing inputs.

    If no single one does, it is one of two that explain the outputs together, and `beside` is the other. Or it is a
    property of all outputs, such as "transposed"; `says_zh` is its Chinese text.
    """

    wrong: str
    says: str
    cards: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    says_zh: str = ""
    beside: str = ""

    @property
    def is_rounding(self) -> bool:
        """True if the diagnosis is about lost digits only."""
        return "rounded-to-" in self.wrong


@dataclass(frozen=True, slots=True)
class LeftBug:
    """A planted bug that is still in a file: the wrong solution with the same mistake, and its symptom."""

    wrong: str
    symptom: Localised = field(default=NOTHING, metadata=ALWAYS)


@dataclass(frozen=True, slots=True)
class RepairedBugs:
    """The number of bugs planted in a file, and the bugs left."""

    of: int
    left: tuple[LeftBug, ...] = field(default=(), metadata={"after": "done"})

    @property
    def done(self) -> int:
        return self.of - len(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """The result of one grading; `rung` is the one that was reached, `repaired` is set for a file with planted bugs.

    `stored` are the counterexamples in the form of the log (`attncli.domain.log_row`).
    """

    challenge: str
    file: str = field(default="", metadata=ALWAYS)
    verdict: Verdict
    rung: Rung = field(default="none", metadata=ALWAYS)
    checks: tuple[CheckResult, ...] = field(default=(), metadata=ALWAYS)
    diagnosis: tuple[Diagnosis, ...] = field(default=(), metadata=ALWAYS)
    repaired: RepairedBugs | None = None
    seconds: float = field(default=0.0, metadata={"after": "score"})
    seed: int = field(default=0, metadata=ALWAYS)
    sandbox: tuple[str, ...] = field(default=(), metadata=ALWAYS)
    device: str = field(default="cpu", metadata=ALWAYS)
    device_note: Localised = NOTHING
    printed: str = ""
    error: Localised = NOTHING
    stored: tuple[dict[str, Any], ...] = ()

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    @property
    def score(self) -> dict[str, int]:
        """The number of checks that `passed`, and the `total` of those judged or required."""
        judged = [c for c in self.checks if c.status in ("pass", "fail") or (c.required and c.status != "info")]
        return {"passed": sum(check.status == "pass" for check in judged), "total": len(judged)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BothAnswers:
    """The answers of file and reference to a case that the learner typed; `said` is the comparison in words.

    `same` is None if one of them gives no answer. `refused`: the reason why the case cannot be tried. `forbidden`: the
    parts of the case that the challenge never asks for.
    """

    said: Localised = NOTHING
    shown: Counterexample | None = None
    same: bool | None = None
    refused: Localised = NOTHING
    forbidden: tuple[Localised, ...] = ()
    printed: str = ""


# Reports as JSON


def report_document(report: GradeReport) -> dict[str, Any]:
    """Return the document that `attn grade --json` prints."""
    written: dict[str, Any] = document(replace(report, stored=()))
    return written


def document(value: Any) -> Any:
    """Return the JSON form of a report, or of a part of it, without the fields that have their defaults.

    A text in both languages takes two fields, such as `message` and `message_zh`; the second only where it differs.
    """
    if isinstance(value, Mapping):
        return {name: document(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [document(part) for part in value]
    if not is_dataclass(value):
        return value
    unmeasured = isinstance(value, CheckResult) and value.status == "skipped"
    written: dict[str, Any] = {}
    for each in fields(value):
        part = getattr(value, each.name)
        if (part == each.default and not each.metadata) or (unmeasured and each.name in ("examples", "seconds")):
            continue
        if derived := each.metadata.get("after"):
            written[derived] = getattr(value, derived)
        if isinstance(part, Localised):
            written[each.name] = part.en
            if part.zh != part.en or each.metadata:
                written[f"{each.name}_zh"] = part.zh
        else:
            written[each.name] = document(part)
    return written


def read(kind: type[T], written: Mapping[str, Any]) -> T:
    """Return the report, or the part of one, that `document` wrote; absent fields have their defaults."""
    found: dict[str, Any] = {}
    for name, hint in _hints(kind).items():
        if name in written:
            value = written[name]
            in_both = hint is Localised
            found[name] = Localised(value, written.get(f"{name}_zh", value)) if in_both else _read(hint, value)
    return kind(**found)


_hints: Callable[[Any], dict[str, Any]] = lru_cache(get_type_hints)


def _read(hint: Any, value: Any) -> Any:
    if hint == Value:
        return _value_of(value)
    if value is None:
        return None
    kind, arguments = get_origin(hint), get_args(hint)
    if kind is UnionType:
        return _read(arguments[0], value)
    if kind is tuple:
        return tuple(_read(arguments[0], item) for item in value)
    if kind is Mapping:
        return {name: _read(arguments[1], part) for name, part in value.items()}
    return read(hint, value) if isinstance(hint, type) and is_dataclass(hint) else value


def _value_of(written: Any) -> Value:
    if isinstance(written, Mapping):
        if _is_tensor(written):
            return read(ShownTensor, written)
        return {name: _value_of(part) for name, part in written.items()}
    return [_value_of(item) for item in written] if isinstance(written, list) else written


def _is_tensor(written: Mapping[str, Any]) -> bool:
    """Return True for a shown tensor, and False for a dict of the submission that has some of its keys."""
    shape, values = written.get("shape"), written.get("values", [])
    if not isinstance(written.get("dtype"), str) or not isinstance(shape, list) or not isinstance(values, list):
        return False
    known = {"shape", "dtype", "values", "axes", "truncated", "device"}
    return set(written) <= known and all(type(size) is int and size >= 0 for size in shape)


# Values as text

_MOST_NUMBERS, _MOST_MARKS = 12, 32
DIGITS = 4
GAP_CELLS = 4


def tensor_lines(tensor: ShownTensor, other: Value = None, digits: int = DIGITS) -> list[str]:
    """Write a tensor as a heading with shape and dtype, then one line per row; values unlike `other` get a star.

    A mask is a grid of 1 for True and a dot for False.
    """
    head = f"{named(tensor.shape, tensor.axes)} {tensor.dtype}"
    if tensor.values is None:
        return [head]
    is_mask = tensor.dtype == "bool" and len(tensor.shape) > 1
    cells = [("1" if v is True else "·") if is_mask else number_text(v, digits) for v in tensor.values]
    if isinstance(other, ShownTensor) and other.shape == tensor.shape:
        pairs = zip(cells, tensor.values, other.values or (), strict=False)
        cells = [cell + (" " if number_text(a, digits) == number_text(b, digits) else "*") for cell, a, b in pairs]
    grid = _grid(cells, tensor.shape, *((_MOST_MARKS, " ") if is_mask else (_MOST_NUMBERS, "  ")))
    return [head + (", 1 = True" if is_mask else ""), *grid]


def value_lines(value: Value, other: Value = None, digits: int = DIGITS) -> list[str]:
    """Write any value as lines: tensors as grids, containers by key, the rest as Python writes it."""
    if isinstance(value, ShownTensor):
        return tensor_lines(value, other, digits)
    if isinstance(value, Mapping):
        others = other if isinstance(other, Mapping) else {}
        return [line for key, part in value.items() for line in named_lines(str(key), part, others.get(key), digits)]
    if isinstance(value, list) and any(isinstance(part, (Mapping, list, ShownTensor)) for part in value):
        items = other if isinstance(other, list) and len(other) == len(value) else [None] * len(value)
        pairs = enumerate(zip(value, items, strict=True))
        return [line for index, (part, item) in pairs for line in named_lines(f"[{index}]", part, item, digits)]
    return [printable(value) if isinstance(value, str) else repr(value)]


def named_lines(name: str, value: Value, other: Value = None, digits: int = DIGITS) -> list[str]:
    """Write `value_lines` after a name; later lines are indented."""
    first, *rest = value_lines(value, other, digits) or [""]
    joint = " " if isinstance(value, ShownTensor) else " = "
    return [f"{name}{joint}{first}", *(f"  {line}" for line in rest)]


def number_text(value: Any, digits: int = DIGITS) -> str:
    """Write a number with at most `digits` significant digits, as short as possible."""
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.{digits}g}"


def side_by_side(blocks: Sequence[Sequence[str]], width: int) -> list[str]:
    """Put blocks of lines side by side, in rows of blocks that fit the width, with a blank line between rows."""
    rows: list[list[Sequence[str]]] = []
    used = 0
    for block in blocks:
        size = _block_width(block)
        if rows and used + GAP_CELLS + size <= width:
            rows[-1].append(block)
            used += GAP_CELLS + size
        else:
            rows.append([block])
            used = size
    lines: list[str] = []
    for row in rows:
        lines += [""] if lines else []
        sizes = [_block_width(block) for block in row]
        for cells in zip_longest(*row, fillvalue=""):
            padded = [left(cell, size) for cell, size in zip(cells, sizes, strict=True)]
            lines.append((" " * GAP_CELLS).join(padded).rstrip())
    return lines


def _block_width(block: Sequence[str]) -> int:
    return max((width_of(line) for line in block), default=0)


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
