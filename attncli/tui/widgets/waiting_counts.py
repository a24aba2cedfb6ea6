"""What waits in a review: new cards, cards in their learning steps, and reviews that are due."""

from __future__ import annotations

from textual.content import Content

from attncli.domain.schedule import State
from attncli.domain.text import Lang
from attncli.practice.review import SittingProgress
from attncli.words.app_texts import say

_STATES = {"new": (State.NEW,), "learning": (State.LEARNING, State.RELEARNING), "due": (State.REVIEW,)}


def waiting_counts(progress: SittingProgress, state: State | None, lang: Lang) -> Content:
    """`9 new · 1 learning · 12 due`; the count that the card on the screen belongs to is underlined."""
    counts = {"new": progress.new, "learning": progress.learning, "due": progress.review}
    parts = [
        Content.styled(say(f"review.waits-{name}", lang, count=count), "underline" if state in _STATES[name] else "")
        for name, count in counts.items()
    ]
    return Content(" · ").join(parts)
