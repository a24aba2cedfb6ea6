"""Challenges from the plain documents that the index holds."""

from __future__ import annotations

from typing import Any

from attncli.domain.challenge import Challenge
from attncli.domain.text import Localised


def challenge_of(document: dict[str, Any]) -> Challenge:
    """The challenge that a validated document (see `attncli.bank.schema`) describes."""
    tuples = {key: tuple(document[key]) for key in ("entry", "required", "badges", "forbidden", "cards")}
    texts = {key: Localised.of(document[key]) for key in ("title", "statement")}
    texts["hardened"] = Localised.of(document.get("hardened") or {"en": "", "zh": ""})
    hints = tuple(Localised.of(hint) for hint in document["hints"])
    return Challenge(**{**document, **tuples, **texts, "hints": hints})
