"""A grade report for people: plain lines, no colour needed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

from attncli.domain.challenge import Challenge
from attncli.domain.text import Lang

MARKS = {"pass": "pass", "fail": "FAIL", "skipped": "skip", "info": "info"}
GRID_COLUMNS = 32
GRID_CELLS = 256
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def print_report(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> None:
    for line in report_lines(report, challenge, lang):
        click.echo(line)


def report_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    """The report line by line: verdict, checks, counterexample, diagnosis, what the code printed."""
    score = report["score"]
    yield f"{challenge.title[lang]}: {report['verdict']} ({score['passed']} of {score['total']} checks)"
    for check in report["checks"]:
        badge = "" if check.get("required", True) else " (badge)"
        message = f"  {check['message']}" if check.get("message") else ""
        yield f"  {MARKS[check['status']]}  {check['name']}{badge}{message}"
        if check["status"] == "fail" and check.get("counterexample"):
            yield from counterexample_lines(check["counterexample"], "        ")
    yield from diagnosis_lines(report, challenge, lang)
    if report.get("printed"):
        yield "  printed by your code:"
        yield from (f"    {_CONTROLS.sub('', line)}" for line in report["printed"].splitlines()[:20])
    layers = ", ".join(report["sandbox"])
    yield f"  {report['seconds']} s, seed {report['seed']}, sandbox: {layers}"


def diagnosis_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    for found in report.get("diagnosis") or ():
        said = challenge.mistakes.get(found["wrong"], {}).get("says", {})
        cards = ", ".join(found["cards"])
        yield f"  the same answers as: {said.get(lang) or found['says']}" + (f" (cards: {cards})" if cards else "")


def counterexample_lines(shown: Mapping[str, Any], indent: str) -> Iterator[str]:
    """What was passed, what was due, what came."""
    for name, value in shown.get("args", {}).items():
        yield from value_lines(f"{name} =", value, indent)
    if "call" in shown:
        calls = ", ".join(str(call["call"]) for call in shown["calls"])
        yield f"{indent}(call {shown['call']} of: {calls})"
    for key in ("expected", "got"):
        if key in shown:
            yield from value_lines(f"{key}:", shown[key], indent)
    if shown.get("first_wrong_index"):
        yield f"{indent}first wrong at {shown['first_wrong_index']}"
    for frame in shown.get("frames", ()):
        yield f"{indent}line {frame.get('line')}, in {frame.get('function')}: {frame.get('code', '')}".rstrip()


def value_lines(label: str, value: Any, indent: str) -> Iterator[str]:
    """A value behind its label; a mask as a grid, a row a line, 1 for True and a dot for False."""
    if not _is_mask(value):
        yield f"{indent}{label} {shown_value(value)}"
        return
    yield f"{indent}{label} (mask, shape {value['shape']}, 1 = True)"
    columns = value["shape"][-1]
    marks = ["1" if flag else "·" for flag in value["values"]]
    for start in range(0, len(marks), columns):
        yield f"{indent}    {' '.join(marks[start : start + columns])}"


def _is_mask(value: Any) -> bool:
    if not isinstance(value, Mapping) or value.get("dtype") != "bool" or value.get("truncated"):
        return False
    shape = value.get("shape", [])
    return len(shape) >= 2 and 0 < shape[-1] <= GRID_COLUMNS and 0 < len(value.get("values", [])) <= GRID_CELLS


def shown_value(value: Any) -> str:
    """A tensor as nested brackets with its dtype; anything else as it is."""
    if isinstance(value, Mapping) and "shape" in value and "dtype" in value:
        if "values" not in value or value.get("truncated"):
            return f"{value['dtype']} tensor of shape {value['shape']}"
        numbers = iter(value["values"])
        return f"{_nested(value['shape'], numbers)} ({value['dtype']}, shape {value['shape']})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shown_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(shown_value(item) for item in value) + "]"
    return str(value)


def _nested(shape: list[int], numbers: Iterator[Any]) -> str:
    if not shape:
        return _number(next(numbers))
    return "[" + ", ".join(_nested(shape[1:], numbers) for _ in range(shape[0])) + "]"


def _number(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
