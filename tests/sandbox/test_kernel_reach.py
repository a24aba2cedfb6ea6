"""Let a kernel in the interpreter reach exactly the names that Triton's compiler admits."""

from __future__ import annotations

import inspect
import math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import torch

from attncli.sandbox.kernels import refuse_outsiders

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
JITFunction = pytest.importorskip("triton.runtime.jit").JITFunction
generator = pytest.importorskip("triton.compiler.code_generator")


@triton.jit
def twice(x):
    return x * 2


@triton.constexpr_function
def of_constants(x):
    if x > SCALE:
        raise ValueError("too large")
    return abs(x)


@triton.constexpr_function
def of_lists(x):
    return held[0] + x


def helper(x: Any) -> Any:
    return x


@tl.core.builtin
def of_the_language(x: Any, _semantic: Any = None) -> Any:
    """A language function like `tl.load`, except that the interpreter replaces those before this one is read."""
    return x


held: list[Any] = []
SCALE = 2
Pair = namedtuple("Pair", "first second")
LET_IN: dict[str, Any] = {
    "constant": tl.constexpr(2),
    "none": None,
    "dtype": tl.float32,
    "builtin": of_the_language,
    "standard": tl.softmax,
    "kernel": twice,
    "early": of_constants,
    "host": triton.cdiv,
    "language": tl,
    "math": math,
    "fields": Pair,
    "print": print,
    "min": min,
}
REFUSED: dict[str, Any] = {
    "number": 2,
    "fraction": 0.5,
    "truth": True,
    "text": "a",
    "numbers": (1, 2),
    "held": held,
    "tensor": torch.ones(1),
    "torch_dtype": torch.float32,
    "function": helper,
    "routine": math.sqrt,
    "sum": sum,
}


def of_module(name: str, value: Any) -> Callable[[], Any]:
    """Return a function that reads a name of its module."""
    module: dict[str, Any] = {name: value}
    exec(f"def body():\n    return {name}\n", module)
    return module["body"]  # type: ignore[no-any-return]


def of_cell(value: Any) -> Callable[[], Any]:
    return lambda: value


def compiles(name: str, value: Any) -> bool:
    """Return True if the installed compiler admits a name; interpreted kernels must be compilable."""
    if inspect.isfunction(getattr(value, "fn", None)):
        value = JITFunction(value.fn)
    stands_in = object.__new__(generator.CodeGenerator)
    stands_in.lscope, stands_in.gscope, stands_in.visiting_arg_default_value = {}, {name: value}, False
    try:
        stands_in._define_name_lookup()(name)
    except NameError:
        return False
    return True


@pytest.mark.parametrize("name", LET_IN)
def test_what_the_compiler_lets_in_is_reached(name: str) -> None:
    assert compiles(name, LET_IN[name])
    refuse_outsiders(of_module(name, LET_IN[name]), ())
    refuse_outsiders(of_cell(LET_IN[name]), ())


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_compiler_refuses_is_refused(name: str) -> None:
    assert not compiles(name, REFUSED[name])
    with pytest.raises(NameError, match=f"a kernel cannot reach {name}:"):
        refuse_outsiders(of_module(name, REFUSED[name]), ())
    with pytest.raises(NameError, match="a kernel cannot reach value:"):
        refuse_outsiders(of_cell(REFUSED[name]), ())


def test_a_number_is_refused_with_what_to_write() -> None:
    with pytest.raises(NameError, match=r"write SCALE = tl\.constexpr\(2\)$"):
        refuse_outsiders(of_module("SCALE", 2), ())


def test_python_has_functions_that_no_kernel_may_call() -> None:
    def body() -> float:
        return abs(float("-inf")) + min(1, 2)

    with pytest.raises(NameError, match="cannot reach abs"):
        refuse_outsiders(body, ())


def test_another_value_under_the_name_of_a_function_is_no_function() -> None:
    with pytest.raises(NameError, match="cannot reach min"):
        refuse_outsiders(of_module("min", held), ())


def test_a_kernel_that_a_kernel_calls_is_held_to_the_same() -> None:
    inner = triton.jit(helper)
    inner.fn = of_module("SCALE", 2)
    with pytest.raises(NameError, match="cannot reach SCALE"):
        refuse_outsiders(of_module("inner", inner), ())
    with pytest.raises(NameError, match="cannot reach SCALE"):
        refuse_outsiders(helper, (inner,))


def test_what_the_compiler_calls_itself_has_numbers_and_pythons_functions_and_no_list() -> None:
    refuse_outsiders(of_module("of_constants", of_constants), ())
    with pytest.raises(NameError, match="cannot reach held"):
        refuse_outsiders(of_module("of_lists", of_lists), ())


def test_a_variable_around_a_kernel_that_has_no_value_yet_is_left_to_python() -> None:
    def body() -> Any:
        return late

    refuse_outsiders(body, ())
    with pytest.raises(NameError, match="late"):
        body()
    late = 1


def test_every_kernel_of_tritons_own_library_is_let_in() -> None:
    for value in vars(tl.standard).values():
        if callable(getattr(value, "fn", None)):
            refuse_outsiders(of_module("own", value), ())
