"""Compare the counts of a session's cards with a walk over them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from attncli.practice.review import PlannedCards
from attncli.store.schedules import Waiting

CARDS = st.builds(Waiting, st.sampled_from("abcdef"), st.just("topic"), st.booleans())


@given(cards=st.lists(CARDS), acts=st.lists(st.none() | CARDS))
def test_taken_and_put_back_in_any_order(cards: list[Waiting], acts: list[Waiting | None]) -> None:
    planned = PlannedCards(cards)
    for put_back in acts:
        if put_back is not None:
            planned.put_back(put_back)
            cards.insert(0, put_back)
        elif cards:
            assert planned.take() == cards.pop(0)
        assert (len(planned), planned.new, planned.review) == (
            len(cards),
            sum(card.is_new for card in cards),
            sum(not card.is_new for card in cards),
        )
        assert [id for id in "abcdef" if id in planned] == sorted({card.id for card in cards})
