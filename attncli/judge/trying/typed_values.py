"""What a learner types, by a bounded walk of its syntax tree: nothing of it is ever executed."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from attncli.judge.answers.callables import LARGEST_INTEGER
from attncli.judge.trying.typed_tensors import CASTS, FUNCTIONS, MAKERS, MOVES, TensorMaker, TooManyElements, moved
from attncli.judge.trying.untypable import code_of, untypable
from attncli.sandbox.tensor_table import DTYPES

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CONSTANTS = {"inf": math.inf, "nan": math.nan, "pi": math.pi, **DTYPES}
_PLAIN = (bool, int, float, str, bytes, type(None))
# What torch and Python raise at arguments that do not fit.
_FAULTS = (ArithmeticError, AttributeError, IndexError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Result:
    """What an earlier call returns, or a part of it."""

    call: int
    path: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class TypedFunction:
    """A function of torch that is passed on."""

    name: str


@dataclass(frozen=True, slots=True)
class TypedGenerator:
    """A random generator, made from a seed on both sides."""

    seed: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """A dict or list with a name: one object for all calls that are given it, in which changes stay."""

    value: Any


class TypedValues:
    """Evaluates expressions; `call` is asked for calls that are not known here. Raises Untypable."""

    def __init__(self, call: Callable[[ast.Call], Any]) -> None:
        self.names: dict[str, Any] = {}
        self._call = call
        self._tensors = TensorMaker()

    def of(self, node: ast.expr) -> Any:
        """The value of an expression."""
        try:
            return self._value(node)
        except TooManyElements:
            raise untypable("typed-too-large", code=code_of(node)) from None
        except _FAULTS as error:
            raise untypable("typed-unfit", code=code_of(node), error=" ".join(str(error).split())[:200]) from None

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value) if type(value) in _PLAIN:
                return _bounded(value)
            case ast.List(elts=items):
                return [self.of(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.of(item) for item in items)
            case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
                return {self.of(key): self.of(value) for key, value in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
                value = _number(self.of(operand))
                return -value if isinstance(sign, ast.USub) else value
            case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATORS:
                return self._combined(_OPERATORS[type(operation)], self.of(left), self.of(right))
            case ast.Subscript(value=owner, slice=ast.Constant(value=str() | int() as key)):
                return _part(self.of(owner), key)
            case ast.Call():
                return self._made(node)
            case ast.Name() | ast.Attribute():
                return self._named(node)
        raise untypable("typed-not-allowed", code=code_of(node))

    def _combined(self, operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self._tensors.combine(operation, _number(left), _number(right))
        return _bounded(operation(_number(left), _number(right)))

    def _named(self, node: ast.Name | ast.Attribute) -> Any:
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        name = _last(node)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if name in FUNCTIONS:
            return TypedFunction(name)
        raise untypable("typed-unknown", code=code_of(node), made=", ".join(MAKERS))

    def _made(self, node: ast.Call) -> Any:
        name = _last(node.func)
        if name in MAKERS:
            return self._tensors.make(name, *self.arguments(node))
        if name == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return float(node.args[0].value)  # type: ignore[arg-type]
        if name == "Generator" and not node.args:
            return TypedGenerator()
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            method, moves = node.func.attr, (*CASTS, *MOVES)
            if method in moves and isinstance(owner := self.of(node.func.value), Tensor):
                return moved(owner, method, self.arguments(node)[0])
            if method == "manual_seed" and self.of(node.func.value) == TypedGenerator():
                return TypedGenerator(_seed(*self.arguments(node)[0]))
        return self._call(node)

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """The positional and the named arguments of a call."""
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(k.arg is None for k in node.keywords):
            raise untypable("typed-not-allowed", code=code_of(node))
        return [self.of(arg) for arg in node.args], {str(k.arg): self.of(k.value) for k in node.keywords}


def _last(node: ast.expr) -> str:
    """`randn` of `randn` and of `torch.randn`; empty for what is no such name."""
    if isinstance(node, ast.Name):
        return node.id
    is_torch = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in _MODULES
    return node.attr if is_torch and isinstance(node, ast.Attribute) else ""


_MODULES = ("torch", "math")


def _number(value: Any) -> Any:
    if isinstance(value, (int, float, Tensor)):
        return value
    raise TypeError("only numbers and tensors can be computed with")


def _seed(value: Any) -> int:
    if type(value) is int and 0 <= value < 2**32:
        return value
    raise TypeError("a seed is a whole number below 2**32")


def _bounded(value: Any) -> Any:
    if type(value) is int and not -LARGEST_INTEGER <= value < LARGEST_INTEGER:
        raise TypeError("a whole number of more than 64 bits")
    return value


def _part(value: Any, key: Any) -> Any:
    if isinstance(value, Result):
        return Result(value.call, (*value.path, key))
    if isinstance(value, (dict, list, tuple, Tensor)):
        return value[key]
    raise TypeError("only results, lists, dicts and tensors have parts")
