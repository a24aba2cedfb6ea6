"""Keep torch's compiler out of a process until something is compiled.

Optimisers, `torch.func` and others mark functions as not to be compiled, or ask for a break in a graph that nobody
records. Torch imports its whole compiler for that, which takes longer than a grading. A stand-in answers instead, and
loads the real module at any other use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import torch

_NAME = "torch._dynamo"


def postpone_compiler() -> None:
    """Install the stand-in, unless the compiler is loaded already."""
    if _NAME not in sys.modules:
        torch._dynamo = sys.modules[_NAME] = LazyCompiler()
        sys.meta_path.insert(0, _Submodules)


class LazyCompiler(ModuleType):
    """Stand-in for `torch._dynamo`, until a name is needed that it lacks."""

    disable = staticmethod(lambda function, *args, **kwargs: function)
    graph_break = staticmethod(lambda *args, **kwargs: None)
    compiled_autograd = SimpleNamespace(_disable=nullcontext)

    def __init__(self) -> None:
        super().__init__(_NAME)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        if name == "__file__":  # `inspect` asks every loaded module for it, even while torch imports others
            raise AttributeError(name)
        return getattr(_compiler(), name)


def _compiler() -> ModuleType:
    """Return the real module, loaded if need be."""
    if isinstance(sys.modules.get(_NAME), LazyCompiler):
        del sys.modules[_NAME]
    return importlib.import_module(_NAME)


class _Loaded(Loader):
    """Loader that returns a module already loaded."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class _Submodules:
    """Finder of the compiler's submodules while the stand-in is installed; it loads the compiler."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(f"{_NAME}.") or not isinstance(sys.modules.get(_NAME), LazyCompiler):
            return None
        package = _compiler()
        if name in sys.modules:
            return importlib.util.spec_from_loader(name, _Loaded(sys.modules[name]))
        return importlib.machinery.PathFinder.find_spec(name, package.__path__)
