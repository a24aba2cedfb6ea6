"""Grade reports: the checks of a submission, the smallest counterexample, the mistake that it looks like.

The JSON form is the document of the public interface; the judge, `--json` and everything that shows a report use it.
Fields that say nothing are left out of it. The last part writes the values of a counterexample as lines of text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product, zip_longest
from typing import Any, Final, Literal

from attncli.domain.challenge import named
from attncli.domain.text import NOTHING, Localised, left, printable
from attncli.domain.text import cells as width_of
from attncli.domain.vocabulary import CaseRung, Rung

Verdict = Literal["accepted", "rejected", "error"]
Status = Literal["pass", "fail", "skipped", "info", "running"]
INTERPRETER: Final = "interpreter"
"""The device of kernels that nothing has compiled: Triton's interpreter, on the CPU."""


@dataclass(frozen=True, slots=True)
class ShownTensor:
    """The first `values` of a tensor, row by row; `truncated` if there are more. `axes` are names, if known."""

    shape: tuple[int, ...]
    dtype: str
    values: tuple[Any, ...] | None = None
    axes: tuple[str, ...] = ()
    truncated: bool = False
    device: str = ""

    @property
    def named_shape(self) -> str:
        return named(self.shape, self.axes)

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
    """Stands for a value that is not given, since None is a value."""


ABSENT: Final = Absent()
Value = ShownTensor | Absent | Mapping[str, Any] | list[Any] | str | float | bool | None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One of several calls, with its arguments."""

    name: str
    args: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the learner's file in the traceback of an exception."""

    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest input found that shows the fault. Of several `calls` number `call` fails, counted from 1."""

    args: Mapping[str, Value] | None = None
    expected: Value = ABSENT
    got: Value = ABSENT
    first_wrong_index: tuple[int, ...] | None = None
    calls: tuple[ShownCall, ...] = ()
    call: int = 0
    profile: str = ""
    edge_case: str = ""
    edge_case_zh: str = ""
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

    `rung` is the one at which it failed, or the highest that it passed. `growth` holds the measurements for each
    promise about work or memory. While grading is in progress, a check has the status `running`.
    """

    name: str
    status: Status
    required: bool = True
    examples: int = 0
    seconds: float = 0.0
    message: Localised = NOTHING
    reason: str = ""
    rung: CaseRung | None = None
    counterexample: Counterexample | None = None
    growth: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A known wrong solution that gives the same outputs as the submission on the failing inputs.

    If none does, it is one of two that explain the outputs together, the other one being `beside`; or a property of
    all outputs, such as "transposed" (in Chinese: `says_zh`).
    """

    wrong: str
    says: str
    cards: tuple[str, ...] = ()
    says_zh: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class LeftBug:
    """A planted bug that is still in a file: the wrong solution with the same mistake, and its symptom."""

    wrong: str
    symptom: Localised = NOTHING


@dataclass(frozen=True, slots=True)
class RepairedBugs:
    """The number of bugs planted in a file, and those that are left."""

    of: int
    left: tuple[LeftBug, ...] = ()

    @property
    def done(self) -> int:
        return self.of - len(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """The result of one grading; `rung` is the one that was reached, `repaired` is set for a file with planted bugs.

    `stored` are the counterexamples in the form in which the log keeps them (`attncli.domain.log_row`).
    """

    challenge: str
    file: str
    verdict: Verdict
    rung: Rung = "none"
    checks: tuple[CheckResult, ...] = ()
    diagnosis: tuple[Diagnosis, ...] = ()
    seconds: float = 0.0
    seed: int = 0
    sandbox: tuple[str, ...] = ()
    device: str = "cpu"
    device_note: Localised = NOTHING
    printed: str = ""
    error: str = ""
    stored: tuple[dict[str, Any], ...] = ()
    repaired: RepairedBugs | None = None

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"

    @property
    def score(self) -> dict[str, int]:
        """How many checks `passed`, of the `total` that were judged or required."""
        judged = [c for c in self.checks if c.status in ("pass", "fail") or (c.required and c.status != "info")]
        return {"passed": sum(check.status == "pass" for check in judged), "total": len(judged)}


# Reports as JSON


def report_document(report: GradeReport) -> dict[str, Any]:
    """Return the document that `attn grade --json` prints."""
    document: dict[str, Any] = {name: getattr(report, name) for name in ("challenge", "file", "verdict", "rung")}
    document["checks"] = [_check_document(check) for check in report.checks]
    document["diagnosis"] = [_diagnosis_document(diagnosis) for diagnosis in report.diagnosis]
    if report.repaired is not None:
        document["repaired"] = _repaired_document(report.repaired)
    document |= {name: getattr(report, name) for name in ("score", "seconds", "seed")}
    document |= {"sandbox": list(report.sandbox), "device": report.device}
    document |= _present(device_note=report.device_note.en, device_note_zh=report.device_note.zh)
    return document | _present(printed=report.printed, error=report.error)


def report_of(document: Mapping[str, Any]) -> GradeReport:
    """Read a report from its document; absent fields have their defaults."""
    keys = ("rung", "seconds", "seed", "device", "printed", "error")
    return GradeReport(
        **{key: document[key] for key in keys if key in document},
        challenge=document["challenge"],
        file=document.get("file", ""),
        verdict=document["verdict"],
        checks=tuple(map(check_of, document.get("checks", ()))),
        diagnosis=tuple(
            Diagnosis(**{**diagnosis, "cards": tuple(diagnosis.get("cards", ()))})
            for diagnosis in document.get("diagnosis", ())
        ),
        sandbox=tuple(document.get("sandbox", ())),
        device_note=Localised(document.get("device_note", ""), document.get("device_note_zh", "")),
        stored=tuple(document.get("stored", ())),
        repaired=_repaired_of(document["repaired"]) if document.get("repaired") else None,
    )


def check_of(document: Mapping[str, Any]) -> CheckResult:
    """Read a check from its document in a report, or from a grading in progress."""
    keys = ("required", "examples", "seconds", "reason", "rung")
    message, shown = document.get("message", ""), document.get("counterexample")
    return CheckResult(
        **{key: document[key] for key in keys if document.get(key) is not None},
        name=document["name"],
        status=document["status"],
        message=Localised(message, document.get("message_zh", message)),
        counterexample=None if shown is None else counterexample_of(shown),
        growth=tuple(document.get("growth", ())),
    )


def message_fields(check: CheckResult) -> dict[str, str]:
    """Return the message of a check as JSON fields; `message_zh` only where it differs."""
    message = check.message
    if not message.en:
        return {}
    return {"message": message.en} | ({"message_zh": message.zh} if message.zh != message.en else {})


def counterexample_of(document: Mapping[str, Any]) -> Counterexample:
    """Read a counterexample from its document."""
    keys = ("call", "profile", "edge_case", "edge_case_zh", "truncated")
    fields: dict[str, Any] = {key: document[key] for key in keys if key in document}
    fields |= {key: _value_of(document[key]) for key in ("expected", "got") if key in document}
    index, args = document.get("first_wrong_index"), document.get("args")
    return Counterexample(
        **fields,
        args=None if args is None else _values_of(args),
        calls=tuple(ShownCall(call["call"], _values_of(call.get("args", {}))) for call in document.get("calls", ())),
        first_wrong_index=None if index is None else tuple(index),
        frames=tuple(CodeLine(**frame) for frame in document.get("frames", ())),
    )


def _check_document(check: CheckResult) -> dict[str, Any]:
    measured = ("examples", "seconds") if check.status != "skipped" else ()
    document: dict[str, Any] = {name: getattr(check, name) for name in ("name", "status", "required", *measured)}
    document |= _present(rung=check.rung, reason=check.reason) | message_fields(check)
    if check.counterexample is not None:
        document["counterexample"] = _counterexample_document(check.counterexample)
    return document | _present(growth=list(check.growth))


def _diagnosis_document(diagnosis: Diagnosis) -> dict[str, Any]:
    document = {"wrong": diagnosis.wrong, "says": diagnosis.says, "cards": list(diagnosis.cards)}
    return document | _present(says_zh=diagnosis.says_zh, beside=diagnosis.beside)


def _repaired_document(repaired: RepairedBugs) -> dict[str, Any]:
    left = [{"wrong": bug.wrong, "symptom": bug.symptom.en, "symptom_zh": bug.symptom.zh} for bug in repaired.left]
    return {"of": repaired.of, "done": repaired.done, "left": left}


def _repaired_of(document: Mapping[str, Any]) -> RepairedBugs:
    left = (LeftBug(bug["wrong"], Localised(bug["symptom"], bug["symptom_zh"])) for bug in document["left"])
    return RepairedBugs(document["of"], tuple(left))


def _counterexample_document(shown: Counterexample) -> dict[str, Any]:
    calls = [{"call": call.name, "args": _documents(call.args)} for call in shown.calls]
    document: dict[str, Any] = {} if shown.args is None else {"args": _documents(shown.args)}
    document |= _present(calls=calls, call=shown.call, profile=shown.profile)
    document |= _present(edge_case=shown.edge_case, edge_case_zh=shown.edge_case_zh)
    outcomes = {"expected": shown.expected, "got": shown.got}
    document |= {key: _value_document(value) for key, value in outcomes.items() if value is not ABSENT}
    if shown.first_wrong_index is not None:
        document["first_wrong_index"] = list(shown.first_wrong_index)
    return document | _present(frames=[asdict(frame) for frame in shown.frames], truncated=shown.truncated)


def _documents(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: _value_document(value) for name, value in values.items()}


def _value_document(value: Value) -> Any:
    if isinstance(value, ShownTensor):
        document: dict[str, Any] = {"shape": list(value.shape), "dtype": value.dtype, **_present(device=value.device)}
        if value.values is not None:
            document["values"] = list(value.values)
        return document | _present(truncated=value.truncated, axes=list(value.axes))
    if isinstance(value, Mapping):
        return _documents(value)
    return [_value_document(item) for item in value] if isinstance(value, list) else value


def _values_of(documents: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _value_of(document) for name, document in documents.items()}


def _value_of(document: Any) -> Value:
    if isinstance(document, Mapping) and _is_tensor(document):
        fields: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in document.items()}
        return ShownTensor(**fields)
    if isinstance(document, Mapping):
        return _values_of(document)
    return [_value_of(item) for item in document] if isinstance(document, list) else document


def _is_tensor(document: Mapping[str, Any]) -> bool:
    """Return True if this is a tensor, and not a dict of the submission that has keys of these names."""
    shape, values = document.get("shape"), document.get("values", [])
    if not isinstance(document.get("dtype"), str) or not isinstance(shape, list) or not isinstance(values, list):
        return False
    known = {"shape", "dtype", "values", "axes", "truncated", "device"}
    return set(document) <= known and all(type(size) is int and size >= 0 for size in shape)


def _present(**fields: Any) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {key: value for key, value in fields.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class BothAnswers:
    """The answers of file and reference to a case that the learner typed; `said` compares them.

    `same` is None where one of them gives no answer. `refused`: why the case cannot be tried at all. `forbidden`: its
    parts that the challenge never asks for.
    """

    said: Localised = NOTHING
    shown: Counterexample | None = None
    same: bool | None = None
    refused: Localised = NOTHING
    forbidden: tuple[Localised, ...] = ()
    printed: str = ""


def answers_document(answers: BothAnswers) -> dict[str, Any]:
    """Return both answers as the judge sends them."""
    return {
        "said": asdict(answers.said),
        "shown": None if answers.shown is None else _counterexample_document(answers.shown),
        "same": answers.same,
        "refused": asdict(answers.refused),
        "forbidden": [asdict(line) for line in answers.forbidden],
        "printed": answers.printed,
    }


def answers_of(document: dict[str, Any]) -> BothAnswers:
    """Read both answers from their document."""
    shown = document["shown"]
    return BothAnswers(
        said=Localised.of(document["said"]),
        shown=None if shown is None else counterexample_of(shown),
        same=document["same"],
        refused=Localised.of(document["refused"]),
        forbidden=tuple(map(Localised.of, document["forbidden"])),
        printed=document["printed"],
    )


# Values as text

_MOST_NUMBERS, _MOST_MARKS = 12, 32
DIGITS = 4
GAP_CELLS = 4


def tensor_lines(tensor: ShownTensor, other: Value = None, digits: int = DIGITS) -> list[str]:
    """Write a tensor as a heading with shape and dtype, then one line a row; values unlike `other` get a star.

    A mask is a grid of 1 for True and a dot for False.
    """
    head = f"{tensor.named_shape} {tensor.dtype}"
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
    """Write `value_lines` behind a name, later lines indented below it."""
    first, *rest = value_lines(value, other, digits) or [""]
    joint = " " if isinstance(value, ShownTensor) else " = "
    return [f"{name}{joint}{first}", *(f"  {line}" for line in rest)]


def number_text(value: Any, digits: int = DIGITS) -> str:
    """Write a number with so many significant digits, as short as possible."""
    if not isinstance(value, float) or not math.isfinite(value):
        return str(value)
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.{digits}g}"


def side_by_side(blocks: Sequence[Sequence[str]], width: int) -> list[str]:
    """Put blocks of lines beside each other, in rows of blocks that fit the width, a blank line between rows."""
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
