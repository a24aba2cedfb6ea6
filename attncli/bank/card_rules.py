"""What a shape cannot say of one card: formulas compute, blanks match, orders are free of cycles, options make sense.

A card that passes its shape and these rules can be asked and marked; everything else the check says is about quality.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from attncli.bank.problems import Finding, Way, did_you_mean, shown
from attncli.bank.reading.code_snippets import python_fault
from attncli.bank.rules.numeric_rules import (
    compute_findings,
    parameter_findings,
    placeholder_findings,
    slip_findings,
    stray_placeholders,
    tolerance_findings,
)
from attncli.domain.algebra import algebra_equal
from attncli.domain.arithmetic import ComputeError
from attncli.domain.card import BLANK

Document = Mapping[str, Any]

MAX_CODE_LINES = 15
_BLANK = re.compile(r"(?<!_)_{4}(?!_)")
_UNDERSCORES = re.compile(r"_{3,}")


def card_findings(card: Document, faulty: Collection[str] = (), own: bool = False) -> list[Finding]:
    """Every finding about one card; paths start at the card.

    `faulty` are keys that are missing or whose value has not its shape: rules that need one of them are left out.
    A learner's `own` card need not say why an option is wrong.
    """
    rules = [*_COMMON, *_BY_KIND.get(str(card.get("kind")), ())]
    if own:
        rules = [rule for rule in rules if rule not in _NOT_OF_OWN]
    return [found for needs, rule in rules if not any(key in faulty for key in needs) for found in rule(card)]


def _follow_ups(card: Document) -> Iterator[Finding]:
    entries = card.get("follow_ups") or ()
    ids = [entry if isinstance(entry, str) else entry.get("card") or number for number, entry in enumerate(entries)]
    yield from _repeated(ids, ("follow_ups",))
    for lang in ("en", "zh"):
        asked = [number if isinstance(entry, str) else entry["ask"][lang] for number, entry in enumerate(entries)]
        yield from _repeated(asked, ("follow_ups",))
    for number, target in enumerate(ids):
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
        if option.get("correct") and option.get("errata"):
            yield Finding((*way, "errata"), "a right option cannot be an erratum; remove errata or correct: true")
    for lang in ("en", "zh"):
        texts = [option["text"][lang].strip() for option in options]
        for found in _repeated(texts, ("options",)):
            yield Finding((*found.path, "text", lang), "two options say the same; change one of them")


def _reasons(card: Document) -> Iterator[Finding]:
    has_right = any(option.get("correct") for option in card["options"])
    for number, option in enumerate(card["options"]):
        if has_right and not option.get("correct") and not option.get("why_not"):
            yield Finding(("options", number), "a wrong option says why not; add why_not: {en: …, zh: …}")


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
        found = python_fault(whole)
        if not found:
            return ""
        fault = fault or f"the code is not Python ({found}); correct it"
    return fault


Rule = tuple[tuple[str, ...], Callable[[Document], Iterator[Finding]]]

_COMMON: tuple[Rule, ...] = (
    (("follow_ups",), _follow_ups),
    (("tags",), _tags),
    (("formerly",), _formerly),
)
_NOT_OF_OWN: tuple[Rule, ...] = ((("options",), _reasons),)
_BY_KIND: dict[str, tuple[Rule, ...]] = {
    "choice": ((("options",), _choice), *_NOT_OF_OWN),
    "numeric": (
        (("parameters",), parameter_findings),
        (("parameters", "question"), placeholder_findings),
        (("parameters", "explain"), stray_placeholders),
        (("tolerance",), tolerance_findings),
        (("parameters", "compute", "unit", "compute_unit"), compute_findings),
        (("parameters", "compute", "unit", "compute_unit", "tolerance", "slips"), slip_findings),
    ),
    "cloze": ((("question", "blanks"), _blank_counts), (("blanks",), _blanks)),
    "ordering": ((("items",), _items), (("items", "before"), _order_keys), (("before",), _order)),
    "debug": ((("code",), _code), (("code", "lines"), _failing_lines)),
}
