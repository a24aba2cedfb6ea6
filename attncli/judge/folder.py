"""Loading a challenge's trusted files by path, without writing bytecode anywhere."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from attncli.domain.mistakes import Mistake, mistake_in
from attncli.errors import JudgeFailed


def load_module(path: Path, name: str) -> ModuleType:
    """A module executed from `path`. JudgeFailed if it cannot be: these files belong to the program."""
    module = ModuleType(name)
    module.__file__ = str(path)
    try:
        source = path.read_text(encoding="utf-8")
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

    @cached_property
    def reference(self) -> ModuleType:
        return load_module(self.path / "reference.py", f"reference_{self.id.replace('-', '_')}")

    @cached_property
    def reference_source(self) -> str:
        return (self.path / "reference.py").read_text(encoding="utf-8")

    @cached_property
    def inputs(self) -> ModuleType:
        return load_module(self.path / "inputs.py", f"inputs_{self.id.replace('-', '_')}")

    def wrong_names(self) -> list[str]:
        return sorted(path.stem for path in (self.path / "wrong").glob("*.py"))

    def wrong(self, name: str) -> ModuleType:
        if name not in self._wrong:
            self._wrong[name] = load_module(self.path / "wrong" / f"{name}.py", f"wrong_{name.replace('-', '_')}")
        return self._wrong[name]

    def mistake(self, name: str) -> Mistake:
        """What the wrong solution gets wrong, without running it. JudgeFailed if it is no Python."""
        path = self.path / "wrong" / f"{name}.py"
        try:
            return mistake_in(ast.get_docstring(ast.parse(path.read_bytes()), clean=False) or "")
        except (OSError, SyntaxError, ValueError) as error:
            raise JudgeFailed(
                f"{path}: this wrong solution cannot be read ({error}); `attn verify` says more"
            ) from error
