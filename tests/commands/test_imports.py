"""Limit the imports of each command, which determine its start-up time; heavy libraries load only where needed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

Attn = Callable[..., Any]
Program = Callable[..., subprocess.Popen[str]]
HEAVY = ("torch", "numpy", "hypothesis", "textual", "rich", "yaml", "pydantic", "fsrs", "click", "tomlkit", "jinja2")
SPY = "import atexit, json, sys; atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))\n"


def loaded_by(program: Program, *words: str) -> set[str]:
    process = program(*words, spy=SPY)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    modules = {name.partition(".")[0] for name in json.loads(err.splitlines()[-1])}
    return modules.intersection(HEAVY)


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        (["due"], ""),
        (["due", "--json"], ""),
        (["due", "--lang", "zh"], "click"),
        (["answer", "att-01", "--rating", "good"], "click fsrs"),
        (["undo"], "click fsrs"),
        (["cards", "kv"], "click"),
        (["show", "att-01"], "click"),
        (["stats"], "click"),
        (["challenges"], "click"),
        (["hint", "double"], "click fsrs"),
        (["start", "double"], "click fsrs"),
        (["review", "--plain"], "click fsrs"),
        (["config", "lang", "zh"], "click tomlkit"),
        (["suspend", "att-01"], "click fsrs"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_command_loads_no_heavy_library_it_does_not_need(
    program: Program, attn: Attn, words: list[str], loaded: str
) -> None:
    attn("answer", "att-01", "--rating", "good")  # the bank is indexed now
    attn("due")  # and today's list is made
    assert loaded_by(program, *words) <= set(loaded.split())


def test_the_spy_sees_what_is_loaded(program: Program) -> None:
    assert {"yaml", "pydantic", "fsrs"} <= loaded_by(program, "answer", "att-01", "--rating", "good")
