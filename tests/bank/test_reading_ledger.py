"""The ledger of readings: what was read is told apart from what stands there now, one language at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attncli.bank.__main__ import read
from attncli.bank.check import Report, check, load_readings, text_hash
from attncli.bank.checked_files import Surroundings

from .conftest import as_yaml

Card = dict[str, Any]


@pytest.fixture
def put(around: Surroundings) -> Callable[..., None]:
    """Writes cards as the bundled bank."""

    def write(*cards: Card) -> None:
        value = {"topic": "att", "licence": "x", "title": {"en": "A", "zh": "甲"}, "cards": list(cards)}
        (around.quizbank / "att.yaml").write_text(as_yaml(value), encoding="utf-8")

    return write


def notes(report: Report) -> list[str]:
    return [note.message for note in report.notes if "read" in note.message]


def test_a_card_is_unread_until_it_is_read_and_again_once_its_text_changes(
    cards: dict[str, Card], put: Callable[..., None], around: Surroundings
) -> None:
    put(*cards.values())
    assert notes(check([], around)) == []
    ids = [card["id"] for card in cards.values()]
    assert read([*ids[:4], "--on", "2026-11-22", "--checked", "by hand: “sums”"], around.quizbank) == 0
    assert notes(check([], around)) == ["open: 2 of 6 cards have not been read again yet: att-05, att-06"]
    assert read([*ids[4:], "--on", "2026-12-01", "--checked", "run"], around.quizbank) == 0
    assert notes(check([], around)) == [] and check([], around).problems == ()
    assert load_readings(around.quizbank)["att-01"]["checked"] == "by hand: “sums”"
    cards["qa"]["short"]["zh"] += "改"
    cards["numeric"]["compute"] += " + 0"
    put(*cards.values())
    assert notes(check([], around)) == [
        "the Chinese text of att-01 is not the one that was read on 2026-11-22; read it again",
        "the Chinese text of att-03 is not the one that was read on 2026-11-22; read it again",
        "the English text of att-03 is not the one that was read on 2026-11-22; read it again",
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_hash_is_of_what_a_reader_sees(cards: dict[str, Card], lang: str) -> None:
    for card in cards.values():
        other = copy.deepcopy(card)
        other["question"]["zh" if lang == "en" else "en"] = "?"
        unseen = other | {"tags": ["x"], "core": True, "topic": "att", "formerly": ["old"], "challenge": "sdpa"}
        assert text_hash(unseen, lang) == text_hash(card, lang)
        other["question"][lang] = "?"
        assert text_hash(other, lang) != text_hash(card, lang)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "cards:\n  att-9: {date: '2026-11', en: 0123456789ab, zh: 0123456789ab, checked: x}\n",
            'there is no card "att-9"; did you mean "att-0',
        ),
        (
            "cards:\n  att-01: {date: '2026-11', en: 0123, zh: 0123456789ab, checked: x}\n",
            '"att-01.en" "0123" is no hash',
        ),
        ("cards:\n  att-01: {date: '2026-11'}\n", 'missing "checked" in "cards.att-01"'),
        ("card: {}\n", 'key "card" is not known here; did you mean "cards"?'),
        ("cards: [", ""),
    ],
)
def test_a_ledger_that_says_nothing_is_named(
    cards: dict[str, Card], put: Callable[..., None], around: Surroundings, text: str, message: str
) -> None:
    put(cards["qa"], cards["choice"])
    (around.quizbank / "review.yaml").write_text(text, encoding="utf-8")
    problems = check([], around).problems
    assert {Path(problem.file).name for problem in problems} == {"review.yaml"}
    assert any(problem.message.startswith(message) for problem in problems), problems


def test_what_is_not_there_cannot_have_been_read(
    cards: dict[str, Card], put: Callable[..., None], around: Surroundings, capsys: pytest.CaptureFixture[str]
) -> None:
    put(cards["qa"])
    assert read(["att-01", "att-77", "--on", "2026-11-22", "--checked", "x"], around.quizbank) == 2
    assert capsys.readouterr().err == "attn: there is no card att-77 that can be read; correct the id or its file\n"
    assert not (around.quizbank / "review.yaml").exists()


def test_a_learners_own_cards_are_nobodys_to_read(cards: dict[str, Card], around: Surroundings, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.yaml").write_text(
        as_yaml({"topic": "mine", "cards": [cards["qa"] | {"id": "mine-1"}]}), encoding="utf-8"
    )
    (around.quizbank / "review.yaml").write_text("cards: {}\n")
    assert notes(check([own], replace(around, complete=False))) == []
