"""What Triton's interpreter does anew at each operation or launch, done once: learners wait for nothing else as long.

Each operation makes the same few types and shapes again, each launch looks for the same functions, and sums of 32 bits
are checked for overflow with nine operations, of which nothing comes unless `debug` is on. Each name below is Triton's
own; where it is gone the interpreter is as slow as it was, and as right.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any


def quicken(interpreter: Any) -> None:
    """For the module `triton.runtime.interpreter`; does nothing the second time."""
    if getattr(interpreter, "quickened", False):
        return
    interpreter.quickened = True
    _leave_overflow_unchecked(interpreter)
    _look_for_builtins_once(interpreter)
    _look_up_types_once(interpreter)
    core = getattr(getattr(interpreter, "tl", None), "core", None)
    if hasattr(core, "block_type") and hasattr(core, "_unwrap_if_constexpr"):
        _make_blocks_once(core)
    if hasattr(core, "tensor"):
        _describe_tensors_once(core)


def _leave_overflow_unchecked(interpreter: Any) -> None:
    builder = getattr(interpreter, "interpreter_builder", None)
    options = getattr(builder, "options", None)
    if hasattr(options, "sanitize_overflow") and dataclasses.is_dataclass(options):
        builder.options = dataclasses.replace(options, sanitize_overflow=False)  # type: ignore[union-attr, type-var]


def _look_up_types_once(interpreter: Any) -> None:
    """NumPy's type for one of Triton's, by its name: blocks and pointers have no hash."""
    look_up = getattr(interpreter, "_get_np_dtype", None)
    if look_up is None:
        return
    known: dict[str, Any] = {}

    def numpy_type(of: Any) -> Any:
        name = of.name
        if name not in known:
            known[name] = look_up(of)
        return known[name]

    interpreter._get_np_dtype = numpy_type


def _look_for_builtins_once(interpreter: Any) -> None:
    """At each launch, and each call of one kernel by another, all members of four modules and classes are sorted to
    find the functions that the interpreter stands in for."""
    language, patch = getattr(interpreter, "tl", None), getattr(interpreter, "_patch_attr", None)
    is_builtin = getattr(getattr(language, "core", None), "is_builtin", None)
    if patch is None or is_builtin is None or not hasattr(interpreter, "_patch_builtin"):
        return
    known: dict[Any, tuple[str, ...]] = {}

    def patch_builtin(owner: Any, builder: Any, scope: Any) -> None:
        names = known.get(owner) or tuple(name for name, member in inspect.getmembers(owner) if is_builtin(member))
        if not names:
            return
        known[owner] = names
        if is_builtin(getattr(owner, names[0], None)):  # they are replaced together, and put back together
            for name in names:
                patch(owner, name, getattr(owner, name), builder, scope)

    interpreter._patch_builtin = patch_builtin


def _make_blocks_once(core: Any) -> None:
    """The type of a block, by those of its elements and its sizes."""
    make, plain = core.block_type.__init__, core._unwrap_if_constexpr
    known: dict[Any, dict[str, Any]] = {}

    def make_block(self: Any, element_ty: Any, shape: Any) -> None:
        key = element_ty.name, tuple(plain(size) for size in shape)
        if key not in known:
            make(self, element_ty, shape)
            known[key] = dict(vars(self))
        vars(self).update(known[key])

    core.block_type.__init__ = make_block


def _describe_tensors_once(core: Any) -> None:
    """What a value of a kernel says of itself besides what it holds, by the name of its type."""
    make = core.tensor.__init__
    known: dict[str, dict[str, Any]] = {}

    def make_tensor(self: Any, handle: Any, type: Any) -> None:
        if type.name not in known:
            make(self, handle, type)
            known[type.name] = dict(vars(self))
        vars(self).update(known[type.name], handle=handle, type=type)

    core.tensor.__init__ = make_tensor
