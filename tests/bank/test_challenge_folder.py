"""Report all static errors in a challenge's files at once, with file and line."""

from pathlib import Path

import pytest

from attncli.bank.check import check_challenges
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known

from .conftest import only, table

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


def test_a_sound_folder_has_no_faults_and_a_learners_own_may_lack_follow_ups_and_sources(folder: Path) -> None:
    assert found(folder) == []
    (folder / "challenge.yaml").write_text(YAML.partition("follow_ups:")[0], encoding="utf-8")
    assert found(folder) == []


def test_a_bundled_challenge_has_three_follow_ups_and_a_source(folder: Path) -> None:
    source = "there is no source; cite the paper or page that it comes from"
    assert found(folder, impl=".") == []
    for text, messages in (
        (
            YAML.partition("follow_ups:")[0],
            ["1: a challenge needs 3 follow-ups, found 0; write what interviewers ask next", f"1: {source}"],
        ),
        (YAML.partition("sources:")[0] + "sources: []\n", [f"26: {source}"]),
        (
            YAML.partition("  - {ask: {en: And 2")[0] + YAML[YAML.index("sources:") :],
            ["22: a challenge needs 3 follow-ups, found 2; write what interviewers ask next"],
        ),
    ):
        (folder / "challenge.yaml").write_text(text, encoding="utf-8")
        assert found(folder, impl=".") == [f"challenge.yaml:{message}" for message in messages]


def replace(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")


TALL = "line\n    " * 25
WORDY = ("word " * 27 + "\n    ") * 7 + "T"
CHANGES = r"""
inputs.py | AXES | AXIS | 1: unknown fact AXIS; did you mean "AXES"?
inputs.py | _OWN = 3 | OTHER, _OWN = 3, 3 | 2: unknown fact OTHER; see the list in
inputs.py | _OWN = 3 | WITHOUT_MOTIFS = {"stiles"} | 2: WITHOUT_MOTIFS names "stiles", which does not exist; did you mean "styles"?
inputs.py | _OWN = 3 | HARDENED = {"edge_no"} | 2: HARDENED names "edge_no", which does not exist; see docs/challenge-format.md
inputs.py | _OWN = 3 | HARDENED = {"stable"} | 2: HARDENED names "stable", which does not exist; see docs/challenge-format.md
inputs.py | _OWN = 3 | SIXTEEN_BITS = "float23" | 2: SIXTEEN_BITS names "float23", which does not exist; did you mean "float32"?
inputs.py | def case | de case | 5: this is not valid Python (invalid syntax); correct it
challenge.yaml | float = 2.0 | float = 3.0 | 9: the statement has double(x: Tensor, time
challenge.yaml | double(x: Tensor | duple(x: Tensor | 6: the statement shows no signature of double; a
challenge.yaml | ) -> Tensor\n | ) > Tensor\n | 9: "def double(x: Tensor, times: float = 2.0) > Tensor
challenge.yaml | [double] | [double, twice] | reference.py:1: the reference does not define twice, which entry lists
challenge.yaml |   zh: |\n    输入的两倍。 |   zh: |\n    Twice. | 11: the Chinese text is missing; add
challenge.yaml | {en: Add., zh: 相加。} | {en: Add., zh: Sum.} | 18: the Chinese text is missing; add
challenge.yaml | {en: Doubling, | {en: 加倍, | 2: this text has no English; write it in English
challenge.yaml | zh: 加倍} | } | 2: missing "zh" in "title": write the Chinese text as zh: …
challenge.yaml | hints:\n | hardened: {en: F., zh: F.}\nhints:\n | 17: this text repeats the English
challenge.yaml | [att-01] | [att-77] | 21: there is no card "att-77"; correct the id or
challenge.yaml | card: att-01 | card: att-77 | 23: there is no card "att-77"; correct the id or
challenge.yaml |   - {ask: {en: And 2 | # | 22: a challenge needs 3 follow-ups, found 2; write what
challenge.yaml | And 1? | And 0? | 24: this is asked twice; ask something else
challenge.yaml | zh: 是 2。 | zh: It is 2. | 24: this text repeats the English; write it
challenge.yaml | zh: 是 2。 | zh: Two. | 24: the Chinese text is missing; add it
challenge.yaml | , answer: {en: It is 2., zh: 是 2。} |  | 24: missing "answer"
challenge.yaml | arxiv:1706.03762 | Vaswani | 27: source "Vaswani" is not an identifier; write
wrong/squares.py | double(x, times=2.0) | double(x) | 12: double takes (x), but
wrong/squares.py | def double | def duple | 1: there is no double here; define it
wrong/squares.py | cards: att-01\n |  | 1: the docstring has no cards; list the
wrong/squares.py | cards: att-01 | cards: x-1 | 7: there is no card
wrong/squares.py | 症状 | xx症状 | 1: the docstring has no 症状; describe the
wrong/squares.py | return | retur n | 13: this is not valid Python (invalid syntax); c
"""  # noqa: E501
LONG = (
    ("inputs.py", "_OWN = 3", "_OWN = 3" + " " * 140, "2: this line has 148 characters; the"),
    ("challenge.yaml", "    Twice", f"    {TALL}Twice", "5: the statement has 30 lines; the limit is 25; move"),
    ("challenge.yaml", "    输入的", f"    {TALL}输入的", "11: the statement has 30 lines; the limit is"),
    ("challenge.yaml", "Twice", WORDY + "wice", "5: the statement has 200 words"),
    ("challenge.yaml", "Add.,", f'"{"a" * 140}",', "18: this line has 161 characters; the limit is 140; br"),
)


def test_each_fault_is_told_with_file_and_line(folder: Path) -> None:
    for file, old, new, message in (*table(CHANGES), *LONG):
        sound = (folder / file).read_text(encoding="utf-8")
        replace(folder, file, *(text.replace("\\n", "\n") for text in (old, new)))
        only(found(folder), f"{file}:{message}" if message[0].isdigit() else message)
        (folder / file).write_text(sound, encoding="utf-8")


def test_a_method_that_the_reference_lacks_is_told(folder: Path) -> None:
    block = "class double(nn.Module):\n        def undo(self) -> None\n    "
    replace(folder, "challenge.yaml", "def double", block + "def double")
    assert found(folder) == ["challenge.yaml:10: the reference has no double.undo; correct one of the two"]


def test_missing_and_unreadable_files_are_told(folder: Path) -> None:
    for file, message in (
        ("reference.py", "challenge.yaml:1: there is no reference.py; write a plain, slow implementation there"),
        ("inputs.py", "challenge.yaml:1: inputs.py is missing; define case(make) there"),
        ("wrong/squares.py", "challenge.yaml:1: there is no file in wrong/; write a submission with a typical"),
    ):
        sound = (folder / file).read_bytes()
        (folder / file).unlink()
        only(found(folder), message)
        (folder / file).write_bytes(sound)
    (folder / "wrong" / "squares.py").write_bytes(b"\xff\xfe")
    only(found(folder), "wrong/squares.py:1: this file cannot be read (")


def test_right_solutions_take_what_the_reference_takes(folder: Path) -> None:
    (folder / "right" / "two.py").write_text("def double(x, factor=2.0): ...\n", encoding="utf-8")
    takes = "right/two.py:1: double takes (x, factor=2.0), but (x, times=2.0) in the reference"
    assert found(folder) == [f"{takes}; make them match"]


def test_a_folder_that_no_challenge_can_be_called_is_told(folder: Path) -> None:
    moved = folder.rename(folder.with_name("My_Double"))
    assert found(moved) == [
        'challenge.yaml:1: the folder name "My_Double" is not a valid challenge id; '
        "use lower-case letters, digits and single hyphens"
    ]


def test_all_faults_are_told_at_once(folder: Path) -> None:
    replace(folder, "inputs.py", "AXES", "AXIS")
    replace(folder, "wrong/squares.py", "cards: att-01\n", "")
    replace(folder, "challenge.yaml", "times: float = 2.0", "times: float = 3.0")
    replace(folder, "challenge.yaml", "  zh: |\n    输入的两倍。", "  zh: |\n    Twice.")
    files = [said.split(":")[0] for said in found(folder)]
    assert sorted(files) == ["challenge.yaml", "challenge.yaml", "inputs.py", "wrong/squares.py"]
