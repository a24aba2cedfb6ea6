"""A challenge on disk: its trusted files, its edge cases, and its requirements besides values.

Files are executed from their text, so that no bytecode is written next to them.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from attncli.domain.challenge import Facts, Mistake, mistake_in, spread
from attncli.errors import JudgeFailed
from attncli.i18n import _
from attncli.judge.case import Case, Profile, facts_of, in_turns
from attncli.judge.drawing import Declared
from attncli.judge.make import Recorder
from attncli.judge.motifs import BRANCHES_PREFIX, MOTIF_PREFIX, Motif, every_branch, motifs
from attncli.sandbox import kernels
from attncli.sandbox.values import SEQUENCES


def load_module(path: Path, name: str, text: str | None = None) -> ModuleType:
    """Execute the file at `path`, or another `text` of it, as a module. Raises JudgeFailed if it cannot be loaded."""
    module = ModuleType(name)
    module.__file__ = str(path)
    try:
        source = path.read_text(encoding="utf-8") if text is None else text
        sys.modules[name] = module
        exec(compile(source, str(path), "exec"), module.__dict__)
    except (OSError, SyntaxError, ValueError) as error:
        raise JudgeFailed(
            _("{path}: the challenge's own file cannot be loaded ({error}); reinstall attncli", path=path, error=error)
        ) from error
    return module


@dataclass
class Folder:
    """One challenge: its folder and its validated YAML document, `spec`."""

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
        """Prepare this process for the folder's files. Raises JudgeFailed if a package that they need is missing."""
        if not self.kernel:
            return
        try:
            kernels.prepare()
        except ImportError as error:
            problem = _(
                "Triton's interpreter does not run here ({error}); pip install 'attncli[kernels]' (Linux)", error=error
            )
            raise JudgeFailed(problem) from error

    @cached_property
    def reference(self) -> Mapping[str, Any]:
        """The names that the reference defines."""
        return load_module(self.path / "reference.py", f"reference_{self.id.replace('-', '_')}").__dict__

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
        return Declared(self.facts, self.reference)

    @cached_property
    def motifs(self) -> dict[str, Motif]:
        """The shared edge cases that apply here, by attribute."""
        return {motif.attribute: motif for motif in motifs(self.inputs.case, self.declared)}

    def record(self, attribute: str) -> Callable[[Recorder], Any]:
        """Return the function of `inputs.py`, or the motif, that records these cases. Raises LookupError for none."""
        if attribute.startswith(MOTIF_PREFIX):
            return in_turns(self.inputs.case, self.motifs[attribute].turns)
        if attribute.startswith(BRANCHES_PREFIX):
            return every_branch(self.inputs.case, int(attribute.removeprefix(BRANCHES_PREFIX)))
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
        """Read the mistake of a wrong solution from its docstring. Raises JudgeFailed if it is not valid Python."""
        path = self.path / "wrong" / f"{name}.py"
        try:
            return mistake_in(ast.get_docstring(ast.parse(path.read_bytes()), clean=False) or "")
        except (OSError, SyntaxError, ValueError) as error:
            raise JudgeFailed(
                _(
                    "{path}: this wrong solution cannot be read ({error}); `attn verify` says more",
                    path=path,
                    error=error,
                )
            ) from error

    # Requirements besides values, and permissions

    def absolute(self, profile: Profile) -> dict[str, float]:
        """Return the absolute tolerances by dtype that the statement grants, in addition to rounding."""
        stable = self.facts.tolerance_stable if profile.name in ("large", "offset") else None
        return dict(self.facts.tolerance if stable is None else stable)

    @property
    def watched(self) -> list[str]:
        """The observations that a check of purity requests from a run."""
        return ["pure", "modules"] if self.facts.modules_unchanged else ["pure"]

    def axes(self, function: str, name: str, dimensions: int) -> list[str]:
        """Return the names of the axes of an argument, or of a result (`return`, `return[0]`), by `AXES`."""
        axes = self.facts.axes
        return spread(axes.get(f"{function}.{name}", axes.get(name, "...")), dimensions)

    def names(self, case: Case) -> dict[int, str]:
        """Map each tensor of a case to its argument name, by the reference's signatures."""
        found: dict[int, str] = {}
        for step in case.steps:
            for name, tree in named_arguments(self.reference, step):
                for tensor_tree, suffix in _paths(tree):
                    found.setdefault(tensor_tree[1], name + suffix)
        return found

    @cached_property
    def labels_in_chinese(self) -> dict[str, str]:
        """Map English labels of edge cases to Chinese ones, which are the last line of a longer docstring."""
        functions = [(label, record.__doc__ or "") for label, _, record in edge_functions(self)]
        own = {label: text.strip().splitlines()[-1].strip() for label, text in functions if "\n" in text.strip()}
        return {**own, **{motif.label.en: motif.label.zh for motif in self.motifs.values()}}


# Edge cases


def edge_functions(folder: Folder) -> Iterator[tuple[str, str, Callable[[Recorder], Any]]]:
    """Yield (label, attribute, function) of every `edge_…` in the order of the file, then of the motifs."""
    for attribute, function in list(vars(folder.inputs).items()):
        if attribute.startswith("edge_") and callable(function):
            label = (function.__doc__ or attribute.removeprefix("edge_").replace("_", " ")).strip().splitlines()[0]
            yield label.rstrip("."), attribute, function
    for attribute, motif in folder.motifs.items():
        yield motif.label.en, attribute, folder.record(attribute)


def named_arguments(reference: Mapping[str, Any], step: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the arguments of a step, named as in the reference's signature; those of `set` have their own names."""
    if step["op"] == "set":
        return [(str(key[1]), tree) for key, tree in step["args"][0][1]]
    target = reference.get(step.get("name", ""))
    if step["op"] == "method":
        classes = [value for value in reference.values() if isinstance(value, type)]
        target = next((getattr(c, step["name"]) for c in classes if hasattr(c, step["name"])), None)
    try:
        parameters = [name for name in inspect.signature(target).parameters if name != "self"] if target else []
    except (TypeError, ValueError):
        parameters = []
    args = step.get("args", ())
    names = [*parameters, *(f"argument {k}" for k in range(len(parameters), len(args)))]
    return [*zip(names, args, strict=False), *step.get("kwargs", {}).items()]


def call_name(case: Case, step: int) -> str:
    return str(case.steps[step].get("name", "a call"))


def _paths(tree: Any, suffix: str = "") -> list[tuple[Any, str]]:
    """Return the trees of all tensors in a tree, each with its place in it, e.g. `[0]['k']`."""
    if tree[0] == "t":
        return [(tree, suffix)]
    if tree[0] in SEQUENCES:
        return [pair for k, item in enumerate(tree[1]) for pair in _paths(item, f"{suffix}[{k}]")]
    if tree[0] == "d":
        return [pair for key, item in tree[1] for pair in _paths(item, f"{suffix}[{key[1]!r}]")]
    return []
