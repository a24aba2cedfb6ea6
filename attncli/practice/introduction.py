"""The queue made anew from the index: who waits, and in what order unseen cards come."""

from __future__ import annotations

from attncli.memory.card_order import Unseen, introduction_order
from attncli.store.database import Database


def rebuild_queue(store: Database) -> None:
    """Joins cards, schedules and holds; inside a transaction."""
    store.queue.rebuild(introduction_order(Unseen(*card) for card in store.index.introduction()))
