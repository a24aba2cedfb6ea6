r"""Is one formula algebraically the other? Both are evaluated at fixed points; nothing is ever executed.

Formulas are read as people type them: `2i/d`, `2·i/d`, `i^2`, `i²`, `√d_k`, `1 - β1`, `\frac{2i}{d}`, `\sqrt{d_k}`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence

from attncli.domain.arithmetic import ComputeError
from attncli.domain.formula_tokens import RAISED, Words

MAX_LENGTH = 300
MAX_DEPTH = 40
_POINTS = 24
_ENOUGH = 3
_RELATIVE = 1e-9

Point = Mapping[str, float]
Formula = Callable[[Point], float]

FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sqrt": math.sqrt,
    "log10": math.log10,
    "log2": math.log2,
    "log": math.log,
    "ln": math.log,
    "exp": math.exp,
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
    "abs": abs,
}
CONSTANTS = {"pi": math.pi, "e": math.e}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_STARTS_FACTOR = re.compile(r"[\w.@(\[{]")


def algebra_equal(expected: str, given: str, variables: Sequence[str]) -> bool:
    """Whether `given` equals `expected` for all (positive) values of the variables; unreadable `given` does not.

    A product written without a sign is tried both ways in `1/2d`: as `(1/2)·d` and as `1/(2d)`.

    Raises:
        ComputeError: `expected` cannot be read, or has no value anywhere.
    """
    points = list(_points(variables))
    wanted = _values(read_formula(expected, variables), points)
    if sum(value is not None for value in wanted) < _ENOUGH:
        raise ComputeError(f'"{expected[:60]}" has no value for positive variables; correct the answer')
    for tight in (False, True):
        try:
            found = _values(read_formula(given, variables, tight=tight), points)
        except ComputeError:
            return False
        if all(_close(one, other) for one, other in zip(wanted, found, strict=True)):
            return True
    return False


def _points(variables: Sequence[str]) -> list[dict[str, float]]:
    """Fixed points: a third inside (0, 1), a third in (1, 4), a third mixed."""
    points = []
    for number in range(_POINTS):
        point = {}
        for place, name in enumerate(variables):
            fraction = math.modf(0.137 + 0.6180339887 * (number + 1) * (place + 1) + 0.0931 * place)[0]
            small = number % 3 == 0 or (number % 3 == 2 and (number // 3 + place) % 2 == 0)
            point[name] = 0.05 + 0.9 * fraction if small else 1.1 + 2.9 * fraction
        points.append(point)
    return points


def _values(formula: Formula, points: Sequence[Point]) -> list[float | None]:
    return [_value(formula, point) for point in points]


def _value(formula: Formula, point: Point) -> float | None:
    try:
        value = formula(point)
    except (ArithmeticError, ValueError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _close(wanted: float | None, found: float | None) -> bool:
    if wanted is None:
        return True
    return found is not None and math.isclose(wanted, found, rel_tol=_RELATIVE, abs_tol=1e-300)


def read_formula(text: str, variables: Sequence[str], *, tight: bool = False) -> Formula:
    """The formula as a function of a point; `tight` lets a product without a sign bind before `/`.

    Raises:
        ComputeError: it cannot be read; the message says where.
    """
    if len(text) > MAX_LENGTH:
        raise ComputeError(f"the formula is longer than {MAX_LENGTH} characters; shorten it")
    names = {*FUNCTIONS, *CONSTANTS}
    reader = _Reader(Words(variables, names).tokens(text), text, tight)
    return reader.whole()


class _Reader:
    """Recursive descent over the tokens; depth is bounded."""

    def __init__(self, tokens: Sequence[str], text: str, tight: bool) -> None:
        self.tokens = tokens
        self.text = text
        self.tight = tight
        self.at = 0
        self.depth = 0

    def whole(self) -> Formula:
        formula = self._sum()
        if self.at < len(self.tokens):
            raise self._unreadable(f"at {self.tokens[self.at]}")
        return formula

    def _unreadable(self, where: str) -> ComputeError:
        return ComputeError(f'"{self.text[:60]}" cannot be read {where}; write a formula such as 2*i/d')

    @property
    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self, *signs: str) -> str:
        if self._next in signs:
            self.at += 1
            return self.tokens[self.at - 1]
        return ""

    def _sum(self) -> Formula:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._unreadable("(nested too deeply)")
        formula = self._product()
        while sign := self._take("+", "-"):
            formula = _joined(sign, formula, self._product())
        self.depth -= 1
        return formula

    def _product(self) -> Formula:
        formula = self._run() if self.tight else self._signed()
        while True:
            if sign := self._take("*", "/"):
                formula = _joined(sign, formula, self._run() if self.tight else self._signed())
            elif not self.tight and _STARTS_FACTOR.match(self._next):
                formula = _joined("*", formula, self._power())
            else:
                return formula

    def _run(self) -> Formula:
        formula = self._signed()
        while _STARTS_FACTOR.match(self._next):
            formula = _joined("*", formula, self._power())
        return formula

    def _signed(self) -> Formula:
        negative = False
        while sign := self._take("+", "-"):
            negative ^= sign == "-"
        power = self._power()
        return (lambda point: -power(point)) if negative else power

    def _power(self) -> Formula:
        base = self._atom()
        while self._take(RAISED):
            base = _joined("^", base, self._group())
        if not self._take("^"):
            return base
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._unreadable("(nested too deeply)")
        exponent = self._signed()
        self.depth -= 1
        return _joined("^", base, exponent)

    def _atom(self) -> Formula:
        token = self._next
        self.at += 1
        if token in _CLOSING:
            return self._bracketed(token)
        if token == "@":
            return _joined("/", self._group(), self._group())
        if token[:1].isdigit() or token[:1] == ".":
            number = float(token)
            return lambda point: number
        if token.startswith("name:"):
            return self._named(token.removeprefix("name:"))
        raise self._unreadable(f"at {token}" if token else "to its end")

    def _bracketed(self, opening: str) -> Formula:
        formula = self._sum()
        if not self._take(_CLOSING[opening]):
            raise self._unreadable(f"(a {_CLOSING[opening]} is missing)")
        return formula

    def _group(self) -> Formula:
        if self._next != "{":
            raise self._unreadable(r"(\frac takes {…}{…})")
        self.at += 1
        return self._bracketed("{")

    def _named(self, name: str) -> Formula:
        if name in FUNCTIONS:
            function, argument = FUNCTIONS[name], self._argument()
            return lambda point: function(argument(point))
        if name in CONSTANTS:
            constant = CONSTANTS[name]
            return lambda point: constant
        variable = name.removeprefix("$")
        return lambda point: point[variable]

    def _argument(self) -> Formula:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._unreadable("(nested too deeply)")
        argument = self._atom() if self._next in _CLOSING else self._power()
        self.depth -= 1
        return argument


def _joined(sign: str, left: Formula, right: Formula) -> Formula:
    match sign:
        case "+":
            return lambda point: left(point) + right(point)
        case "-":
            return lambda point: left(point) - right(point)
        case "*":
            return lambda point: left(point) * right(point)
        case "/":
            return lambda point: left(point) / right(point)
    return lambda point: _power(left(point), right(point))


def _power(base: float, exponent: float) -> float:
    if base < 0 and exponent != math.floor(exponent):
        raise ValueError("no real power")
    return math.pow(base, exponent)
