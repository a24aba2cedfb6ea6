"""Check the reviewed list of common errors and the cards that correct them; no answer repeats an error."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from attncli.bank.link_rules import LAST_ERRATUM
from attncli.bank.loader import ERRATA
from attncli.bank.yaml_reader import parse, read_text
from attncli.paths import bundled_quizbank

from .conftest import bundled_documents

STATED: Mapping[str, tuple[str, str, str]] = {
    "E07": ("kv-08", "PaLM, Falcon-7B and StarCoder use it", "PaLM、Falcon-7B、StarCoder 用的是 MQA"),
    "E15": ("att-01", "softmax along the last axis so that each row sums to 1", "softmax 沿最后一维做，使每行的和为 1"),
    "E36": ("mask-03", "weight and gradient 0 in every dtype", "任何 dtype 下权重和梯度都恰为 0"),
    "E58": ("norm-02", "LayerNorm for each token over its features", "LayerNorm 对每个 token 在特征维上统计"),
    "E63": ("opt-21", "none from a balanced batch", "均衡的一批则没有"),
    "E107": ("arch-01", "causal mask, next-token prediction", "因果掩码，预测下一个"),
}
"""Cards that correct an error in the answer itself, without a pitfall; with the correcting words in both languages."""

SAID: Mapping[str, tuple[str, str]] = {
    "E01": (r"17\.5 ?(B\b|billion)", r"(?<!\d)175 亿"),
    "E02": (r"5\.95 ?(B\b|billion)", r"59\.5 亿"),
    "E06": (r"Claude 3 has 100k", r"Claude 3 的上下文是 100k"),
    "E07": (r"(GPT-4|Claude)\W? uses? (MQA|GQA)|Llama 2 uses GQA", r"(GPT-4|Claude) 用 (MQA|GQA)|Llama 2 用 GQA"),
    "E08": (r"GPT-4 is decoder-only|LLMs are plain Transformers", r"GPT-4 是 decoder-only|都是(普通|标准) Transformer"),
    "E12": (r"needs only two parameters", r"只(要|需要)两个参数"),
    "E15": (r"(softmax|“|^)\W*[Bb]y columns", r"(softmax|“|^)\W*按列"),
    "E16": (r"[Cc]lose to 1 for both", r"两个都接近 1，因为"),
    "E19": (r"[Ww]ithout it gradients explode", r"不除就会梯度爆炸"),
    "E22": (r"[Hh]eads exist to cut|kept small to save", r"多头是为了降低|取小是为了省"),
    "E23": (r"head only sees its part", r"每个头只看 embedding"),
    "E26": (r"so Q = K = V", r"所以 Q = K = V"),
    "E29": (r"(equals|is|are) one linear (model|map)", r"等于一个线性(模型|变换)"),
    "E30": (r"(?i)(attention is|“)permutation-invariant", r"(注意力是|“)置换不变"),
    "E36": (r"weights approach 0", r"权重趋近于 0"),
    "E44": (r"\(2i ?\+ ?1\) ?/ ?d for the cosine", r"余弦的指数写成 \(2i\+1\)/d"),
    "E47": (r"BERT used? ?s? (sinusoid|fixed)", r"BERT (等早期 Transformer )?用正弦"),
    "E48": (r"RoPE extrapolates", r"RoPE 外推(很|非常)?好"),
    "E50": (r"rotates by one angle", r"按一个角度"),
    "E60": (r"FFN (is|=) two layers with ReLU", r"FFN (也)?是“两层加 ReLU”"),
    "E62": (r"[Aa]ttention gradients are sparse", r"注意力的?梯度稀疏"),
    "E71": (r"cubic (into|to) quadratic", r"三次方降[成到]二次方"),
    "E74": (r"MLA is faster because", r"MLA 快是因为"),
    "E76": (r"makes attention O\(n\)", r"MQA 把注意力降到 O\(n\)"),
    "E77": (r"replaced by a (second )?self-attention", r"交叉注意力换成了自注意力"),
    "E78": (r"encoder-only (or|and) encoder–decoder", r"推理分 encoder-only"),
    "E83": (r"[Cc]ross-attention is irreplaceable", r"交叉注意力不可替代"),
    "E85": (r"O\(N²\)( attention)? is the bottleneck", r"O\(N²\)( 的注意力)?就是长上下文的瓶颈"),
    "E90": (r"MMoE: the extra M", r"MMoE：多出来的 M"),
    "E91": (r"FLOPs basically unchanged", r"FLOPs 基本不变"),
    "E98": (r"[Ee]xactly (the dynamic range of FP32|FP32's range)", r"与 FP32 (完全一样|分毫不差)"),
    "E99": (r"overflow easily", r"容易(上溢|溢出)"),
    "E100": (r"drop-in for FP32", r"直接替换 FP32"),
    "E104": (r"[Bb]ias correction keeps the first steps", r"偏差修正是防止最初几步太小"),
    "E105": (r"AdamW is Adam with L2", r"AdamW 就是 Adam 加 L2"),
    "E108": (r"begin(ning)? of (a |the )?sentence", r"句子开头"),
    "E113": (r"[Rr]andom frozen attention is competitive", r"随机冻结的注意力在语言建模上也有竞争力"),
}
"""Errors with characteristic words in both languages, allowed only in marked pitfalls and wrong options."""


@pytest.fixture(scope="module")
def corrections() -> dict[str, list[str]]:
    parsed = parse(ERRATA, read_text(bundled_quizbank() / ERRATA))
    assert parsed.problems == []
    return dict(parsed.value["corrections"])


@pytest.fixture(scope="module")
def marked() -> dict[str, set[str]]:
    """Return the cards that have a pitfall or an option with an error's id."""
    found: dict[str, set[str]] = defaultdict(set)
    for card in bundled_documents():
        for entry in (*(card.get("pitfalls") or ()), *(card.get("options") or ())):
            if entry.get("errata"):
                found[entry["errata"]].add(card["id"])
    return found


def answers(card: Any, lang: str) -> Iterator[str]:
    """Yield the texts that a card itself asserts: no question, pitfalls, wrong options or faulty code."""
    for key in ("lead", "short", "explain"):
        if card.get(key):
            yield card[key][lang]
    yield from (point[lang] for point in card.get("points") or ())
    yield from (option["text"][lang] for option in card.get("options") or () if option.get("correct"))


def test_the_list_has_every_error_once_and_in_order_and_each_a_card_that_marks_it(
    corrections: dict[str, list[str]], marked: dict[str, set[str]]
) -> None:
    assert list(corrections) == [f"E{number:02d}" for number in range(1, LAST_ERRATUM + 1)]
    assert LAST_ERRATUM == 113
    assert set(marked) == set(corrections)
    known = {card["id"] for card in bundled_documents()}
    assert [card for cards in corrections.values() for card in cards if card not in known] == []
    assert [erratum for erratum, cards in corrections.items() if len(cards) != len(set(cards))] == []
    stated = {erratum: {card} for erratum, (card, _, _) in STATED.items()}
    carried = {erratum: cards | stated.get(erratum, set()) for erratum, cards in marked.items()}
    assert {erratum: set(cards) for erratum, cards in corrections.items()} == carried


def test_a_card_without_the_mark_states_the_correction(marked: dict[str, set[str]]) -> None:
    for erratum in STATED:
        card, english, chinese = STATED[erratum]
        document = next(document for document in bundled_documents() if document["id"] == card)
        assert card not in marked[erratum]
        assert any(english in text for text in answers(document, "en"))
        assert any(chinese in text for text in answers(document, "zh"))


def test_a_pitfall_says_more_than_the_error() -> None:
    bare = [
        (card["id"], lang)
        for card in bundled_documents()
        for pitfall in card.get("pitfalls") or ()
        if pitfall.get("errata")
        for lang in ("en", "zh")
        if len(re.sub(r"“[^”]*”", "", pitfall[lang])) < 12
    ]
    assert bare == []


def marked_texts(erratum: str, lang: str) -> Iterator[str]:
    for card in bundled_documents():
        for pitfall in card.get("pitfalls") or ():
            if pitfall.get("errata") == erratum:
                yield pitfall[lang]
        for option in card.get("options") or ():
            if option.get("errata") == erratum:
                yield option["text"][lang]


def test_the_words_of_an_error_stand_only_where_it_is_marked() -> None:
    for lang in ("en", "zh"):
        for erratum in SAID:
            words = re.compile(SAID[erratum][lang == "zh"])
            assert any(words.search(text) for text in marked_texts(erratum, lang)), erratum
            said = [
                (card["id"], text) for card in bundled_documents() for text in answers(card, lang) if words.search(text)
            ]
            assert said == [], erratum
