"""`attn new` and `attn verify`: own cards and challenges, from the scaffold to the proof, with all messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attncli import paths

from .conftest import Attn

pytestmark = pytest.mark.sandbox

LEFT_TO_WRITE = 'raise NotImplementedError("return (…).to(x.dtype)")'
WORDY = ("so many words " * 8 + "\n    ") * 7
FAULTS = [
    ("inputs.py", "AXES", "AXIS", 'inputs.py:7:1: unknown fact AXIS; did you mean "AXES"?'),
    ("challenge.yaml", "(x: Tensor)", "(y: Tensor)", "challenge.yaml:9:1: the statement has soft_sign(y: Tensor)"),
    ("challenge.yaml", "zh: 第一条提示点出思路。", "zh: ''", "challenge.yaml:22:"),
    ("challenge.yaml", "用一句话说明它是什么。", "词\n    " * 25, "challenge.yaml:13:7: the statement has 3"),
    ("challenge.yaml", "one sentence", WORDY, "challenge.yaml:5:7: the statement has 198 words; the"),
    ("wrong/first-mistake.py", "cards: kv-02\n", "", "wrong/first-mistake.py:1:1: the docstring has no cards;"),
    ("wrong/first-mistake.py", "cards: kv-02", "cards: kv-77", 'wrong/first-mistake.py:7:1: there is no card "kv-77"'),
]


@pytest.fixture
def folder(attn: Attn, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a scaffold with its reference and one wrong solution filled in."""
    monkeypatch.setattr(paths, "in_checkout", lambda: False)
    done = attn("new", "challenge", "mine/soft-sign")
    folder = home / "challenges" / "mine" / "soft-sign"
    assert (done.code, done.out) == (0, f"{folder}\n")
    change(folder / "reference.py", LEFT_TO_WRITE, "return (y / (1 + y.abs())).to(x.dtype)")
    change(folder / "wrong" / "first-mistake.py", LEFT_TO_WRITE, "return (y / (2 + y.abs())).to(x.dtype)")
    change(folder / "wrong" / "first-mistake.py", "cards:", "cards: kv-02")
    return folder


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.full
def test_a_scaffold_holds_once_reference_and_one_wrong_solution_are_written(attn: Attn, folder: Path) -> None:
    done = attn("verify", "soft-sign")
    assert done.code == 0, done.out
    assert done.out.startswith("holds  soft-sign: 1/1 right accepted, 1/1 wrong rejected\n")
    document = attn("verify", "soft-sign", "--json").json
    assert (document["problems"], document["challenges"][0]["failures"]) == ([], [])
    assert document["score"]["wrong"] == {"rejected": 1, "total": 1}


def test_faults_of_the_files_are_told_before_anything_is_run(attn: Attn, folder: Path) -> None:
    for file, old, new, message in FAULTS:
        before = (folder / file).read_text(encoding="utf-8")
        change(folder / file, old, new)
        done = attn("verify", "soft-sign")
        assert done.code == 1
        assert done.out.splitlines()[0].removeprefix(f"{folder}/").startswith(message), done.out
        assert "holds" not in done.out
        assert "in challenge files, nothing was run" in done.err
        problems = attn("verify", "soft-sign", "--json").json["problems"]
        assert problems[0]["line"] == int(message.split(":")[1])
        checked = attn("bank", "check", str(folder))
        assert (checked.code, checked.out) == (1, done.out)
        (folder / file).write_text(before, encoding="utf-8")


@pytest.mark.slow
def test_a_wrong_file_that_passes_and_a_right_one_that_is_rejected_are_told(attn: Attn, folder: Path) -> None:
    wrong = folder / "wrong" / "first-mistake.py"
    (folder / "right" / "other.py").write_text(wrong.read_text(encoding="utf-8"), encoding="utf-8")
    change(wrong, "2 + y.abs()", "1 + y.abs()")
    done = attn("verify", "soft-sign", "--jobs", "1")
    assert done.code == 1
    assert done.out.startswith("FAILS  soft-sign: 1/2 right accepted, 0/1 wrong rejected\n")
    said = "wrong/first-mistake.py:8: accepted on stream 0, though it must not reach solved"
    assert f"       {folder}/{said}\n" in done.out
    assert f"{folder}/right/other.py:1: rejected on stream 0: matches-reference: largest error" in done.out
    assert "1 of 1 challenges failed verification: soft-sign; see above" in done.line


def test_names_that_cannot_be_had_are_refused_and_nothing_is_overwritten(attn: Attn, folder: Path) -> None:
    for name, message in (
        ("soft-sign", "soft-sign is not a challenge name; write TRACK/ID in lower-case"),
        ("Mine/soft", "Mine/soft is not a challenge name"),
        ("mine/a/b", "mine/a/b is not a challenge name"),
        ("../soft", "../soft is not a challenge name"),
        ("mine/kv-02", "a card already has the id kv-02; choose another"),
        ("mine/double", "already has the id double"),
    ):
        done = attn("new", "challenge", name)
        assert (done.code, done.out) == (2, "")
        assert message in done.line
    before = (folder / "reference.py").read_text(encoding="utf-8")
    assert "soft-sign already has the id soft-sign" in attn("new", "challenge", "mine/soft-sign").line
    (folder / "challenge.yaml").unlink()
    assert "already exists and will not be overwritten" in attn("new", "challenge", "mine/soft-sign").line
    assert (folder / "reference.py").read_text(encoding="utf-8") == before


def test_in_a_checkout_a_challenge_is_a_bundled_one(attn: Attn, home: Path, small_impl: Path, monkeypatch: Any) -> None:
    done = attn("new", "challenge", "basics/2d-sum", "--lang", "zh")
    assert done.out == f"{small_impl / 'basics' / '2d-sum'}\n" and "attn verify 2d-sum" in done.err
    text = (small_impl / "basics" / "2d-sum" / "reference.py").read_text(encoding="utf-8")
    assert "def the_2d_sum(x: Tensor) -> Tensor:" in text
    monkeypatch.setattr(paths, "in_checkout", lambda: False)
    (home / "challenges").write_text("a file\n", encoding="utf-8")
    assert "cannot write" in attn("new", "challenge", "mine/soft-sign").line


def test_a_card_is_written_where_it_is_read_from(attn: Attn, home: Path) -> None:
    result = attn("new", "card", "mine", "--question", "Why “two”?", "--answer", "K: and V # both\nare kept.")
    path = home / "banks" / "mine.yaml"
    assert (result.code, result.out) == (0, f"{path}:3\n")
    assert result.err == "Card mine-01 is saved. Show it: `attn show mine-01`\n"
    assert attn("show", "mine-01", "--json").json["short"] == dict.fromkeys(("en", "zh"), "K: and V # both\nare kept.")
    assert "Why “two”?" in attn("show", "mine-01", "--lang", "zh").out
    assert attn("bank", "check", str(path)).err == "1 card in 1 file: no problems\n"
    assert attn("answer", "mine-01", "--rating", "good").code == 0


def test_without_a_question_there_is_a_place_for_it(attn: Attn, home: Path) -> None:
    result = attn("new", "card", "Mine", "--lang", "zh")
    path = home / "banks" / "mine.yaml"
    assert result.out == f"{path}:3\n" and "请填写问题和答案" in result.err
    card = '  - id: mine-01\n    question: {zh: "在这里写问题。"}\n    short: {zh: "在这里写答案。"}\n'
    assert path.read_text(encoding="utf-8") == "topic: mine\ncards:\n" + card
    assert attn("new", "card", "mine").out == f"{path}:7\n"
    assert [card["id"] for card in attn("cards", "--topic", "mine", "--json").json] == ["mine-01", "mine-02"]
    for number in (1, 2):
        assert attn("new", "card", "kv", "--question", f"Q{number}", "--answer", "A").code == 0
    ids = {card["id"] for card in attn("cards", "--topic", "kv", "--json").json}
    assert {"kv-own-01", "kv-own-02", "kv-01"} <= ids, "it takes no id of a bundled card"


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
