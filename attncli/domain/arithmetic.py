"""Arithmetic from a card, computed by a bounded walk of its syntax tree; nothing is ever executed.

Known: numbers, the names that are given, `pi`, `+ - * / // % **`, parentheses and the functions of `FUNCTIONS`.
Length, exponents and magnitudes are bounded, so that no expression can hang or fill memory.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from attncli.errors import BankInvalid

Number = int | float

MAX_LENGTH = 500
MAX_NODES = 200
MAX_BITS = 4096
LARGEST = 1e300
"""What a card may compute at most: beyond, units could not be converted without overflow."""
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
    """The value of an arithmetic expression, a finite number.

    Raises:
        ComputeError: it does not parse, uses anything unknown, is too large, or has no finite value.
    """
    return compile_expression(expression)(values)


def compile_expression(expression: str) -> Callable[[Mapping[str, Number]], Number]:
    """The expression read once, for many sets of values.

    Raises:
        ComputeError: it does not parse or is too long; the function that comes back raises the rest.
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
    """The parameter names that an expression uses (functions and constants left out).

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
