"""The grade report as it leaves the judge: a document without control characters, and of a bounded size."""

from __future__ import annotations

import json
from typing import Any

from attncli.domain.grade_report import GradeReport
from attncli.domain.grade_report_json import report_document
from attncli.domain.printable import printable

# In bytes, as the command prints it: indented, where a number takes ten times the room.
LARGEST = 1 << 20
INDENTED_TIMES = 10


def document(report: GradeReport) -> dict[str, Any]:
    """What the client reads, and `attn grade --json` prints."""
    shown: dict[str, Any] = cleaned(report_document(report))
    return _within(LARGEST, shown)


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


def cleaned(value: Any) -> Any:
    """Without control characters: messages quote what a submission raises, names and prints."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [cleaned(item) for item in value]
    return {printable(str(key)): cleaned(item) for key, item in value.items()} if isinstance(value, dict) else value
