"""Every file of a challenge defines the same entry points: what is called on the reference can be called on all."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

IMPL = Path(__file__).parents[2] / "impl"
FOLDERS = sorted(path.parent for path in IMPL.glob("*/*/reference.py"))


def parameters(arguments: ast.arguments) -> tuple[list[str], list[str], dict[str, str | None]]:
    names = [argument.arg for argument in [*arguments.posonlyargs, *arguments.args]]
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return names, [shown(d) for d in arguments.defaults], {a.arg: d and shown(d) for a, d in keywords}


def shown(default: ast.expr) -> str:
    """A default as written; a function that the file defines itself may have any name."""
    return "a name" if isinstance(default, ast.Name) else ast.unparse(default)


def signatures(path: Path, entry: list[str]) -> dict[str, object]:
    """The parameters of every entry function, and of the public methods and constructor of every entry class."""
    found: dict[str, object] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name in entry:
            found[node.name] = parameters(node.args)
        elif isinstance(node, ast.ClassDef) and node.name in entry:
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and (method.name == "__init__" or method.name[0] != "_"):
                    found[f"{node.name}.{method.name}"] = parameters(method.args)
    return found


def called(folder: Path, signature: str) -> bool:
    """Whether the challenge calls it: constructors, functions, and the methods that `inputs.py` names."""
    method = signature.partition(".")[2]
    return method in ("", "__init__") or f'"{method}"' in (folder / "inputs.py").read_text(encoding="utf-8")


def entry_of(folder: Path) -> list[str]:
    return list(yaml.safe_load((folder / "challenge.yaml").read_text(encoding="utf-8"))["entry"])


def test_there_are_challenges() -> None:
    assert FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_reference_defines_every_entry_point(folder: Path) -> None:
    entry = entry_of(folder)
    defined = {name.split(".")[0] for name in signatures(folder / "reference.py", entry)}
    assert defined == set(entry)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_right_and_wrong_solutions_have_the_signatures_of_the_reference(folder: Path) -> None:
    entry = entry_of(folder)
    every = signatures(folder / "reference.py", entry)
    due = {name: taken for name, taken in every.items() if called(folder, name)}
    for path in [*folder.glob("right/*.py"), *folder.glob("wrong/*.py")]:
        mine = signatures(path, entry)
        missing = due.keys() - mine.keys()
        assert not missing, f"{path.parent.name}/{path.name} lacks {sorted(missing)}"
        for name, parameters_due in due.items():
            assert mine[name] == parameters_due, f"{path.parent.name}/{path.name}: {name} takes other parameters"
