"""The cards of a sitting in the order in which it asks for them, counted without a walk over all of them."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from attncli.store.queue_table import Waiting


class PlannedCards:
    """A queue of cards: how many of them are unseen, how many are reviews, and which they are."""

    def __init__(self, waiting: Iterable[Waiting]) -> None:
        self._cards = deque(waiting)
        self._ids = Counter(card.id for card in self._cards)
        self.new = sum(card.is_new for card in self._cards)

    def __len__(self) -> int:
        return len(self._cards)

    def __contains__(self, id: str) -> bool:
        return self._ids[id] > 0

    @property
    def review(self) -> int:
        return len(self._cards) - self.new

    def take(self) -> Waiting:
        """The next card, which is no longer among them. IndexError where there is none."""
        card = self._cards.popleft()
        self._ids[card.id] -= 1
        self.new -= card.is_new
        return card

    def put_back(self, card: Waiting) -> None:
        """It is the next one again."""
        self._cards.appendleft(card)
        self._ids[card.id] += 1
        self.new += card.is_new
