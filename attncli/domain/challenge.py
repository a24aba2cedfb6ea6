"""Challenges: what is asked, how it is graded, and where a learner may stand with one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from attncli.domain.card import FollowUp, Source
from attncli.domain.mistakes import Mistake
from attncli.domain.text import Localised

Standing = Literal["new", "tried", "solved", "hardened"]

CHECK_NAMES: tuple[str, ...] = (
    "loads",
    "matches-reference",
    "gradients",
    "edge-cases",
    "stable",
    "low-precision",
    "layout",
    "device",
    "pure",
    "random",
    "forbidden",
    "work",
    "memory",
    "speed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One folder of `impl/`: what is asked, how it is graded. `folder` is its place on disk.

    `hardened` says what the second rung asks for besides, empty where that is nothing special. `kernel`: what is
    written is a GPU kernel in Triton. `mistakes` are those of the files in `wrong/`, each read when it is asked for.
    `follow_ups` are what interviewers ask next, each with its answer.
    """

    id: str
    track: str
    level: int
    title: Localised
    statement: Localised
    hardened: Localised
    entry: tuple[str, ...]
    hints: tuple[Localised, ...]
    required: tuple[str, ...]
    badges: tuple[str, ...]
    forbidden: tuple[str, ...]
    cards: tuple[str, ...]
    mistakes: Mapping[str, Mistake]
    folder: str
    version: int = 1
    kernel: bool = False
    follow_ups: tuple[FollowUp, ...] = ()
    sources: tuple[Source, ...] = ()
