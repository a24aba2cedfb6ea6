"""Ask a card and mark its answer, without a screen."""

from __future__ import annotations

from random import Random

import pytest

from attncli.domain.card import Card
from attncli.domain.card_kinds import card_of
from attncli.domain.log_row import Rating
from attncli.errors import UsageError
from attncli.practice.marking import Asked
from right_answer import right_answer_to

BOTH = {"en": "text", "zh": "文字"}


def card(kind: str, **more: object) -> Card:
    return card_of({"id": "x-01", "topic": "x", "kind": kind, "level": "screen", "question": BOTH, **more})


def numeric() -> Card:
    return card("numeric", parameters=[["n", [["2", 2], ["3", 3]]]], compute="n * 2", unit="GiB", tolerance="1%")


def test_a_question_without_marking_follows_its_points() -> None:
    asked = Asked.of(card("qa", short=BOTH, points=[BOTH, BOTH]), Random(0))
    asked.submit()
    assert asked.revealed and asked.marked is None and asked.correct is None
    assert (asked.suggestion, asked.points) == (Rating.AGAIN, [])
    asked.ticked = {1, 0}
    assert (asked.suggestion, asked.points) == (Rating.GOOD, [0, 1])


def test_a_card_without_points_logs_none() -> None:
    assert Asked.of(card("qa", short=BOTH), Random(0)).points is None


def test_a_number_that_cannot_be_read_stays_unmarked() -> None:
    asked = Asked.of(numeric(), Random(0))
    asked.answer.texts = ["four"]
    with pytest.raises(UsageError):
        asked.submit()
    assert not asked.revealed


def test_a_number_given_up_is_wrong_and_tells_the_answer() -> None:
    asked = Asked.of(numeric(), Random(0))
    asked.submit()
    assert asked.is_blank and asked.correct is False and asked.marked is not None
    assert f"{right_answer_to(asked.card).texts[0]} GiB" in asked.marked.detail.en


def test_a_right_number_suggests_good() -> None:
    asked = Asked.of(numeric(), Random(0))
    asked.answer = right_answer_to(asked.card)
    asked.submit()
    assert asked.correct is True and asked.suggestion is Rating.GOOD and asked.points is None


@pytest.mark.parametrize(
    ("ticked", "total", "rating"),
    [(3, 3, Rating.GOOD), (2, 3, Rating.HARD), (1, 3, Rating.AGAIN), (0, 3, Rating.AGAIN), (0, 0, Rating.GOOD)],
)
def test_ticked_points_suggest_a_rating(ticked: int, total: int, rating: Rating) -> None:
    asked = Asked.of(card("qa", short=BOTH, points=[BOTH] * total), Random(0))
    asked.ticked = set(range(ticked))
    assert asked.suggestion is rating


def test_a_wrong_order_can_be_mended_and_none_gives_up() -> None:
    items = [{"key": key, "text": BOTH} for key in "ab"]
    asked = Asked.of(card("ordering", items=items, before=[["a", "b"]], explain=BOTH), Random(0))
    asked.choose([0])
    with pytest.raises(UsageError, match="each of a, b once"):
        asked.submit()
    assert not asked.revealed
    asked.choose([])
    asked.submit()
    assert asked.correct is False and [text.en for text in asked.told] == ["no answer", "text → text"]


def test_what_is_told_counts_the_blanks_of_several() -> None:
    blanks = [{"answer": answer, "form": "text"} for answer in ("one", "two")]
    asked = Asked.of(card("cloze", blanks=blanks, explain=BOTH), Random(0))
    asked.answer.texts = ["one", "three"]
    asked.submit()
    assert [text.en for text in asked.told] == ["~ Partly right: 1 of 2", "Expected: 2. two"]
    asked.answer.texts = ["one", "two"]
    asked.submit()
    assert [text.zh for text in asked.told] == ["✓ 正确", ""]
