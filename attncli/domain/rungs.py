"""The two rungs of a challenge: solved is right at the whiteboard, hardened is ready for production."""

from __future__ import annotations

from typing import Literal

CaseRung = Literal["solved", "hardened"]
Rung = Literal["none", "solved", "hardened"]
RUNGS: tuple[CaseRung, ...] = ("solved", "hardened")
