from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.bank.check import Report, check
from attncli.bank.checked_files import Surroundings
from attncli.errors import NotFound

from .conftest import Card, Cards, Checker, Errors, Writer


def messages(report: Report) -> list[str]:
    return [problem.message.en for problem in report.problems]


def test_good_cards_of_a_bad_file_are_looked_at_too(cards: Cards, errors: Errors) -> None:
    cards["qa"]["short"]["en"] = "too short"
    assert len(errors(cards["qa"], {"id": "att-09"})) > 3
    assert any("the short answer has 2 words" in message for message in errors(cards["qa"], {"id": "att-09"}))


def test_problems_are_sorted_and_a_fault_hides_only_the_rest_of_its_file(
    cards: Cards, bank_file: Writer, around: Surroundings
) -> None:
    second = bank_file(cards["qa"] | {"level": "x", "core": 1, "id": "mask-01"}, topic="mask")
    first = bank_file(cards["debug"] | {"lines": [9]})
    report = check([first, second], around)
    places = [(Path(problem.file).name, problem.line) for problem in report.problems]
    assert places == sorted(places)
    assert len(places) == 3
    assert report.cards == 0
    bad = bank_file(cards["qa"])
    bad.write_text(bad.read_text(encoding="utf-8") + "  x: [\n", encoding="utf-8")
    other = bank_file(cards["qa"] | {"id": "mask-01", "level": "x"}, topic="mask")
    report = check([bad, other], around)
    assert [Path(problem.file).name for problem in report.problems] == ["att.yaml", "mask.yaml"]


def test_paths_that_are_not_there_are_an_error_of_the_call(tmp_path: Path, around: Surroundings) -> None:
    with pytest.raises(NotFound, match=r"there is no .*missing.yaml; give a bank file or a folder of them"):
        check([tmp_path / "missing.yaml"], around)
    with pytest.raises(NotFound, match=r"has no .yaml files"):
        check([tmp_path / "impl"], around)


def test_a_folder_named_like_a_file_is_a_problem_of_the_bank(tmp_path: Path, around: Surroundings) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    report = check([tmp_path / "folder.yaml", tmp_path / "loop.yaml"], around)
    assert ["not a regular file" in messages(report)[0], "cannot be read" in messages(report)[1]] == [True, True]


def test_ids_are_unique_over_all_files_and_start_with_the_topic(
    cards: Cards, bank_file: Writer, around: Surroundings, checked: Checker
) -> None:
    first = bank_file(cards["qa"], cards["qa"])
    assert messages(check([first], around)) == [
        'id "att-01" is used twice in this file; give one of the two another id'
    ]
    first = bank_file(cards["qa"])
    second = bank_file(cards["qa"], topic="mask")
    assert messages(check([first, second], around))[0].startswith('id "att-01" is already used in')
    assert len(messages(check([first, second], around))) == 1
    report = checked(cards["qa"], cards["debug"] | {"id": "xx-1"})
    assert messages(report) == ['id "xx-1" does not start with its topic; write att-…']
    report = checked(*cards.values(), topic="atn")
    assert messages(report) == ['topic "atn" does not match its cards, e.g. att-01; correct the topic']


def test_a_file_is_named_after_its_topic_and_checked_once(
    cards: Cards, bank_file: Writer, around: Surroundings
) -> None:
    path = bank_file(cards["qa"])
    report = check([path, path, path.parent], around)
    assert (messages(report), report.files, report.cards) == ([], 1, 1)
    path = bank_file(cards["qa"])
    other = path.rename(path.with_name("other.yaml"))
    report = check([other], around)
    assert messages(report) == []
    assert [note.message.en for note in report.notes] == ['topic "att" is in other.yaml; rename the file to att.yaml']


@pytest.fixture
def bundled(around: Surroundings) -> Writer:
    """Write a topic of the bundled bank."""

    def write(*cards: Card, name: str = "att.yaml", **more: Any) -> Path:
        path = around.quizbank / name
        path.write_text(
            yaml.safe_dump({"topic": "att", **more, "cards": list(cards)}, allow_unicode=True), encoding="utf-8"
        )
        return path

    return write


COMPLETE = {"title": {"en": "a", "zh": "甲"}, "licence": "CC-BY-4.0"}


def test_the_bundled_bank_is_stricter(cards: Cards, bundled: Writer, around: Surroundings) -> None:
    bundled(cards["qa"] | {"core": True}, cards["debug"] | {"id": "mask-01"}, name="other.yaml")
    found = messages(check([], around))
    assert 'topic "att" is in other.yaml; rename the file to att.yaml' in found
    assert 'missing "title": every topic of the bundled bank has one' in found
    assert 'missing "licence": every topic of the bundled bank has one' in found
    assert 'id "mask-01" does not start with its topic; write att-…' in found


def test_a_card_and_a_challenge_do_not_share_an_id(cards: Cards, bank_file: Writer, around: Surroundings) -> None:
    folder = around.impl / "attention" / "att-01"
    folder.mkdir(parents=True)
    (folder / "challenge.yaml").write_text("id: att-01\n", encoding="utf-8")
    assert (
        'id "att-01" is already the id of a challenge, and both share one log; give this card another id'
        in messages(check([bank_file(cards["qa"])], around))
    )


def test_own_banks_are_checked_with_the_bundled_one(
    cards: Cards, bundled: Writer, around: Surroundings, tmp_path: Path
) -> None:
    bundled(cards["qa"] | {"core": True}, cards["choice"], **COMPLETE)
    own = tmp_path / "own"
    own.mkdir()
    mine = cards["debug"] | {"id": "mine-01", "follow_ups": ["att-01"]}
    text = yaml.safe_dump({"topic": "mine", "cards": [mine]}, allow_unicode=True)
    (own / "mine.yaml").write_text(text, encoding="utf-8")
    (own / "zz.yaml").write_text(text.replace("topic: mine", "topic: zz"), encoding="utf-8")
    report = check([], Surroundings(around.quizbank, around.impl, own, tmp_path / "none"))
    assert [Path(problem.file).name for problem in report.problems] == ["zz.yaml"]
    assert messages(report)[0].startswith('id "mine-01" is already used in')
    assert report.cards == 3


def test_a_glossary_agrees_with_itself(tmp_path: Path, around: Surroundings) -> None:
    for text, message in (
        ("terms:\n- {en: A, zh: 甲}\n- {en: a, zh: 乙}\n", '"a" is listed twice; keep one'),
        ("terms:\n- {en: A, zh: 甲, avoid_zh: [甲]}\n", '"甲" is both the term and one to avoid; keep one'),
    ):
        path = tmp_path / "glossary.yaml"
        path.write_text(text, encoding="utf-8")
        assert messages(check([path], around)) == [message]


def challenge(folder: Path, **changes: Any) -> Path:
    def text() -> dict[str, str]:
        return {"en": "a", "zh": "甲"}

    value = {"level": 1, "title": text(), "entry": ["sdpa"], "statement": text()}
    value |= {"hints": [text()], "required": ["loads"], **changes}
    path = folder / "attention" / "sdpa" / "challenge.yaml"
    (path.parent / "wrong").mkdir(parents=True)
    (path.parent / "wrong" / "no-scale.py").touch()
    path.write_text(yaml.safe_dump(value, allow_unicode=True), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "sdpa"}, 'unknown key "id"; known keys: level, version, title'),
        ({"cards": ["att-99"]}, 'there is no card "att-99"; correct the id or remove it'),
        ({"statement": {"en": "$\\frac{1}$", "zh": "甲"}}, 'formula "\\frac{1}" is not valid LaTeX'),
    ],
)
def test_challenges_are_checked_where_they_are_given(around: Surroundings, changes: Card, message: str) -> None:
    challenge(around.impl, **changes)
    assert any(found.startswith(message) for found in messages(check([around.impl], around)))


def test_the_files_beside_a_challenge_are_checked_with_it(around: Surroundings) -> None:
    path = challenge(around.impl)
    found = {(Path(problem.file).name, problem.message.en) for problem in check([path], around).problems}
    assert ("challenge.yaml", "there is no reference.py; write a plain, slow implementation there") in found
    assert (
        "no-scale.py",
        "the docstring has no rung; write the rung that it must fail: rung: solved "
        "(a mistake in the technique) or rung: hardened",
    ) in found


def test_a_challenge_may_not_have_a_cards_id(around: Surroundings, cards: Cards, bank_file: Writer) -> None:
    bank = bank_file({**cards["qa"], "id": "sdpa"})
    path = challenge(around.impl)
    said = '"sdpa" is already the id of a card, and both share one log; rename this challenge\'s folder'
    assert said in messages(check([path, bank], around))


def test_ten_mistakes_in_two_files_are_ten_problems(cards: Cards, bank_file: Writer, around: Surroundings) -> None:
    qa, choice, numeric = cards["qa"], cards["choice"], cards["numeric"]
    qa |= {"level": "junior", "follow_ups": ["att-77"]}
    del choice["options"][0]["correct"]
    numeric["compute"] = "2 * layer * dtype"
    first = bank_file(qa, choice, numeric)
    cloze, ordering, debug = cards["cloze"], cards["ordering"], cards["debug"]
    for number, card in enumerate((cloze, ordering, debug)):
        card["id"] = f"mask-0{number}"
    del cloze["question"]["zh"]
    ordering["before"].append(["softmax", "score"])
    debug |= {"lines": [7], "sources": [{"id": "Vaswani"}], "shrot": {}}
    debug["explain"] = {"en": "$\\frac{1}$", "zh": "好"}
    second = bank_file(cloze, ordering, debug, topic="mask")
    report = check([first, second], around)
    assert len(report.problems) == 10, report.problems
    assert len({(problem.file, problem.line) for problem in report.problems}) == 10
    assert all(
        problem.line > 2 and ("; " in problem.message.en or ": " in problem.message.en) for problem in report.problems
    )


def test_at_most_one_bundled_card_in_six_is_must_know(cards: Cards, bundled: Writer, around: Surroundings) -> None:
    marked = {"must_know": True, "formula": "x"}
    first = [cards["qa"] | {"id": f"att-{number:02}"} for number in range(11, 16)]
    bundled(*first, cards["qa"] | {"id": "att-16"} | marked)
    assert not any("must_know" in note.message.en for note in check([], around).notes)
    bundled(*first[1:], cards["qa"] | marked)
    assert [note.message.en for note in check([], around).notes if "must_know" in note.message.en] == [
        "1 of 5 cards are must_know; mark at most one in 6, what nearly every interview asks"
    ]


def test_facts_of_more_than_a_year_ago_are_noted(cards: Cards, bank_file: Writer, around: Surroundings) -> None:
    fresh = ("2025", "2025-11", "2025-11-22", "2026-12")
    for as_of in (*fresh, "2024", "2025-10", "2025-11-21"):
        report = check([bank_file(cards["qa"] | {"as_of": as_of})], around, date(2026, 11, 22))
        assert report.problems == ()
        notes = [note.message.en for note in report.notes if "as of" in note.message.en]
        said = f"att-01 is as of {as_of}, more than a year ago; check it and write the new date"
        assert notes == ([] if as_of in fresh else [said])
    report = check([bank_file(cards["qa"] | {"as_of": "2027-02-28"})], around, date(2028, 2, 29))
    assert [note for note in report.notes if "as of" in note.message.en]
    assert check([bank_file(cards["qa"] | {"as_of": "1999"})], around).notes == ()
