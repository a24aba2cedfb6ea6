"""Arithmetic of cards: evaluate expressions, convert units, apply tolerances, read typed numbers, compare formulas.

Nothing is executed: a bounded walk of the syntax tree evaluates expressions. These have `+ - * / // % **`, numbers,
names, `pi`, parentheses and `FUNCTIONS`. Length, exponents and magnitudes are bounded, so that no expression can hang
or fill memory. A formula that a learner types (`2i/d`, `2·i/d`, `i²`, `√d_k`, `\\frac{2i}{d}`) is rewritten to such an
expression and counts as right if it agrees with the answer at random points.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from attncli.errors import BankInvalid, InvalidInput
from attncli.i18n import _, ngettext, quoted

Number = int | float
Compute = Callable[[Mapping[str, Number]], Number]
Function = tuple[Callable[..., Number], int, int]
"""A function with its minimum and maximum number of arguments."""

MAX_LENGTH = 500
MAX_NODES = 200
MAX_BITS = 4096
LARGEST = 1e300
"""The largest magnitude that a card may compute: beyond it, converting units could overflow."""
_MAX_COMB = 1000
_ALPHABET = re.compile(r"[A-Za-z0-9_\s.,+*/%()-]*")


class ComputeError(BankInvalid):
    """An expression that cannot be computed: unknown names, forbidden syntax, no finite result."""


def _comb(n: Number, k: Number) -> int:
    if not (isinstance(n, int) and isinstance(k, int)):
        raise ComputeError(_("comb needs whole numbers; wrap them in round(...)"))
    if max(abs(n), abs(k)) > _MAX_COMB:
        raise ComputeError(_("comb of more than {max_comb} is too large; use smaller numbers", max_comb=_MAX_COMB))
    return math.comb(n, k)


def _round(x: Number, digits: Number = 0) -> Number:
    if not isinstance(digits, int) or abs(digits) > 30:
        raise ComputeError(_("round takes at most 30 digits"))
    return round(x, digits) if digits else round(x)


def _power(base: Number, exponent: Number) -> Any:
    whole = isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1
    if whole and math.log2(abs(base)) * exponent > MAX_BITS:
        raise ComputeError(_("a power needs more than {max_bits} bits; use smaller numbers", max_bits=MAX_BITS))
    return base**exponent


_ANY = 99
FUNCTIONS: dict[str, Function] = {
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
_OPERATORS: dict[type[ast.operator | ast.unaryop], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def evaluate(expression: str, values: Mapping[str, Number]) -> Number:
    """Return the value of an arithmetic expression, a finite number.

    Raises:
        ComputeError: it does not parse, uses anything unknown, is too large, or has no finite value.
    """
    return compile_expression(expression)(values)


def compile_expression(expression: str, functions: Mapping[str, Function] = FUNCTIONS) -> Compute:
    """Parse an expression once, to compute it for many sets of values.

    Raises:
        ComputeError: it does not parse or is too long. The returned function raises all other errors.
    """
    tree = _parse(expression)

    def compute(values: Mapping[str, Number]) -> Number:
        try:
            return _walk(tree, values, functions)
        except ZeroDivisionError:
            raise ComputeError(
                _("{expression} divides by zero; change the formula or its values", expression=_short(expression))
            ) from None
        except (OverflowError, ValueError) as error:
            raise ComputeError(
                _(
                    "{expression} has no value ({error}); change the formula or its values",
                    expression=_short(expression),
                    error=error,
                )
            ) from None

    return compute


def names_in(expression: str) -> frozenset[str]:
    """Return the parameter names that an expression uses (no functions, no constants).

    Raises:
        ComputeError: it does not parse.
    """
    names = {node.id for node in ast.walk(_parse(expression)) if isinstance(node, ast.Name)}
    return frozenset(names - CONSTANTS.keys() - FUNCTIONS.keys())


def _short(expression: str) -> str:
    text = " ".join(expression.split())
    return f'"{text}"' if len(text) <= 60 else f'"{text[:59]}…"'


def _parse(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ComputeError(_("the formula is longer than {max_length} characters; shorten it", max_length=MAX_LENGTH))
    no_arithmetic = ComputeError(
        _(
            "{expression} is not an arithmetic expression; use numbers, names, + - * / // % ** ( )",
            expression=_short(expression),
        )
    )
    if not _ALPHABET.fullmatch(expression):
        raise no_arithmetic
    try:
        tree = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise no_arithmetic from None
    if sum(1 for _node in ast.walk(tree)) > MAX_NODES:
        raise ComputeError(_("the formula has more than {max_nodes} parts; shorten it", max_nodes=MAX_NODES))
    return tree


def _walk(node: ast.expr, values: Mapping[str, Number], functions: Mapping[str, Function]) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Name(id=name):
            return _bounded(_named(name, values))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            operands = _walk(left, values, functions), _walk(right, values, functions)
            return _bounded(_OPERATORS[type(op)](*operands))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _bounded(_OPERATORS[type(op)](_walk(operand, values, functions)))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _bounded(_call(name, [_walk(each, values, functions) for each in arguments], functions))
    raise ComputeError(
        _("{node} is not allowed in a formula; use numbers, names, + - * / // % ** ( )", node=_short(ast.unparse(node)))
    )


def _named(name: str, values: Mapping[str, Number]) -> Number:
    if name in values:
        return values[name]
    if name in CONSTANTS:
        return CONSTANTS[name]
    if not values:
        raise ComputeError(_('the formula uses "{name}", but there are no parameters; use numbers', name=name))
    known = ", ".join(values)
    raise ComputeError(
        _('the formula uses "{name}", which is not a parameter ({known}); add it there', name=name, known=known)
    )


def _call(name: str, arguments: Sequence[Number], functions: Mapping[str, Function]) -> Number:
    if name not in functions:
        raise ComputeError(_('unknown function "{name}"; use one of {names}', name=name, names=", ".join(functions)))
    function, least, most = functions[name]
    if not least <= len(arguments) <= most:
        raise ComputeError(
            ngettext(
                'function "{name}" takes {count} argument, not {given}',
                'function "{name}" takes {count} arguments, not {given}',
                least,
                name=name,
                given=len(arguments),
            )
        )
    return function(*arguments)


def _bounded(number: Any) -> Number:
    if isinstance(number, int) and not isinstance(number, bool):
        if number.bit_length() > MAX_BITS:
            raise ComputeError(_("a number needs more than {max_bits} bits; use smaller numbers", max_bits=MAX_BITS))
        return number
    if isinstance(number, float) and math.isfinite(number):
        return number
    raise ComputeError(_("the formula has no finite real value; change it or its values"))


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
        ComputeError: a unit is unknown, or the two have different dimensions.
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
            _(
                '"{unit}" and "{other}" measure different things; use units of the same kind',
                unit=from_unit,
                other=to_unit,
            )
        )
    return value * from_factor / to_factor


def _factor(unit: str) -> tuple[str, Number]:
    for dimension, table in DIMENSIONS.items():
        if unit in table:
            return dimension, table[unit]
    raise ComputeError(
        _("unknown unit \"{unit}\"; use one of {names}, or unit: ''", unit=unit, names=", ".join(KNOWN_UNITS))
    )


def is_within(value: float, right: float, tolerance: str) -> bool:
    """Return True if `value` counts as `right`; `tolerance` is relative (`2%`) or absolute (`0.5`)."""
    rounding = abs(right) * _ROUNDING
    allowed = tolerance.strip()
    if allowed.endswith("%"):
        return abs(value - right) <= abs(right) * float(allowed[:-1]) / 100 + rounding
    return abs(value - right) <= float(allowed) + rounding


# Typed numbers

LONGEST_ANSWER = 200
"""The longest number to read, in characters."""
_ANSWER = re.compile(
    r"(?P<value>(?:[\d.+*/^()_\-,\s]|(?<=[\d.])e(?=[+-]?\d))*[\d.)])\s*(?P<unit>[^\d]*)", re.IGNORECASE
)
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(?!\d)")
_SHORT_PLAIN = {"k": "K", "m": "M", "b": "billion", "bn": "billion", "t": "trillion"}


def read_number(text: str, unit: str) -> Number:
    """Parse `text` and convert it to `unit`; a number without a unit is in `unit` already. Raises InvalidInput."""
    plain = unicodedata.normalize("NFKC", text).replace("×", "*").replace("−", "-").strip().lstrip("≈~= ")
    typed = text.strip()[:40]
    match = _ANSWER.fullmatch(plain) if len(plain) <= LONGEST_ANSWER else None
    if not match:
        example = f"48 {unit}" if unit else _("175B")
        message = _(
            "“{typed}” is not a number; enter one, e.g. 1.5, 1.5e3, 3/4 or {example}", typed=typed, example=example
        )
        raise InvalidInput(message, "number", text=typed)
    try:
        value = evaluate(_arithmetic(match["value"]), {})
    except ComputeError as error:
        raise InvalidInput(
            _("cannot read “{typed}”: {message}", typed=typed, message=error.message), "number-unread", text=typed
        ) from None
    given = _unit(match["unit"].strip(), unit)
    try:
        return convert(value, given, unit) if given else value
    except ComputeError:
        given = given[:20]
        if unit:
            message = _("wrong unit “{given}”; answer in {unit}", given=given, unit=unit)
        else:
            message = _("unexpected unit “{given}”; enter a plain number", given=given)
        raise InvalidInput(message, "unit" if unit else "unit-none", given=given, unit=unit) from None


def number_text(value: Number) -> str:
    """Format a number for feedback: whole numbers with digit groups, others with six significant digits."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.6g}"


def _arithmetic(text: str) -> str:
    """Convert common notation to that of `evaluate`; a comma only groups thousands."""
    text = _GROUPED.sub(lambda match: match[0].replace(",", ""), text)
    if "," in text:
        raise ComputeError(_("a comma only separates thousands; use a decimal point"))
    return re.sub(r"(?<![\d.])0+(?=\d)", "", text.replace("^", "**").replace("_", ""))


def _unit(given: str, expected: str) -> str:
    """Return the known unit that `given` names, or "" for none. `B` is a billion of plain numbers, a byte of data."""
    bare = given.removesuffix(".")
    if not bare:
        return ""
    if bare == expected:
        return expected
    if expected in DIMENSIONS["plain"] and bare.lower() in _SHORT_PLAIN:
        return _SHORT_PLAIN[bare.lower()]
    return "/".join(_known(part.strip()) for part in bare.split("/", 1))


def _known(unit: str) -> str:
    if unit in KNOWN_UNITS:
        return unit
    alike = [known for known in KNOWN_UNITS if known.lower() == unit.lower()]
    return alike[0] if alike else unit


# Formulas to compare

_POINTS = 24
_LEAST_VALUES = 3
_FORMULA_FUNCTIONS: dict[str, Function] = {
    **{name: FUNCTIONS[name] for name in ("sqrt", "log", "log2", "exp", "abs", "sin", "cos")},
    "ln": (math.log, 1, 1),
    "log10": (math.log10, 1, 1),
    "tanh": (math.tanh, 1, 1),
    "frac": (operator.truediv, 2, 2),
}
_FORMULA_CONSTANTS = {"pi": math.pi, "e": math.e}
_GREEK = {chr(code): unicodedata.name(chr(code)).split()[-1].lower() for code in range(ord("α"), ord("ω") + 1)}
_GREEK["λ"] = "lambda"  # its Unicode name is LAMDA
_SIGNS = str.maketrans(
    {**_GREEK, **dict.fromkeys("·×⋅∙", "*"), **dict.fromkeys("÷∕", "/"), **dict.fromkeys("−–—", "-")}
    | {"√": " sqrt ", "$": " "}
)
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\(?:left|right|displaystyle|mathrm|mathit|text|operatorname)(?![A-Za-z])|\\[,;:! ]", " "),
        (r"\\[dt]frac(?![A-Za-z])", r"\\frac"),
        (r"\\(?:cdot|times)(?![A-Za-z])", "*"),
        (r"\\div(?![A-Za-z])", "/"),
        (r"\*\*", "^"),
        (r"_\s*\{\s*(\w+)\s*\}", r"\1"),
        (r"(?<=\w)_(?=\w)", ""),
        (r"\\(?=[A-Za-z])", " "),
        (r"\}\s*\{", ","),
        (r"[\[{]", "("),
        (r"[\]}]", ")"),
        (rf"\b({'|'.join(_FORMULA_FUNCTIONS)})\s+(\w+)\s*\^\s*(\w+|\([^()]*\))", r"\1(\2^\3)"),
    )
)


def algebra_equal(expected: str, given: str, variables: Sequence[str]) -> bool:
    """Return True if `given` has the value of `expected` at points drawn from a fixed seed, all variables positive.

    An unreadable `given` is not equal. `1/2d` is read from left to right, as `(1/2)·d`.

    Raises:
        ComputeError: `expected` cannot be read, or has no value.
    """
    rng = Random(0)
    points = [[8 ** rng.uniform(-1, 1) for _ in variables] for _round in range(_POINTS)]
    expected_values = _values(_read_formula(expected, variables), points)
    if sum(value is not None for value in expected_values) < _LEAST_VALUES:
        raise ComputeError(
            _('"{expected}" is undefined for positive variables; correct the answer', expected=expected[:60])
        )
    try:
        given_values = _values(_read_formula(given, variables), points)
    except ComputeError:
        return False
    return all(
        right is None or (value is not None and math.isclose(right, value))
        for right, value in zip(expected_values, given_values, strict=True)
    )


def _values(formula: Compute, points: Sequence[Sequence[float]]) -> list[Number | None]:
    """Return the formula's value at each point, None where it is not finite."""
    values: list[Number | None] = []
    for point in points:
        try:
            values.append(formula({f"v{index}": value for index, value in enumerate(point)}))
        except ComputeError:
            values.append(None)
    return values


def _read_formula(text: str, variables: Sequence[str]) -> Compute:
    """Compile a formula in Unicode, LaTeX or ASCII; its variables become `v0`, `v1` and so on.

    Raises:
        ComputeError: it cannot be read.
    """
    python = _in_python(_plain(text), variables) if len(text) <= MAX_LENGTH else ""
    try:
        return compile_expression(python, _FORMULA_FUNCTIONS)
    except ComputeError:
        raise ComputeError(_('"{text}" is not a formula; write one such as 2*i/d', text=text[:60])) from None


def _plain(text: str) -> str:
    """Return text with ASCII signs and names; `i²` becomes `i↑2↑`."""
    parts = []
    for raised, run in itertools.groupby(text, lambda sign: unicodedata.decomposition(sign).startswith("<super>")):
        part = unicodedata.normalize("NFKC", "".join(run))
        parts.append(f"↑{part}↑" if raised else part)
    plain = "".join(parts).translate(_SIGNS)
    for pattern, replacement in _REWRITES:
        plain = pattern.sub(replacement, plain)
    return plain.strip()


def _in_python(plain: str, variables: Sequence[str]) -> str:
    """Convert a plain formula to Python: insert `*` into products, and brackets after `sqrt`."""
    names = _names_in_python(variables)
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    token = re.compile(
        rf"(?P<number>\d+(?:\.\d+)?(?:[eE][-+]?\d+(?!\w))?|\.\d+)|(?P<name>{known})"
        r"|↑(?P<raised>[^↑]*)↑|(?P<opening>\()|(?P<word>[A-Za-z]\w*)|\S"
    )
    parts: list[str] = []
    for found in token.finditer(plain):
        kind, part = found.lastgroup, found.group()
        last = parts[-1] if parts else ""
        if kind == "word":
            listed = quoted(", ".join(sorted(variables))) if variables else _("none")
            raise ComputeError(
                _('"{part}" is not a name of this formula; its variables are {names}', part=part[:40], names=listed)
            )
        if kind == "raised":
            power = f"{last}**({_in_python(found['raised'], variables)})"
            parts[-1:] = [power if last == ")" else f"({power})"]
        elif kind is None:
            parts.append("**" if part == "^" else part)
        else:
            part = names[part] if kind == "name" else repr(float(part)) if kind == "number" else part
            if last in _FORMULA_FUNCTIONS:
                part = part if kind == "opening" else f"({part})"
            elif last[-1:].isalnum() or last[-1:] == ")":
                parts.append("*")
            parts.append(part)
    return " ".join(parts)


def _names_in_python(variables: Sequence[str]) -> dict[str, str]:
    """Map the names that a formula may use, in each of their spellings, to Python."""
    own = {_plain(variable): f"v{index}" for index, variable in enumerate(variables)}
    constants = {name: repr(value) for name, value in _FORMULA_CONSTANTS.items()}
    greek = {spelling: python for name, python in own.items() for spelling in _greek_spellings(name)}
    return greek | {name: name for name in _FORMULA_FUNCTIONS} | constants | own


def _greek_spellings(name: str) -> list[str]:
    """Return the other spellings of a name: beta1 for b1 and b1 for beta1."""
    for greek in _GREEK.values():
        if name.startswith(greek):
            return [greek[0] + name.removeprefix(greek)]
    return [greek + name[1:] for greek in _GREEK.values() if greek[0] == name[:1]]
