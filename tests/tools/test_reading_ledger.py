"""Check the ledger of readings: texts that changed since they were read, one language at a time."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.paths import bundled_quizbank
from reading_ledger import load_readings, main, text_hash

Card = dict[str, Any]


def card(number: int) -> Card:
    return {
        "id": f"att-0{number}",
        "kind": "qa",
        "level": "screen",
        "question": {"en": f"Why {number}?", "zh": f"为什么 {number}？"},
        "short": {"en": "Because. " * 60, "zh": "因为" * 60},
        "explain": {"en": "It is so.", "zh": "就是这样。"},
        "points": [{"en": each, "zh": f"第 {each} 点"} for each in ("one", "two", "three")],
    }


def put(folder: Path, *cards: Card) -> None:
    document = {"topic": "att", "licence": "x", "title": {"en": "A", "zh": "甲"}, "cards": list(cards)}
    (folder / "att.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")


def test_the_ledger_of_the_bank_is_of_its_cards(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], bundled_quizbank()) == 0, capsys.readouterr().out


def test_a_card_is_unread_until_it_is_read_and_again_once_its_text_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = card(1), card(2)
    put(tmp_path, first, second)
    assert main(["att-01", "--on", "2026-11-22", "--checked", "by hand: “sums”"], tmp_path) == 0
    assert main([], tmp_path) == 0
    assert capsys.readouterr().out == "1 of 2 cards have not been read again yet\n"
    assert load_readings(tmp_path)["att-01"]["checked"] == "by hand: “sums”"
    first["short"]["zh"] += "改"
    put(tmp_path, first, second)
    assert main([], tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[0] == (
        "the Chinese text of att-01 is not the one that was read on 2026-11-22"
    )


def test_the_hash_is_of_what_a_reader_sees() -> None:
    for lang in ("en", "zh"):
        other = copy.deepcopy(card(1))
        other["question"]["zh" if lang == "en" else "en"] = "?"
        unseen = other | {"tags": ["x"], "core": True, "topic": "att", "formerly": ["old"], "challenge": "sdpa"}
        assert text_hash(unseen, lang) == text_hash(card(1), lang)
        other["question"][lang] = "?"
        assert text_hash(other, lang) != text_hash(card(1), lang)


def test_a_wrong_ledger_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, message in (
        ("cards:\n  att-9: {date: '2026-11', en: 0123456789ab, zh: 0123456789ab, checked: x}\n", "no card att-9"),
        ("cards:\n  att-01: {date: '2026-11', en: 0123, zh: 0123456789ab, checked: x}\n", "a hash has 12 digits"),
        ("cards:\n  att-01: {date: '2026-11'}\n", "an entry has date, en, zh, checked"),
        ("card: {}\n", "a mapping with the key cards alone"),
        ("cards: [", "a mapping with the key cards alone"),
    ):
        put(tmp_path, card(1))
        (tmp_path / "review.yaml").write_text(text, encoding="utf-8")
        assert main([], tmp_path) == 1
        said = capsys.readouterr()
        assert message in said.out + said.err


def test_a_card_that_is_not_there_cannot_have_been_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, card(1))
    assert main(["att-01", "att-77", "--on", "2026-11-22", "--checked", "x"], tmp_path) == 2
    assert capsys.readouterr().err == "there is no card att-77\n"
    assert not (tmp_path / "review.yaml").exists()
