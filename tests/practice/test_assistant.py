"""Sessions led by an assistant: the cards asked, the calls refused, and changes by others in between."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from attncli.domain.log_row import Rating, RowKind
from attncli.errors import NotFound, Outdated, UsageError
from attncli.practice import record
from attncli.practice.assistant import AssistantSession
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from .conftest import Open

ANSWERS: dict[str, dict[str, Any]] = {
    "att-01": {"text": "The variance is d."},
    "att-02": {"numbers": [1]},
    "att-03": {"blanks": ["QK^T", "sqrt(d)"]},
    "kv-01": {"text": "4 GiB"},
    "kv-02": {"numbers": [1, 2, 3]},
    "kv-03": {"numbers": [1]},
}


@pytest.fixture
def tutor(workspace: Workspace) -> AssistantSession:
    return AssistantSession(workspace, Random(1))


def review(tutor: AssistantSession, rating: Rating = Rating.EASY, **which: Any) -> str:
    """Ask, answer and rate a card; return its id."""
    card: str = tutor.next_card(**which)["card"]
    tutor.attempt(card, **ANSWERS[card])
    tutor.rate(card, rating)
    return card


def test_every_due_card_is_put_once_till_a_new_day(tutor: AssistantSession, moving_clock: Clock) -> None:
    assert tutor.due()["due"] == 6 and tutor.due()["asked"] is None
    assert sorted(review(tutor) for _ in range(6)) == sorted(ANSWERS)
    assert tutor.next_card() == {"card": None, "said": "No more cards to ask.", "due": 0}
    tutor.workspace.lang = "zh"
    assert tutor.next_card()["said"] == "没有可问的卡片了。"
    moving_clock.move(days=400)
    assert tutor.next_card()["card"] in ANSWERS


def test_the_question_shows_what_is_needed_and_not_the_answer(tutor: AssistantSession) -> None:
    shown = {"att-02": "options", "att-03": "blanks", "kv-02": "items", "kv-03": "code"}
    for card in ANSWERS:
        put = tutor.next_card(card=card)
        beside = {shown[card]} if card in shown else set()
        assert put.keys() == {"card", "topic", "kind", "level", "question", "how"} | beside
        assert tutor.next_card(card=card) == put and tutor.due()["asked"] == card
        told = tutor.attempt(card, **ANSWERS[card])
        assert told["explain"] not in str(put) and told["intervals"]["good"]
        assert ("suggested_rating" in told) == (card != "att-01") and (told["correct"] is None) == (card == "att-01")
        tutor.rate(card, Rating.GOOD)


def test_the_answers_of_every_kind_are_marked(tutor: AssistantSession) -> None:
    put = tutor.next_card(card="att-02")
    right = next(int(line.split(".")[0]) for line in put["options"] if "attention" in line)
    assert tutor.attempt("att-02", numbers=[right])["correct"] is True
    tutor.rate("att-02", Rating.GOOD)
    items = tutor.next_card(card="kv-02")["items"]
    order = [next(int(line.split(".")[0]) for line in items if word in line) for word in ("prefill", "decode", "detok")]
    assert tutor.attempt("kv-02", numbers=order)["correct"] is True
    tutor.rate("kv-02", Rating.GOOD)
    assert tutor.next_card(card="att-03")["how"] == "blanks: 2 texts, one per blank"
    assert tutor.attempt("att-03", blanks=["QK^T", "d"])["said"].startswith("~ Partly right: 1 of 2")


def test_giving_up_is_an_attempt_and_an_empty_answer_is_none(tutor: AssistantSession) -> None:
    nothing = ({}, {"text": " "}, {"numbers": []}, {"blanks": ["", " "]}, {"numbers": [99]}, {"numbers": [1, 1]})
    for card, answer in ANSWERS.items():
        tutor.next_card(card=card)
        for empty in nothing:
            with pytest.raises(UsageError, match=r"needs .*Nothing was revealed"):
                tutor.attempt(card, **empty)
        with pytest.raises(UsageError, match="gave_up takes no answer"):
            tutor.attempt(card, gave_up=True, **answer)
        told = tutor.attempt(card, gave_up=True)
        assert told["correct"] in (None, False) and told["explain"]
        with pytest.raises(UsageError, match="has already been attempted"):
            tutor.attempt(card, **answer)
        tutor.rate(card, Rating.AGAIN)
    tutor.next_card(card="kv-01")
    with pytest.raises(UsageError, match="is not a number"):
        tutor.attempt("kv-01", text="a lot")
    assert tutor.attempt("kv-01", text="4 GiB")["card"] == "kv-01", "it may be given again"


def test_points_are_for_cards_that_are_not_marked(tutor: AssistantSession) -> None:
    tutor.next_card(card="kv-03")
    tutor.attempt("kv-03", numbers=[1])
    with pytest.raises(UsageError, match="is marked automatically; leave out points"):
        tutor.rate("kv-03", Rating.GOOD, [1])
    tutor.rate("kv-03", Rating.GOOD)
    tutor.next_card(card="att-01")
    tutor.attempt("att-01", text="…")
    with pytest.raises(UsageError, match="has points 1 to 3"):
        tutor.rate("att-01", Rating.GOOD, [4])
    tutor.rate("att-01", Rating.HARD, [3, 1])
    assert tutor.workspace.store.log.of_kind(RowKind.REVIEW)[-1].payload["points"] == [0, 2]


def test_a_suspended_card_is_asked_by_name_and_weak_ones_by_topic(tutor: AssistantSession, moving_clock: Clock) -> None:
    record.hold(tutor.workspace, RowKind.SUSPEND, "kv-03")
    assert review(tutor, card="kv-03") == review(tutor, card="kv-03") == "kv-03"
    for card in ("att-01", "kv-01"):
        review(tutor, Rating.AGAIN, card=card)
    moving_clock.move(days=2)
    assert review(tutor, weak=True, topic="kv") == "kv-01"
    assert tutor.next_card(weak=True, topic="kv")["card"] is None


def test_a_rating_whose_interval_has_changed_is_refused_once(tutor: AssistantSession, open_workspace: Open) -> None:
    card = tutor.next_card()["card"]
    tutor.attempt(card, **ANSWERS[card])
    elsewhere = AssistantSession(open_workspace(), Random(2))
    elsewhere.next_card(card=card)
    elsewhere.attempt(card, gave_up=True)
    elsewhere.rate(card, Rating.AGAIN)
    with pytest.raises(Outdated, match=f"intervals of card {card} have changed"):
        tutor.rate(card, Rating.GOOD)
    assert tutor.rate(card, Rating.GOOD)["card"] == card
    assert tutor.workspace.store.log.length() == 2


@pytest.mark.parametrize("attempted", [False, True])
def test_a_card_that_left_its_bank_is_put_no_longer(tutor: AssistantSession, small_bank: Path, attempted: bool) -> None:
    tutor.next_card(card="kv-01")
    if attempted:
        tutor.attempt("kv-01", text="4")
    (small_bank / "kv.yaml").unlink()
    tutor.workspace._bring_up_to_date()
    with pytest.raises(NotFound):
        tutor.rate("kv-01", Rating.GOOD) if attempted else tutor.attempt("kv-01", text="4")
    assert tutor.next_card()["card"].startswith("att")
    assert not tutor.workspace.store.log.length()
