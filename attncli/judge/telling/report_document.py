"""The grade report as the JSON document of the public interface."""

from __future__ import annotations

import json
from typing import Any

from attncli.domain.challenge import CheckResult, Diagnosis, GradeReport
from attncli.domain.printable import printable

# In bytes, as the command prints it: indented, where a number takes ten times the room.
LARGEST = 1 << 20
INDENTED_TIMES = 10


def document(report: GradeReport) -> dict[str, Any]:
    """What `attn grade --json` prints."""
    judged = [
        check
        for check in report.checks
        if check.status in ("pass", "fail") or (check.required and check.status != "info")
    ]
    shown: dict[str, Any] = {
        "challenge": report.challenge,
        "file": report.file,
        "verdict": report.verdict,
        "rung": report.rung,
        "checks": [_check(check) for check in report.checks],
        "diagnosis": [_diagnosis(found) for found in report.diagnosis],
        "score": {"passed": sum(check.status == "pass" for check in judged), "total": len(judged)},
        "seconds": report.seconds,
        "seed": report.seed,
        "sandbox": list(report.sandbox),
        "device": report.device,
    }
    if report.printed:
        shown["printed"] = report.printed
    if report.error:
        shown["error"] = report.error
    cleaned: dict[str, Any] = _clean(shown)
    return _within(LARGEST, cleaned)


def _within(most: int, shown: dict[str, Any]) -> dict[str, Any]:
    """The document with as many counterexamples, from the first on, as it may be large."""
    if len(json.dumps(shown)) <= most // INDENTED_TIMES:
        return shown
    for check in reversed(shown["checks"]):
        if len(json.dumps(shown, indent=2)) <= most:
            break
        if check.get("counterexample"):
            check["counterexample"] = {"args": {}, "truncated": True}
    return shown


def _clean(value: Any) -> Any:
    """Without control characters: messages quote what a submission raises, names and prints."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return {printable(str(key)): _clean(item) for key, item in value.items()} if isinstance(value, dict) else value


def _check(check: CheckResult) -> dict[str, Any]:
    if check.status == "skipped":
        return {"name": check.name, "status": "skipped", "required": check.required, **message_fields(check)}
    shown: dict[str, Any] = {
        "name": check.name,
        "status": check.status,
        "required": check.required,
        "examples": check.examples,
        "seconds": check.seconds,
    }
    if check.rung is not None:
        shown["rung"] = check.rung
    if check.reason:
        shown["reason"] = check.reason
    shown.update(message_fields(check))
    if check.counterexample is not None:
        shown["counterexample"] = check.counterexample
    if check.growth:
        shown["growth"] = list(check.growth)
    return shown


def _diagnosis(found: Diagnosis) -> dict[str, Any]:
    further = {"says_zh": found.says_zh, "beside": found.beside}
    shown = {"wrong": found.wrong, "says": found.says, "cards": list(found.cards)}
    return {**shown, **{name: text for name, text in further.items() if text}}


def message_fields(check: CheckResult) -> dict[str, str]:
    """What a check says, and in Chinese where that differs."""
    said = check.message
    return {} if not said.en else {"message": said.en, **({"message_zh": said.zh} if said.zh != said.en else {})}
