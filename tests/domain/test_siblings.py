from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.vocabulary import Meeting, waiting

CARDS = [f"card-{n}" for n in range(8)]


@st.composite
def meetings(draw: st.DrawFn) -> list[Meeting]:
    """Return the queue's input: due cards with their siblings, which are due too or come anyway."""
    late = {card: draw(st.integers(0, 6)) for card in CARDS}
    interval = {card: draw(st.sampled_from([1.0, 2.0, 2.0, 30.0])) for card in CARDS}
    pairs = draw(st.sets(st.tuples(st.sampled_from(CARDS), st.sampled_from(CARDS)), max_size=14))
    found = [
        Meeting(card, "att", late[card], interval[card], other, comes=False)
        for a, b in sorted(pairs)
        if a < b
        for card, other in ((a, b), (b, a))
    ]
    coming = draw(st.sets(st.sampled_from(CARDS), max_size=4))
    found += [Meeting(card, "att", late[card], interval[card], "studied", comes=True) for card in sorted(coming)]
    return draw(st.permutations(found))


@given(meetings())
def test_no_two_siblings_come_and_nothing_waits_without_a_reason(found: Sequence[Meeting]) -> None:
    waits = set(waiting(found))
    comes = {meeting.sibling for meeting in found if meeting.comes} | ({meeting.card for meeting in found} - waits)
    for card in {meeting.card for meeting in found}:
        beside = {meeting.sibling for meeting in found if meeting.card == card}
        assert bool(beside & comes) == (card in waits)


@given(meetings(), st.randoms())
def test_who_waits_does_not_depend_on_the_order_in_which_siblings_are_named(found: list[Meeting], rng: object) -> None:
    before = waiting(found)
    rng.shuffle(found)  # type: ignore[attr-defined]
    assert waiting(found) == before


@given(meetings())
def test_nothing_waits_for_a_review_that_has_waited_less_long(found: list[Meeting]) -> None:
    waits, late = waiting(found), {meeting.card: meeting.days_late for meeting in found}
    for card in waits:
        blocking = [m for m in found if m.card == card and (m.comes or m.sibling in set(late) - waits.keys())]
        assert any(meeting.comes or late[meeting.sibling] >= late[card] for meeting in blocking)


def test_of_two_that_are_due_together_the_shorter_interval_comes_first() -> None:
    pair = [Meeting("a", "att", 1, 30.0, "b", False), Meeting("b", "kv", 1, 3.0, "a", False)]
    assert waiting(pair) == {"a": "att"}
    assert waiting([]) == {}
