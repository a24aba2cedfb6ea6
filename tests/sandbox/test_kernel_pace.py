"""Check that the faster interpreter gives the same results, and does nothing if Triton's names are missing."""

from __future__ import annotations

import dataclasses
import importlib.util
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from attncli.sandbox.kernels import quicken

interpreter = pytest.importorskip("triton.runtime.interpreter")
tl = pytest.importorskip("triton.language")

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


def test_triton_has_the_names_that_are_replaced(plain: Any) -> None:
    assert [name for name in NAMES if not hasattr(plain, name)] == []
    assert plain.interpreter_builder.options.sanitize_overflow


def test_every_type_has_the_numpy_type_that_it_had(plain: Any, quick: Any) -> None:
    types = [*SCALARS, *(tl.pointer_type(scalar) for scalar in SCALARS)]
    types += [tl.block_type(scalar, shape) for scalar in types for shape in ([4], [2, 8])]
    compared = 0
    for _ in range(2):
        for one in types:
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
    replaced = changes(plain)
    assert {name for _, name, _ in replaced} == {"load", "store", "dot", "exp"}
    for _ in range(3):
        assert changes(quick) == replaced
        assert changes(quick, within=True) == changes(plain, within=True) == []
        assert changes(plain) == replaced


def test_what_is_replaced_when_first_seen_is_found_once_it_is_put_back(plain: Any, quick: Any) -> None:
    replaced, scope = changes(plain), Scope()
    for owner in (Language, Further):
        plain._patch_builtin(owner, plain.interpreter_builder, scope)
    assert changes(quick) == []
    scope.restore()
    assert changes(quick) == replaced


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


def test_blocks_and_values_say_of_themselves_what_they_said() -> None:
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", DESCRIBED], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "power of 2" in run.stdout and "0d" in run.stdout


def test_of_the_options_the_check_for_overflow_alone_changes(plain: Any, quick: Any) -> None:
    before, after = (dataclasses.asdict(module.interpreter_builder.options) for module in (plain, quick))
    assert before | {"sanitize_overflow": False} == after != before


@pytest.mark.parametrize("gone", [*NAMES, "_patch_attr", "tl"])
def test_a_name_that_is_gone_is_left_gone(gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = a_copy(monkeypatch)
    delattr(module, gone)
    quicken(module)
    assert not hasattr(module, gone)


@pytest.mark.parametrize("builder", [SimpleNamespace(), SimpleNamespace(options=SimpleNamespace(debug=False))])
def test_options_of_another_form_are_left_as_they_are(builder: Any) -> None:
    before = dict(vars(builder))
    module = ModuleType("interpreter")
    module.interpreter_builder = builder  # type: ignore[attr-defined]
    quicken(module)
    assert vars(builder) == before
