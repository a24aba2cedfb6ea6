"""What widgets tell their screen."""

from __future__ import annotations

from textual.message import Message

from attncli.domain.rating import Rating


class Answered(Message):
    """The learner submitted what stands in an answer widget."""


class PointsTicked(Message):
    """A point was ticked or unticked."""


class Rated(Message):
    """A rating was chosen with the mouse."""

    def __init__(self, rating: Rating) -> None:
        super().__init__()
        self.rating = rating
