"""What a shape cannot say of a numeric card: its formula computes for every draw, and each slip can be told apart."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attncli.bank.problems import Finding, Way, did_you_mean, shown
from attncli.bank.reading.card_texts import localised
from attncli.domain.answer_tolerance import is_within
from attncli.domain.arithmetic import FUNCTIONS, LARGEST, ComputeError, Number, compile_expression, names_in
from attncli.domain.units import convert

Document = Mapping[str, Any]
Compute = Callable[[Mapping[str, Number]], Number]

MAX_COMBINATIONS = 500
MAX_SLIP_COMBINATIONS = 10_000
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_TOLERANCE = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?\Z")


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def choices_of(values: Any) -> list[list[Any]]:
    """The choices of one parameter as [label, value] pairs."""
    if isinstance(values, dict):
        return [[label, value] for label, value in values.items()]
    return [[f"{value}", value] for value in values]


def parameter_findings(card: Document) -> Iterator[Finding]:
    for name, values in (card.get("parameters") or {}).items():
        way: Way = ("parameters", name)
        if not isinstance(values, dict | list) or not values:
            yield Finding(
                way, f'parameter "{name}" has no values; write a list such as [24, 32] or {{bf16: 2, fp8: 1}}'
            )
            continue
        if name in FUNCTIONS or name == "pi":
            yield Finding(way, f'parameter "{name}" has the name of a function; give it another name', at_key=True)
        entries = values.items() if isinstance(values, dict) else enumerate(values)
        for step, value in entries:
            if not is_number(value):
                yield Finding(
                    (*way, step), f'a value of "{name}" must be a number, found {shown(value, 30)}; correct it'
                )


def placeholder_findings(card: Document) -> Iterator[Finding]:
    names = list(card.get("parameters") or ())
    for lang in ("en", "zh"):
        way: Way = ("question", lang)
        found = [name.strip() for name in _PLACEHOLDER.findall(card["question"][lang])]
        unshown = [name for name in names if name not in found]
        for name in dict.fromkeys(name for name in found if name not in names):
            guess = did_you_mean(name, unshown)
            unshown = [meant for meant in unshown if f'"{meant}"' not in guess]
            remedy = guess or "add it to parameters or remove it"
            yield Finding(way, f"{{{{{name[:40]}}}}} is not among the parameters; {remedy}")
        for name in unshown:
            remedy = f"write {{{{{name}}}}} where it belongs"
            yield Finding(way, f'the question never shows parameter "{name}"; {remedy}')


def stray_placeholders(card: Document) -> Iterator[Finding]:
    """A parameter's place outside the question, where nothing fills it."""
    names = set(card.get("parameters") or ())
    for way, text in localised({key: value for key, value in card.items() if key != "question"}):
        for lang in ("en", "zh"):
            for name in dict.fromkeys(name.strip() for name in _PLACEHOLDER.findall(text[lang])):
                if name in names:
                    said = f"{{{{{name}}}}} is drawn in the question alone"
                    yield Finding((*way, lang), f"{said}; say it without the value, or in numbers of its own")


def tolerance_findings(card: Document) -> Iterator[Finding]:
    tolerance = card["tolerance"]
    if not (isinstance(tolerance, str) or is_number(tolerance)) or not _TOLERANCE.match(str(tolerance).strip()):
        yield Finding(("tolerance",), f"tolerance {shown(tolerance, 30)} cannot be read; write 2% or 0.5")


def compute_findings(card: Document) -> Iterator[Finding]:
    if any(parameter_findings(card)):
        return
    way: Way = ("compute",)
    if not isinstance(card["compute"], str) and not is_number(card["compute"]):
        yield Finding(way, '"compute" must be a formula; write it as text')
        return
    try:
        compute = compile_expression(str(card["compute"]))
        unused = (card.get("parameters") or {}).keys() - names_in(str(card["compute"]))
        for values in combinations(card):
            _positive(compute(values), values)
    except ComputeError as error:
        yield Finding(way, str(error))
        return
    for name in sorted(unused):
        yield Finding(
            ("parameters", name), f'compute does not use parameter "{name}"; use it or remove it', at_key=True
        )
    try:
        convert(1, card.get("compute_unit") or card["unit"], card["unit"])
    except ComputeError as error:
        yield Finding(("compute_unit",) if "compute_unit" in card else ("unit",), str(error))


def _positive(result: Number, values: Mapping[str, Number]) -> None:
    if not 0 < result <= LARGEST:
        shown_as = f"{result:g}" if abs(result) <= LARGEST else f"more than {LARGEST:g}"
        raise ComputeError(f"the answer is {shown_as} for {_said(values)}; choose values that give a positive number")


def slip_findings(card: Document) -> Iterator[Finding]:
    """Each slip computes, and no draw makes it the right answer or another slip."""
    if not card.get("slips") or any(compute_findings(card)) or any(tolerance_findings(card)):
        return
    formulas: list[Compute] = [compile_expression(str(card["compute"]))]
    for number, slip in enumerate(card["slips"]):
        try:
            formulas.append(_slip_formula(card, slip["compute"]))
        except ComputeError as error:
            yield Finding(("slips", number, "compute"), str(error))
            return
    told: set[tuple[int, int]] = set()
    for values in combinations(card, MAX_SLIP_COMBINATIONS):
        answers = [_answer(card, formula(values)) for formula in formulas]
        for one, other in itertools.combinations(range(len(answers)), 2):
            if (one, other) not in told and _alike(card, answers[one], answers[other]):
                told.add((one, other))
                yield Finding(("slips", other - 1, "compute"), _told_alike(answers, one, other, values))


def _slip_formula(card: Document, formula: object) -> Compute:
    if not isinstance(formula, str) and not is_number(formula):
        raise ComputeError('"compute" must be a formula; write it as text')
    compute = compile_expression(str(formula))
    for values in combinations(card, MAX_SLIP_COMBINATIONS):
        if not abs(result := compute(values)) <= LARGEST:
            raise ComputeError(f"the slip gives {result:g} for {_said(values)}; use smaller numbers")
    return compute


def _answer(card: Document, value: Number) -> Number:
    return convert(value, card.get("compute_unit") or card["unit"], card["unit"])


def _alike(card: Document, one: Number, other: Number) -> bool:
    tolerance = str(card["tolerance"])
    return is_within(other, one, tolerance) or is_within(one, other, tolerance)


def _told_alike(answers: list[Number], one: int, other: int, values: Mapping[str, Number]) -> str:
    what = f"slip {one}" if one else "the right answer"
    said = f"the slip gives {answers[other]:.6g} for {_said(values)}, and {what} {answers[one]:.6g}"
    return f"{said}: within the tolerance they are one; change the slip, the values or the tolerance"


def _said(values: Mapping[str, Number]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items()) or "its value"


def combinations(card: Document, limit: int = MAX_COMBINATIONS) -> Iterator[dict[str, Number]]:
    """Every combination of a numeric card's values; a fixed sample of them where there are more than `limit`."""
    parameters = card.get("parameters") or {}
    values = [[value for _, value in choices_of(choices)] for choices in parameters.values()]
    if math.prod(len(choice) for choice in values) <= limit:
        for row in itertools.product(*values):
            yield dict(zip(parameters, row, strict=True))
        return
    draw = random.Random(0)
    yield dict(zip(parameters, map(min, values), strict=True))
    yield dict(zip(parameters, map(max, values), strict=True))
    for _ in range(limit):
        yield {name: draw.choice(choice) for name, choice in zip(parameters, values, strict=True)}
