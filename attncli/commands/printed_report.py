"""A grade report for people: plain lines, no colour needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attncli.commands.stdout import echo
from attncli.domain.axes import first_wrong, named
from attncli.domain.calls import earlier_calls
from attncli.domain.challenge import Challenge
from attncli.domain.digits import digits_apart
from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.words.frames import frame_lines
from attncli.words.reports import PRINTED, STATUSES, follows, headline, status_of, to_harden, told, unproved

PRINTED_LINES = 20
GRID_COLUMNS = 32
GRID_CELLS = 256
DIGITS = 5


def print_report(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> None:
    for line in report_lines(report, challenge, lang):
        echo(line)


def report_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    """The report line by line: verdict, checks, counterexample, diagnosis, what the code printed."""
    yield PRINTED["head"][lang].format(title=challenge.title[lang], verdict=headline(report, lang), **report["score"])
    for key, checks in (("to-harden", to_harden(report)), ("unproved", unproved(report))):
        if checks:
            yield f"  {PRINTED[key][lang].format(checks=', '.join(checks))}"
    for check in report["checks"]:
        badge = "" if check.get("required", True) else PRINTED["badge"][lang]
        yield f"  {STATUSES[status_of(check)][lang]}  {check['name']}{badge}  {told(check, lang)}".rstrip()
        if check["status"] == "fail" and check.get("counterexample") and not follows(check, report["checks"]):
            yield from counterexample_lines(check["counterexample"], "        ", lang, Path(report["file"]).name)
    yield from diagnosis_lines(report, challenge, lang)
    if report.get("printed"):
        yield f"  {PRINTED['printed'][lang]}"
        yield from (f"    {line}" for line in printable(report["printed"]).splitlines()[:PRINTED_LINES])
    layers = ", ".join(report["sandbox"])
    yield f"  {PRINTED['foot'][lang].format(seconds=report['seconds'], seed=report['seed'], layers=layers)}"


def diagnosis_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    for number, found in enumerate(report.get("diagnosis") or ()):
        if found.get("beside") and number == 0:
            yield f"  {PRINTED['two'][lang]}"
        if "says_zh" in found:
            yield f"  {PRINTED['common'][lang].format(says=found['says_zh' if lang == 'zh' else 'says'])}"
            continue
        known = challenge.mistakes.get(found["wrong"])
        says = (known.says[lang] if known else "") or found["says"]
        cards = PRINTED["cards"][lang].format(cards=", ".join(found["cards"])) if found["cards"] else ""
        yield f"  {PRINTED['same'][lang].format(says=says)}{cards}"


def counterexample_lines(shown: Mapping[str, Any], indent: str, lang: Lang = "en", file: str = "") -> Iterator[str]:
    """What was passed, what was due, what came; where in `file` an exception came from."""
    for name, value in shown.get("args", {}).items():
        yield from value_lines(f"{name} =", value, indent, lang)
    if "call" in shown:
        calls = ", ".join(str(call["call"]) for call in shown["calls"])
        yield indent + PRINTED["call"][lang].format(number=shown["call"], calls=calls)
    for number, call in earlier_calls(shown):
        yield indent + PRINTED["earlier"][lang].format(number=number, name=call["call"])
        for name, value in call["args"].items():
            yield from value_lines(f"{name} =", value, f"{indent}  ", lang)
    digits = digits_apart(shown, DIGITS)
    for key in ("expected", "got"):
        if key in shown:
            yield from value_lines(PRINTED[key][lang], shown[key], indent, lang, digits)
    if shown.get("first_wrong_index"):
        yield indent + PRINTED["first-wrong"][lang].format(index=first_wrong(shown))
    yield from (indent + line for line in frame_lines(shown.get("frames", ()), file, lang))


def value_lines(label: str, value: Any, indent: str, lang: Lang = "en", digits: int = DIGITS) -> Iterator[str]:
    """A value behind its label; a mask as a grid, a row a line, 1 for True and a dot for False."""
    if not _is_mask(value):
        yield f"{indent}{label} {shown_value(value, lang, digits)}"
        return
    yield f"{indent}{label} {PRINTED['mask'][lang].format(shape=_shape(value))}"
    columns = value["shape"][-1]
    marks = ["1" if flag else "·" for flag in value["values"]]
    for start in range(0, len(marks), columns):
        yield f"{indent}    {' '.join(marks[start : start + columns])}"


def _is_mask(value: Any) -> bool:
    if not isinstance(value, Mapping) or value.get("dtype") != "bool" or value.get("truncated"):
        return False
    shape = value.get("shape", [])
    return len(shape) >= 2 and 0 < shape[-1] <= GRID_COLUMNS and 0 < len(value.get("values", [])) <= GRID_CELLS


def shown_value(value: Any, lang: Lang = "en", digits: int = DIGITS) -> str:
    """A tensor as nested brackets with its dtype; anything else as it is."""
    if isinstance(value, Mapping) and "shape" in value and "dtype" in value:
        if "values" not in value or value.get("truncated"):
            return PRINTED["shape"][lang].format(dtype=value["dtype"], shape=_shape(value))
        tail = PRINTED["tensor"][lang].format(dtype=value["dtype"], shape=_shape(value))
        return f"{_nested(value['shape'], iter(value['values']), digits)} {tail}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {shown_value(item, lang, digits)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(shown_value(item, lang, digits) for item in value) + "]"
    return str(value)


def _shape(tensor: Mapping[str, Any]) -> str:
    return named(tensor["shape"], tensor.get("axes"))


def _nested(shape: list[int], numbers: Iterator[Any], digits: int) -> str:
    if not shape:
        return _number(next(numbers), digits)
    return "[" + ", ".join(_nested(shape[1:], numbers, digits) for _ in range(shape[0])) + "]"


def _number(value: Any, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
