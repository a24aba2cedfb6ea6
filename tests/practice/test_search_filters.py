"""Tags, flags, notes and own cards in the learner's folder, and searches by them."""

from __future__ import annotations

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import UsageError
from attncli.practice import record
from attncli.practice.authoring import add_card
from attncli.practice.queue import STATES, browse
from attncli.practice.record import annotated_cards, annotation, answer, set_note, take_back, toggle_tag
from attncli.practice.workspace import Workspace


def ids(workspace: Workspace, line: str) -> set[str]:
    return {card.id for card in browse(workspace, line).cards}


def some(workspace: Workspace) -> list[str]:
    return sorted(card.id for card in workspace.library.cards())[:4]


def test_a_tag_is_put_on_and_taken_off(workspace: Workspace) -> None:
    first, second, *_ = some(workspace)
    assert toggle_tag(workspace, first, "#Hard") and toggle_tag(workspace, first, "flag")
    assert annotation(workspace, first).tags == ("hard", "flag") and annotation(workspace, first).flagged
    assert ids(workspace, "#hard") == ids(workspace, "is:flagged") == {first}
    assert not toggle_tag(workspace, first, "hard")
    assert ids(workspace, "#hard") == set() and set(annotated_cards(workspace)) == {first}
    assert annotation(workspace, second).tags == ()


def test_a_note_is_replaced_and_taken_back(workspace: Workspace) -> None:
    card, *_ = some(workspace)
    set_note(workspace, card, "  one ")
    set_note(workspace, card, "two")
    assert annotation(workspace, card).note == "two" and ids(workspace, "is:noted") == {card}
    take_back(workspace)
    assert annotation(workspace, card).note == "one"
    set_note(workspace, card, "one")
    take_back(workspace)
    assert annotation(workspace, card).note == "" and ids(workspace, "is:noted") == set()


@pytest.mark.parametrize("tag", ["", "#", "two words", "-x", "x" * 41, "a/b"])
def test_what_is_no_tag_is_refused(workspace: Workspace, tag: str) -> None:
    with pytest.raises(UsageError, match="letters, digits and hyphens for a tag, at most 40"):
        toggle_tag(workspace, some(workspace)[0], tag)


def test_a_note_too_long_to_keep_is_refused_and_the_old_one_stays(workspace: Workspace) -> None:
    card = some(workspace)[0]
    set_note(workspace, card, "kept")
    with pytest.raises(UsageError, match="note is too long; shorten it"):
        set_note(workspace, card, "x" * 4001)
    assert annotation(workspace, card).note == "kept"


def test_states_find_the_cards_that_are_in_them(workspace: Workspace) -> None:
    seen, suspended, buried, _ = some(workspace)
    answer(workspace, seen, Rating.AGAIN)
    record.hold(workspace, RowKind.SUSPEND, suspended)
    record.hold(workspace, RowKind.BURY, buried)
    everything = ids(workspace, "")
    assert ids(workspace, "is:seen") == {seen} and ids(workspace, "is:new") == everything - {seen}
    assert ids(workspace, "is:suspended") == {suspended} and ids(workspace, "is:buried") == {buried}
    assert ids(workspace, "is:weak") == {seen} and ids(workspace, "is:leech") == set()
    assert ids(workspace, "is:seen is:suspended") == set()


def test_own_cards_are_found_as_soon_as_they_are_read(workspace: Workspace) -> None:
    new = add_card(workspace, "mine", "What is a tensor?", "An array.")
    workspace.read_banks()
    assert ids(workspace, "is:own") == ids(workspace, "tensor is:own") == ids(workspace, "topic:mine") == {new.id}


def test_filters_narrow_what_the_words_find(workspace: Workspace) -> None:
    card = browse(workspace, "").cards[0]
    assert card.id in ids(workspace, f"kind:{card.kind} level:{card.level} topic:{card.topic.upper()}")
    assert all(found.kind == "numeric" for found in browse(workspace, "kind:numeric").cards)


@pytest.mark.parametrize("word", ["is:odd", "kind:poem", "level:", "topic:nowhere"])
def test_a_filter_that_means_nothing_is_named_and_narrows_nothing(workspace: Workspace, word: str) -> None:
    found = browse(workspace, word)
    assert found.unknown == (word,) and len(found.cards) == len(browse(workspace, "").cards)


@pytest.mark.parametrize("state", STATES)
def test_every_state_that_is_offered_is_understood(workspace: Workspace, state: str) -> None:
    assert browse(workspace, f"is:{state}").unknown == ()


def test_at_most_so_many_are_shown_of_all_that_are_counted(workspace: Workspace) -> None:
    for line in ("", "kind:numeric", "is:new", "attention"):
        whole = browse(workspace, line)
        assert whole.count == len(whole.cards)
        for most in (0, 1, 2, 10_000):
            some = browse(workspace, line, most)
            assert (some.cards, some.count) == (whole.cards[:most], whole.count), line
