from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attncli.bank.prose_rules import Terms, chinese_units, english_words, measured_findings, style_findings

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


def zh(text: str) -> list[tuple[bool, str]]:
    return [(finding.error, finding.message.en) for finding in style_findings({"en": "fine", "zh": text})]


@pytest.mark.parametrize(
    ("text", "sign", "better"),
    [
        ("先缩放,再掩码", ",", "，"),
        ("好吗? 好", "?", "？"),
        ("两步: 先缩放", ":", "："),
        ("说完了.", ".", "。"),
        ("甲;乙", ";", "；"),
    ],
)
def test_half_width_punctuation_between_chinese_is_named(text: str, sign: str, better: str) -> None:
    (found,) = zh(text)
    assert found[0]
    assert found[1].startswith(f"half-width {sign} in Chinese near ")
    assert found[1].endswith(f"; write {better}")


@pytest.mark.parametrize(
    "text", ["先缩放，再掩码。", "用 `a,b` 表示", "见 $f(x),g$ 一式", "值为 1,024 个", "(B, T, d) 的形状", "a.b 是点"]
)
def test_code_formulas_numbers_and_latin_keep_their_punctuation(text: str) -> None:
    assert zh(text) == []


def test_style_is_a_note_not_an_error() -> None:
    assert zh("用KV缓存") == [(False, 'no space between Chinese and Latin near "用KV缓存"; add one')]
    assert zh("总而言之，缩放") == [(False, '"总而言之" adds nothing; remove it')]
    filler = list(style_findings({"en": "It is important to note that", "zh": "好"}))
    assert [(found.error, found.message.en) for found in filler] == [
        (False, '"It is important to note" adds nothing; remove it')
    ]


TERMS = Terms.of(
    [
        {"en": "attention head", "zh": "头", "avoid_zh": ["注意头"]},
        {"en": "normalisation", "zh": "归一化", "avoid_en": ["normalization"], "avoid_zh": ["归一", "规范化"]},
        {"en": "KV cache", "zh": "KV cache", "abbreviation": "KV", "avoid_en": ["key-value cache"]},
    ]
)


def terms(en: str, zh: str) -> list[str]:
    return [finding.message.en for finding in TERMS.findings({"en": en, "zh": zh})]


def test_terms_that_the_glossary_avoids_are_named_with_the_better_one() -> None:
    assert terms("Normalization of heads", "好") == [
        '"Normalization" is not the glossary\'s term; write "normalisation"'
    ]
    assert terms("fine", "规范化与注意头") == [
        '"规范化" is not the glossary\'s term; write "归一化"',
        '"注意头" is not the glossary\'s term; write "头"',
    ]


def test_an_avoided_word_inside_a_right_term_or_another_word_is_fine() -> None:
    assert terms("denormalizations", "归一化") == []
    assert terms("fine", "归一与归一化") == ['"归一" is not the glossary\'s term; write "归一化"']


def test_without_a_glossary_nothing_is_avoided() -> None:
    assert list(Terms.of([]).findings({"en": "normalization", "zh": "归一"})) == []


@pytest.mark.parametrize(
    ("lang", "text", "said"),
    [
        ("en", "In small runs of ours it fell to 0.4.", "runs of ours"),
        ("en", "We measured 0.4 on eight seeds.", "We measured"),
        ("zh", "我们的一次小实验里降到 0.4。", "我们的一次小实验"),
        ("zh", "我们跑下来是 0.4。", "我们跑下来"),
    ],
)
def test_a_measurement_of_our_own_has_the_experiment_that_shows_it(lang: str, text: str, said: str) -> None:
    card = {"explain": {"en": "Yes.", "zh": "是。"} | {lang: text}}
    (found,) = measured_findings(card)
    assert found.path == ("explain", lang) and found.message.en.startswith(f'"{said}" claims our own measurement')
    assert not list(measured_findings({**card, "experiment": "mixit"}))


def test_measurements_of_others_are_theirs() -> None:
    text = {"en": "The paper measured 0.4; measured time falls.", "zh": "论文测得 0.4，实测时间更短。"}
    assert not list(measured_findings({"explain": text}))
