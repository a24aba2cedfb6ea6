from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.card import ChoiceCard, ClozeCard, DebugCard, OrderingCard
from attncli.errors import UsageError
from attncli.practice.marking import (
    give_up_ordering,
    mark_choice,
    mark_cloze,
    mark_debug,
    mark_ordering,
    right_order,
    shuffled_items,
    shuffled_options,
)
from attncli.practice.workspace import Workspace


@pytest.fixture
def choice(workspace: Workspace) -> ChoiceCard:
    card = workspace.library.card("att-02")
    assert isinstance(card, ChoiceCard)
    return card


@pytest.fixture
def cloze(workspace: Workspace) -> ClozeCard:
    card = workspace.library.card("att-03")
    assert isinstance(card, ClozeCard)
    return card


@pytest.fixture
def ordering(workspace: Workspace) -> OrderingCard:
    card = workspace.library.card("kv-02")
    assert isinstance(card, OrderingCard)
    return card


@pytest.mark.parametrize(("chosen", "correct"), [({0}, True), ({1}, False), (set(), False), ({0, 1}, False)])
def test_a_choice_is_right_if_exactly_the_right_options_are_chosen(
    choice: ChoiceCard, chosen: set[int], correct: bool
) -> None:
    assert mark_choice(choice, chosen).correct is correct


def test_a_wrong_option_says_why_not_in_both_languages(choice: ChoiceCard) -> None:
    detail = mark_choice(choice, {1}).detail
    assert "It sees neighbours." in detail.en and "它看邻居。" in detail.zh
    assert "attention" in detail.en, "the missing right one is named as well"


def test_options_are_shown_in_any_order(choice: ChoiceCard) -> None:
    orders = {tuple(shuffled_options(choice, Random(seed))) for seed in range(50)}
    assert len(orders) == 6 and all(sorted(order) == [0, 1, 2] for order in orders)


@pytest.mark.parametrize(
    ("answers", "parts"),
    [
        (["QK^T", "sqrt(d)"], (True, True)),
        (["q k^t", "d**0.5"], (True, True)),
        (["ＱＫ^T", "d^(1/2)"], (True, True)),
        (["Q K^⊤", "d"], (True, False)),
        (["KQ^T", "√d"], (False, True)),
        (["", ""], (False, False)),
    ],
)
def test_blanks_are_marked_one_by_one(cloze: ClozeCard, answers: list[str], parts: tuple[bool, ...]) -> None:
    marked = mark_cloze(cloze, answers)
    assert marked.parts == parts and marked.correct is all(parts)
    if not all(parts):
        assert "sqrt(d)" in marked.detail.en or "QK^T" in marked.detail.en


@given(st.text(max_size=30))
def test_no_answer_to_a_blank_is_an_error(text: str) -> None:
    from attncli.i18n import Localised

    nothing = Localised("", "")
    from attncli.domain.card import Blank

    card = ClozeCard(
        id="x",
        topic="x",
        level="screen",
        core=False,
        question=nothing,
        blanks=(Blank("2*i/d", (), "algebra", ("i", "d")),),
    )
    mark_cloze(card, [text])


def test_another_number_of_blanks_is_refused(cloze: ClozeCard) -> None:
    with pytest.raises(UsageError, match="2 blanks, but 1 answers"):
        mark_cloze(cloze, ["QK^T"])


def test_an_order_is_right_if_no_pair_is_broken(ordering: OrderingCard) -> None:
    assert mark_ordering(ordering, ["prefill", "decode", "detokenise"]).correct
    wrong = mark_ordering(ordering, ["decode", "prefill", "detokenise"])
    assert not wrong.correct and "“prefill” comes before “decode”" in wrong.detail.en and "预填充" in wrong.detail.zh
    for keys in (["prefill"], ["prefill", "prefill", "decode"], ["a", "b", "c"]):
        with pytest.raises(UsageError, match="each of prefill, decode, detokenise once"):
            mark_ordering(ordering, keys)


def test_items_never_start_in_a_right_order(ordering: OrderingCard) -> None:
    for seed in range(100):
        assert not mark_ordering(ordering, shuffled_items(ordering, Random(seed))).correct


def test_giving_up_an_ordering_tells_a_right_one(ordering: OrderingCard) -> None:
    assert mark_ordering(ordering, right_order(ordering)).correct
    told = give_up_ordering(ordering)
    assert not told.correct and told.detail.en == "prefill → decode → detokenise"


def test_a_debug_card_wants_the_line_and_tells_symptom_and_fix(workspace: Workspace) -> None:
    card = workspace.library.card("kv-03")
    assert isinstance(card, DebugCard)
    assert mark_debug(card, 1).correct and not mark_debug(card, 2).correct
    assert "Shapes differ." in mark_debug(card, 2).detail.en and "dim=2" in mark_debug(card, 2).detail.zh
