"""What comes of a case that the learner typed: both answers, and what is said of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from attncli.domain.grade_report import Counterexample
from attncli.domain.grade_report_json import counterexample_document, counterexample_of
from attncli.domain.text import NOTHING, Localised


@dataclass(frozen=True, slots=True, kw_only=True)
class BothAnswers:
    """`said` tells how the file's answer stands to the reference's; `same` is None where one of them cannot be had.

    `refused`: why the case cannot be tried at all. `forbidden`: what of it the challenge never asks for.
    """

    said: Localised = NOTHING
    shown: Counterexample | None = None
    same: bool | None = None
    refused: Localised = NOTHING
    forbidden: tuple[Localised, ...] = ()
    printed: str = ""


def answers_document(answers: BothAnswers) -> dict[str, Any]:
    """As the judge sends it."""
    shown = None if answers.shown is None else counterexample_document(answers.shown)
    return {
        "said": asdict(answers.said),
        "shown": shown,
        "same": answers.same,
        "refused": asdict(answers.refused),
        "forbidden": [asdict(line) for line in answers.forbidden],
        "printed": answers.printed,
    }


def answers_of(document: dict[str, Any]) -> BothAnswers:
    """And as it is read."""
    shown = document["shown"]
    return BothAnswers(
        said=Localised.of(document["said"]),
        shown=None if shown is None else counterexample_of(shown),
        same=document["same"],
        refused=Localised.of(document["refused"]),
        forbidden=tuple(map(Localised.of, document["forbidden"])),
        printed=document["printed"],
    )
