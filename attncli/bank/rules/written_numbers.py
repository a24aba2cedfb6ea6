"""Numbers that a text writes, compared with what its formula computes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attncli.bank.problems import Finding, Way, shown
from attncli.bank.reading.card_texts import localised
from attncli.domain.arithmetic import LARGEST, ComputeError, Number, evaluate
from attncli.domain.units import DIMENSIONS

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
MAX_WRITTEN = 60
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
    """Every entry of `numbers`: it stands in the text of both languages, and it is what its formula gives."""
    for number, entry in enumerate(card.get("numbers") or ()):
        way: Way = ("numbers", number)
        english, chinese = entry["says"], entry.get("says_zh") or entry["says"]
        if not _occurs(card, "en", english):
            yield Finding((*way, "says"), f"{shown(english, 40)} is not in the English text; correct one of the two")
        if not _occurs(card, "zh", chinese):
            said = f"{shown(chinese, 40)} is not in the Chinese text"
            yield Finding((*way, "says_zh"), f"{said}; write it there, or give its Chinese form as says_zh")
        try:
            computed = _comparable(evaluate(_formula(entry["compute"]), {}))
        except ComputeError as error:
            yield Finding((*way, "compute"), str(error))
            continue
        yield from _disagreements(way, entry, computed)


def _formula(compute: object) -> str:
    if isinstance(compute, str | int | float) and not isinstance(compute, bool):
        return str(compute)
    raise ComputeError('"compute" must be a formula; write it as text')


def _comparable(computed: Number) -> Number:
    if abs(computed) > LARGEST:
        raise ComputeError(f"the formula gives more than {LARGEST:g}; use smaller numbers")
    return computed


def _disagreements(way: Way, entry: Mapping[str, Any], computed: Number) -> Iterator[Finding]:
    meant: list[tuple[Number, Number]] = [(computed, 0)]
    for key in ("says", "says_zh"):
        written = entry.get(key)
        if not written:
            continue
        readings = list(readings_of(written))
        if not any(reading.fits(value, slack) for reading in readings for value, slack in meant):
            yield Finding((*way, key), _told(written, entry["compute"], computed, bool(readings)))
            return
        meant = [pair for reading in readings if reading.fits(computed) for pair in reading.magnitudes(computed)]


def _told(written: str, formula: object, computed: Number, has_number: bool) -> str:
    if not has_number:
        return f"{shown(written, 40)} has no number to compare with its formula; write digits"
    exact = f"{computed:,}" if isinstance(computed, int) else f"{computed:.10g}"
    return f"{shown(written, 40)} is written, but {shown(formula)[1:-1]} gives {exact}; correct one of the two"


def _occurs(card: Mapping[str, Any], lang: str, written: str) -> bool:
    wanted = "".join(written.split())
    return any(wanted in "".join(text[lang].split()) for _, text in localised(dict(card)))


@dataclass(frozen=True, slots=True)
class NumberReading:
    """What a written number may mean: `value`, off by `slack` at most for rounding.

    `scales` are what its word may stand for, relative to how it was read: a formula may count in millions where the
    text says million, and the other language then writes the whole number.
    """

    value: Number
    slack: Number
    scales: tuple[Number, ...] = (1,)

    def fits(self, computed: Number, slack: Number = 0) -> bool:
        """Whether this can stand for a computed number; `slack` is what another reading of it was rounded by."""
        return abs(computed - self.value) <= max(self.slack, slack) + 1e-12 * abs(self.value)

    def magnitudes(self, computed: Number) -> Iterator[tuple[Number, Number]]:
        yield from ((computed * scale, self.slack * scale) for scale in self.scales)


def readings_of(written: str) -> Iterator[NumberReading]:
    """Every way to read a written number: plain, in the unit that follows it, or as a small formula."""
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
