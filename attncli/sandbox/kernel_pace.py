"""What Triton's interpreter does anew at each operation or launch, done once: learners wait for nothing else as long.

Each name below is Triton's own; where it is gone the interpreter is as slow as it was, and as right. Half of the time
of a flash-attention kernel went into this, a third into the check of whole numbers for overflow: compiled, a kernel has
none (`debug` alone brings it), and sizes of a few hundred meet no limit of int32.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any


def quicken(interpreter: Any) -> None:
    """Called once for the module `triton.runtime.interpreter`."""
    _wrap_around_as_compiled(interpreter)
    _look_for_builtins_once(interpreter)
    _look_up_types_once(interpreter)


def _wrap_around_as_compiled(interpreter: Any) -> None:
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
