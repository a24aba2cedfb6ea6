"""Siblings that wait for each other; tracks, their titles and their order."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.vocabulary import TRACKS, Meeting, reading_order, track_title, waiting
from attncli.i18n import Localised
from attncli.paths import bundled_impl

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


@given(meetings(), st.randoms())
def test_no_two_siblings_come_and_nothing_waits_without_a_reason(found: list[Meeting], rng: Random) -> None:
    waits, late = waiting(found), {meeting.card: meeting.days_late for meeting in found}
    assert waiting(rng.sample(found, len(found))) == waits, "whatever the order in which siblings are named"
    comes = {meeting.sibling for meeting in found if meeting.comes} | (late.keys() - waits.keys())
    for card in late:
        beside = [meeting for meeting in found if meeting.card == card and meeting.sibling in comes]
        assert bool(beside) == (card in waits)
        longer = [meeting for meeting in beside if meeting.comes or late[meeting.sibling] >= late[card]]
        assert bool(longer) == (card in waits), "nothing waits for a review that has waited less long"


def test_of_two_that_are_due_together_the_shorter_interval_comes_first() -> None:
    pair = [Meeting("a", "att", 1, 30.0, "b", False), Meeting("b", "kv", 1, 3.0, "a", False)]
    assert waiting(pair) == {"a": "att"}
    assert waiting([]) == {}


def test_every_bundled_track_has_a_title_of_its_own_in_both_languages_and_own_ones_come_last() -> None:
    assert {yaml.parent.parent.name for yaml in bundled_impl().glob("*/*/challenge.yaml")} <= TRACKS.keys()
    for lang in ("en", "zh"):
        assert len({title[lang] for title in TRACKS.values()}) == len(TRACKS)
    assert all(title.en != title.zh for title in TRACKS.values()) and track_title("embeddings").zh == "词嵌入"
    in_order = ["attention", "cache", "serving", "another", "mine"]
    assert sorted(["mine", "serving", "another", "cache", "attention"], key=reading_order) == in_order
    assert track_title("mine") == Localised("mine", "mine")
