"""Loading a challenge's trusted files by path, without writing bytecode anywhere."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from attncli.domain.mistakes import Mistake, mistake_in
from attncli.errors import JudgeFailed
from attncli.judge.cases.facts import Facts, facts_of
from attncli.judge.drawing import Declared
from attncli.judge.make import Recorder
from attncli.judge.motifs import BRANCHES, PREFIX, Motif, every_branch, motifs, recorded
from attncli.sandbox import kernels


def load_module(path: Path, name: str, text: str | None = None) -> ModuleType:
    """A module executed from `path`, or from another `text` of it. JudgeFailed if it cannot be: these files belong to
    the program."""
    module = ModuleType(name)
    module.__file__ = str(path)
    try:
        source = path.read_text(encoding="utf-8") if text is None else text
        sys.modules[name] = module
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (OSError, SyntaxError, ValueError) as error:
        raise JudgeFailed(f"{path}: the challenge's own file cannot be loaded ({error}); reinstall attncli") from error
    return module


@dataclass
class Folder:
    """One challenge on disk with what its YAML says (`spec`, a validated document)."""

    spec: dict[str, Any]
    path: Path
    _wrong: dict[str, ModuleType] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return str(self.spec.get("id") or self.path.name)

    @property
    def entry(self) -> list[str]:
        return list(self.spec["entry"])

    @property
    def kernel(self) -> bool:
        return bool(self.spec.get("kernel", False))

    def prepare(self) -> None:
        """Sets this process up for the folder's files. JudgeFailed where what they need is not installed."""
        if not self.kernel:
            return
        try:
            kernels.prepare()
        except ImportError as error:
            said = "kernels are graded in Triton's interpreter, which is not there"
            raise JudgeFailed(f"{said} ({error}); pip install 'attncli[kernels]' (Linux)") from error

    @cached_property
    def reference(self) -> ModuleType:
        return load_module(self.path / "reference.py", f"reference_{self.id.replace('-', '_')}")

    @cached_property
    def reference_source(self) -> str:
        return (self.path / "reference.py").read_text(encoding="utf-8")

    @cached_property
    def inputs(self) -> ModuleType:
        return load_module(self.path / "inputs.py", f"inputs_{self.id.replace('-', '_')}")

    @cached_property
    def facts(self) -> Facts:
        return facts_of(self.inputs, self.path / "inputs.py")

    @cached_property
    def declared(self) -> Declared:
        return Declared(self.facts, self.reference.__dict__)

    @cached_property
    def motifs(self) -> dict[str, Motif]:
        """The shared edge cases that say something here, by attribute."""
        return {motif.attribute: motif for motif in motifs(self.inputs.case, self.declared)}

    def record(self, attribute: str) -> Callable[[Recorder], Any]:
        """What records the cases that go by this name: a function of `inputs.py` or a motif, else LookupError."""
        if attribute.startswith(PREFIX):
            return recorded(self.motifs[attribute], self.inputs.case)
        if attribute.startswith(BRANCHES):
            return every_branch(self.inputs.case, int(attribute.removeprefix(BRANCHES)))
        function = vars(self.inputs).get(attribute)
        if not isinstance(function, FunctionType) or function.__module__ != self.inputs.__name__:
            raise LookupError(f"{self.path}/inputs.py records nothing by the name {attribute}")
        return function

    def wrong_names(self) -> list[str]:
        return sorted(path.stem for path in (self.path / "wrong").glob("*.py"))

    def wrong(self, name: str) -> ModuleType:
        if name not in self._wrong:
            self._wrong[name] = load_module(self.path / "wrong" / f"{name}.py", f"wrong_{name.replace('-', '_')}")
        return self._wrong[name]

    def wrong_text(self, name: str) -> str:
        return (self.path / "wrong" / f"{name}.py").read_text(encoding="utf-8")

    def mistake(self, name: str) -> Mistake:
        """What the wrong solution gets wrong, without running it. JudgeFailed if it is no Python."""
        path = self.path / "wrong" / f"{name}.py"
        try:
            return mistake_in(ast.get_docstring(ast.parse(path.read_bytes()), clean=False) or "")
        except (OSError, SyntaxError, ValueError) as error:
            raise JudgeFailed(
                f"{path}: this wrong solution cannot be read ({error}); `attn verify` says more"
            ) from error
