"""Report all static errors in a challenge's files at once, with file and line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from attncli.bank.check import check_challenges
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known

YAML = """\
level: 1
title: {en: Doubling, zh: 加倍}
entry: [double]
statement:
  en: |
    Twice the input.

    ```python
    def double(x: Tensor, times: float = 2.0) -> Tensor
    ```
  zh: |
    输入的两倍。

    ```python
    def double(x: Tensor, times: float = 2.0) -> Tensor
    ```
hints:
  - {en: Add., zh: 相加。}
  - {en: "x + x", zh: "x + x"}
required: [loads, matches-reference]
cards: [att-01]
follow_ups:
  - {ask: {en: And 0?, zh: 0 呢？}, answer: {en: It is 0., zh: 还是 0。}, card: att-01}
  - {ask: {en: And 1?, zh: 1 呢？}, answer: {en: It is 2., zh: 是 2。}}
  - {ask: {en: And 2?, zh: 2 呢？}, answer: {en: It is 4., zh: 是 4。}}
sources:
  - {id: "arxiv:1706.03762", where: Section 3}
"""
REFERENCE = '"""Twice."""\n\n\ndef double(x: Tensor, times: float = 2.0) -> Tensor:\n    return x * times\n'
INPUTS = 'AXES = {"x": "T"}\n_OWN = 3\n\n\ndef case(make):\n    make.call("double", make.normal(3))\n'
WRONG = '"""Squares.\n求成了平方。\n\nsymptom: Off.\n症状：不对。\n\ncards: att-01\nrung: solved\n"""\n'
SQUARES = f"{WRONG}\n\ndef double(x, times=2.0):\n    return x * x\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "basics" / "double"
    for part in ("wrong", "right"):
        (folder / part).mkdir(parents=True)
    files = {"challenge.yaml": YAML, "reference.py": REFERENCE, "inputs.py": INPUTS, "wrong/squares.py": SQUARES}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def found(folder: Path, impl: str = "impl") -> list[str]:
    around = Surroundings(folder.parents[1] / "quizbank", folder.parents[1] / impl)
    problems = check_challenges([folder / "challenge.yaml"], Known(cards={"att-01"}), around)
    return [f"{Path(at.file).relative_to(folder).as_posix()}:{at.line}: {at.message.en}" for at in problems]


def test_a_sound_folder_has_no_faults(folder: Path) -> None:
    assert found(folder) == []


def test_a_learners_own_challenge_may_leave_out_follow_ups_and_sources(folder: Path) -> None:
    yaml = folder / "challenge.yaml"
    yaml.write_text(YAML.partition("follow_ups:")[0], encoding="utf-8")
    assert found(folder) == []


NO_SOURCE = "there is no source; cite the paper or page that it comes from"
LACKS = [
    (
        "follow_ups:",
        "",
        ["1: a challenge needs 3 follow-ups, found 0; write what interviewers ask next", f"1: {NO_SOURCE}"],
    ),
    ("sources:", "sources: []\n", [f"26: {NO_SOURCE}"]),
    ("  - {ask: {en: And 2", YAML[YAML.index("sources:") :], ["22: a challenge needs 3 follow-ups, found 2; write"]),
]


@pytest.mark.parametrize(("begins", "instead", "messages"), LACKS, ids=["both", "no-source", "two-follow-ups"])
def test_a_bundled_challenge_has_three_follow_ups_and_a_source(
    folder: Path, begins: str, instead: str, messages: list[str]
) -> None:
    (folder / "challenge.yaml").write_text(YAML.partition(begins)[0] + instead, encoding="utf-8")
    said = found(folder, impl=".")
    assert len(said) == len(messages)
    assert all(got.startswith(f"challenge.yaml:{due}") for got, due in zip(said, messages, strict=True))
    assert not any("leave them out" in got for got in said)


def test_a_sound_bundled_challenge_has_no_faults(folder: Path) -> None:
    assert found(folder, impl=".") == []


def replaced(file: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def without(file: str) -> Callable[[Path], None]:
    return lambda folder: (folder / file).unlink()


def in_yaml(old: str, new: str) -> Callable[[Path], None]:
    return replaced("challenge.yaml", old, new)


TALL = "line\n    " * 25
WORDY = ("word " * 27 + "\n    ") * 7 + "T"
CHANGES = [
    (replaced("inputs.py", "AXES", "AXIS"), 'inputs.py:1: unknown fact AXIS; did you mean "AXES"?'),
    (replaced("inputs.py", "_OWN = 3", "OTHER, _OWN = 3, 3"), "inputs.py:2: unknown fact OTHER; see the list in"),
    (
        replaced("inputs.py", "_OWN = 3", 'WITHOUT_MOTIFS = {"stiles"}'),
        'inputs.py:2: WITHOUT_MOTIFS names "stiles", which does not exist; did you mean "styles"?',
    ),
    (
        replaced("inputs.py", "_OWN = 3", 'HARDENED = {"edge_nowhere"}'),
        'inputs.py:2: HARDENED names "edge_nowhere", which does not exist; see docs/challenge-format.md',
    ),
    (
        replaced("inputs.py", "_OWN = 3", 'HARDENED = {"stable"}'),
        'inputs.py:2: HARDENED names "stable", which does not exist; see docs/challenge-format.md',
    ),
    (
        replaced("inputs.py", "_OWN = 3", 'SIXTEEN_BITS = "float23"'),
        'inputs.py:2: SIXTEEN_BITS names "float23", which does not exist; did you mean "float32"?',
    ),
    (replaced("inputs.py", "_OWN = 3", "_OWN = 3" + " " * 140), "inputs.py:2: this line has 148 characters; the"),
    (
        replaced("inputs.py", "def case", "de case"),
        "inputs.py:5: this is not valid Python (invalid syntax); correct it",
    ),
    (in_yaml("times: float = 2.0", "times: float = 3.0"), "challenge.yaml:9: the statement has double(x: Tensor, time"),
    (in_yaml("double(x: Tensor", "duple(x: Tensor"), "challenge.yaml:6: the statement shows no signature of double; a"),
    (in_yaml(") -> Tensor\n", ") > Tensor\n"), 'challenge.yaml:9: "def double(x: Tensor, times: float = 2.0) > Tensor'),
    (in_yaml("[double]", "[double, twice]"), "reference.py:1: the reference does not define twice, which entry lists"),
    (
        in_yaml("  zh: |\n    输入的两倍。", "  zh: |\n    Twice."),
        "challenge.yaml:11: the Chinese text is missing; add",
    ),
    (in_yaml("{en: Add., zh: 相加。}", "{en: Add., zh: Sum.}"), "challenge.yaml:18: the Chinese text is missing; add"),
    (in_yaml("{en: Doubling,", "{en: 加倍,"), "challenge.yaml:2: this text has no English; write it in English"),
    (in_yaml("zh: 加倍}", "}"), 'challenge.yaml:2: missing "zh" in "title": write the Chinese text as zh: …'),
    (
        in_yaml("hints:\n", "hardened: {en: Fast., zh: Fast.}\nhints:\n"),
        "challenge.yaml:17: this text repeats the English",
    ),
    (in_yaml("    Twice", f"    {TALL}Twice"), "challenge.yaml:5: the statement has 30 lines; the limit is 25; move"),
    (
        in_yaml("    输入的", f"    {TALL}输入的"),
        "challenge.yaml:11: the statement has 30 lines; the limit is 25; move",
    ),
    (in_yaml("Twice", WORDY + "wice"), "challenge.yaml:5: the statement has 200 words"),
    (
        in_yaml("Add.,", f'"{"a" * 140}",'),
        "challenge.yaml:18: this line has 161 characters; the limit is 140; break it",
    ),
    (in_yaml("[att-01]", "[att-77]"), 'challenge.yaml:21: there is no card "att-77"; correct the id or'),
    (in_yaml("card: att-01", "card: att-77"), 'challenge.yaml:23: there is no card "att-77"; correct the id or'),
    (in_yaml("  - {ask: {en: And 2", "#"), "challenge.yaml:22: a challenge needs 3 follow-ups, found 2; write what"),
    (in_yaml("And 1?", "And 0?"), "challenge.yaml:24: this is asked twice; ask something else"),
    (in_yaml("zh: 是 2。", "zh: It is 2."), "challenge.yaml:24: this text repeats the English; write it"),
    (in_yaml("zh: 是 2。", "zh: Two."), "challenge.yaml:24: the Chinese text is missing; add it"),
    (in_yaml(", answer: {en: It is 2., zh: 是 2。}", ""), 'challenge.yaml:24: missing "answer"'),
    (
        in_yaml("arxiv:1706.03762", "Vaswani 2017"),
        'challenge.yaml:27: source "Vaswani 2017" is not an identifier; write',
    ),
    (replaced("wrong/squares.py", "double(x, times=2.0)", "double(x)"), "wrong/squares.py:12: double takes (x), but"),
    (replaced("wrong/squares.py", "def double", "def duple"), "wrong/squares.py:1: there is no double here; define it"),
    (replaced("wrong/squares.py", "cards: att-01\n", ""), "wrong/squares.py:1: the docstring has no cards; list the"),
    (replaced("wrong/squares.py", "cards: att-01", "cards: x-1"), "wrong/squares.py:7: there is no card"),
    (replaced("wrong/squares.py", "症状", "xx症状"), "wrong/squares.py:1: the docstring has no 症状; describe the"),
    (
        replaced("wrong/squares.py", "return", "retur n"),
        "wrong/squares.py:13: this is not valid Python (invalid syntax); c",
    ),
    (without("reference.py"), "challenge.yaml:1: there is no reference.py; write a plain, slow implementation there"),
    (without("inputs.py"), "challenge.yaml:1: inputs.py is missing; define case(make) there"),
    (without("wrong/squares.py"), "challenge.yaml:1: there is no file in wrong/; write a submission with a typical"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES, ids=[message[:60] for _, message in CHANGES])
def test_each_fault_is_told_with_file_and_line(folder: Path, change: Callable[[Path], None], message: str) -> None:
    change(folder)
    (said,) = found(folder)
    assert said.startswith(message)


def test_right_solutions_take_what_the_reference_takes(folder: Path) -> None:
    (folder / "right" / "two.py").write_text("def double(x, factor=2.0): ...\n", encoding="utf-8")
    (said,) = found(folder)
    takes = "right/two.py:1: double takes (x, factor=2.0), but (x, times=2.0) in the reference"
    assert said == f"{takes}; make them match"


def test_a_method_that_the_reference_lacks_is_told(folder: Path) -> None:
    block = "class double(nn.Module):\n        def undo(self) -> None\n    "
    replaced("challenge.yaml", "def double", block + "def double")(folder)
    assert found(folder) == ["challenge.yaml:10: the reference has no double.undo; correct one of the two"]


def test_a_file_that_is_no_text_is_told(folder: Path) -> None:
    (folder / "wrong" / "squares.py").write_bytes(b"\xff\xfe")
    (said,) = found(folder)
    assert said.startswith("wrong/squares.py:1: this file cannot be read (")


def test_a_folder_that_no_challenge_can_be_called_is_told(folder: Path) -> None:
    moved = folder.rename(folder.with_name("My_Double"))
    assert found(moved) == [
        'challenge.yaml:1: the folder name "My_Double" is not a valid challenge id; '
        "use lower-case letters, digits and single hyphens"
    ]


def test_all_faults_are_told_at_once(folder: Path) -> None:
    for change in (
        replaced("inputs.py", "AXES", "AXIS"),
        replaced("wrong/squares.py", "cards: att-01\n", ""),
        in_yaml("times: float = 2.0", "times: float = 3.0"),
        in_yaml("  zh: |\n    输入的两倍。", "  zh: |\n    Twice."),
    ):
        change(folder)
    files = [said.split(":")[0] for said in found(folder)]
    assert sorted(files) == ["challenge.yaml", "challenge.yaml", "inputs.py", "wrong/squares.py"]
