"""Print cards as Markdown: follow-ups, common slips, and the date of their facts."""

from __future__ import annotations

from attncli.bank.loader import card_document
from attncli.domain.card_kinds import card_of
from attncli.export.card_markdown import whole_card
from attncli.i18n import LANGS

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
        {
            "ask": {"en": "Why two?", "zh": "为什么乘 2？"},
            "answer": {"en": "Keys, values.", "zh": "键和值。"},
            "card": "kv-02",
        },
        {"ask": {"en": "And Q?", "zh": "Q 呢？"}, "answer": {"en": "Not kept.", "zh": "不存。"}},
    ],
    "as_of": "2026-06",
}


def test_follow_ups_stand_with_their_answers_and_mere_links_below() -> None:
    card = card_of(card_document("kv", CARD))
    english, chinese = whole_card(card, "en"), whole_card(card, "zh")
    assert "## Follow-ups\n\n**Why two?**\n\nKeys, values. (kv-02)\n\n**And Q?**\n\nNot kept.\n" in english
    assert "## 追问\n\n**为什么乘 2？**\n\n键和值。 (kv-02)" in chinese
    assert "See also: kv-01\n" in english and "相关: kv-01\n" in chinese


def test_slips_and_the_date_of_the_facts_are_told() -> None:
    card = card_of(card_document("kv", CARD))
    assert "Common mistakes:\n\n- `layers * 2 ** 30` — K without V." in whole_card(card, "en")
    assert "常见失误:\n\n- `layers * 2 ** 30` — 只算了 K。" in whole_card(card, "zh")
    assert "As of 2026-06." in whole_card(card, "en") and "截至 2026-06。" in whole_card(card, "zh")


def test_no_code_of_an_erratum_reaches_a_reader() -> None:
    pitfall = {"en": "They vanish.", "zh": "会消失。", "errata": "E19"}
    card = card_of(card_document("kv", CARD | {"pitfalls": [pitfall]}))
    for lang in LANGS:
        assert pitfall[lang] in whole_card(card, lang) and "E19" not in whole_card(card, lang)


def test_an_experiment_is_told_as_the_command_that_runs_it() -> None:
    card = card_of(card_document("kv", CARD | {"experiment": "kv-timing"}))
    assert "\nExperiment: `attn experiment kv-timing`\n" in whole_card(card, "en")
    assert "\n实验: `attn experiment kv-timing`\n" in whole_card(card, "zh")
    assert "attn experiment" not in whole_card(card_of(card_document("kv", CARD)), "en")
