"""Grade code on cards that implements a linked challenge: it must solve it.

Code implements a challenge if it defines all names of its entry with the reference's signatures, since the judge also
passes every argument by name. This is read from ```python blocks, and from the code of debug cards with their fix. A
function of another name counts if its signature is the entry's. Code with another signature computes something else;
such a block must not use a name of the entry, unless it is marked ```python sketch.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from attncli.bank.loader import CHALLENGE, load_challenge
from attncli.bank.prose_rules import localised, python_fault, snippets_of
from attncli.domain.challenge import Challenge
from attncli.judge.client import GradeOptions, GradeRequest, Judge
from attncli.paths import bundled_impl
from attncli.practice.grade import specification
from attncli.practice.library import challenge_of
from attncli.sandbox.source_reading import Signature, signatures

from .conftest import Card, bundled_documents

IMPORTS = "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"
SDPA = "def {name}(q, k, v, mask=None, scale=None):\n    scores = q @ k.mT\n    {last}"


@cache
def load(id: str) -> Challenge:
    (file,) = bundled_impl().glob(f"*/{id}/{CHALLENGE}")
    return challenge_of(load_challenge(file).documents[0])


@cache
def entry_of(id: str) -> dict[str, Any]:
    """Return the signatures of a challenge's entry, by name."""
    reference = Path(load(id).folder, "reference.py").read_text(encoding="utf-8")
    return signatures(ast.parse(reference), load(id).entry)


def links(card: Card) -> list[str]:
    linked = card.get("challenge", [])
    return [linked] if isinstance(linked, str) else linked


def blocks(card: Card) -> list[str]:
    """Return the blocks that run. test_code_snippets.py checks that the other language has the same."""
    texts = [text["en"] for _, text in localised(card)]
    return [snippet.code for text in texts for snippet in snippets_of(text) if snippet.info == "python"]


def repaired(card: Card) -> list[str]:
    """Return the Python code of a debug card with the fix in place of one failing line, and of all of them."""
    failing = card.get("lines", [])
    codes = []
    for replaced in [*([number] for number in failing), failing] if "fix" in card else []:
        lines = card["code"].splitlines()
        first = lines[replaced[0] - 1]
        lines[replaced[0] - 1] = first[: len(first) - len(first.lstrip())] + card["fix"]["en"]
        codes.append("\n".join(line for number, line in enumerate(lines, 1) if number not in replaced[1:]))
    return [code for code in codes if python_fault(code) is None]


def implementation(code: str, id: str) -> str | None:
    """Return the code, renamed to the entry's names, if it implements the challenge, else None."""
    tree, entry = ast.parse(code), entry_of(id)
    functions = {node.name: asdict(Signature.of(node.args)) for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name in entry.keys() - signatures(tree, entry).keys():
        mine = next((mine for mine, signature in functions.items() if signature == entry[name]), name)
        code = re.sub(rf"\b{mine}\b", name, code)
    return code if signatures(ast.parse(code), entry) == entry else None


def implemented(card: Card) -> Iterator[tuple[str, list[str]]]:
    """Yield each linked challenge that the code implements, with the code's forms; one of them must be right."""
    for id, forms in product(links(card), [*([block] for block in blocks(card)), repaired(card)]):
        if found := [code for form in forms if (code := implementation(form, id))]:
            yield id, found


CARDS = bundled_documents()
IMPLEMENTED = [pytest.param(id, forms, id=f"{card['id']}-{id}") for card in CARDS for id, forms in implemented(card)]


def failures(judge: Judge, id: str, code: str) -> list[str]:
    """Return the reasons why the code does not solve a challenge."""
    report = judge.grade(
        GradeRequest(
            spec=specification(load(id)),
            folder=Path(load(id).folder),
            source=(IMPORTS + code).encode(),
            filename="card.py",
            options=GradeOptions(timeout_seconds=60, quick=True),
        )
    )
    failed = [f"{check.name}: {check.message.en}" for check in report.checks if check.status == "fail"]
    return failed if not report.accepted else []


@pytest.mark.sandbox
@pytest.mark.parametrize(("id", "forms"), IMPLEMENTED)
def test_code_that_implements_a_challenge_solves_it(judge: Judge, id: str, forms: list[str]) -> None:
    assert [] in [failures(judge, id, code) for code in forms]


def test_code_with_the_name_of_a_linked_challenge_has_its_signature_or_is_a_sketch() -> None:
    others = [
        (card["id"], id)
        for card in CARDS
        for id, block in product(links(card), blocks(card))
        if signatures(ast.parse(block), entry_of(id)) and not implementation(block, id)
    ]
    assert others == [], "give it the signature of the challenge, or mark the block ```python sketch"


@pytest.mark.sandbox
def test_code_that_lacks_the_scale_does_not_under_whatever_name(judge: Judge) -> None:
    code = implementation(SDPA.format(name="attend", last="return scores.softmax(-1) @ v"), "sdpa")
    assert code is not None and "def sdpa(" in code
    assert failures(judge, "sdpa", code) != []


def test_the_signature_decides_what_implements_a_challenge() -> None:
    for code, implements in (
        (SDPA.format(name="sdpa", last="return v"), True),
        (SDPA.format(name="sdpa", last="return v").replace("mask=None", "mask"), False),
        (SDPA.format(name="sdpa", last="return v").replace("v, ", "values, "), False),
        ("scores = q @ k.mT", False),
    ):
        assert (implementation(code, "sdpa") is not None) == implements


def test_a_fix_stands_in_place_of_a_failing_line_or_of_all() -> None:
    card = {"code": "def f(x):\n    y = x + 1\n    return -y", "lines": [2, 3], "fix": {"en": "return x   # not y"}}
    assert repaired(card) == [
        "def f(x):\n    return x   # not y\n    return -y",
        "def f(x):\n    y = x + 1\n    return x   # not y",
        "def f(x):\n    return x   # not y",
    ]
