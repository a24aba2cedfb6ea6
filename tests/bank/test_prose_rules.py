from collections.abc import Callable
from typing import Any

from attncli.bank.prose_rules import chinese_units, english_words

from .conftest import only

Card = dict[str, Any]
Errors = Callable[..., list[str]]


def test_how_lengths_are_counted() -> None:
    assert english_words("p_i(δ_ij − p_j) is 1/2 of it.") == 6
    assert chinese_units("方差是 d_k，约 1.5 倍的 KV cache。") == 10
    assert chinese_units("") == 0


LATIN = "(a Latin word or number counts as one)"


def test_the_short_answer_has_a_length(cards: dict[str, Card], errors: Errors) -> None:
    for lang, word, count, message in (
        ("en", "word ", 49, "the short answer has 49 words; it needs 50 to 120; say more"),
        ("en", "word ", 121, "the short answer has 121 words; it needs 50 to 120; move details to the explain field"),
        ("zh", "字", 99, f"the short answer has 99 characters {LATIN}; it needs 100"),
        ("zh", "字", 261, f"the short answer has 261 characters {LATIN}; it needs 100"),
    ):
        only(errors(cards["qa"] | {"short": cards["qa"]["short"] | {lang: word * count}}), message)
    for count in (50, 120):
        assert errors(cards["qa"] | {"short": cards["qa"]["short"] | {"en": "word " * count}}) == []


def test_the_lead_has_a_length(cards: dict[str, Card], errors: Errors) -> None:
    card = cards["qa"] | {"formula": r"\frac{1}{\sqrt{d_k}}", "must_know": True, "short": lengths(40, 80)}
    for words, characters, message in (
        (44, 80, "the lead has 44 words; it needs 45 to 70; say more"),
        (71, 140, "the lead has 71 words; it needs 45 to 70; move details to the explain field"),
        (45, 79, f"the lead has 79 characters {LATIN}; it needs 80 to 140; say more"),
        (70, 141, f"the lead has 141 characters {LATIN}; it needs 80 to 140; move"),
    ):
        only(errors(card | {"lead": lengths(words, characters)}), message)
    assert errors(card | {"lead": lengths(45, 80)}) == errors(card | {"lead": lengths(70, 140)}) == []


def lengths(words: int, characters: int) -> dict[str, str]:
    return {"en": "word " * words, "zh": "字" * characters}


def test_the_lead_counts_as_part_of_the_short_answer(cards: dict[str, Card], errors: Errors) -> None:
    both = {"lead": lengths(50, 80), "short": lengths(71, 80)}
    only(errors(cards["qa"] | both), "the short answer has 121 words")


def test_a_formula_that_cannot_be_shown_is_reported(cards: dict[str, Card], errors: Errors) -> None:
    only(errors(cards["qa"] | {"formula": r"\frac{1}{d"}), 'formula "')
    assert errors(cards["qa"] | {"must_know": "yes"})[0].startswith('"must_know" must be true or false')


def test_a_fix_is_code(cards: dict[str, Card], errors: Errors) -> None:
    cards["debug"]["fix"] = {"en": "y = 2   # not 1", "zh": "`y = 2`，不是 1"}
    assert errors(cards["debug"]) == ["a fix is shown as code; remove the backticks and write prose as a comment"]
