"""`repairs.yaml`: the mistakes of `wrong/` that can be planted together in the reference of a challenge."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from attncli.bank.loader import judge
from attncli.bank.mistakes import Mistakes
from attncli.bank.problems import Finding, Problem, did_you_mean, shown
from attncli.bank.reading.schema_messages import kind_of_value
from attncli.bank.rules.mistake_rules import MOST_COLUMNS
from attncli.bank.schema import RepairsShape
from attncli.bank.validate import shape_findings
from attncli.domain.repairs import LEAST_REPAIRS, REPAIRS, Repair, planted, spans
from attncli.errors import EnvironmentFailure


def load_repairs(folder: Path) -> tuple[Repair, ...]:
    """The mistakes that can be planted in the reference of `folder`, none where the challenge offers none.

    Raises EnvironmentFailure for a file with a fault.
    """
    path = folder / REPAIRS
    if not path.is_file():
        return ()
    judged = judge(path, partial(repair_findings, folder=folder, kernel=False))
    if not judged.sound:
        first = next(iter(judged.located))
        raise EnvironmentFailure(f"{first}; `attn verify {folder.name}` tells every fault of the challenge")
    return _repairs(judged.value)


def repair_problems(folder: Path, challenge: Any) -> list[Problem]:
    """Every fault of the `repairs.yaml` in `folder`, if there is one; `challenge` is what `challenge.yaml` says."""
    path = folder / REPAIRS
    if not path.is_file():
        return []
    kernel = isinstance(challenge, dict) and challenge.get("kernel") is True
    return list(judge(path, partial(repair_findings, folder=folder, kernel=kernel)).located)


def _repairs(value: Any) -> tuple[Repair, ...]:
    return tuple(Repair(entry["wrong"], entry["find"], entry["replace"]) for entry in value["repairs"])


def repair_findings(value: Any, folder: Path, kernel: bool = False) -> list[Finding]:
    """Every finding about the `repairs.yaml` of `folder`."""
    if not isinstance(value, dict):
        return [Finding((), f"a file of repairs is a mapping, found {kind_of_value(value)}; start it with repairs: …")]
    if kernel:
        return [Finding((), "the reference of a kernel is not what is written; mistakes cannot be planted in it")]
    findings = shape_findings(value, RepairsShape, ())
    return findings or list(_rule_findings(_repairs(value), folder))


def _rule_findings(repairs: Sequence[Repair], folder: Path) -> Iterator[Finding]:
    if len(repairs) < LEAST_REPAIRS:
        said = f"only {len(repairs)} mistakes can be planted; write {LEAST_REPAIRS} at least that compose"
        yield Finding(("repairs",), said)
    mistakes, source = Mistakes(folder), _reference(folder)
    named: set[str] = set()
    for number, repair in enumerate(repairs):
        at = ("repairs", number)
        for message in _of_mistake(repair.wrong, mistakes):
            yield Finding((*at, "wrong"), message)
        if repair.wrong in named:
            yield Finding((*at, "wrong"), f"{shown(repair.wrong)} is planted twice; keep one of the two")
        named.add(repair.wrong)
        yield from (Finding((*at, *found.path), found.message) for found in _of_lines(repair, source))
    yield from _overlapping(repairs, source)


def _of_mistake(name: str, mistakes: Mistakes) -> Iterator[str]:
    if name not in mistakes:
        guess = did_you_mean(name, mistakes) or "name the file that makes this mistake"
        yield f"there is no {shown(f'wrong/{name}.py')}; {guess}"
    elif mistakes[name].rung != "solved":
        yield f"{shown(name)} is a mistake of the hardened rung; plant one that breaks the first rung"


def _of_lines(repair: Repair, source: str) -> Iterator[Finding]:
    found = spans(source, repair.find)
    if not found:
        yield Finding(("find",), "these lines do not stand in reference.py; quote whole lines, comments included")
    elif len(found) > 1:
        lines = ", ".join(str(span.first + 1) for span in found)
        yield Finding(("find",), f"these lines stand in reference.py at lines {lines}; add a neighbour to tell which")
    elif planted(source, [repair]) == planted(source, []):
        yield Finding(("replace",), "this changes nothing; write the mistake")
    else:
        yield from _of_outcome(planted(source, [repair]))


def _of_outcome(text: str) -> Iterator[Finding]:
    try:
        ast.parse(text)
    except SyntaxError as error:
        yield Finding(("replace",), f"with this the reference is no Python ({error.msg}); correct it")
    if any(len(line) > MOST_COLUMNS for line in text.splitlines()):
        yield Finding(("replace",), f"this makes a line longer than {MOST_COLUMNS} characters; break it")


def _overlapping(repairs: Sequence[Repair], source: str) -> Iterator[Finding]:
    """Mistakes that want the same lines: they could not be planted together."""
    placed = [
        (found[0], number) for number, repair in enumerate(repairs) if len(found := spans(source, repair.find)) == 1
    ]
    placed.sort(key=lambda at: (at[0].first, at[1]))
    for (before, first), (span, number) in pairwise(placed):
        if span.overlaps(before):
            said = f"its lines are those of {shown(repairs[first].wrong)} as well; find lines that do not overlap"
            yield Finding(("repairs", number, "find"), said)


def _reference(folder: Path) -> str:
    try:
        return (folder / "reference.py").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""  # `challenge_folder` says what is wrong with it
