from collections.abc import Callable
from typing import Any

import pytest

from attncli.bank.link_rules import Match, matches

Card = dict[str, Any]

QUESTION = "Why are the attention scores divided by the square root of d_k before softmax?"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (QUESTION.upper().replace("?", " ?!"), True),
        (QUESTION.replace("before softmax", "before the softmax"), False),
        (QUESTION.replace("Why are", "Why, exactly, are"), False),
    ],
)
def test_what_is_asked_again_is_found(other: str, same: bool) -> None:
    assert list(matches(["Something else?", QUESTION, other])) == [Match(1, 2, same)]


@pytest.mark.parametrize(
    "other",
    [
        "Why is the mask added before softmax and not after it?",
        QUESTION.replace("attention scores", "router logits of a mixture of experts"),
        "",
    ],
)
def test_what_asks_something_else_is_no_match(other: str) -> None:
    assert list(matches([QUESTION, other])) == []


def test_questions_that_differ_in_a_number_are_different() -> None:
    assert (
        list(matches([f"How large is the KV cache of a model with {n} layers and eight heads?" for n in (24, 32)]))
        == []
    )


def test_chinese_is_compared_by_characters() -> None:
    first = "注意力分数为什么要除以根号 d_k，请从方差推导"
    assert list(matches([first, first.replace("请从", "请你从")])) == [Match(0, 1, False)]
    assert list(matches([first, "混合专家的负载均衡损失为什么写成 f 乘 P"])) == []


def test_a_question_is_told_once_beside_many_alike() -> None:
    questions = [f"Why are attention scores scaled in the model called {word}?" for word in ("a", "b", "c", "d", "e")]
    assert [match.later for match in matches(questions)] == [1, 2, 3, 4]


def test_the_work_is_linear_in_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    from attncli.bank import link_rules

    compared = 0
    resembles = link_rules._Question.resembles

    def counted(self: Any, other: Any) -> bool:
        nonlocal compared
        compared += 1
        return resembles(self, other)

    monkeypatch.setattr(link_rules._Question, "resembles", counted)
    count = 2000
    questions = [f"What is generated question {n} about, and why does it matter to {n * 7}?" for n in range(count)]
    assert list(matches(questions)) == []
    assert compared <= count * link_rules._SKETCH * link_rules._MAX_BUCKET


def test_a_repeated_question_is_named_with_the_earlier_card(
    cards: dict[str, Card], errors: Callable[..., list[str]]
) -> None:
    again = cards["debug"] | {"question": {"en": "What else?", "zh": cards["qa"]["question"]["zh"]}}
    assert errors(cards["qa"], again) == ["the question is the same as that of att-01; ask something else, or keep one"]
