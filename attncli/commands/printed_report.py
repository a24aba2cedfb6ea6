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
from attncli.domain.text import Lang, Localised
from attncli.words.frames import frame_lines
from attncli.words.reports import STATUSES, follows, headline, status_of, to_harden, told, unproved

PRINTED_LINES = 20
GRID_COLUMNS = 32
GRID_CELLS = 256
DIGITS = 5

SAY: dict[str, Localised] = {
    "head": Localised(
        "{title}: {verdict} ({passed} of {total} checks)", "{title}：{verdict}（{total} 项检查通过 {passed} 项）"
    ),
    "unproved": Localised("not proved: {checks}", "这些检查未能验证：{checks}"),
    "to-harden": Localised("to harden it: {checks}", "要加固的：{checks}"),
    "badge": Localised(" (badge)", "（加分项）"),
    "printed": Localised("printed by your code:", "你的代码打印的内容："),
    "foot": Localised("{seconds} s, seed {seed}, sandbox: {layers}", "用时 {seconds} 秒，种子 {seed}，沙箱：{layers}"),
    "same": Localised("the same answers as: {says}", "与这种错误的结果完全一致：{says}"),
    "two": Localised("two mistakes at once explain every answer:", "两种错误同时出现，能解释所有结果："),
    "common": Localised("what all the answers have in common: {says}", "所有结果的共同点：{says}"),
    "cards": Localised(" (cards: {cards})", "（卡片：{cards}）"),
    "call": Localised("(call {number} of: {calls})", "（第 {number} 次调用，依次为：{calls}）"),
    "earlier": Localised("call {number}, {name}:", "第 {number} 次调用 {name}："),
    "expected": Localised("expected:", "期望："),
    "got": Localised("got:", "得到："),
    "first-wrong": Localised("first wrong at {index}", "第一个不对的位置：{index}"),
    "mask": Localised("(mask, shape {shape}, 1 = True)", "（掩码，形状 {shape}，1 = True）"),
    "shape": Localised("{dtype} tensor of shape {shape}", "{dtype} 张量，形状 {shape}"),
    "tensor": Localised("({dtype}, shape {shape})", "（{dtype}，形状 {shape}）"),
}


def print_report(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> None:
    for line in report_lines(report, challenge, lang):
        echo(line)


def report_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    """The report line by line: verdict, checks, counterexample, diagnosis, what the code printed."""
    yield SAY["head"][lang].format(title=challenge.title[lang], verdict=headline(report, lang), **report["score"])
    for key, checks in (("to-harden", to_harden(report)), ("unproved", unproved(report))):
        if checks:
            yield f"  {SAY[key][lang].format(checks=', '.join(checks))}"
    for check in report["checks"]:
        badge = "" if check.get("required", True) else SAY["badge"][lang]
        yield f"  {STATUSES[status_of(check)][lang]}  {check['name']}{badge}  {told(check, lang)}".rstrip()
        if check["status"] == "fail" and check.get("counterexample") and not follows(check, report["checks"]):
            yield from counterexample_lines(check["counterexample"], "        ", lang, Path(report["file"]).name)
    yield from diagnosis_lines(report, challenge, lang)
    if report.get("printed"):
        yield f"  {SAY['printed'][lang]}"
        yield from (f"    {line}" for line in printable(report["printed"]).splitlines()[:PRINTED_LINES])
    layers = ", ".join(report["sandbox"])
    yield f"  {SAY['foot'][lang].format(seconds=report['seconds'], seed=report['seed'], layers=layers)}"


def diagnosis_lines(report: Mapping[str, Any], challenge: Challenge, lang: Lang) -> Iterator[str]:
    for number, found in enumerate(report.get("diagnosis") or ()):
        if found.get("beside") and number == 0:
            yield f"  {SAY['two'][lang]}"
        if "says_zh" in found:
            yield f"  {SAY['common'][lang].format(says=found['says_zh' if lang == 'zh' else 'says'])}"
            continue
        known = challenge.mistakes.get(found["wrong"])
        says = (known.says[lang] if known else "") or found["says"]
        cards = SAY["cards"][lang].format(cards=", ".join(found["cards"])) if found["cards"] else ""
        yield f"  {SAY['same'][lang].format(says=says)}{cards}"


def counterexample_lines(shown: Mapping[str, Any], indent: str, lang: Lang = "en", file: str = "") -> Iterator[str]:
    """What was passed, what was due, what came; where in `file` an exception came from."""
    for name, value in shown.get("args", {}).items():
        yield from value_lines(f"{name} =", value, indent, lang)
    if "call" in shown:
        calls = ", ".join(str(call["call"]) for call in shown["calls"])
        yield indent + SAY["call"][lang].format(number=shown["call"], calls=calls)
    for number, call in earlier_calls(shown):
        yield indent + SAY["earlier"][lang].format(number=number, name=call["call"])
        for name, value in call["args"].items():
            yield from value_lines(f"{name} =", value, f"{indent}  ", lang)
    digits = digits_apart(shown, DIGITS)
    for key in ("expected", "got"):
        if key in shown:
            yield from value_lines(SAY[key][lang], shown[key], indent, lang, digits)
    if shown.get("first_wrong_index"):
        yield indent + SAY["first-wrong"][lang].format(index=first_wrong(shown))
    yield from (indent + line for line in frame_lines(shown.get("frames", ()), file, lang))


def value_lines(label: str, value: Any, indent: str, lang: Lang = "en", digits: int = DIGITS) -> Iterator[str]:
    """A value behind its label; a mask as a grid, a row a line, 1 for True and a dot for False."""
    if not _is_mask(value):
        yield f"{indent}{label} {shown_value(value, lang, digits)}"
        return
    yield f"{indent}{label} {SAY['mask'][lang].format(shape=_shape(value))}"
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
            return SAY["shape"][lang].format(dtype=value["dtype"], shape=_shape(value))
        tail = SAY["tensor"][lang].format(dtype=value["dtype"], shape=_shape(value))
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
