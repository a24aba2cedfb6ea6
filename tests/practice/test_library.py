"""Index the files and search them: for each query the intended card is among the first three."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from time import thread_time
from typing import Literal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli import paths
from attncli.domain.card_kinds import ClozeCard
from attncli.domain.log_row import Rating
from attncli.domain.parts import Answer
from attncli.domain.vocabulary import KINDS
from attncli.errors import InvalidInput, NotFound
from attncli.i18n import LANGS
from attncli.practice import record
from attncli.practice.indexing import Synonyms
from attncli.practice.library import meant_id, one_slip_away
from attncli.practice.queue import browse
from attncli.practice.record import take_back, toggle_tag
from attncli.practice.review import ReviewSession
from attncli.practice.today import due_counts, next_unsolved
from attncli.practice.workspace import Workspace
from moved_clock import Clock

from .conftest import MakeCard, Open


def own_bank(home: Path, name: str, cards: str) -> None:
    folder = home / "home" / "banks"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"topic: own\nlicence: CC0\ntitle: {{en: Own, zh: 自己}}\ncards:\n{cards}"
    (folder / name).write_text(text, encoding="utf-8")


def test_all_kinds_are_read_back_from_the_index(workspace: Workspace) -> None:
    cards = [workspace.library.card(found.id) for found in workspace.library.cards()]
    assert {card.kind for card in cards} == set(KINDS)
    assert workspace.library.card("att-01") == cards[0]
    topics = [(topic.id, topic.title.zh, topic.cards) for topic in workspace.library.topics()]
    assert topics == [("att", "注意力", 3), ("kv", "KV 缓存", 3)]


def test_search_in_both_languages(workspace: Workspace) -> None:
    expected = {"root": "att-01", "置换": "att-02", "码": "kv-02", "kv": "kv-01 kv-02 kv-03", "att-03": "att-03"}
    for query, ids in (expected | {"nothing of the kind": "", "⊤": "att-03"}).items():
        assert sorted(card.id for card in workspace.library.cards(query)) == ids.split(), query
    assert workspace.library.cards("方差") and not workspace.library.cards("方差", "kv")


def test_a_topic_is_known_in_any_case_and_for_unknown_names_the_nearest_is_named(workspace: Workspace) -> None:
    for written in ("KV", "kv", " Kv "):
        assert workspace.library.topic(written).id == "kv"
        assert {card.topic for card in workspace.library.cards(topic=written)} == {"kv"}
        assert ReviewSession(workspace, written).topic == "kv"
    for name, guess in (("attention", "att"), ("Atention", "att"), ("注意", "att"), ("缓存", "kv"), ("kvv", "kv")):
        with pytest.raises(NotFound, match=f"unknown topic {name}; did you mean {guess}\\? use one of att, kv"):
            workspace.library.topic(name)
    library = workspace.library
    for look_up, message in [
        (lambda: library.card("att-1"), "did you mean att-0"),
        (lambda: library.challenge("doubl"), "did you mean double"),
        (lambda: library.challenges("basic"), "did you mean basics"),
        (lambda: library.cards(topic="zzz"), "unknown topic zzz; use one of att, kv"),
        (lambda: library.cards(topic="\udcff"), "unknown topic \\?; use one of att, kv"),
    ]:
        with pytest.raises(NotFound, match=message):
            look_up()


def test_only_a_changed_file_is_parsed_and_a_typo_keeps_the_history(
    open_workspace: Open, small_bank: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_workspace()
    answered = record.answer(before, "att-01", Rating.EASY)
    old_hash = before.store.index.hash("att-01")
    file = small_bank / "att.yaml"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "attncli.practice.indexing", None)
        open_workspace()
        file.write_text(file.read_text(encoding="utf-8").replace("Why divide", "Why do we divide"), encoding="utf-8")
        with pytest.raises(ImportError):
            open_workspace()
    after = open_workspace()
    assert after.library.card("att-01").question.en.startswith("Why do we divide")
    assert after.store.schedules.get("att-01") == answered.schedule
    assert after.store.index.hash("att-01") != old_hash


def test_a_removed_card_is_never_due_and_its_history_waits_for_it(open_workspace: Open, small_bank: Path) -> None:
    workspace = open_workspace()
    record.answer(workspace, "kv-01", Rating.AGAIN, workspace.clock().replace(year=2025))
    assert due_counts(workspace).learning == 1
    text = (small_bank / "kv.yaml").read_text(encoding="utf-8")
    (small_bank / "kv.yaml").unlink()
    gone = open_workspace()
    assert due_counts(gone).learning == 0 and len(gone.library.cards()) == 3
    for look_up in (gone.library.card, gone.library.card_id, gone.library.document):
        with pytest.raises(NotFound, match=r"unknown card kv-01; `attn cards`"):
            look_up("kv-01")
    (small_bank / "kv.yaml").write_text(text, encoding="utf-8")
    assert due_counts(open_workspace()).learning == 1


def test_a_renamed_card_keeps_its_history_and_answers_to_its_old_name(open_workspace: Open, small_bank: Path) -> None:
    workspace = open_workspace()
    answered = record.answer(workspace, "att-01", Rating.EASY)
    file = small_bank / "att.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("id: att-01", "id: att-99\n    formerly: [att-01]"), encoding="utf-8")
    renamed = open_workspace()
    assert renamed.library.card("att-01").id == "att-99"
    assert renamed.library.card_id("att-01") == renamed.library.card_id("att-99") == "att-99"
    assert renamed.store.schedules.get("att-99") == answered.schedule
    assert due_counts(renamed).new == 5
    record.answer(renamed, "att-01", Rating.GOOD)
    derived = renamed.store.schedules.get("att-99")
    renamed.derive_all()
    assert renamed.store.schedules.get("att-99") == derived is not None and derived.repetitions == 2
    take_back(renamed)
    take_back(renamed)
    assert renamed.store.schedules.get("att-99") is None


def test_own_banks_are_read_last(open_workspace: Open, tmp_path: Path, small_bank: Path, qa_card: MakeCard) -> None:
    own_bank(tmp_path, "good.yaml", qa_card("own-1"))
    own_bank(tmp_path, "broken.yaml", "  - id: [unclosed\n")
    workspace = open_workspace()
    assert workspace.library.card("own-1").topic == "own" and len(workspace.library.cards()) == 7
    (problem,) = workspace.store.files.problems()
    assert "broken.yaml:5:" in str(problem) or "broken.yaml:6:" in str(problem)
    own_bank(tmp_path, "broken.yaml", qa_card("own-2") + qa_card("att-01"))
    mended = open_workspace()
    assert mended.library.card("att-01").topic == "att" and len(mended.library.cards()) == 8
    (problem,) = mended.store.files.problems()
    assert "att-01 is skipped" in str(problem)
    (small_bank / "att.yaml").unlink()
    freed = open_workspace()
    assert freed.library.card("att-01").topic == "own" and freed.store.files.problems() == []


def test_two_first_starts_at_once_end_with_one_index(tmp_path: Path, small_bank: Path, small_impl: Path) -> None:
    code = (
        "import sys; from datetime import datetime, UTC; from pathlib import Path; from attncli.paths import Home\n"
        "from attncli.practice.workspace import Workspace\n"
        "home, bank, impl = map(Path, sys.argv[1:])\n"
        "with Workspace.open(Home(home), lambda: datetime.now(UTC), quizbank=bank, impl=impl) as w:\n"
        "    print(len(w.library.cards()), w.store.damages())\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "shared"), str(small_bank), str(small_impl)]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [start.communicate(timeout=60)[0].strip() for start in starts] == ["6 []"] * 3


def offer(impl: Path, *places: str, level: int = 1, more: str = "") -> None:
    """Add challenges like the one that is there."""
    for place in places:
        path = shutil.copytree(impl / "basics" / "double", impl / place) / "challenge.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("level: 1", f"level: {level}") + more, encoding="utf-8")


def following(workspace: Workspace, *ids: str) -> list[str]:
    return [challenge.id for id in ids if (challenge := next_unsolved(workspace, id))]


def test_challenges_come_in_reading_order_own_ones_last(open_workspace: Open, tmp_path: Path, small_impl: Path) -> None:
    offer(small_impl, "serving/engine", "attention/two", "attention/one", "mine/last")
    own = shutil.copytree(small_impl / "basics" / "double", tmp_path / "home" / "challenges" / "mine" / "own")
    library = open_workspace().library
    assert [found.id for found in library.challenges()] == ["one", "two", "engine", "double", "last", "own"]
    assert library.challenge("own").folder == str(own)


def test_the_next_challenge_is_the_easiest_of_the_track(open_workspace: Open, small_impl: Path) -> None:
    offer(small_impl, "attention/easy", "attention/middle")
    offer(small_impl, "attention/hard", level=5)
    assert following(open_workspace(), "hard", "middle", "easy") == ["easy", "easy", "middle"]


def test_the_next_challenge_is_of_the_next_track_and_the_plan(open_workspace: Open, small_impl: Path) -> None:
    offer(small_impl, "attention/one")
    offer(small_impl, "serving/engine", more="must_know: true\n")
    assert following(open_workspace(), "one", "engine", "double") == ["engine", "double", "one"]
    planned = open_workspace("planned", interview=date(2026, 7, 1), minutes_per_day=60)
    first, *_rest = due_counts(planned).code
    assert first == "engine" and following(planned, "one") == ["engine"], "with a date it is the plan's"


SHOWN_FIRST = 3
QUERIES = """\
align-05: DPO derivation; align-07: GRPO critic; arch-07: cross attention mask; att-01: 缩放点积注意力;
att-02: att2, why divide by sqrt d_k, 为什么除以; att-24: softmax overflow; dec-01: top-p, 核采样;
dec-03: nucleus sampling; dec-04: 束搜索, beam serach;
dec-09: dec_09, speculative decoding proof, 推测解码, 投机解码, speculatve decoding, 投机解马;
dec-12: paged attention; dec-13: continuous batching, 连续批处理; dist-02: zero redundancy;
dist-05: 张量并行, 张量并行 all-reduce; emb-01: 词元; emb-08: embeding tying; emb-11: bits per byte;
eval-01: perplexty; flash-04: flash attention backward; flash-10: ring attention;
kv-01: kv cahce, what is a kv cache, key-value cache, 键值缓存; kv-10: grouped query attention; kv-14: kv-14, KV 14;
mask-06 mask-07: 因果掩码; moe-01: MoE, mixture-of-experts, 专家混合; moe-11: load balancing loss, 负载均横;
moe-11 moe-12 moe-13: 负载均衡; norm-02: layer norm vs batch norm; norm-09: pre-norm post-norm; norm-13: 残差连接;
opt-06: adam vs adamw, 权重衰减 AdamW; opt-15: 梯度累积; opt-23: gradient checkpointing; peft-06: LoRA rank alpha;
peft-11: 精调; pos-01: transfomer positional infromation; pos-09: 旋转位置编码, rotray, 旋转位致编码;
pos-11: rope v not rotated; pos-15: 位置编码 外推; prec-03: loss scaling; prec-09: fp8 trianing; prec-10: quantizaton;
prec-13: why do activation outliers break int8, quantization outliers;
rag-01: retrieval augmented generation, 检索增强生成; rag-05: lost in the middle; rag-07: hallucinate, 幻觉;
scale-01: chinchilla; sparse-04: attention sink, atention sink"""
"""Queries by the cards meant: ids, one's own words, other terms, Chinese, and one slip of a key."""


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with Workspace.open(paths.home(tmp_path_factory.mktemp("search"), {}), Clock()) as workspace:
        yield workspace


@pytest.mark.slow
def test_what_is_meant_is_among_the_first_three(bundled: Workspace) -> None:
    for meant, _, queries in (line.partition(":") for line in QUERIES.replace("\n", " ").split(";")):
        for query in queries.split(","):
            first = {card.id for card in bundled.library.cards(query.strip())[:SHOWN_FIRST]}
            assert {*meant.split()} <= first, query


def test_an_id_comes_first_then_words_in_the_question_and_no_template_is_listed_undrawn(bundled: Workspace) -> None:
    first, *others = [card.id for card in bundled.library.cards("为什么除以")]
    assert first == "att-02" and "opt-01" in others, "though a text has the very phrase"
    found = [card.question.en.lower() + card.question.zh for card in bundled.library.cards("perplexity")]
    says = ["perplexity" in question or "困惑度" in question for question in found]
    assert says == sorted(says, reverse=True) and any(says) and not all(says)
    listed = bundled.library.cards()
    shown = [bundled.library.card(card.id).wording for card in listed]
    texts = [text[lang] for text in (*(card.question for card in listed), *shown) for lang in LANGS]
    assert not re.search(r"\{\{|\}\}", "\n".join(texts))
    for card in listed[::21]:
        assert bundled.library.cards(card.id)[0].id == card.id


@given(st.text("abcdefg", min_size=2, max_size=9), st.data())
def test_every_slip_of_one_letter_leads_back_and_ids_are_recognised(word: str, data: st.DataObject) -> None:
    slip = data.draw(st.sampled_from(sorted(one_slip_away(word))))
    assert word in one_slip_away(slip) and slip != word
    queries = {"kv-5": "kv-05", "KV14": "kv-14", "att 002": "att-02", "kv": "", "gpt-4 x": ""}
    assert {query: meant_id(query) for query in queries} == queries


def test_a_line_is_given_the_other_spellings_of_its_terms() -> None:
    balancing = {"en": "load balancing", "zh": "负载均衡", "abbreviation": "LB", "also_en": ["balance loss"]}
    cache = {"en": "KV cache", "zh": "KV cache", "avoid_zh": ["键值缓存"]}
    synonyms = Synonyms([cache, balancing, {"en": "token", "zh": "token"}])
    assert synonyms.beside("a kv cache of tokens") == "键 值 缓 存"
    assert synonyms.beside("均 衡 负 载 均 衡") == "load balancing lb balance loss"
    assert synonyms.beside("kv caches and a balance") == synonyms.beside("") == ""


def test_a_changed_glossary_changes_what_finds_a_card(tmp_path: Path) -> None:
    glossary = tmp_path / "glossary.yaml"
    (tmp_path / "x.yaml").write_text(
        "topic: x\ncards:\n  - {id: x-01, kind: cloze, level: screen, question: {en: KV cache ____, zh: KV cache ____},"
        " explain: {en: e, zh: 解}, blanks: [{answer: a}]}\n",
        encoding="utf-8",
    )

    def found() -> list[str]:
        with Workspace.open(paths.home(tmp_path / "home", {}), Clock(), quizbank=tmp_path) as workspace:
            return [card.id for card in workspace.library.cards("键值缓存")]

    assert found() == []
    glossary.write_text("terms:\n  - {en: KV cache, zh: KV cache, also_zh: [键值缓存]}\n", encoding="utf-8")
    assert found() == ["x-01"]
    glossary.unlink()
    assert found() == []


def test_the_longest_query_takes_little_time_and_a_longer_one_is_refused(bundled: Workspace) -> None:
    cards, before = bundled.library.cards, thread_time()
    assert cards("注意力机制" * 40) and len(cards("attention " * 20)) > 10, "a word again and again asks for it once"
    for query in (" ".join("abcdefghijklmnopqrstuvwxyz0123456789"), "quantizaton " * 16, "a" * 200):
        cards(query)
    assert thread_time() - before < 10, "processor seconds; such queries took minutes and gigabytes"
    with pytest.raises(InvalidInput, match="the search has 1000 characters; use at most 200"):
        cards("attention " * 100)
    for query in ("quantizaton " + "x" * 100, "qqqqa qqqqb qqqqc qqqqd quantizaton"):
        assert not cards(query), "a word of many letters, or many unknown words, are not all corrected"


@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_one_spelling_of_a_letter_finds_the_other(tmp_path: Path, written: Literal["NFC", "NFD"]) -> None:
    text = (
        "topic: x\ntitle: {en: Über, zh: Über}\ncards:\n  - {id: x-01, kind: cloze, level: screen,"
        " question: {en: A naïve bound of Zürich ____, zh: Zürich ____}, explain: {en: e, zh: 解},"
        " blanks: [{answer: é, accept: [Á]}]}\n"
    )
    (tmp_path / "x.yaml").write_text(normalize(written, text), encoding="utf-8")
    with Workspace.open(paths.home(tmp_path / "home", {}), Clock(), quizbank=tmp_path) as workspace:
        toggle_tag(workspace, "x-01", normalize("NFD", "Übung"))
        card = workspace.library.card("x-01")
        for form in ("NFC", "NFD"):
            for query in ("Zürich", "naïve", "zürih"):
                assert [one.id for one in workspace.library.cards(normalize(form, query))] == ["x-01"], query
            assert browse(workspace, normalize(form, "#übung Zürich")).count == 1
            with pytest.raises(NotFound, match="did you mean x"):
                workspace.library.topic(normalize(form, "über"))
            assert isinstance(card, ClozeCard) and card.mark(Answer(texts=[normalize(form, "Á")])).correct
