"""Interpret kernels: they reach exactly the names that Triton's compiler admits; quickening changes no result."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import math
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from attncli.sandbox.kernels import quicken, refuse_outsiders

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")
JITFunction = pytest.importorskip("triton.runtime.jit").JITFunction
generator = pytest.importorskip("triton.compiler.code_generator")
interpreter = pytest.importorskip("triton.runtime.interpreter")


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


def test_what_the_compiler_lets_in_is_reached() -> None:
    for name, value in LET_IN.items():
        assert compiles(name, value), name
        refuse_outsiders(of_module(name, value), ())
        refuse_outsiders(of_cell(value), ())
    for value in vars(tl.standard).values():  # Triton's own library
        if callable(getattr(value, "fn", None)):
            refuse_outsiders(of_module("own", value), ())


def test_what_the_compiler_refuses_is_refused() -> None:
    for name, value in REFUSED.items():
        assert not compiles(name, value), name
        with pytest.raises(NameError, match=f"a kernel cannot reach {name}:"):
            refuse_outsiders(of_module(name, value), ())
        with pytest.raises(NameError, match="a kernel cannot reach value:"):
            refuse_outsiders(of_cell(value), ())
    with pytest.raises(NameError, match=r"write SCALE = tl\.constexpr\(2\)$"):
        refuse_outsiders(of_module("SCALE", 2), ())
    with pytest.raises(NameError, match="cannot reach min"):
        refuse_outsiders(of_module("min", held), ())
    with pytest.raises(NameError, match="cannot reach abs"):
        refuse_outsiders(lambda: abs(float("-inf")) + min(1, 2), ())


def test_a_kernel_that_a_kernel_calls_is_held_to_the_same() -> None:
    inner = triton.jit(helper)
    inner.fn = of_module("SCALE", 2)
    for body, arguments in ((of_module("inner", inner), ()), (helper, (inner,))):
        with pytest.raises(NameError, match="cannot reach SCALE"):
            refuse_outsiders(body, arguments)
    # What the compiler calls itself has numbers and Python's functions, and no list.
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


SCALARS = [value for value in vars(tl).values() if isinstance(value, tl.dtype) and value.name != "void"]
NAMES = ("_get_np_dtype", "_patch_builtin", "interpreter_builder")


class Language:
    """A fake of Triton's modules: functions that the interpreter replaces, and others."""

    load, store = (tl.core.builtin(lambda _semantic=None: None) for _ in range(2))
    exp = tl.core.builtin(lambda x, _semantic=None: x)
    int32 = tl.int32

    def cdiv(self) -> None: ...


class Further(Language):
    dot = tl.core.builtin(lambda a, b, _semantic=None: None)


def a_copy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Load the interpreter module again from its file, so that no earlier run has changed it."""
    spec = importlib.util.spec_from_file_location("triton.runtime.interpreter_again", interpreter.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    for shared in (tl.core.tensor, tl.core.block_type):  # they are no copies: what `quicken` makes of them ends here
        monkeypatch.setattr(shared, "__init__", shared.__init__)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> Any:
    return a_copy(monkeypatch)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = a_copy(monkeypatch)
    quicken(module)
    return module


def test_every_type_has_its_numpy_type_and_of_the_options_one_alone_changes(plain: Any, quick: Any) -> None:
    before, after = (dataclasses.asdict(module.interpreter_builder.options) for module in (plain, quick))
    assert before | {"sanitize_overflow": False} == after != before
    types = [*SCALARS, *(tl.pointer_type(scalar) for scalar in SCALARS)]
    types += [tl.block_type(scalar, shape) for scalar in types for shape in ([4], [2, 8])]
    compared = 0
    for one in types * 2:
        assert of(quick, one) == of(plain, one), one
        compared += of(plain, one) is not KeyError
    assert compared > 150


def of(module: Any, one: Any) -> Any:
    try:
        return module._get_np_dtype(one)
    except KeyError:
        return KeyError


class Scope(interpreter._LangPatchScope):
    """A patch scope that can list its replacements."""

    def changed(self) -> list[tuple[Any, str, Any]]:
        return sorted(self._changes, key=lambda change: (str(change[0]), change[1]))


def changes(module: Any, *, within: bool = False) -> list[tuple[Any, str, Any]]:
    """Return the replacements of one launch, or with `within` those added by a nested kernel call."""
    outer, inner = Scope(), Scope()
    try:
        for scope in (outer, inner):
            for owner in (Language, Further):
                module._patch_builtin(owner, module.interpreter_builder, scope)
        return inner.changed() if within else outer.changed()
    finally:
        inner.restore()
        outer.restore()


def test_a_launch_replaces_what_it_replaced_and_puts_it_back(plain: Any, quick: Any) -> None:
    replaced, scope = changes(plain), Scope()
    assert {name for _, name, _ in replaced} == {"load", "store", "dot", "exp"}
    for owner in (Language, Further):
        plain._patch_builtin(owner, plain.interpreter_builder, scope)
    assert changes(quick) == [], "what is replaced when first seen is found once it is put back"
    scope.restore()
    for _ in range(3):
        assert changes(quick) == replaced
        assert changes(quick, within=True) == changes(plain, within=True) == []
        assert changes(plain) == replaced


# In a process of its own: tests of the kernels quicken the classes of this one for good.
DESCRIBED = """
import sys
import triton.language as tl
from triton.runtime import interpreter
from attncli.sandbox.kernels import quicken

def described(one):
    block = tl.block_type(one, [2, tl.constexpr(8)])
    value = tl.tensor("handle", block)
    assert value.type is block and value.handle == "handle"
    return {name: str(said) for thing in (block, value) for name, said in vars(thing).items()}

def refused(shape):
    try:
        return tl.block_type(tl.int32, shape)
    except (TypeError, ValueError) as error:
        return str(error)

scalars = [value for value in vars(tl).values() if isinstance(value, tl.dtype) and value.name != "void"]
types = [*scalars, *map(tl.pointer_type, scalars)]
before = [described(one) for one in types], refused([3]), refused([])
made = tl.tensor.__init__, tl.block_type.__init__
quicken(interpreter)
assert tl.tensor.__init__ is not made[0] and tl.block_type.__init__ is not made[1]
for _ in range(2):
    assert ([described(one) for one in types], refused([3]), refused([])) == before
print(len(types), before[1:])
"""


@pytest.mark.slow
def test_blocks_and_values_say_of_themselves_what_they_said() -> None:
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", DESCRIBED], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "power of 2" in run.stdout and "0d" in run.stdout


def test_what_is_gone_or_of_another_form_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for gone in (*NAMES, "_patch_attr", "tl"):
        module = a_copy(monkeypatch)
        delattr(module, gone)
        quicken(module)
        assert not hasattr(module, gone)
    for builder in (SimpleNamespace(), SimpleNamespace(options=SimpleNamespace(debug=False))):
        before, module = dict(vars(builder)), ModuleType("interpreter")
        module.interpreter_builder = builder  # type: ignore[attr-defined]
        quicken(module)
        assert vars(builder) == before
