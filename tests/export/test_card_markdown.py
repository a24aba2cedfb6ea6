"""Print cards as Markdown and for readers without an app, whole and in both languages."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from shutil import copytree

import pytest
from markdown_it import MarkdownIt

from attncli import paths
from attncli.anki.exporter import side
from attncli.bank.loader import card_document
from attncli.domain.card_kinds import card_of
from attncli.domain.vocabulary import KINDS
from attncli.export.card_markdown import whole_card
from attncli.export.summary import answer, asked, question
from attncli.i18n import LANGS, quoted
from attncli.practice.workspace import Workspace
from right_answer import right_answer_to

CARD = {
    "id": "kv-90",
    "kind": "numeric",
    "level": "screen",
    "question": {"en": "{{layers}} layers: how many GiB?", "zh": "{{layers}} 层：多少 GiB？"},
    "parameters": {"layers": [2, 4]},
    "compute": "2 * layers * 2 ** 30",
    "compute_unit": "B",
    "unit": "GiB",
    "tolerance": "2%",
    "explain": {"en": "K and V.", "zh": "K 和 V。"},
    "slips": [{"compute": "layers * 2 ** 30", "says": {"en": "K without V.", "zh": "只算了 K。"}}],
    "follow_ups": [
        "kv-01",
        {"ask": {"en": "Why two?", "zh": "为什么乘 2？"}, "answer": {"en": "K, V.", "zh": "键和值。"}, "card": "kv-02"},
        {"ask": {"en": "And Q?", "zh": "Q 呢？"}, "answer": {"en": "Not kept.", "zh": "不存。"}},
    ],
    "as_of": "2026-06",
}


def test_follow_ups_slips_experiments_and_the_date_of_the_facts_are_told_without_the_errata() -> None:
    pitfall = {"en": "They vanish.", "zh": "会消失。", "errata": "E19"}
    card = card_of(card_document("kv", CARD | {"pitfalls": [pitfall], "experiment": "kv-timing"}))
    told = {lang: whole_card(card, lang) for lang in LANGS}
    for part in (
        "## Follow-ups\n\n**Why two?**\n\nK, V. (kv-02)\n\n**And Q?**\n\nNot kept.\n",
        "See also: kv-01\n",
        "Common mistakes:\n\n- `layers * 2 ** 30` — K without V.",
        "As of 2026-06.",
        "\nExperiment: `attn experiment kv-timing`\n",
        "They vanish.",
    ):
        assert part in told["en"]
    for part in (
        "## 追问\n\n**为什么乘 2？**\n\n键和值。 (kv-02)",
        "相关: kv-01\n",
        "常见失误:\n\n- `layers * 2 ** 30` — 只算了 K。",
        "截至 2026-06。",
        "\n实验: `attn experiment kv-timing`\n",
        "会消失。",
    ):
        assert part in told["zh"]
    assert "E19" not in "".join(told.values())
    assert "attn experiment" not in whole_card(card_of(card_document("kv", CARD)), "en")


@pytest.fixture(scope="module")
def bank(indexed_home, tmp_path_factory):
    home = paths.Home(copytree(indexed_home, tmp_path_factory.mktemp("home") / "home"))
    with Workspace.open(home, lambda: datetime(2026, 3, 1, tzinfo=UTC), "en") as workspace:
        yield [workspace.library.card(card.id) for card in workspace.library.cards()]


@pytest.mark.slow
def test_every_card_prints_all_that_is_right_and_no_blank_of_a_question_becomes_mark_up(bank):
    assert {card.kind for card in bank} == {*KINDS}
    parser = MarkdownIt("commonmark")
    for card in bank:
        if card.kind == "cloze":
            shown = parser.renderInline(asked(question(card, "en")))
            assert shown.count("____") == len(card.blanks), card.id
        for lang in LANGS:
            printed, fields = answer(card, lang), side(card, lang, lambda id: quoted(id))
            assert printed.strip() and fields.answer and "{{" not in printed + question(card, lang), card.id
            for text in (row.text[lang] for row in card.entry().rows):
                assert " ".join(text.split()) in " ".join(printed.split()), card.id
                assert text.strip() in whole_card(card, lang), card.id
        drawn = card.draw(Random(card.id))
        assert card.kind == "qa" or drawn.mark(right_answer_to(drawn)).correct, card.id
