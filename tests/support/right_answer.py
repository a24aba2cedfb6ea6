"""Return the right answer to a card of any kind."""

from attncli.domain.card import Card
from attncli.domain.card_kinds import ClozeCard, NumericCard
from attncli.domain.parts import Answer, Arrange


def right_answer_to(card: Card) -> Answer:
    """Return an answer that is marked right."""
    if isinstance(card, ClozeCard):
        return Answer(texts=[blank.answer for blank in card.blanks])
    if isinstance(card, NumericCard):
        return Answer(texts=[repr(card.expected)])
    entry = card.entry()
    if isinstance(entry, Arrange):
        return Answer(list(entry.order))
    right = [place for place, row in enumerate(entry.rows) if row.right]
    return Answer(right[: entry.wanted or None])
