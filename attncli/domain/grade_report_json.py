"""The grade report as the JSON document of the public interface, and back: between the judge, `--json` and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from attncli.domain.grade_report import (
    ABSENT,
    CheckResult,
    CodeLine,
    Counterexample,
    Diagnosis,
    GradeReport,
    LeftBug,
    RepairedBugs,
    ShownCall,
    ShownTensor,
    Value,
)
from attncli.domain.text import Localised


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
