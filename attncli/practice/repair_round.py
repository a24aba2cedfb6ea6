"""Files with planted bugs: which bugs a round plants, what is handed out, and what is known of such a file later."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attncli.bank.loader import REPAIRS
from attncli.bank.repair_rules import load_repairs
from attncli.domain.challenge import Challenge
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.repairs import MOST_BUGS, Repair, drawn, planted
from attncli.domain.text import Lang
from attncli.errors import EnvironmentFailure, UsageError
from attncli.memory.replay import standing
from attncli.practice.challenge_texts import statement
from attncli.practice.starter_docstring import docstring
from attncli.practice.workspace import Workspace
from attncli.words.repair_texts import heading


@dataclass(frozen=True, slots=True)
class Planted:
    """The start that handed a file out, the names of the bugs in it, and how they were planted together.

    `repairs` is empty for the single bug of a whole wrong solution, and where the bank knows one of them no more.
    """

    start: LogRow
    bugs: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


def offers_rounds(challenge: Challenge) -> bool:
    return (Path(challenge.folder) / REPAIRS).is_file()


def next_round(workspace: Workspace, challenge: Challenge, count: int, number: int | None) -> tuple[Repair, ...]:
    """The bugs of a round: of that `number`, or else of the one after those that were handed out.

    Raises UsageError where the challenge offers no rounds, or none of so many bugs.
    """
    repairs = load_repairs(Path(challenge.folder))
    if not repairs:
        raise UsageError(f"challenge {challenge.id} has no repair round; --bug hands out one wrong solution to debug")
    most = min(MOST_BUGS, len(repairs))
    if not 1 <= count <= most:
        raise UsageError(
            f"a repair round of {challenge.id} has 1 to {most} bugs, not {count}; give --repair 1 to {most}"
        )
    if number is None:
        number = sum(len(row.repairs) == count for row in workspace.store.log.of_subjects([challenge.id]))
    return drawn(challenge.id, repairs, count, number)


def round_text(challenge: Challenge, repairs: Iterable[Repair], file: Path, lang: Lang) -> str:
    """The reference with the bugs in it: what was said about its decisions gives way to what is to be done."""
    repairs = tuple(repairs)
    try:
        reference = (Path(challenge.folder) / "reference.py").read_text(encoding="utf-8")
        code = _without_docstring(planted(reference, repairs))
    except (OSError, ValueError, SyntaxError) as error:
        said = f"the reference of {challenge.id} takes no bugs ({error})"
        raise EnvironmentFailure(f"{said}; `attn verify {challenge.id}` says more") from error
    task = heading(challenge, len(repairs), file.name)[lang]
    return f"{docstring(task + chr(10) * 2 + statement(challenge).first[lang])}\n\n{code}"


def _without_docstring(source: str) -> str:
    tree = ast.parse(source)
    if ast.get_docstring(tree) is None:
        return source
    lines = source.splitlines(keepends=True)
    return "".join(lines[tree.body[0].end_lineno or 0 :]).lstrip("\n")


def planted_in(workspace: Workspace, challenge: Challenge, file: Path) -> Planted | None:
    """What was planted in a file of the learner's; None for one that was not handed out with bugs.

    A file that was kept as a numbered copy is what it was under its old name.
    """
    start = _handed_out(workspace.store.log.of_subjects([challenge.id])).get(_place(file))
    if start is None or not start.is_planted:
        return None
    if start.bug:
        return Planted(start, (start.bug,))
    known = {repair.wrong: repair for repair in load_repairs(Path(challenge.folder))}
    repairs = tuple(known[name] for name in start.repairs if name in known)
    return Planted(start, start.repairs, repairs if len(repairs) == len(start.repairs) else ())


def _handed_out(rows: Iterable[LogRow]) -> dict[str, LogRow]:
    """The last start of each file."""
    found: dict[str, LogRow] = {}
    for row in standing(rows):
        if row.kind is not RowKind.START:
            continue
        file, kept = (row.payload.get(key) for key in ("file", "kept"))
        if isinstance(kept, str) and kept and isinstance(file, str) and _place(Path(file)) in found:
            found[_place(Path(kept))] = found[_place(Path(file))]
        if isinstance(file, str):
            found[_place(Path(file))] = row
    return found


def _place(file: Path) -> str:
    try:
        return str(file.resolve())
    except (OSError, ValueError, RuntimeError):
        return str(file.absolute())


def fixed(rows: Iterable[LogRow]) -> int:
    """In how many of the files that were handed out with bugs these were all repaired."""
    return len({row.fixes for row in standing(rows) if row.fixes})
