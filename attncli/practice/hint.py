"""Hints, one after the other; each one seen counts as help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncli.domain.log_row import LogRow, RowKind
from attncli.domain.text import Localised
from attncli.errors import Unfit
from attncli.memory.replay import standing
from attncli.practice.log.log_transaction import record
from attncli.practice.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Hint:
    """Hint `number` of `total`; `again` if all had been given and the last one is repeated."""

    number: int
    total: int
    text: Localised
    again: bool


def next_hint(workspace: Workspace, id: str) -> Hint:
    """The next hint for challenge `id`, recorded as seen; they start over once it was solved."""
    challenge = workspace.library.challenge(id)
    if not challenge.hints:
        said = f"challenge {challenge.id} has no hints; `attn solution {challenge.id}` shows the reference"
        raise Unfit(said, "no-hints")
    seen = len(_since_solved(workspace, challenge.id, RowKind.HINT))
    number = min(seen + 1, len(challenge.hints))
    if seen < len(challenge.hints):
        record(workspace, RowKind.HINT, challenge.id, {"number": number})
    return Hint(number, len(challenge.hints), challenge.hints[number - 1], seen >= len(challenge.hints))


def _since_solved(workspace: Workspace, id: str, kind: RowKind) -> Sequence[LogRow]:
    found: list[LogRow] = []
    for row in standing(workspace.store.log.of_subjects([id])):
        if row.reached != "none":
            found.clear()
        elif row.kind is kind:
            found.append(row)
    return found
