"""What is known of the files that were handed out with bugs, wherever they lie by now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from attncli.domain.challenge import Challenge
from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.repairs import Repair
from attncli.memory.replay import standing
from attncli.practice.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Planted:
    """The start that handed a file out, the names of the bugs in it, and how they were planted together.

    `repairs` is empty for the single bug of a whole wrong solution, and where the bank knows one of them no more.
    """

    start: LogRow
    bugs: tuple[str, ...]
    repairs: tuple[Repair, ...] = ()


def planted_in(workspace: Workspace, challenge: Challenge, file: Path) -> Planted | None:
    """What was planted in a file of the learner's; None for one that was not handed out with bugs.

    A file that was kept as a numbered copy is what it was under its old name.
    """
    start = _handed_out(workspace.store.log.of_subjects([challenge.id])).get(_place(file))
    if start is None or not start.is_planted:
        return None
    if start.bug:
        return Planted(start, (start.bug,))
    from attncli.bank.rules.repair_rules import load_repairs

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
