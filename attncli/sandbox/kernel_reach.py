"""What a kernel can reach besides its arguments: in the interpreter everything, compiled next to nothing.

A kernel's body is Python there, and torch's calls are not looked at while it runs. So a tensor in a list of the module
could be added by torch within it, where Triton's compiler would not let the list in. What it lets in is its own rule
for names (`CodeGenerator._define_name_lookup`): kernels, what Triton defines, `tl.constexpr` and a few functions of
Python. A plain number of the module is none of these, and is refused here as it is there.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

import torch

Rule = Callable[[Any], bool]

_SCALARS = (int, float, bool, str, type(None), torch.dtype)
# What a compiled kernel may call of Python's own.
_FUNCTIONS = (len, list, range, float, int, isinstance, getattr, hasattr, print, min, max)
# What the compiler calls itself, on constants: its body is Python's.
_EARLY = "ConstexprFunction"
_KERNEL_TYPES = ("triton.runtime.jit", "triton.runtime.interpreter")


def refuse_outsiders(body: Callable[..., Any], given: Sequence[Any]) -> None:
    """Raises NameError or TypeError for what Triton would not compile: names of the module, objects as arguments."""
    for value in given:
        if not _is_argument(value):
            raise TypeError(f"a kernel is launched with tensors and numbers, not with a {type(value).__name__}")
    seen: set[Any] = set()
    waiting = [(body, _is_let_in), *_inner(given)]
    while waiting:
        function, lets_in = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        reached = dict(_reached(function))
        for name, value in reached.items():
            if not lets_in(value):
                raise NameError(_refusal(name, value), name=name)
        waiting += _inner(reached.values())


def _inner(values: Iterable[Any]) -> list[tuple[Callable[..., Any], Rule]]:
    """The functions of the kernels among these, each with the rule for what it may reach."""
    kernels = [value for value in values if inspect.isfunction(getattr(value, "fn", None))]
    return [(value.fn, _is_let_in_early if type(value).__name__ == _EARLY else _is_let_in) for value in kernels]


def grid_of(executor: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, ...]:
    """What a function that was given as the grid says, called where torch is looked at."""
    known = {name: value for name, value in kwargs.items() if name in executor.arg_names}
    grid: tuple[int, ...] = executor.grid(inspect.getcallargs(executor.fn, *args, **known))
    return grid


def _refusal(name: str, value: Any) -> str:
    hint = f"; write {name} = tl.constexpr({value!r})" if type(value) in (int, float, bool) else ""
    return f"a kernel cannot reach {name}: on a GPU it has its arguments, constants and other kernels alone{hint}"


def _reached(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The names that a function reads besides its own. A cell without a value is left to it: it raises NameError."""
    code, module = function.__code__, getattr(function, "__globals__", {})
    for name in _globals_in(code):
        if name in module or hasattr(builtins, name):
            yield name, module.get(name, getattr(builtins, name, None))
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            yield name, cell.cell_contents


@functools.lru_cache(maxsize=1024)
def _globals_in(code: CodeType) -> tuple[str, ...]:
    inner = [name for constant in code.co_consts if isinstance(constant, CodeType) for name in _globals_in(constant)]
    steps = dis.get_instructions(code)
    return (*(step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")), *inner)


def _is_argument(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_argument(part) for part in value)
    return isinstance(value, torch.Tensor) or _is_known(value)


def _is_known(value: Any) -> bool:
    """A number, or something of Triton's own: its types, constants, functions and kernels."""
    if isinstance(value, tuple):
        return all(_is_known(part) for part in value)
    if inspect.isroutine(value) or inspect.isclass(value):
        return str(value.__module__).partition(".")[0] in ("triton", "math", "builtins")
    return isinstance(value, _SCALARS) or type(value).__module__.partition(".")[0] == "triton"


def _is_let_in(value: Any) -> bool:
    """Whether the compiler lets a name of this value in: None is one of its constants."""
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in ("triton", "math")
    if value is None or _of_python(value) or type(value).__module__ in _KERNEL_TYPES:
        return True
    if isinstance(value, type) and value.__base__ is tuple and hasattr(value, "_fields"):
        return True
    own = any(getattr(value, mark, False) for mark in ("__triton_builtin__", "__triton_aggregate__"))
    return own or str(getattr(value, "__module__", "")).startswith("triton.language")


def _of_python(value: Any) -> bool:
    return any(value is function for function in _FUNCTIONS)


def _is_let_in_early(value: Any) -> bool:
    """The same of a function that the compiler calls itself."""
    return _is_let_in(value) or _is_known(value)
