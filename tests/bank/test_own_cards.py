"""Check a learner's own cards: one language, a question and an answer suffice; nothing else is required."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from attncli.bank.check import Report, check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import completed, load_file
from attncli.domain.card_kinds import card_of

from .conftest import Cards, Writer, as_yaml

LEAST: dict[str, dict[str, Any]] = {
    "qa": {"question": {"en": "Why a cache?"}, "short": {"en": "No row is computed twice."}},
    "plain": {"question": "为什么要 cache？", "short": "不重复算，省时间", "points": ["省算力", "占显存"]},
    "choice": {
        "kind": "choice",
        "question": {"zh": "softmax 在哪一维？"},
        "options": [{"text": {"zh": "键"}, "correct": True}, {"text": {"zh": "查询"}}],
    },
    "numeric": {
        "kind": "numeric",
        "question": {"en": "{{layers}} layers: twice as many?"},
        "parameters": {"layers": [2, 4]},
        "compute": "2 * layers",
        "slips": [{"compute": "layers", "says": {"en": "Once is not twice."}}],
    },
    "cloze": {"kind": "cloze", "question": "The base is ____.", "blanks": [{"answer": "10000"}]},
    "ordering": {
        "kind": "ordering",
        "question": "Order!",
        "items": [{"key": "a", "text": {"en": "first"}}, {"key": "b", "text": {"en": "then"}}],
        "before": [["a", "b"]],
    },
    "debug": {"kind": "debug", "question": "What breaks?", "code": "x = 1 / 0", "lines": [1], "symptom": "It stops."},
}


@pytest.fixture
def around(around: Surroundings) -> Surroundings:
    """Return the same surroundings, for a learner."""
    return Surroundings(around.quizbank, around.impl)


@pytest.fixture
def mine(bank_file: Writer) -> Writer:
    return lambda *cards: bank_file(*(card | {"id": f"mine-{n}"} for n, card in enumerate(cards)), topic="mine")


def messages(report: Report) -> list[str]:
    return [problem.message.en for problem in (*report.problems, *report.notes)]


def test_what_is_there_in_one_language_stands_for_both(mine: Writer) -> None:
    (document,) = load_file(mine(LEAST["qa"] | {"explain": {"zh": "只有中文"}}), own=True).documents
    card = card_of(document)
    assert card.kind == "qa" and card.short and card.explain
    assert (card.short.zh, card.explain.en) == ("No row is computed twice.", "只有中文")


def test_a_mistake_is_told_once_and_where_it_was_written(mine: Writer, around: Surroundings) -> None:
    card = LEAST["qa"] | {"short": {"en": "$\\frac{1}$"}, "follow_ups": ["mine-7"]}
    first, second = check([mine(card)], around).problems
    assert first.message.en.startswith('formula "\\frac{1}" is not valid LaTeX') and first.line == 6
    assert second.message.en.startswith('there is no card "mine-7"') and second.line == 8


def test_what_cannot_be_asked_is_still_named(mine: Writer, around: Surroundings) -> None:
    for damage, message in (
        ({"question": {}}, 'missing "en" in "question": write the English text as en: …'),
        ({"question": {"en": " "}}, '"question.en" is empty; write its text'),
        ({"short": None}, '"short" must have both languages, found nothing; write {en: …, zh: …}'),
        ({"points": [{"en": str(n)} for n in range(8)]}, '"points" takes at most 7 entries, found 8; remove the rest'),
        ({"anwser": "x"}, 'unknown key "anwser"; known keys: id'),
    ):
        assert any(told.startswith(message) for told in messages(check([mine(LEAST["qa"] | damage)], around)))


def test_a_check_of_everything_tells_of_the_bundled_bank_in_one_line(
    cards: Cards, around: Surroundings, tmp_path: Path
) -> None:
    old = {"as_of": "2020-01"}
    bundled = {"topic": "att", "licence": "x", "title": {"en": "A", "zh": "甲"}, "cards": [cards["qa"] | old]}
    (around.quizbank / "att.yaml").write_text(as_yaml(bundled), encoding="utf-8")
    own = tmp_path / "own"
    own.mkdir()
    everything = Surroundings(around.quizbank, around.impl, own)
    today = date(2026, 11, 27)
    assert [Path(note.file).name for note in check([], everything, today).notes] == ["att.yaml"]
    mine = LEAST["qa"] | {"id": "mine-1"} | old
    (own / "mine.yaml").write_text(as_yaml({"topic": "mine", "cards": [mine]}), encoding="utf-8")
    first, second = check([], everything, today).notes
    assert (
        first.message.en
        == "1 note about the bundled bank is not shown; run `attn bank check` on this folder to list it"
    )
    assert Path(second.file).name == "mine.yaml"


def test_a_question_and_an_answer_in_one_language_are_enough_for_an_own_file_alone(
    mine: Writer, around: Surroundings
) -> None:
    for kind in LEAST:
        path = mine(LEAST[kind])
        report = check([path], around)
        assert (messages(report), report.cards) == ([], 1)
        (document,) = load_file(path, own=True).documents
        card = card_of(document)
        assert card.level == "onsite" and card.question.en == card.question.zh != ""
    for kind in LEAST:
        path = mine(LEAST[kind])
        assert load_file(path).problems
        assert check([path], Surroundings(around.quizbank, around.impl, complete=True)).problems
    path = mine(LEAST["qa"])
    assert load_file(path).problems and not load_file(path, own=True).problems


@pytest.mark.parametrize("value", [None, 3, "x", [], ["x"], {"cards": 3}, {"cards": [3, None, [{"en": "x"}]]}])
def test_what_is_no_bank_is_left_as_it_is(value: object) -> None:
    whole, _ = completed(value)
    assert type(whole) is type(value)
