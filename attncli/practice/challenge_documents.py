"""Challenges from the plain documents that the index holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attncli.bank.mistakes import Mistakes
from attncli.domain.card import follow_ups_of, sources_of
from attncli.domain.challenge import Challenge
from attncli.domain.text import Localised


def challenge_of(document: dict[str, Any]) -> Challenge:
    """The challenge that a validated document (see `attncli.bank.schema`) describes."""
    told: dict[str, Any] = {key: document[key] for key in ("id", "track", "level", "version", "kernel", "folder")}
    told |= {key: tuple(document[key]) for key in ("entry", "required", "badges", "forbidden", "cards")}
    told |= {key: Localised.of(document[key]) for key in ("title", "statement")}
    told["hardened"] = Localised.of(document.get("hardened") or {"en": "", "zh": ""})
    told |= {"follow_ups": follow_ups_of(document), "sources": sources_of(document)}
    hints = tuple(Localised.of(hint) for hint in document["hints"])
    return Challenge(**told, hints=hints, mistakes=Mistakes(Path(document["folder"])))
