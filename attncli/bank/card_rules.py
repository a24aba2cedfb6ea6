"""Rules for one card that its shape cannot express: formulas compute, blanks match, orders have no cycles.

A card that passes its shape and `card_findings` can be asked and marked. The last part checks quality: numbers in
a text must equal the result of their formula, and facts older than a year get a note.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from attncli.bank.problems import Finding, Way, did_you_mean, nearest, one_of, shown
from attncli.bank.prose_rules import localised, python_fault
from attncli.domain.arithmetic import (
    DIMENSIONS,
    FUNCTIONS,
    LARGEST,
    Compute,
    ComputeError,
    Number,
    algebra_equal,
    compile_expression,
    convert,
    evaluate,
    is_within,
    names_in,
)
from attncli.domain.card_kinds import BLANK
from attncli.i18n import LANGS, NOTHING, Localised, _, ngettext, quoted

Document = Mapping[str, Any]
Rule = tuple[tuple[str, ...], Callable[[Document], Iterator[Finding]]]
"""The keys that a rule needs, and the rule."""

MAX_COMBINATIONS = 500
MAX_SLIP_COMBINATIONS = 10_000
MAX_CODE_LINES = 15
MAX_WRITTEN = 60
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")
_TOLERANCE = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?\s*%?\Z")
_BLANK = re.compile(r"(?<!_)_{4}(?!_)")
_UNDERSCORES = re.compile(r"_{3,}")


def card_findings(card: Document, faulty: Collection[str] = (), own: bool = False) -> list[Finding]:
    """Return every finding about one card; paths start at the card.

    `faulty` are keys that are missing or whose value has the wrong shape: rules that need one of them are left out.
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
    for lang in LANGS:
        asked = [number if isinstance(entry, str) else entry["ask"][lang] for number, entry in enumerate(entries)]
        yield from _repeated(asked, ("follow_ups",))
    for number, target in enumerate(ids):
        if target == card.get("id"):
            yield Finding(("follow_ups", number), _("the card is its own follow-up; remove it from follow_ups"))


def _must_know(card: Document) -> Iterator[Finding]:
    if card.get("must_know") and bool(card.get("formula")) == bool(card.get("fact")):
        message = _("a must_know card has either formula, one line of LaTeX, or fact, one sentence; give one of them")
        yield Finding(("must_know",), message)


def _repeated(values: Iterable[Any], way: Way) -> Iterator[Finding]:
    seen = set()
    for number, value in enumerate(values):
        if value in seen:
            yield Finding((*way, number), _("{value} is listed twice; remove one of the two", value=shown(value, 40)))
        seen.add(value)


def _choice(card: Document) -> Iterator[Finding]:
    options = card["options"]
    right = [option for option in options if option.get("correct")]
    if not right:
        yield Finding(("options",), _("no option is correct; mark at least one with correct: true"), at_key=True)
    if len(right) == len(options):
        yield Finding(("options",), _("every option is correct; add a wrong one with why_not"), at_key=True)
    for number, option in enumerate(options):
        way: Way = ("options", number)
        if option.get("correct") and option.get("errata"):
            yield Finding((*way, "errata"), _("a correct option cannot have errata; remove errata or correct: true"))
    for lang in LANGS:
        texts = [option["text"][lang].strip() for option in options]
        for found in _repeated(texts, ("options",)):
            yield Finding((*found.path, "text", lang), _("two options are the same; change one of them"))


def _reasons(card: Document) -> Iterator[Finding]:
    has_right = any(option.get("correct") for option in card["options"])
    for number, option in enumerate(card["options"]):
        if has_right and not option.get("correct") and not option.get("why_not"):
            yield Finding(("options", number), _("a wrong option needs a reason; add why_not: {en: …, zh: …}"))


def _blank_counts(card: Document) -> Iterator[Finding]:
    expected = len(card["blanks"])
    for lang in LANGS:
        text = card["question"][lang]
        count = len(_BLANK.findall(text))
        if count != expected or count != len(_UNDERSCORES.findall(text)):
            message = _(
                "the question has {count} blanks, but blanks has {expected} entries; write each blank as {blank}",
                count=count,
                expected=expected,
                blank=BLANK,
            )
            yield Finding(("question", lang), message)


def _blanks(card: Document) -> Iterator[Finding]:
    for number, blank in enumerate(card["blanks"]):
        way: Way = ("blanks", number)
        variables = blank.get("variables") or []
        if blank.get("form", "text") == "text":
            if variables:
                message = _("only form: algebra has variables; add it or remove them")
                yield Finding((*way, "variables"), message, at_key=True)
            continue
        try:
            algebra_equal(blank["answer"], blank["answer"], variables)
        except ComputeError as error:
            yield Finding((*way, "answer"), error.message)


def _items(card: Document) -> Iterator[Finding]:
    for found in _repeated([item["key"] for item in card["items"]], ("items",)):
        yield Finding((*found.path, "key"), found.message)


def _order_keys(card: Document) -> Iterator[Finding]:
    keys = [item["key"] for item in card["items"]]
    for number, pair in enumerate(card["before"]):
        for side, key in enumerate(pair):
            if key not in keys:
                guess = did_you_mean(key, keys, one_of(keys))
                message = _("no item has the key {key}; {guess}", key=shown(key, 40), guess=guess)
                yield Finding(("before", number, side), message)


def _order(card: Document) -> Iterator[Finding]:
    if cycle := _cycle(card["before"]):
        message = _("the order is circular ({keys}); remove one pair", keys=" → ".join(cycle))
        yield Finding(("before",), message, at_key=True)


def _cycle(pairs: Iterable[Iterable[str]]) -> list[str]:
    """Return the keys of one cycle, the first key repeated at the end; empty if there is none."""
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
        message = _("the code has {count} lines; use at most {most}", count=count, most=MAX_CODE_LINES)
        yield Finding(("code",), message)
    # A fragment, the inside of a function or class, counts as Python too.
    fragment = "def fragment():\n" + "".join(f"    {line}\n" for line in card["code"].split("\n"))
    if (fault := python_fault(card["code"])) and python_fault(fragment):
        yield Finding(("code",), _("the code is not valid Python ({reason}); correct it", reason=fault))


def _failing_lines(card: Document) -> Iterator[Finding]:
    lines = _lines_of(card["code"])
    yield from _repeated(card["lines"], ("lines",))
    for number, line in enumerate(card["lines"]):
        if line > len(lines):
            message = ngettext(
                "there is no line {line}: the code has {count} line",
                "there is no line {line}: the code has {count} lines",
                len(lines),
                line=line,
            )
            yield Finding(("lines", number), message)
        elif not lines[line - 1].strip():
            yield Finding(("lines", number), _("line {line} of the code is empty; name the failing line", line=line))


def _lines_of(code: str) -> list[str]:
    return code.rstrip("\n").split("\n")


# Numeric cards


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def choices_of(values: Any) -> list[list[Any]]:
    """Return the choices of one parameter as [label, value] pairs."""
    if isinstance(values, dict):
        return [[label, value] for label, value in values.items()]
    return [[f"{value}", value] for value in values]


def _parameters(card: Document) -> Iterator[Finding]:
    for name, values in (card.get("parameters") or {}).items():
        way: Way = ("parameters", name)
        if not isinstance(values, dict | list) or not values:
            message = _(
                'parameter "{name}" has no values; write a list such as [24, 32] or {{bf16: 2, fp8: 1}}', name=name
            )
            yield Finding(way, message)
            continue
        if name in FUNCTIONS or name == "pi":
            yield Finding(way, _('parameter "{name}" has the name of a function; rename it', name=name), at_key=True)
        entries = values.items() if isinstance(values, dict) else enumerate(values)
        for step, value in entries:
            if not _is_number(value):
                message = _(
                    'a value of "{name}" must be a number, found {value}; correct it', name=name, value=shown(value, 30)
                )
                yield Finding((*way, step), message)


def _placeholders(card: Document) -> Iterator[Finding]:
    names = list(card.get("parameters") or ())
    for lang in LANGS:
        way: Way = ("question", lang)
        found = [name.strip() for name in _PLACEHOLDER.findall(card["question"][lang])]
        unshown = [name for name in names if name not in found]
        for name in dict.fromkeys(name for name in found if name not in names):
            meant = nearest(name, unshown)
            unshown = [other for other in unshown if other != meant]
            guess = did_you_mean(name, [meant] if meant else [], _("add it to parameters or remove it"))
            yield Finding(way, _("{{{{{name}}}}} is not a parameter; {guess}", name=name[:40], guess=guess))
        for name in unshown:
            message = _(
                'the question does not show parameter "{name}"; write {{{{{name}}}}} where it belongs', name=name
            )
            yield Finding(way, message)


def _stray_placeholders(card: Document) -> Iterator[Finding]:
    """Find placeholders outside the question, where nothing fills them."""
    names = set(card.get("parameters") or ())
    for way, text in localised({key: value for key, value in card.items() if key != "question"}):
        for lang in LANGS:
            for name in dict.fromkeys(name.strip() for name in _PLACEHOLDER.findall(text[lang])):
                if name in names:
                    message = _(
                        "{{{{{name}}}}} is filled in only in the question; remove it here or write a number", name=name
                    )
                    yield Finding((*way, lang), message)


def _tolerance(card: Document) -> Iterator[Finding]:
    tolerance = card["tolerance"]
    if not (isinstance(tolerance, str) or _is_number(tolerance)) or not _TOLERANCE.match(str(tolerance).strip()):
        message = _("tolerance {value} cannot be read; write 2% or 0.5", value=shown(tolerance, 30))
        yield Finding(("tolerance",), message)


def _compute(card: Document) -> Iterator[Finding]:
    if any(_parameters(card)):
        return
    way: Way = ("compute",)
    try:
        formula = _formula(card["compute"])
        compute = compile_expression(formula)
        unused = (card.get("parameters") or {}).keys() - names_in(formula)
        for values in combinations(card):
            _positive(compute(values), values)
    except ComputeError as error:
        yield Finding(way, error.message)
        return
    for name in sorted(unused):
        message = _('compute does not use parameter "{name}"; use it or remove it', name=name)
        yield Finding(("parameters", name), message, at_key=True)
    try:
        _answer(card, 1)
    except ComputeError as error:
        yield Finding(("compute_unit",) if "compute_unit" in card else ("unit",), error.message)


def _positive(result: Number, values: Mapping[str, Number]) -> None:
    if 0 < result <= LARGEST:
        return
    answer = quoted(f"{result:g}") if abs(result) <= LARGEST else _("more than {most:g}", most=LARGEST)
    raise ComputeError(
        _(
            "the answer must be positive, found {answer}{values}; change the formula or the values",
            answer=answer,
            values=_values_text(values),
        )
    )


def _slips(card: Document) -> Iterator[Finding]:
    """Check that each slip computes, and that no draw makes it equal to the answer or to another slip."""
    if not card.get("slips") or any(_compute(card)) or any(_tolerance(card)):
        return
    formulas: list[Compute] = [compile_expression(str(card["compute"]))]
    for number, slip in enumerate(card["slips"]):
        try:
            formulas.append(_slip_formula(card, slip["compute"]))
        except ComputeError as error:
            yield Finding(("slips", number, "compute"), error.message)
            return
    reported: set[tuple[int, int]] = set()
    for values in combinations(card, MAX_SLIP_COMBINATIONS):
        answers = [_answer(card, formula(values)) for formula in formulas]
        for one, other in itertools.combinations(range(len(answers)), 2):
            if (one, other) not in reported and _alike(card, answers[one], answers[other]):
                reported.add((one, other))
                yield Finding(("slips", other - 1, "compute"), _alike_message(answers, one, other, values))


def _slip_formula(card: Document, formula: object) -> Compute:
    compute = compile_expression(_formula(formula))
    for values in combinations(card, MAX_SLIP_COMBINATIONS):
        if not abs(result := compute(values)) <= LARGEST:
            raise ComputeError(
                _("the slip gives {result:g}{values}; use smaller numbers", result=result, values=_values_text(values))
            )
    return compute


def _answer(card: Document, value: Number) -> Number:
    return convert(value, card.get("compute_unit") or card["unit"], card["unit"])


def _alike(card: Document, one: Number, other: Number) -> bool:
    tolerance = str(card["tolerance"])
    return is_within(other, one, tolerance) or is_within(one, other, tolerance)


def _alike_message(answers: list[Number], one: int, other: int, values: Mapping[str, Number]) -> Localised:
    given, right, where = answers[other], answers[one], _values_text(values)
    if one:
        return _(
            "the slip gives {given:.6g}{values}, within the tolerance of slip {number} ({other:.6g}); "
            "change the slip, the values or the tolerance",
            given=given,
            values=where,
            number=one,
            other=right,
        )
    return _(
        "the slip gives {given:.6g}{values}, within the tolerance of the right answer {answer:.6g}; "
        "change the slip, the values or the tolerance",
        given=given,
        values=where,
        answer=right,
    )


def _values_text(values: Mapping[str, Number]) -> Localised:
    """Return ` for a = 1, b = 2`, or nothing if there are no parameters."""
    listed = ", ".join(f"{name} = {value}" for name, value in values.items())
    return _(" for {values}", values=listed) if values else NOTHING


def combinations(card: Document, limit: int = MAX_COMBINATIONS) -> Iterator[dict[str, Number]]:
    """Yield every combination of a numeric card's values; a fixed sample if there are more than `limit`."""
    parameters = card.get("parameters") or {}
    values = [[value for _unused, value in choices_of(choices)] for choices in parameters.values()]
    if math.prod(len(choice) for choice in values) <= limit:
        for row in itertools.product(*values):
            yield dict(zip(parameters, row, strict=True))
        return
    draw = random.Random(0)
    yield dict(zip(parameters, map(min, values), strict=True))
    yield dict(zip(parameters, map(max, values), strict=True))
    for _round in range(limit):
        yield {name: draw.choice(choice) for name, choice in zip(parameters, values, strict=True)}


_COMMON: tuple[Rule, ...] = (
    (("follow_ups",), _follow_ups),
    (("must_know", "formula", "fact"), _must_know),
    (("tags",), lambda card: _repeated(card.get("tags") or (), ("tags",))),
    (("formerly",), lambda card: _repeated(card.get("formerly") or (), ("formerly",))),
)
_NOT_OF_OWN: tuple[Rule, ...] = ((("options",), _reasons),)
_BY_KIND: dict[str, tuple[Rule, ...]] = {
    "choice": ((("options",), _choice), *_NOT_OF_OWN),
    "numeric": (
        (("parameters",), _parameters),
        (("parameters", "question"), _placeholders),
        (("parameters", "explain"), _stray_placeholders),
        (("tolerance",), _tolerance),
        (("parameters", "compute", "unit", "compute_unit"), _compute),
        (("parameters", "compute", "unit", "compute_unit", "tolerance", "slips"), _slips),
    ),
    "cloze": ((("question", "blanks"), _blank_counts), (("blanks",), _blanks)),
    "ordering": ((("items",), _items), (("items", "before"), _order_keys), (("before",), _order)),
    "debug": ((("code",), _code), (("code", "lines"), _failing_lines)),
}


# Numbers and dates in texts

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SIGNS = str.maketrans({"−": "-", "\u202f": None, "\u2009": None})
_OPERATORS = str.maketrans({"^": "**", "×": "*", "·": "*"})
_NUMBER = re.compile(
    r"(?P<mantissa>[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(?P<decimals>\d+))?)"
    r"(?:\s*(?:×|·|\*|\\times|\\cdot)\s*10(?:\^|\*\*)?\{?(?P<power>[-+]?\d+|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)\}?|[eE](?P<exponent>[-+]?\d+))?"
    r"[\s-]*(?P<suffix>[A-Za-zµ%‰]+|万亿|百万|十亿|[万亿千])?"
)
_WORDS: dict[str, tuple[Number, ...]] = {
    "k": (10**3, 2**10),
    "K": (10**3, 2**10),
    "M": (10**6, 2**20),
    "G": (10**9, 2**30),
    "T": (10**12,),
    "B": (10**9,),
    "thousand": (10**3,),
    "million": (10**6,),
    "billion": (10**9,),
    "trillion": (10**12,),
    "bn": (10**9,),
    "‰": (0.001,),
    "千": (10**3,),
    "百万": (10**6,),
    "十亿": (10**9,),
}


def number_findings(card: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that each entry of `numbers` occurs in the text of both languages and equals its formula's result."""
    for number, entry in enumerate(card.get("numbers") or ()):
        way: Way = ("numbers", number)
        english, chinese = entry["says"], entry.get("says_zh") or entry["says"]
        if not _occurs(card, "en", english):
            message = _("{text} is not in the English text; correct one of the two", text=shown(english, 40))
            yield Finding((*way, "says"), message)
        if not _occurs(card, "zh", chinese):
            message = _(
                "{text} is not in the Chinese text; add it there, or give its Chinese form as says_zh",
                text=shown(chinese, 40),
            )
            yield Finding((*way, "says_zh"), message)
        try:
            computed = _comparable(evaluate(_formula(entry["compute"]), {}))
        except ComputeError as error:
            yield Finding((*way, "compute"), error.message)
            continue
        yield from _disagreements(way, entry, computed)


def _formula(compute: object) -> str:
    if isinstance(compute, str) or _is_number(compute):
        return str(compute)
    raise ComputeError(_('"compute" must be a formula; write it as text'))


def _comparable(computed: Number) -> Number:
    if abs(computed) > LARGEST:
        raise ComputeError(_("the formula gives more than {most:g}; use smaller numbers", most=LARGEST))
    return computed


def _disagreements(way: Way, entry: Mapping[str, Any], computed: Number) -> Iterator[Finding]:
    magnitudes: list[tuple[Number, Number]] = [(computed, 0)]
    for key in ("says", "says_zh"):
        written = entry.get(key)
        if not written:
            continue
        readings = list(readings_of(written))
        if not any(reading.fits(value, slack) for reading in readings for value, slack in magnitudes):
            yield Finding((*way, key), _disagreement(written, entry["compute"], computed, bool(readings)))
            return
        magnitudes = [pair for reading in readings if reading.fits(computed) for pair in reading.magnitudes(computed)]


def _disagreement(written: str, formula: object, computed: Number, has_number: bool) -> Localised:
    if not has_number:
        return _("{text} has no number to compare with its formula; write digits", text=shown(written, 40))
    exact = f"{computed:,}" if isinstance(computed, int) else f"{computed:.10g}"
    return _(
        "the text says {text}, but {formula} gives {exact}; correct one of the two",
        text=shown(written, 40),
        formula=shown(formula)[1:-1],
        exact=exact,
    )


def _occurs(card: Mapping[str, Any], lang: str, written: str) -> bool:
    searched = "".join(written.split())
    return any(searched in "".join(text[lang].split()) for _unused, text in localised(dict(card)))


@dataclass(frozen=True, slots=True)
class NumberReading:
    """A possible meaning of a written number: `value`, rounded by at most `slack`.

    `scales` are the possible factors of its unit word. A formula may count in millions where the text says "million",
    while the other language writes the whole number.
    """

    value: Number
    slack: Number
    scales: tuple[Number, ...] = (1,)

    def fits(self, computed: Number, slack: Number = 0) -> bool:
        """Return True if this reading equals a computed number within its slack or `slack`, whichever is larger."""
        return abs(computed - self.value) <= max(self.slack, slack) + 1e-12 * abs(self.value)

    def magnitudes(self, computed: Number) -> Iterator[tuple[Number, Number]]:
        """Yield (value, slack) for every scale of a computed number."""
        yield from ((computed * scale, self.slack * scale) for scale in self.scales)


def readings_of(written: str) -> Iterator[NumberReading]:
    """Yield every reading of a written number: plain, in the unit that follows it, or as a small formula."""
    text = written.translate(_SIGNS).replace("{,}", ",").replace("\\%", "%")
    text = re.split("[=≈]", text)[-1]
    if len(text) > MAX_WRITTEN:
        return
    if found := _NUMBER.search(text):
        scale = _power_of_ten(found["power"] or found["exponent"])
        mantissa = float(found["mantissa"].replace(",", "")) * scale
        half = 0.5 * scale * 10.0 ** -len(found["decimals"] or "") * (1 + 1e-9)
        factors = _factors(found["suffix"] or "")
        yield NumberReading(mantissa, half, (1, *factors))
        yield from (NumberReading(mantissa * factor, half * factor) for factor in factors)
    try:
        yield NumberReading(_comparable(evaluate(text.translate(_OPERATORS), {})), 0)
    except ComputeError:
        return


def _power_of_ten(power: str | None) -> float:
    exponent = int(power.translate(_SUPERSCRIPTS)) if power else 0
    return 10.0**exponent if abs(exponent) <= 300 else 1.0


def _factors(suffix: str) -> tuple[Number, ...]:
    units = tuple(table[suffix] for table in DIMENSIONS.values() if suffix in table)
    return (*_WORDS.get(suffix, ()), *units)


def age_findings(card: Mapping[str, Any], today: date) -> Iterator[Finding]:
    """Note an `as_of` more than a year ago, compared as precisely as it is written: `2025-06` or `2025`."""
    as_of = card.get("as_of") or ""
    year_ago = f"{today.year - 1}{today.isoformat()[4:]}"
    if as_of and as_of < year_ago[: len(as_of)]:
        message = _(
            "{id} is as of {date}, more than a year ago; check it and write the new date", id=card["id"], date=as_of
        )
        yield Finding(("as_of",), message, error=False)
