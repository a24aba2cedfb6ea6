"""In which order the sides of a card behind its question are shown."""

from __future__ import annotations

from typing import Literal

from attncli.domain.card import Card

Section = Literal[
    "answer",
    "points",
    "explain",
    "pitfalls",
    "unverifiable",
    "challenge",
    "experiment",
    "follow-ups",
    "as-of",
    "sources",
]


def sections(card: Card) -> list[Section]:
    """Those that `card` has, in order."""
    found: dict[Section, object] = {
        "answer": card.short,
        "points": card.points,
        "explain": card.explain,
        "pitfalls": card.pitfalls,
        "unverifiable": card.unverifiable,
        "challenge": card.challenges,
        "experiment": card.experiment,
        "follow-ups": card.follow_ups,
        "as-of": card.as_of,
        "sources": card.sources,
    }
    return [section for section, content in found.items() if content]
