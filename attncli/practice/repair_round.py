"""Repair rounds: which round of a challenge is next, by what was handed out, and the file that is handed out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from attncli.domain.challenge import Challenge
from attncli.domain.repairs import MOST_BUGS, REPAIRS, Repair, drawn, planted
from attncli.domain.text import Lang
from attncli.errors import EnvironmentFailure, UsageError
from attncli.practice.starter_docstring import docstring, without_docstring
from attncli.practice.whole_statement import statement
from attncli.practice.workspace import Workspace
from attncli.words.repair_texts import heading

NAMED = 5


def offers_rounds(challenge: Challenge) -> bool:
    return (Path(challenge.folder) / REPAIRS).is_file()


def _that_offer(workspace: Workspace, track: str) -> list[str]:
    """A few challenges that offer rounds, those of a track first."""
    offering = [challenge for challenge in workspace.library.challenges() if offers_rounds(challenge)]
    offering.sort(key=lambda challenge: challenge.track != track)
    return [challenge.id for challenge in offering[:NAMED]] or ["none yet"]


def next_round(workspace: Workspace, challenge: Challenge, count: int, number: int | None) -> tuple[Repair, ...]:
    """The bugs of a round: of that `number`, or else of the one after those that were handed out.

    Raises UsageError where the challenge offers no rounds, or none of so many bugs.
    """
    from attncli.bank.rules.repair_rules import load_repairs

    repairs = load_repairs(Path(challenge.folder))
    if not repairs:
        said = f"challenge {challenge.id} has no repair round; --bug hands out one wrong solution to debug"
        raise UsageError(f"{said}, and these have rounds: {', '.join(_that_offer(workspace, challenge.track))}")
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
        code = without_docstring(planted(reference, repairs))
    except (OSError, ValueError, SyntaxError) as error:
        said = f"the reference of {challenge.id} takes no bugs ({error})"
        raise EnvironmentFailure(f"{said}; `attn verify {challenge.id}` says more") from error
    task = heading(challenge, len(repairs), file.name)[lang]
    return f"{docstring(task + chr(10) * 2 + statement(challenge).first[lang])}\n\n{code}"
