"""Small experiments without torch, in their own folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

HEAD = '''\
"""A toy."""

TITLE = {"en": "Toy", "zh": "玩具"}
CLAIM = {"en": "A seed is even.", "zh": "种子是偶数。"}
CARDS = ("att-01",)
CAVEATS = ({"en": "Only a toy.", "zh": "只是玩具。"},)
SEEDS = 1
SECONDS = (1, 2)


def both(text):
    return {"en": text, "zh": text + "！"}


'''
RESULT = """\
def result(seed):
    return {
        "columns": [both("n"), both("what")],
        "rows": [[1, both("one")], [2.5, True]],
        "plots": [{"kind": "line", "title": both("Plot"), "x": [1, 2, 3],
                   "series": [{"name": both("squares"), "y": [1, 4, 9]}], "log": ""}],
        "checks": [{"says": both("seed is even"), "holds": seed % 2 == 0, "got": str(seed), "due": "even"}],
        "seen": both(f"the seed was {seed}"),
    }


"""
EVEN = """\
def run(seed, quick, progress):
    print("noise")
    for step in range(4):
        progress((step + 1) / 4)
    return result(seed)
"""

MakeExperiment = Callable[..., Path]


@pytest.fixture
def impl(small_impl: Path) -> Path:
    (small_impl / "experiments").mkdir()
    return small_impl


@pytest.fixture
def make(impl: Path) -> MakeExperiment:
    """`make("toy", run="…", SEEDS="3")` writes an experiment and returns the `impl` folder."""

    def write(id: str = "toy", run: str = EVEN, **constants: str) -> Path:
        head = HEAD
        for name, value in constants.items():
            line = next((line for line in HEAD.splitlines() if line.startswith(f"{name} = ")), "")
            said = f"{name} = {value}" if value else ""
            head = head.replace(line, said) if line else f"{head}{said}\n\n\n"
        (impl / "experiments" / f"{id}.py").write_text(head + RESULT + run, encoding="utf-8")
        return impl

    return write
