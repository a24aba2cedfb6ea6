"""The constants that answers are off by, named where it is known what they are: 1/√d, log 2, 0.731."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from attncli.judge.truth.tolerance import NEAR

_KNOWN: dict[str, float] = {
    "√2": math.sqrt(2),
    "1/√2": 1 / math.sqrt(2),
    "log 2": math.log(2),
    "1/log 2": 1 / math.log(2),
    "log 10": math.log(10),
    "1/log 10": 1 / math.log(10),
    "π": math.pi,
    "2π": 2 * math.pi,
    "1/π": 1 / math.pi,
    "1/(2π)": 1 / (2 * math.pi),
    "e": math.e,
    "1/e": 1 / math.e,
}
_OF_SIZE: dict[str, Callable[[int], float]] = {
    "√{n}": math.sqrt,
    "1/√{n}": lambda n: 1 / math.sqrt(n),
    "{n}": float,
    "1/{n}": lambda n: 1 / n,
    "{n}²": lambda n: float(n * n),
    "1/{n}²": lambda n: 1 / n**2,
    "{n}/({n} − 1)": lambda n: n / (n - 1) if n > 1 else math.nan,
    "({n} − 1)/{n}": lambda n: (n - 1) / n,
    "√({n}/({n} − 1))": lambda n: math.sqrt(n / (n - 1)) if n > 1 else math.nan,
    "√(({n} − 1)/{n})": lambda n: math.sqrt((n - 1) / n),
}
_LARGEST_DENOMINATOR = 16


def near(first: float, second: float) -> bool:
    """Whether two measurements may be of one constant."""
    return math.isclose(first, second, rel_tol=NEAR)


def named_constant(value: float) -> tuple[str, float]:
    """What a constant is called, and its exact value; one without a name is its first digits."""
    for sign, size in (("", value), ("−", -value)):
        if near(size, round(size)) and round(size) != 0:
            return f"{sign}{round(size)}", float(round(value))
        for below in range(2, _LARGEST_DENOMINATOR + 1):
            if near(size, 1 / below):
                return f"{sign}1/{below}", value / size / below
        for name, known in _KNOWN.items():
            if near(size, known):
                return sign + name, value / size * known
    return f"{value:.5g}".replace("-", "−"), value


def of_a_size(
    measured: Sequence[tuple[float, Mapping[str, int]]],
) -> list[tuple[str, Callable[[Mapping[str, int]], float]]]:
    """Every size-derived constant that explains all measurements: its name, and its value for other sizes."""
    common = set.intersection(*(set(sizes) for _, sizes in measured))
    found = []
    for name in sorted(common):
        for text, function in _OF_SIZE.items():
            if all(near(value, function(sizes[name])) for value, sizes in measured):
                found.append((text.format(n=name), _reading(name, function)))
    return found


def _reading(name: str, function: Callable[[int], float]) -> Callable[[Mapping[str, int]], float]:
    return lambda sizes: function(sizes[name])
