"""What a shape cannot say of one card: formulas compute, blanks match, orders are free of cycles, options make sense.

A card that passes its shape and these rules can be asked and marked; everything else the check says is about quality.
"""

from __future__ import annotations

import ast
import itertools
import math
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from attncli.bank.problems import Finding, Way, did_you_mean, shown
from attncli.domain.algebra import algebra_equal
from attncli.domain.arithmetic import FUNCTIONS, LARGEST, ComputeError, Number, compile_expression, names_in
from attncli.domain.units import convert

Document = Mapping[str, Any]

MAX_CODE_LINES = 15
MAX_COMBINATIONS = 500
BLANK = "____"
_BLANK = re.compile(r"(?<!_)_{4}(?!_)")
_UNDERSCORES = re.compile(r"_{3,}")
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_TOLERANCE = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?\Z")


def card_findings(card: Document, faulty: Collection[str] = ()) -> list[Finding]:
    """Every finding about one card; paths start at the card.

    `faulty` are keys that are missing or whose value has not its shape: rules that need one of them are left out.
    """
    rules = [*_COMMON, *_BY_KIND.get(str(card.get("kind")), ())]
    return [found for needs, rule in rules if not any(key in faulty for key in needs) for found in rule(card)]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _follow_ups(card: Document) -> Iterator[Finding]:
    yield from _repeated(card.get("follow_ups") or (), ("follow_ups",))
    for number, target in enumerate(card.get("follow_ups") or ()):
        if target == card.get("id"):
            yield Finding(("follow_ups", number), "the card follows up on itself; remove it from follow_ups")


def _tags(card: Document) -> Iterator[Finding]:
    yield from _repeated(card.get("tags") or (), ("tags",))


def _formerly(card: Document) -> Iterator[Finding]:
    yield from _repeated(card.get("formerly") or (), ("formerly",))


def _repeated(values: Iterable[Any], way: Way) -> Iterator[Finding]:
    seen = set()
    for number, value in enumerate(values):
        if value in seen:
            yield Finding((*way, number), f"{shown(value, 40)} is listed twice; remove one of the two")
        seen.add(value)


def _choice(card: Document) -> Iterator[Finding]:
    options = card["options"]
    right = [option for option in options if option.get("correct")]
    if not right:
        yield Finding(("options",), "no option is right; mark at least one with correct: true", at_key=True)
    if len(right) == len(options):
        yield Finding(("options",), "every option is right; add a wrong one with its why_not", at_key=True)
    for number, option in enumerate(options):
        way: Way = ("options", number)
        if right and not option.get("correct") and not option.get("why_not"):
            yield Finding(way, "a wrong option says why not; add why_not: {en: …, zh: …}")
        if option.get("correct") and option.get("errata"):
            yield Finding((*way, "errata"), "a right option cannot be an erratum; remove errata or correct: true")
    for lang in ("en", "zh"):
        texts = [option["text"][lang].strip() for option in options]
        for found in _repeated(texts, ("options",)):
            yield Finding((*found.path, "text", lang), "two options say the same; change one of them")


def choices_of(values: Any) -> list[list[Any]]:
    """The choices of one parameter as [label, value] pairs."""
    if isinstance(values, dict):
        return [[label, value] for label, value in values.items()]
    return [[f"{value}", value] for value in values]


def _parameter_findings(card: Document) -> Iterator[Finding]:
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


def _placeholder_findings(card: Document) -> Iterator[Finding]:
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


def _tolerance_findings(card: Document) -> Iterator[Finding]:
    tolerance = card["tolerance"]
    if not (isinstance(tolerance, str) or is_number(tolerance)) or not _TOLERANCE.match(str(tolerance).strip()):
        yield Finding(("tolerance",), f"tolerance {shown(tolerance, 30)} cannot be read; write 2% or 0.5")


def _compute_findings(card: Document) -> Iterator[Finding]:
    if any(_parameter_findings(card)):
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
        where = ", ".join(f"{name} = {value}" for name, value in values.items()) or "its value"
        shown_as = f"{result:g}" if abs(result) <= LARGEST else f"more than {LARGEST:g}"
        raise ComputeError(f"the answer is {shown_as} for {where}; choose values that give a positive number")


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


def _blank_counts(card: Document) -> Iterator[Finding]:
    expected = len(card["blanks"])
    for lang in ("en", "zh"):
        text = card["question"][lang]
        count = len(_BLANK.findall(text))
        if count != expected or count != len(_UNDERSCORES.findall(text)):
            said = f"the question has {count} blanks and blanks has {expected} entries"
            yield Finding(("question", lang), f"{said}; write each blank as {BLANK}, one for every entry")


def _blanks(card: Document) -> Iterator[Finding]:
    for number, blank in enumerate(card["blanks"]):
        yield from _blank_findings(("blanks", number), blank)


def _blank_findings(way: Way, blank: Document) -> Iterator[Finding]:
    variables = blank.get("variables") or []
    if blank.get("form", "text") == "text":
        if variables:
            yield Finding(
                (*way, "variables"), "only algebra has variables; add form: algebra or remove them", at_key=True
            )
        return
    try:
        algebra_equal(blank["answer"], blank["answer"], variables)
    except ComputeError as error:
        yield Finding((*way, "answer"), str(error))


def _items(card: Document) -> Iterator[Finding]:
    for found in _repeated([item["key"] for item in card["items"]], ("items",)):
        yield Finding((*found.path, "key"), found.message)


def _order_keys(card: Document) -> Iterator[Finding]:
    keys = [item["key"] for item in card["items"]]
    for number, pair in enumerate(card["before"]):
        for side, key in enumerate(pair):
            if key not in keys:
                guess = did_you_mean(key, keys) or f"use one of {', '.join(keys)}"
                yield Finding(("before", number, side), f"{shown(key, 40)} is not the key of an item; {guess}")


def _order(card: Document) -> Iterator[Finding]:
    if cycle := _cycle(card["before"]):
        yield Finding(("before",), f"the order goes in a circle ({' before '.join(cycle)}); drop one pair", at_key=True)


def _cycle(pairs: Iterable[Iterable[str]]) -> list[str]:
    """The keys of one circle, first key repeated at the end; empty when there is none."""
    after: dict[str, set[str]] = {}
    for first, second in pairs:
        after.setdefault(first, set()).add(second)
        after.setdefault(second, set())
    while leaves := [key for key, following in after.items() if not following]:
        for key in leaves:
            del after[key]
        for following in after.values():
            following.difference_update(leaves)
    if not after:
        return []
    walk = [next(iter(after))]
    while walk[-1] not in walk[:-1]:
        walk.append(min(after[walk[-1]]))
    return walk[walk.index(walk[-1]) :]


def _code(card: Document) -> Iterator[Finding]:
    count = len(_lines_of(card["code"]))
    if count > MAX_CODE_LINES:
        yield Finding(("code",), f"the code has {count} lines, at most {MAX_CODE_LINES} are shown; shorten it")
    if message := _unparsable(card["code"]):
        yield Finding(("code",), message)


def _failing_lines(card: Document) -> Iterator[Finding]:
    lines = _lines_of(card["code"])
    yield from _repeated(card["lines"], ("lines",))
    for number, line in enumerate(card["lines"]):
        if line > len(lines):
            yield Finding(("lines", number), f"line {line} is beyond the code, which has {len(lines)}; correct it")
        elif not lines[line - 1].strip():
            yield Finding(("lines", number), f"line {line} of the code is empty; name the failing line")


def _lines_of(code: str) -> list[str]:
    return code.rstrip("\n").split("\n")


def _unparsable(code: str) -> str:
    """Why the code is no Python, or empty; a fragment (the inside of a function or class) counts as Python."""
    indented = "".join(f"    {line}\n" for line in code.split("\n"))
    fault = ""
    for whole in (code, f"def fragment():\n{indented}"):
        try:
            ast.parse(whole)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            fault = fault or f"the code is not Python ({error}); correct it"
        else:
            return ""
    return fault


Rule = tuple[tuple[str, ...], Callable[[Document], Iterator[Finding]]]

_COMMON: tuple[Rule, ...] = (
    (("follow_ups",), _follow_ups),
    (("tags",), _tags),
    (("formerly",), _formerly),
)
_BY_KIND: dict[str, tuple[Rule, ...]] = {
    "choice": ((("options",), _choice),),
    "numeric": (
        (("parameters",), _parameter_findings),
        (("parameters", "question"), _placeholder_findings),
        (("tolerance",), _tolerance_findings),
        (("parameters", "compute", "unit", "compute_unit"), _compute_findings),
    ),
    "cloze": ((("question", "blanks"), _blank_counts), (("blanks",), _blanks)),
    "ordering": ((("items",), _items), (("items", "before"), _order_keys), (("before",), _order)),
    "debug": ((("code",), _code), (("code", "lines"), _failing_lines)),
}
