"""Arithmetic of cards: expressions to compute, units and tolerances of answers, formulas to compare.

Nothing is ever executed. An expression is a bounded walk of its syntax tree: numbers, names, `pi`, `+ - * / // % **`,
parentheses and `FUNCTIONS`. Length, exponents and magnitudes are bounded, so that no expression can hang or fill
memory. A formula that a learner types (`2i/d`, `2·i/d`, `i²`, `√d_k`, `\\frac{2i}{d}`) goes through a reader of its own
and counts as right if it agrees with the answer at fixed points.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attncli.errors import BankInvalid

Number = int | float

MAX_LENGTH = 500
MAX_NODES = 200
MAX_BITS = 4096
LARGEST = 1e300
"""The most that a card may compute: beyond it, converting units could overflow."""
_MAX_COMB = 1000
_ALPHABET = re.compile(r"[A-Za-z0-9_\s.,+*/%()-]*")


class ComputeError(BankInvalid):
    """An expression that cannot be computed: unknown names, forbidden syntax, no finite result."""


def _comb(n: Number, k: Number) -> int:
    if not (isinstance(n, int) and isinstance(k, int)):
        raise ComputeError("comb needs whole numbers; wrap them in round(...)")
    if max(abs(n), abs(k)) > _MAX_COMB:
        raise ComputeError(f"comb of more than {_MAX_COMB} is too large; use smaller numbers")
    return math.comb(n, k)


def _round(x: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > 30:
        raise ComputeError("round takes a number of digits up to 30")
    return round(x, digits) if digits else round(x)


_ANY = 99
FUNCTIONS: dict[str, tuple[Callable[..., Number], int, int]] = {
    "min": (min, 2, _ANY),
    "max": (max, 2, _ANY),
    "sqrt": (math.sqrt, 1, 1),
    "log": (math.log, 1, 1),
    "log2": (math.log2, 1, 1),
    "exp": (math.exp, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "floor": (math.floor, 1, 1),
    "round": (_round, 1, 2),
    "abs": (abs, 1, 1),
    "comb": (_comb, 2, 2),
    "sin": (math.sin, 1, 1),
    "cos": (math.cos, 1, 1),
}
CONSTANTS: dict[str, Number] = {"pi": math.pi}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate(expression: str, values: Mapping[str, Number]) -> Number:
    """Return the value of an arithmetic expression, a finite number.

    Raises:
        ComputeError: it does not parse, uses anything unknown, is too large, or has no finite value.
    """
    return compile_expression(expression)(values)


def compile_expression(expression: str) -> Callable[[Mapping[str, Number]], Number]:
    """Parse an expression once, to compute it for many sets of values.

    Raises:
        ComputeError: it does not parse or is too long. The returned function raises for all else.
    """
    tree = _parse(expression)

    def compute(values: Mapping[str, Number]) -> Number:
        try:
            return _bounded(_walk(tree, values))
        except ZeroDivisionError:
            raise ComputeError(f"{_short(expression)} divides by zero; change the formula or its values") from None
        except (OverflowError, ValueError) as error:
            raise ComputeError(
                f"{_short(expression)} has no value ({error}); change the formula or its values"
            ) from None

    return compute


def names_in(expression: str) -> frozenset[str]:
    """Return the parameter names that an expression uses (no functions, no constants).

    Raises:
        ComputeError: it does not parse.
    """
    tree = _parse(expression)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    return frozenset(names - CONSTANTS.keys())


def _short(expression: str) -> str:
    text = " ".join(expression.split())
    return f'"{text}"' if len(text) <= 60 else f'"{text[:59]}…"'


def _parse(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ComputeError(f"the formula is longer than {MAX_LENGTH} characters; shorten it")
    if not _ALPHABET.fullmatch(expression):
        raise ComputeError(f"{_short(expression)} is no arithmetic; use numbers, names, + - * / // % ** ( )")
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ComputeError(f"{_short(expression)} is no arithmetic; use numbers, names, + - * / // % ** ( )") from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise ComputeError(f"the formula has more than {MAX_NODES} parts; shorten it")
    return tree


def _walk(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name):
            return _named(name, values)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_walk(left, values), _walk(right, values))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_walk(left, values), _walk(right, values)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_walk(operand, values)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _walk(operand, values)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _call(name, [_walk(argument, values) for argument in arguments])
    raise ComputeError(
        f"{_short(ast.unparse(node))} is not allowed in a formula; use numbers, names, + - * / // % ** ( )"
    )


def _named(name: str, values: Mapping[str, Number]) -> Number:
    if name in values:
        return _bounded(values[name])
    if name in CONSTANTS:
        return CONSTANTS[name]
    known = ", ".join(values) or "none"
    raise ComputeError(f'the formula uses "{name}", which is not among the parameters ({known}); name it there')


def _call(name: str, arguments: list[Number]) -> Number:
    if name not in FUNCTIONS:
        raise ComputeError(f'function "{name}" is not known; use one of {", ".join(FUNCTIONS)}')
    function, least, most = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        raise ComputeError(f'function "{name}" takes {least} argument{"s" if least > 1 else ""}, got {len(arguments)}')
    return _bounded(function(*arguments))


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, int) and isinstance(exponent, int):
        if exponent < 0:
            return _bounded(float(base) ** exponent)
        if abs(base) > 1 and math.log2(abs(base)) * exponent > MAX_BITS:
            raise ComputeError(f"a power needs more than {MAX_BITS} bits; use smaller numbers")
        return int(base**exponent)
    return _bounded(base**exponent)


def _bounded(number: Any) -> Number:
    if isinstance(number, int) and not isinstance(number, bool):
        if number.bit_length() > MAX_BITS:
            raise ComputeError(f"a number needs more than {MAX_BITS} bits; use smaller numbers")
        return number
    if isinstance(number, float) and math.isfinite(number):
        return number
    raise ComputeError("the formula has no finite real value; change it or its values")


# Units and tolerances of answers

_BYTES: dict[str, Number] = {"bit": 0.125, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_PLAIN: dict[str, Number] = {"": 1, "%": 0.01, "K": 10**3, "M": 10**6, "billion": 10**9, "trillion": 10**12}
_PLAIN |= {"万": 10**4, "亿": 10**8, "万亿": 10**12}
_SECONDS: dict[str, Number] = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
_SECONDS |= {"hours": 3600, "day": 86400, "days": 86400, "years": 365 * 86400}
_FLOPS: dict[str, Number] = {"FLOP": 1, "KFLOP": 10**3, "MFLOP": 10**6, "GFLOP": 10**9, "TFLOP": 10**12}
_FLOPS |= {"PFLOP": 10**15, "EFLOP": 10**18}

DIMENSIONS: dict[str, dict[str, Number]] = {"bytes": _BYTES, "plain": _PLAIN, "time": _SECONDS, "operations": _FLOPS}
KNOWN_UNITS: tuple[str, ...] = tuple(unit for table in DIMENSIONS.values() for unit in table if unit)
_ROUNDING = 1e-9


def convert(value: Number, from_unit: str, to_unit: str) -> Number:
    """Convert a value to another unit of the same dimension; rates such as `GB/s` part by part.

    A unit that is not in the table (`tokens`) converts only to itself.

    Raises:
        ComputeError: an unknown unit, or two that measure different things.
    """
    if from_unit == to_unit:
        return value
    if from_unit.count("/") == 1 and to_unit.count("/") == 1:
        (from_top, from_below), (to_top, to_below) = from_unit.split("/"), to_unit.split("/")
        return convert(value, from_top, to_top) / convert(1, from_below, to_below)
    from_dimension, from_factor = _factor(from_unit)
    to_dimension, to_factor = _factor(to_unit)
    if from_dimension != to_dimension:
        raise ComputeError(
            f'"{from_unit}" measures {from_dimension} and "{to_unit}" {to_dimension}; use units of one dimension'
        )
    return value * from_factor / to_factor


def _factor(unit: str) -> tuple[str, Number]:
    for dimension, table in DIMENSIONS.items():
        if unit in table:
            return dimension, table[unit]
    raise ComputeError(f"unit \"{unit}\" is not known; use one of {', '.join(KNOWN_UNITS)}, or unit: ''")


def is_within(value: float, right: float, tolerance: str) -> bool:
    """Return True if `value` counts as `right`; `tolerance` is relative (`2%`) or absolute (`0.5`)."""
    rounding = abs(right) * _ROUNDING
    allowed = tolerance.strip()
    if allowed.endswith("%"):
        return abs(value - right) <= abs(right) * float(allowed[:-1]) / 100 + rounding
    return abs(value - right) <= float(allowed) + rounding


# Formulas to compare

LONGEST_FORMULA = 300
MAX_DEPTH = 40
_POINTS = 24
_LEAST_VALUES = 3
_RELATIVE = 1e-9

Point = Mapping[str, float]
Formula = Callable[[Point], float]

FORMULA_FUNCTIONS: dict[str, Callable[[float], float]] = {
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
FORMULA_CONSTANTS = {"pi": math.pi, "e": math.e}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_STARTS_FACTOR = re.compile(r"[\w.@(\[{]")


def algebra_equal(expected: str, given: str, variables: Sequence[str]) -> bool:
    """Return True if `given` equals `expected` for all (positive) values of the variables; unreadable `given` does not.

    A product written without a sign is tried both ways in `1/2d`: as `(1/2)·d` and as `1/(2d)`.

    Raises:
        ComputeError: `expected` cannot be read, or has no value anywhere.
    """
    points = _points(variables)
    formula = read_formula(expected, variables)
    expected_values = [_value(formula, point) for point in points]
    if sum(value is not None for value in expected_values) < _LEAST_VALUES:
        raise ComputeError(f'"{expected[:60]}" has no value for positive variables; correct the answer')
    for tight in (False, True):
        try:
            formula = read_formula(given, variables, tight=tight)
        except ComputeError:
            return False
        if all(_agrees(formula, point, value) for point, value in zip(points, expected_values, strict=True)):
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


def _value(formula: Formula, point: Point) -> float | None:
    try:
        value = formula(point)
    except (ArithmeticError, ValueError):
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _agrees(formula: Formula, point: Point, expected: float | None) -> bool:
    """Return True if a formula gives the expected value at a point; any will do where none is expected."""
    if expected is None:
        return True
    actual = _value(formula, point)
    return actual is not None and math.isclose(expected, actual, rel_tol=_RELATIVE, abs_tol=1e-300)


def read_formula(text: str, variables: Sequence[str], *, tight: bool = False) -> Formula:
    """Read a formula as a function of a point; `tight` lets a product without a sign bind before `/`.

    Raises:
        ComputeError: it cannot be read; the message says where.
    """
    if len(text) > LONGEST_FORMULA:
        raise ComputeError(f"the formula is longer than {LONGEST_FORMULA} characters; shorten it")
    return _Reader(_Tokenizer(variables).tokens(text), text, tight).whole()


class _Reader:
    """Recursive descent over the tokens, each method one rule of the grammar."""

    def __init__(self, tokens: Sequence[str], text: str, tight: bool) -> None:
        self.tokens = tokens
        self.text = text
        self.tight = tight
        self.at = 0
        self.depth = 0

    def whole(self) -> Formula:
        formula = self._nested(self._sum)
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

    def _nested(self, read: Callable[[], Formula]) -> Formula:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._unreadable("(nested too deeply)")
        formula = read()
        self.depth -= 1
        return formula

    def _sum(self) -> Formula:
        formula = self._product()
        while sign := self._take("+", "-"):
            formula = _joined(sign, formula, self._product())
        return formula

    def _product(self) -> Formula:
        factor = self._run if self.tight else self._signed
        formula = factor()
        while True:
            if sign := self._take("*", "/"):
                formula = _joined(sign, formula, factor())
            elif _STARTS_FACTOR.match(self._next):
                formula = _joined("*", formula, self._power())
            else:
                return formula

    def _run(self) -> Formula:
        """Factors without a sign between them."""
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
        while self._take(_RAISED):
            base = _joined("^", base, self._group())
        return _joined("^", base, self._nested(self._signed)) if self._take("^") else base

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
        formula = self._nested(self._sum)
        if not self._take(_CLOSING[opening]):
            raise self._unreadable(f"(a {_CLOSING[opening]} is missing)")
        return formula

    def _group(self) -> Formula:
        if self._next != "{":
            raise self._unreadable(r"(\frac takes {…}{…})")
        self.at += 1
        return self._bracketed("{")

    def _named(self, name: str) -> Formula:
        if name in FORMULA_FUNCTIONS:
            function = FORMULA_FUNCTIONS[name]
            argument = self._nested(self._atom if self._next in _CLOSING else self._power)
            return lambda point: function(argument(point))
        if name in FORMULA_CONSTANTS:
            constant = FORMULA_CONSTANTS[name]
            return lambda point: constant
        variable = name.removeprefix("$")
        return lambda point: point[variable]


def _joined(sign: str, left: Formula, right: Formula) -> Formula:
    operate = _BINARY[sign]
    return lambda point: operate(left(point), right(point))


def _real_power(base: float, exponent: float) -> float:
    if base < 0 and exponent != math.floor(exponent):
        raise ValueError("no real power")
    return math.pow(base, exponent)


_BINARY: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": _real_power,
}


_GREEK_LETTERS = "αβγδεϵζηθκλμνξπρστφϕχψω"
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi phi chi psi omega"
).split()
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿⁱᵗ"
_RAISED = "↑"
"""Stands before a group that was written in superscripts."""
_LETTERS = str.maketrans(
    {
        **dict(zip(_GREEK_LETTERS, _GREEK_NAMES, strict=True)),
        **dict(zip("₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚₛₜₓᵥ", "0123456789aehijklmnopstxv", strict=True)),
        **dict.fromkeys("·×⋅∙", "*"),
        **dict.fromkeys("÷∕", "/"),
        **dict.fromkeys("−–—", "-"),
        **dict(zip("（）", "()", strict=True)),
        "√": " sqrt ",
        "$": " ",
    }
)
_LOWERED = str.maketrans(_SUPERSCRIPTS, "0123456789-+nit")
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:left|right|displaystyle|mathrm|mathit|text|operatorname)(?![A-Za-z])|\\[,;:! ]", " "),
        (r"\\[dt]?frac(?![A-Za-z])", " @ "),
        (r"\\(?:cdot|times)(?![A-Za-z])", " * "),
        (r"\\div(?![A-Za-z])", " / "),
        (r"\*\*", "^"),
        (r"_\s*\{\s*(\w+)\s*\}", r"\1"),
        (r"(?<=\w)_(?=\w)", ""),
        (r"\\(?=[A-Za-z])", " "),
    )
)
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(
    r"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+(?!\w))?|\.\d+)|(?P<word>[A-Za-z]\w*)|(?P<sign>[-+*/^@↑()\[\]{}])|\s+"
)


class _Tokenizer:
    """Splits formulas in the given variables into tokens, whatever their spelling: LaTeX, Unicode or ASCII."""

    def __init__(self, variables: Sequence[str]) -> None:
        spellings = {name: name for name in (*FORMULA_FUNCTIONS, *FORMULA_CONSTANTS)}
        for variable in variables:
            for spelling in _greek_spellings(_plain(variable)):
                spellings.setdefault(spelling, f"${variable}")
        spellings |= {_plain(variable): f"${variable}" for variable in variables}
        self._meaning = spellings
        self._longest_first = sorted(spellings, key=len, reverse=True)

    def tokens(self, text: str) -> list[str]:
        """Return numbers, signs, and each name behind `name:`; a variable is `name:$…`.

        Raises:
            ComputeError: an unknown character or name.
        """
        plain = _plain(text)
        tokens: list[str] = []
        at = 0
        while at < len(plain):
            found = _TOKEN.match(plain, at)
            if found is None:
                raise ComputeError(f'"{text[:60]}" cannot be read at {plain[at]}; write a formula such as 2*i/d')
            if word := found["word"]:
                tokens += self._names(word)
            elif not found.group().isspace():
                tokens.append(found.group())
            at = found.end()
        return tokens

    def _names(self, word: str) -> list[str]:
        """Split letters and digits into known names, longest first: `id` is i times d."""
        tokens = []
        at = 0
        while at < len(word):
            name = next((name for name in self._longest_first if word.startswith(name, at)), None)
            if name is not None:
                tokens.append(f"name:{self._meaning[name]}")
                at += len(name)
            elif found := _DIGITS.match(word, at):
                tokens.append(found.group())
                at = found.end()
            else:
                known = sorted({meaning[1:] for meaning in self._meaning.values() if meaning[0] == "$"})
                names = ", ".join(known) or "none"
                raise ComputeError(f'"{word[:40]}" is not a name of this formula; its variables are {names}')
        return tokens


def _plain(text: str) -> str:
    text = re.sub(f"[{_SUPERSCRIPTS}]+", lambda run: f"{_RAISED}{{{run[0].translate(_LOWERED)}}}", text)
    text = text.translate(_LETTERS)
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    return text


def _greek_spellings(name: str) -> list[str]:
    """`b1` may be typed β1 or beta1, and `beta1` b1."""
    found = []
    for greek in _GREEK_NAMES:
        if name.startswith(greek):
            found.append(greek[0] + name.removeprefix(greek))
        elif name[:1] == greek[0] and not any(name.startswith(other) for other in _GREEK_NAMES):
            found.append(greek + name[1:])
    return found
