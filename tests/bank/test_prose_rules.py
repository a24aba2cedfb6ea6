from collections.abc import Callable
from typing import Any

import pytest

from attncli.bank.prose_rules import chinese_units, english_words

Card = dict[str, Any]
Errors = Callable[..., list[str]]


def test_how_lengths_are_counted() -> None:
    assert english_words("p_i(δ_ij − p_j) is 1/2 of it.") == 6
    assert chinese_units("方差是 d_k，约 1.5 倍的 KV cache。") == 10
    assert chinese_units("") == 0


@pytest.mark.parametrize(
    ("lang", "text", "message"),
    [
        ("en", "word " * 49, "the short answer has 49 words; it needs 50 to 120; say more"),
        ("en", "word " * 121, "the short answer has 121 words; it needs 50 to 120; move details to the explain field"),
        ("zh", "字" * 99, "the short answer has 99 characters (a Latin word or number counts as one); it needs 100"),
        ("zh", "字" * 261, "the short answer has 261 characters (a Latin word or number counts as one); it needs 100"),
    ],
)
def test_the_short_answer_has_a_length(
    cards: dict[str, Card], errors: Errors, lang: str, text: str, message: str
) -> None:
    cards["qa"]["short"][lang] = text
    (found,) = errors(cards["qa"])
    assert found.startswith(message)


@pytest.mark.parametrize(
    ("words", "characters", "message"),
    [
        (44, 80, "the lead has 44 words; it needs 45 to 70; say more"),
        (71, 140, "the lead has 71 words; it needs 45 to 70; move details to the explain field"),
        (45, 79, "the lead has 79 characters (a Latin word or number counts as one); it needs 80 to 140; say more"),
        (70, 141, "the lead has 141 characters (a Latin word or number counts as one); it needs 80 to 140; move"),
        (45, 80, None),
        (70, 140, None),
    ],
)
def test_the_lead_has_a_length(
    cards: dict[str, Card], errors: Errors, words: int, characters: int, message: str | None
) -> None:
    lead, rest = ({"en": "word " * many, "zh": "字" * signs} for many, signs in ((words, characters), (40, 80)))
    marks = {"formula": r"\frac{1}{\sqrt{d_k}}", "must_know": True}
    found = errors(cards["qa"] | {"lead": lead, "short": rest} | marks)
    assert [text.startswith(message or "") for text in found] == [True] * bool(message)


def test_the_lead_counts_as_part_of_the_short_answer(cards: dict[str, Card], errors: Errors) -> None:
    lead, rest = ({"en": "word " * many, "zh": "字" * 80} for many in (50, 71))
    (found,) = errors(cards["qa"] | {"lead": lead, "short": rest})
    assert found.startswith("the short answer has 121 words")


def test_a_formula_that_cannot_be_shown_is_reported(cards: dict[str, Card], errors: Errors) -> None:
    (found,) = errors(cards["qa"] | {"formula": r"\frac{1}{d"})
    assert found.startswith('formula "')
    assert errors(cards["qa"] | {"must_know": "yes"})[0].startswith('"must_know" must be true or false')


@pytest.mark.parametrize(("lang", "count"), [("en", 50), ("en", 120)])
def test_the_bounds_are_allowed(cards: dict[str, Card], errors: Errors, lang: str, count: int) -> None:
    cards["qa"]["short"][lang] = "word " * count
    assert errors(cards["qa"]) == []


def test_a_fix_is_code(cards: dict[str, Card], errors: Errors) -> None:
    cards["debug"]["fix"] = {"en": "y = 2   # not 1", "zh": "`y = 2`，不是 1"}
    assert errors(cards["debug"]) == ["a fix is shown as code; remove the backticks and write prose as a comment"]
