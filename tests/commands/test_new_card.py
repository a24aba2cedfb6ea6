"""`attn new card`: add an own card in one line, without damage to existing ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Attn


def test_a_card_is_written_where_it_is_read_from(attn: Attn, home: Path) -> None:
    result = attn("new", "card", "mine", "--question", "Why “two”?", "--answer", "K: and V # both\nare kept.")
    path = home / "banks" / "mine.yaml"
    assert (result.code, result.out) == (0, f"{path}:3\n")
    assert result.err == "Card mine-01 is saved. Show it: `attn show mine-01`\n"
    assert attn("show", "mine-01", "--json").json["short"] == {
        "en": "K: and V # both\nare kept.",
        "zh": "K: and V # both\nare kept.",
    }
    assert "Why “two”?" in attn("show", "mine-01", "--lang", "zh").out
    assert attn("bank", "check", str(path)).err == "1 card in 1 file: no problems\n"
    assert attn("answer", "mine-01", "--rating", "good").code == 0


def test_without_a_question_there_is_a_place_for_it(attn: Attn, home: Path) -> None:
    result = attn("new", "card", "Mine", "--lang", "zh")
    path = home / "banks" / "mine.yaml"
    assert result.out == f"{path}:3\n" and "请填写问题和答案" in result.err
    assert path.read_text(encoding="utf-8") == (
        "topic: mine\ncards:\n  - id: mine-01\n"
        '    question: {zh: "在这里写问题。"}\n    short: {zh: "在这里写答案。"}\n'
    )
    assert attn("new", "card", "mine").out == f"{path}:7\n"
    assert [card["id"] for card in attn("cards", "--topic", "mine", "--json").json] == ["mine-01", "mine-02"]


def test_beside_bundled_cards_it_takes_none_of_their_ids(attn: Attn, home: Path) -> None:
    for number in (1, 2):
        assert attn("new", "card", "kv", "--question", f"Q{number}", "--answer", "A").code == 0
    ids = [card["id"] for card in attn("cards", "--topic", "kv", "--json").json]
    assert {"kv-own-01", "kv-own-02", "kv-01"} <= {*ids}


@pytest.mark.parametrize("indent", ["", "  ", "    "])
def test_it_is_added_as_the_file_is_written(attn: Attn, home: Path, indent: str) -> None:
    path = home / "banks" / "mine.yml"
    path.parent.mkdir(parents=True)
    card = ("- id: mine-05  # first", "  question: Why?", "  short: So.")
    before = "# mine\ntopic: mine\ncards:\n" + "".join(f"{indent}{line}\n" for line in card)
    path.write_text(before + "\n\n", encoding="utf-8")
    assert attn("new", "card", "mine", "--question", "How?", "--answer", "Thus.").out == f"{path}:8\n"
    assert path.read_text(encoding="utf-8").startswith(before)
    assert len(attn("cards", "--topic", "mine", "--json").json) == 2


def test_a_file_that_cannot_be_added_to_stays_as_it_is(attn: Attn, home: Path) -> None:
    path = home / "banks" / "mine.yaml"
    path.parent.mkdir(parents=True)
    no_list, broken = "does not end with a list of cards", "fix this first, then add the card"
    for text, said in (
        ("topic: mine\ncards: [{id: mine-01, question: Why?, short: So.}]\n", no_list),
        ("cards:\n- {id: mine-01, question: Why?, short: So.}\ntopic: mine\n", no_list),
        ("topic: mine\ncards: 3\n", broken),
        ("topic: [", broken),
    ):
        path.write_text(text, encoding="utf-8")
        result = attn("new", "card", "mine")
        assert result.code == 2 and str(path) in result.line and said in result.line
        assert path.read_text(encoding="utf-8") == text and [*path.parent.iterdir()] == [path]


def test_a_name_that_no_topic_has_or_whose_file_would_not_be_read_is_refused(attn: Attn, home: Path) -> None:
    for topic in ("", "a b", "../x", "é", "-a", "x" * 41):
        result = attn("new", "card", "--", topic)
        assert result.code == 2 and "is not a valid topic; use lower-case letters" in result.line
    for topic in ("glossary", "errata", "review"):
        assert f"“{topic}” cannot be a topic: {topic}.yaml is not a card file" in attn("new", "card", topic).line
    assert not (home / "banks").exists()
    home.mkdir(exist_ok=True)
    (home / "banks").write_text("")
    result = attn("new", "card", "mine")
    assert result.code == 2 and f"cannot write {home / 'banks' / 'mine.yaml'}" in result.line
