"""`attn new challenge` and `attn verify`: from the scaffold to the proof, with all messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from attncli import paths

from .conftest import Attn

pytestmark = pytest.mark.sandbox

LEFT_TO_WRITE = 'raise NotImplementedError("return (…).to(x.dtype)")'


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


def test_a_scaffold_holds_once_reference_and_one_wrong_solution_are_written(attn: Attn, folder: Path) -> None:
    done = attn("verify", "soft-sign")
    assert done.code == 0, done.out
    assert done.out.startswith("holds  soft-sign: 1/1 right accepted, 1/1 wrong rejected\n")
    document = attn("verify", "soft-sign", "--json").json
    assert (document["problems"], document["challenges"][0]["failures"]) == ([], [])
    assert document["score"]["wrong"] == {"rejected": 1, "total": 1}


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


def test_nothing_is_overwritten(attn: Attn, folder: Path) -> None:
    before = (folder / "reference.py").read_text(encoding="utf-8")
    assert "soft-sign already has the id soft-sign" in attn("new", "challenge", "mine/soft-sign").line
    (folder / "challenge.yaml").unlink()
    assert "already exists and will not be overwritten" in attn("new", "challenge", "mine/soft-sign").line
    assert (folder / "reference.py").read_text(encoding="utf-8") == before


def test_names_that_cannot_be_had_are_refused(attn: Attn) -> None:
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


def test_in_a_checkout_a_challenge_lies_among_the_bundled_ones(attn: Attn, small_impl: Path) -> None:
    done = attn("new", "challenge", "basics/2d-sum", "--lang", "zh")
    assert done.out == f"{small_impl / 'basics' / '2d-sum'}\n"
    assert "attn verify 2d-sum" in done.err
    text = (small_impl / "basics" / "2d-sum" / "reference.py").read_text(encoding="utf-8")
    assert "def the_2d_sum(x: Tensor) -> Tensor:" in text


def test_a_folder_that_cannot_be_written_is_told(attn: Attn, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "in_checkout", lambda: False)
    home.mkdir()
    (home / "challenges").write_text("a file\n", encoding="utf-8")
    assert "cannot write" in attn("new", "challenge", "mine/soft-sign").line
