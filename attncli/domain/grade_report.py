"""What grading a submission finds: its checks, the smallest counterexample, the mistake that it looks like."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from typing import Any, Final, Literal

from attncli.domain.challenge import CaseRung, Rung, named
from attncli.domain.text import NOTHING, Localised, left, printable
from attncli.domain.text import cells as width_of

Verdict = Literal["accepted", "rejected", "error"]
Status = Literal["pass", "fail", "skipped", "info", "running"]
# Where kernels run that nothing has compiled: Triton's, on the CPU.
INTERPRETER: Final = "interpreter"


@dataclass(frozen=True, slots=True)
class ShownTensor:
    """The first `values` of a tensor, row by row; `truncated` if there are more, `axes` the names that are known."""

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
        """The entry at an index; None where it is not shown."""
        if len(index) != len(self.shape):
            return None
        place = 0
        for size, step in zip(self.shape, index, strict=True):
            place = place * size + step
        return self.values[place] if self.values and place < len(self.values) else None


@dataclass(frozen=True, slots=True)
class Absent:
    """In place of a value that is not told: None is a value."""


ABSENT: Final = Absent()
Value = ShownTensor | Absent | Mapping[str, Any] | list[Any] | str | float | bool | None


@dataclass(frozen=True, slots=True)
class ShownCall:
    """One of several calls, and what it was given."""

    name: str
    args: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CodeLine:
    """The learner's own line in an exception."""

    line: int
    function: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """The smallest input that shows what is wrong. Of several `calls` it is number `call` that fails, from 1."""

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
        """The first wrong index, its axes named as those of what was expected; empty where there is none."""
        if not self.first_wrong_index:
            return ""
        return named(self.first_wrong_index, self.expected.axes if isinstance(self.expected, ShownTensor) else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """One line of a grade report; `reason` is one of the contract's words when it failed.

    `rung` is that of what failed, or of the highest that it passed. `growth` holds what was measured for each promise
    about work or memory. A grading in progress tells of a check that is `running`, and of one that has ended.
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

    Where none does: one of two that explain the outputs together, with the other one `beside` it; or what all outputs
    have in common, such as "transposed", which `says_zh` tells in Chinese.
    """

    wrong: str
    says: str
    cards: tuple[str, ...] = ()
    says_zh: str = ""
    beside: str = ""


@dataclass(frozen=True, slots=True)
class LeftBug:
    """A planted bug that is still in a file: the wrong solution whose mistake it is, and what one observes."""

    wrong: str
    symptom: Localised = NOTHING


@dataclass(frozen=True, slots=True)
class RepairedBugs:
    """How many bugs were planted in a file, and those that are left."""

    of: int
    left: tuple[LeftBug, ...] = ()

    @property
    def done(self) -> int:
        return self.of - len(self.left)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeReport:
    """What came of one grading; `rung` is the one that was reached. `repaired` is told of a file with planted bugs.

    `device_note` is what else there is to say about the device. `stored` are the counterexamples in the form in which
    the log keeps them (`attncli.domain.log_row`).
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
        """How many checks `passed`, of the `total` that were judged or had to be."""
        judged = [c for c in self.checks if c.status in ("pass", "fail") or (c.required and c.status != "info")]
        return {"passed": sum(check.status == "pass" for check in judged), "total": len(judged)}


# The grade report as the JSON document of the public interface, and back: between the judge, `--json` and the rest.


def report_document(report: GradeReport) -> dict[str, Any]:
    """What `attn grade --json` prints."""
    shown: dict[str, Any] = {name: getattr(report, name) for name in ("challenge", "file", "verdict", "rung")}
    shown["checks"] = [_check_document(check) for check in report.checks]
    shown["diagnosis"] = [_diagnosis_document(found) for found in report.diagnosis]
    if report.repaired is not None:
        shown["repaired"] = repaired_document(report.repaired)
    shown |= {name: getattr(report, name) for name in ("score", "seconds", "seed")}
    shown |= {"sandbox": list(report.sandbox), "device": report.device}
    note = report.device_note
    shown |= _said(device_note=note.en, device_note_zh=note.zh)
    return {**shown, **_said(printed=report.printed, error=report.error)}


def report_of(document: Mapping[str, Any]) -> GradeReport:
    """The report that a document of the judge holds; what it does not say has its default."""
    told = {key: document[key] for key in ("rung", "seconds", "seed", "device", "printed", "error") if key in document}
    return GradeReport(
        **told,
        challenge=document["challenge"],
        file=document.get("file", ""),
        verdict=document["verdict"],
        checks=tuple(map(check_of, document.get("checks", ()))),
        diagnosis=tuple(_diagnosis_of(found) for found in document.get("diagnosis", ())),
        sandbox=tuple(document.get("sandbox", ())),
        device_note=Localised(document.get("device_note", ""), document.get("device_note_zh", "")),
        stored=tuple(document.get("stored", ())),
        repaired=_repaired_of(document["repaired"]) if document.get("repaired") else None,
    )


def check_of(document: Mapping[str, Any]) -> CheckResult:
    """A check of a report, or one that a grading in progress tells of."""
    keys = ("required", "examples", "seconds", "reason", "rung")
    told = {key: document[key] for key in keys if document.get(key) is not None}
    message, shown = document.get("message", ""), document.get("counterexample")
    return CheckResult(
        **told,
        name=document["name"],
        status=document["status"],
        message=Localised(message, document.get("message_zh", message)),
        counterexample=None if shown is None else counterexample_of(shown),
        growth=tuple(document.get("growth", ())),
    )


def message_fields(check: CheckResult) -> dict[str, str]:
    """What a check says, and in Chinese where that differs."""
    said = check.message
    return {} if not said.en else {"message": said.en, **({"message_zh": said.zh} if said.zh != said.en else {})}


def counterexample_of(document: Mapping[str, Any]) -> Counterexample:
    """What the judge shows of a failing case."""
    keys = ("call", "profile", "edge_case", "edge_case_zh", "truncated")
    told: dict[str, Any] = {key: document[key] for key in keys if key in document}
    told |= {key: _value_of(document[key]) for key in ("expected", "got") if key in document}
    index, args = document.get("first_wrong_index"), document.get("args")
    return Counterexample(
        **told,
        args=None if args is None else _values_of(args),
        calls=tuple(ShownCall(call["call"], _values_of(call.get("args", {}))) for call in document.get("calls", ())),
        first_wrong_index=None if index is None else tuple(index),
        frames=tuple(CodeLine(**frame) for frame in document.get("frames", ())),
    )


def _check_document(check: CheckResult) -> dict[str, Any]:
    measured = ("examples", "seconds") if check.status != "skipped" else ()
    shown: dict[str, Any] = {name: getattr(check, name) for name in ("name", "status", "required", *measured)}
    shown |= _said(rung=check.rung, reason=check.reason) | message_fields(check)
    if check.counterexample is not None:
        shown["counterexample"] = counterexample_document(check.counterexample)
    return {**shown, **_said(growth=list(check.growth))}


def _diagnosis_document(found: Diagnosis) -> dict[str, Any]:
    shown = {"wrong": found.wrong, "says": found.says, "cards": list(found.cards)}
    return {**shown, **_said(says_zh=found.says_zh, beside=found.beside)}


def repaired_document(repaired: RepairedBugs) -> dict[str, Any]:
    """How many bugs of a planted file are repaired, and of those that are left what one observes."""
    left = [{"wrong": bug.wrong, "symptom": bug.symptom.en, "symptom_zh": bug.symptom.zh} for bug in repaired.left]
    return {"of": repaired.of, "done": repaired.done, "left": left}


def _repaired_of(document: Mapping[str, Any]) -> RepairedBugs:
    left = (LeftBug(bug["wrong"], Localised(bug["symptom"], bug["symptom_zh"])) for bug in document["left"])
    return RepairedBugs(document["of"], tuple(left))


def _diagnosis_of(document: Mapping[str, Any]) -> Diagnosis:
    return Diagnosis(**{**document, "cards": tuple(document.get("cards", ()))})


def counterexample_document(shown: Counterexample) -> dict[str, Any]:
    calls = [{"call": call.name, "args": _documents(call.args)} for call in shown.calls]
    document: dict[str, Any] = {} if shown.args is None else {"args": _documents(shown.args)}
    document |= _said(calls=calls, call=shown.call, profile=shown.profile)
    document |= _said(edge_case=shown.edge_case, edge_case_zh=shown.edge_case_zh)
    outcomes = {"expected": shown.expected, "got": shown.got}
    document |= {key: _value_document(value) for key, value in outcomes.items() if value is not ABSENT}
    if shown.first_wrong_index is not None:
        document["first_wrong_index"] = list(shown.first_wrong_index)
    return document | _said(frames=[asdict(frame) for frame in shown.frames], truncated=shown.truncated)


def _documents(values: Mapping[str, Value]) -> dict[str, Any]:
    return {name: _value_document(value) for name, value in values.items()}


def _value_document(value: Value) -> Any:
    if isinstance(value, ShownTensor):
        document: dict[str, Any] = {"shape": list(value.shape), "dtype": value.dtype, **_said(device=value.device)}
        if value.values is not None:
            document["values"] = list(value.values)
        return {**document, **_said(truncated=value.truncated, axes=list(value.axes))}
    if isinstance(value, Mapping):
        return _documents(value)
    return [_value_document(item) for item in value] if isinstance(value, list) else value


def _values_of(documents: Mapping[str, Any]) -> dict[str, Value]:
    return {name: _value_of(document) for name, document in documents.items()}


def _value_of(document: Any) -> Value:
    if isinstance(document, Mapping):
        return _tensor_of(document) if _is_tensor(document) else _values_of(document)
    return [_value_of(item) for item in document] if isinstance(document, list) else document


def _is_tensor(document: Mapping[str, Any]) -> bool:
    """Whether it is a tensor and not a dict of the submission's own with keys of these names."""
    shape, values = document.get("shape"), document.get("values", [])
    if not isinstance(document.get("dtype"), str) or not isinstance(shape, list) or not isinstance(values, list):
        return False
    known = {"shape", "dtype", "values", "axes", "truncated", "device"}
    return set(document) <= known and all(type(size) is int and size >= 0 for size in shape)


def _tensor_of(document: Mapping[str, Any]) -> ShownTensor:
    told: dict[str, Any] = {key: tuple(said) if isinstance(said, list) else said for key, said in document.items()}
    return ShownTensor(**told)


def _said(**fields: Any) -> dict[str, Any]:
    """Those that say something."""
    return {key: value for key, value in fields.items() if value}


# What comes of a case that the learner typed: both answers, and what is said of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class BothAnswers:
    """`said` tells how the file's answer stands to the reference's; `same` is None where one of them cannot be had.

    `refused`: why the case cannot be tried at all. `forbidden`: what of it the challenge never asks for.
    """

    said: Localised = NOTHING
    shown: Counterexample | None = None
    same: bool | None = None
    refused: Localised = NOTHING
    forbidden: tuple[Localised, ...] = ()
    printed: str = ""


def answers_document(answers: BothAnswers) -> dict[str, Any]:
    """As the judge sends it."""
    shown = None if answers.shown is None else counterexample_document(answers.shown)
    return {
        "said": asdict(answers.said),
        "shown": shown,
        "same": answers.same,
        "refused": asdict(answers.refused),
        "forbidden": [asdict(line) for line in answers.forbidden],
        "printed": answers.printed,
    }


def answers_of(document: dict[str, Any]) -> BothAnswers:
    """And as it is read."""
    shown = document["shown"]
    return BothAnswers(
        said=Localised.of(document["said"]),
        shown=None if shown is None else counterexample_of(shown),
        same=document["same"],
        refused=Localised.of(document["refused"]),
        forbidden=tuple(map(Localised.of, document["forbidden"])),
        printed=document["printed"],
    )


# A counterexample's values as text: a small tensor as a grid, differences starred.

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
