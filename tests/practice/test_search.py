"""Search the bundled bank: for each query the intended card is among the first three."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from time import thread_time
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli import paths
from attncli.domain.card_kinds import ClozeCard
from attncli.domain.parts import Answer
from attncli.errors import InvalidInput, NotFound
from attncli.practice.indexing import Synonyms
from attncli.practice.library import meant_id, one_slip_away
from attncli.practice.queue import browse
from attncli.practice.record import toggle_tag
from attncli.practice.workspace import Workspace

SHOWN_FIRST = 3
QUERIES = {
    # what a newcomer typed
    "负载均衡": "moe-11 moe-12 moe-13",
    "kv-14": "kv-14",
    "kv cahce": "kv-01",
    "MoE": "moe-01",
    # ids, however they are written
    "KV 14": "kv-14",
    "att2": "att-02",
    "dec_09": "dec-09",
    # the question in one's own words
    "why divide by sqrt d_k": "att-02",
    "what is a kv cache": "kv-01",
    "cross attention mask": "arch-07",
    "speculative decoding proof": "dec-09",
    "top-p": "dec-01",
    "DPO derivation": "align-05",
    "GRPO critic": "align-07",
    "rope v not rotated": "pos-11",
    "LoRA rank alpha": "peft-06",
    "layer norm vs batch norm": "norm-02",
    "pre-norm post-norm": "norm-09",
    "flash attention backward": "flash-04",
    "continuous batching": "dec-13",
    "paged attention": "dec-12",
    "chinchilla": "scale-01",
    "lost in the middle": "rag-05",
    "adam vs adamw": "opt-06",
    "loss scaling": "prec-03",
    "why do activation outliers break int8": "prec-13",
    "ring attention": "flash-10",
    "hallucinate": "rag-07",
    "softmax overflow": "att-24",
    "zero redundancy": "dist-02",
    "bits per byte": "emb-11",
    "attention sink": "sparse-04",
    # other words for it
    "mixture-of-experts": "moe-01",
    "load balancing loss": "moe-11",
    "key-value cache": "kv-01",
    "quantization outliers": "prec-13",
    "retrieval augmented generation": "rag-01",
    "nucleus sampling": "dec-03",
    "grouped query attention": "kv-10",
    "推测解码": "dec-09",
    "专家混合": "moe-01",
    "键值缓存": "kv-01",
    "词元": "emb-01",
    "位置编码 外推": "pos-15",
    "检索增强生成": "rag-01",
    "精调": "peft-11",
    "连续批处理": "dec-13",
    "束搜索": "dec-04",
    "核采样": "dec-01",
    "gradient checkpointing": "opt-23",
    # Chinese as it is written
    "为什么除以": "att-02",
    "缩放点积注意力": "att-01",
    "因果掩码": "mask-06 mask-07",
    "旋转位置编码": "pos-09",
    "梯度累积": "opt-15",
    "投机解码": "dec-09",
    "幻觉": "rag-07",
    "权重衰减 AdamW": "opt-06",
    "张量并行": "dist-05",
    "残差连接": "norm-13",
    "张量并行 all-reduce": "dist-05",
    # one slip
    "atention sink": "sparse-04",
    "transfomer positional infromation": "pos-01",
    "speculatve decoding": "dec-09",
    "perplexty": "eval-01",
    "quantizaton": "prec-10",
    "rotray": "pos-09",
    "负载均横": "moe-11",
    "投机解马": "dec-09",
    "beam serach": "dec-04",
    "fp8 trianing": "prec-09",
    "embeding tying": "emb-08",
    "旋转位致编码": "pos-09",
}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    home = paths.home(tmp_path_factory.mktemp("search"), {})
    with Workspace.open(home, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as workspace:
        yield workspace


def test_what_is_meant_is_among_the_first_three(bundled: Workspace) -> None:
    for query, meant in QUERIES.items():
        first = {card.id for card in bundled.library.cards(query)[:SHOWN_FIRST]}
        assert {*meant.split()} <= first, query


def ids_of(workspace: Workspace) -> list[str]:
    return [card.id for card in workspace.library.cards()]


def test_no_template_is_listed_undrawn(bundled: Workspace) -> None:
    listed = [card.question[lang] for card in bundled.library.cards() for lang in ("en", "zh")]
    shown = [bundled.library.card(id).wording[lang] for id in ids_of(bundled) for lang in ("en", "zh")]
    assert not re.search(r"\{\{|\}\}", "\n".join([*listed, *shown]))


def test_an_id_comes_first_before_all_that_speak_of_it(bundled: Workspace) -> None:
    for id in ids_of(bundled)[::7]:
        assert bundled.library.cards(id)[0].id == id


def test_a_chinese_question_is_found_though_a_text_has_the_very_phrase(bundled: Workspace) -> None:
    first, *others = [card.id for card in bundled.library.cards("为什么除以")]
    assert first == "att-02" and "opt-01" in others


def test_words_in_the_question_come_before_words_in_the_text(bundled: Workspace) -> None:
    found = [card.question.en.lower() + card.question.zh for card in bundled.library.cards("perplexity")]
    says = ["perplexity" in question or "困惑度" in question for question in found]
    assert says == sorted(says, reverse=True) and any(says) and not all(says)


@pytest.mark.parametrize(
    ("query", "id"), [("kv-5", "kv-05"), ("KV14", "kv-14"), ("att 002", "att-02"), ("kv", ""), ("gpt-4 x", "")]
)
def test_a_query_that_looks_like_an_id(query: str, id: str) -> None:
    assert meant_id(query) == id


@given(st.text("abcdefg", min_size=2, max_size=9), st.data())
def test_every_slip_of_one_letter_leads_back(word: str, data: st.DataObject) -> None:
    slip = data.draw(st.sampled_from(sorted(one_slip_away(word))))
    assert word in one_slip_away(slip) and slip != word


def test_a_line_is_given_the_other_spellings_of_its_terms() -> None:
    synonyms = Synonyms(
        [
            {"en": "KV cache", "zh": "KV cache", "avoid_zh": ["键值缓存"]},
            {"en": "load balancing", "zh": "负载均衡", "abbreviation": "LB", "also_en": ["balance loss"]},
            {"en": "token", "zh": "token"},
        ]
    )
    assert synonyms.beside("a kv cache of tokens") == "键 值 缓 存"
    assert synonyms.beside("均 衡 负 载 均 衡") == "load balancing lb balance loss"
    assert synonyms.beside("kv caches and a balance") == synonyms.beside("") == ""


def test_a_changed_glossary_changes_what_finds_a_card(tmp_path: Path) -> None:
    bank, glossary = tmp_path / "bank", tmp_path / "bank" / "glossary.yaml"
    bank.mkdir()
    (bank / "x.yaml").write_text(
        "topic: x\ncards:\n  - {id: x-01, kind: cloze, level: screen, question: {en: KV cache ____, zh: KV cache ____},"
        " explain: {en: e, zh: 解}, blanks: [{answer: a}]}\n",
        encoding="utf-8",
    )

    def found(query: str) -> list[str]:
        home = paths.home(tmp_path / "home", {})
        with Workspace.open(home, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC), quizbank=bank) as workspace:
            return [card.id for card in workspace.library.cards(query)]

    assert found("键值缓存") == []
    glossary.write_text("terms:\n  - {en: KV cache, zh: KV cache, also_zh: [键值缓存]}\n", encoding="utf-8")
    assert found("键值缓存") == ["x-01"]
    glossary.unlink()
    assert found("键值缓存") == []


def test_a_pasted_text_is_refused_in_one_line(bundled: Workspace) -> None:
    with pytest.raises(InvalidInput, match="the search has 1000 characters; use at most 200"):
        bundled.library.cards("attention " * 100)
    assert len(bundled.library.cards("attention " * 20)) > 10


def test_a_word_said_again_and_again_asks_for_what_it_says_once(bundled: Workspace) -> None:
    assert bundled.library.cards("注意力机制" * 12)


@pytest.mark.parametrize(
    "query", ["注意力机制" * 40, " ".join("abcdefghijklmnopqrstuvwxyz0123456789"), "quantizaton " * 16, "a" * 200]
)
def test_the_longest_query_takes_little_time(bundled: Workspace, query: str) -> None:
    before = thread_time()
    bundled.library.cards(query)
    assert thread_time() - before < 5, "processor seconds; such queries took minutes and gigabytes"


def test_a_word_of_many_letters_or_many_unknown_words_are_not_all_corrected(bundled: Workspace) -> None:
    assert not bundled.library.cards("quantizaton " + "x" * 100)
    assert not bundled.library.cards("qqqqa qqqqb qqqqc qqqqd quantizaton")


@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_one_spelling_of_a_letter_finds_the_other(tmp_path: Path, written: Literal["NFC", "NFD"]) -> None:
    bank = tmp_path / "bank"
    bank.mkdir()
    text = (
        "topic: x\ntitle: {en: Über, zh: Über}\ncards:\n  - {id: x-01, kind: cloze, level: screen,"
        " question: {en: A naïve bound of Zürich ____, zh: Zürich ____}, explain: {en: e, zh: 解},"
        " blanks: [{answer: é, accept: [Á]}]}\n"
    )
    (bank / "x.yaml").write_text(normalize(written, text), encoding="utf-8")
    home = paths.home(tmp_path / "home", {})
    with Workspace.open(home, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC), quizbank=bank) as workspace:
        toggle_tag(workspace, "x-01", normalize("NFD", "Übung"))
        card = workspace.library.card("x-01")
        for form in ("NFC", "NFD"):
            for query in ("Zürich", "naïve", "zürih"):
                assert [one.id for one in workspace.library.cards(normalize(form, query))] == ["x-01"], query
            assert browse(workspace, normalize(form, "#übung Zürich")).count == 1
            with pytest.raises(NotFound, match="did you mean x"):
                workspace.library.topic(normalize(form, "über"))
            assert isinstance(card, ClozeCard) and card.mark(Answer(texts=[normalize(form, "Á")])).correct
