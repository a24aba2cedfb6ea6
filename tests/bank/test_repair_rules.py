"""Report all errors of a `repairs.yaml` at once, each with its line and column."""

from pathlib import Path

import pytest

from attncli.bank.challenge_rules import load_repairs, repair_problems
from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.errors import EnvironmentFailure
from attncli.paths import bundled_impl

REFERENCE = """\
def double(x, times=2.0):
    a = x * 1
    b = a + 0
    if times is None:
        times = 2.0
    c = b * times
    d = c - 0
    return d
"""
PLACES = {"one": ("a = x * 1", "a = x * 3"), "two": ("b = a + 0", "b = a + 1")}
PLACES |= {"three": ("c = b * times", "c = b"), "four": ("return d", "return -d")}


def mistake(rung: str = "solved") -> str:
    fields = f"symptom: Off.\n症状：不对。\n\ncards: att-01\nrung: {rung}"
    return f'"""Wrong.\n不对。\n\n{fields}\n"""\n\n\ndef double(x, times=2.0):\n    return x\n'


def entry(name: str, find: str, replace: str) -> str:
    return f'  - wrong: {name}\n    find: "{find}"\n    replace: "{replace}"\n'


WHOLE = "repairs:\n" + "".join(entry(name, *lines) for name, lines in PLACES.items())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "basics" / "double"
    (folder / "wrong").mkdir(parents=True)
    (folder / "reference.py").write_text(REFERENCE)
    for name in PLACES:
        (folder / "wrong" / f"{name}.py").write_text(mistake())
    (folder / "wrong" / "bits.py").write_text(mistake("hardened"))
    return folder


def told(folder: Path, text: str, challenge: object = None) -> list[str]:
    (folder / "repairs.yaml").write_text(text)
    found = repair_problems(folder, challenge)
    return [f"{problem.line}:{problem.column}: {problem.message.en}" for problem in found]


def test_a_whole_file_has_no_fault_and_is_read_in_its_order(folder):
    assert told(folder, WHOLE) == []
    assert [repair.wrong for repair in load_repairs(folder)] == list(PLACES)
    assert repair_problems(folder.parent, None) == [] and load_repairs(folder.parent) == ()


def test_each_fault_is_told_with_its_place_and_what_to_do(folder) -> None:
    for before, after, message in (
        ("wrong: one", "wrong: fours", '2:12: there is no "wrong/fours.py"; did you mean "four"?'),
        ("wrong: one", "wrong: bits", '2:12: "bits" only fails the hardened rung; plant one that fails the first'),
        ("wrong: two", "wrong: one", '5:12: "one" is planted twice; keep one of the two'),
        ('"a = x * 1"', '"x * 1"', "3:11: these lines are not in reference.py; copy whole lines"),
        ('"a = x * 3"', '"a = x * 1"', "4:14: this changes nothing; write the mistake"),
        ('"a = x * 3"', '"a = x *"', "4:14: this makes the reference invalid Python (invalid syntax); correct it"),
        ('"a = x * 3"', f'"a = {"x * " * 40}3"', "4:14: this makes a line longer than 140 characters; break it"),
        ('"b = a + 0"', '"a = x * 1\\n    b = a + 0"', "6:11:"),
        ("replace:", "replaces:", '4:5: unknown key "replaces"'),
    ):
        found = told(folder, WHOLE.replace(before, after, 1))
        assert any(line.startswith(message) for line in found), found


def test_lines_that_stand_twice_and_lines_that_two_mistakes_want_are_told(folder):
    (folder / "reference.py").write_text(REFERENCE.replace("d = c - 0", "return d"))
    (found,) = told(folder, WHOLE)
    assert found == "12:11: these lines occur in reference.py at lines 7, 8; add a neighbouring line"
    (folder / "reference.py").write_text(REFERENCE)
    (found,) = told(folder, WHOLE.replace('"b = a + 0"', '"a = x * 1\\nb = a + 0"'))
    assert found == '6:11: these lines overlap with those of "one"; find other lines'


def test_fewer_than_four_and_what_is_no_mapping_and_kernels_are_refused(folder):
    (found,) = told(folder, WHOLE[: WHOLE.index("  - wrong: four")])
    assert found == "1:10: only 3 mistakes can be planted; write at least 4 that fit together" or found.startswith(
        "2:3: only"
    )
    assert told(folder, "- one\n")[0].endswith("start it with repairs: …")
    (found,) = told(folder, WHOLE, {"kernel": True})
    assert "mistakes cannot be planted" in found


def test_a_faulty_file_hands_nothing_out(folder):
    told(folder, WHOLE.replace("wrong: one", "wrong: oen"))
    with pytest.raises(EnvironmentFailure, match=r"repairs.yaml:2:12: there is no .*attn verify double"):
        load_repairs(folder)


def test_a_check_of_a_folder_or_of_the_file_itself_tells_its_faults(folder):
    told(folder, WHOLE.replace("wrong: one", "wrong: oen"))
    for path in (folder / "repairs.yaml", folder):
        (folder / "challenge.yaml").write_text("level: 1\n")
        around = Surroundings(folder.parent, folder.parent)
        assert any("oen" in problem.message.en for problem in check([path], around).problems)


BUNDLED = sorted(bundled_impl().glob("*/*/repairs.yaml"))


def test_what_is_bundled_can_be_planted():
    for file in BUNDLED:
        assert repair_problems(file.parent, None) == []
        assert len(load_repairs(file.parent)) >= 4, file


def test_the_pages_say_how_many_challenges_offer_rounds():
    root = Path(__file__).parents[2]
    for page in ("docs/challenges.md", "CHANGELOG.md"):
        assert f"{len(BUNDLED)} challenges" in (root / page).read_text(encoding="utf-8"), page
