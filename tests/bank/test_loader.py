from pathlib import Path

import yaml

from attncli.bank.loader import BankFile, bank_files, load_challenge, load_file, load_glossary
from attncli.domain.card_kinds import ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard, QaCard, card_of
from attncli.i18n import NOTHING
from attncli.practice.library import challenge_of

from .conftest import Cards, Writer


def test_a_card_of_each_kind_becomes_what_the_domain_reads(cards: Cards, bank_file: Writer) -> None:
    loaded = load_file(bank_file(*cards.values(), title={"en": "Attention", "zh": "注意力"}))
    assert loaded.problems == ()
    assert (loaded.topic, loaded.title) == ("att", {"en": "Attention", "zh": "注意力"})
    qa, choice, numeric, cloze, ordering, debug = map(card_of, loaded.documents)
    assert isinstance(qa, QaCard)
    assert qa.topic == "att"
    assert isinstance(choice, ChoiceCard)
    assert [option.correct for option in choice.options] == [True, False, False]
    assert isinstance(numeric, NumericCard)
    assert numeric.parameters == (("layers", (("24", 24), ("32", 32))), ("dtype", (("bf16", 2), ("fp8", 1))))
    assert isinstance(cloze, ClozeCard)
    assert cloze.blanks[0].variables == ("i", "d")
    assert isinstance(ordering, OrderingCard)
    assert ordering.before == (("score", "mask"), ("mask", "softmax"))
    assert isinstance(debug, DebugCard)
    assert debug.lines == (2,)


def test_a_file_with_a_problem_contributes_nothing_and_numbers_become_text(cards: Cards, bank_file: Writer) -> None:
    card = cards["numeric"] | {"compute": 96, "tolerance": 0.5, "question": {"en": "Bytes?", "zh": "字节？"}}
    del card["parameters"]
    (document,) = load_file(bank_file(card)).documents
    assert (document["compute"], document["tolerance"]) == ("96", "0.5")
    broken = load_file(bank_file({**cards["qa"], "id": "mask-01"}, {"id": "mask-02"}, topic="mask"))
    assert broken.documents == ()
    assert {problem.file for problem in broken.problems} == {str(broken.path)}


def test_own_files_may_end_otherwise_and_a_missing_folder_has_none(tmp_path: Path) -> None:
    for name in ("mine.yml", "broken.yaml", "notes.ymlx"):
        (tmp_path / name).write_text("a: [")
    assert [path.name for path in bank_files(tmp_path)] == ["broken.yaml", "mine.yml"]
    assert bank_files(tmp_path / "missing") == []


def test_glossary_plan_and_errata_are_no_card_files(cards: Cards, bank_file: Writer) -> None:
    folder = bank_file(cards["qa"]).parent
    for name in ("errata.yaml", "glossary.yaml"):
        (folder / name).write_text("terms:\n- {en: head, zh: 头}\n")
    assert [path.name for path in bank_files(folder)] == ["att.yaml"]
    assert load_glossary(folder / "glossary.yaml").documents == ({"en": "head", "zh": "头"},)
    assert load_glossary(folder / "missing.yaml") == BankFile(folder / "missing.yaml", "glossary")


def test_challenges_get_their_folder_and_what_was_left_out(tmp_path: Path) -> None:
    text = {"en": "a", "zh": "甲"}
    value = {"level": 1, "title": text, "entry": ["sdpa"], "statement": text}
    value |= {"hints": [dict(text)], "required": ["loads"]}
    for name, content in (
        ("sdpa", yaml.safe_dump({**value, "statement": dict(text), "title": dict(text)})),
        ("bad", "a: ["),
    ):
        folder = tmp_path / "attention" / name
        folder.mkdir(parents=True)
        (folder / "challenge.yaml").write_text(content)
    bad, good = [load_challenge(tmp_path / "attention" / name / "challenge.yaml") for name in ("bad", "sdpa")]
    (document,), (problem,) = good.documents, bad.problems
    assert not good.problems and not bad.documents
    assert document["folder"] == str(tmp_path / "attention" / "sdpa")
    assert (document["id"], document["track"]) == ("sdpa", "attention")
    challenge = challenge_of(document)
    assert (challenge.version, challenge.badges, challenge.hardened) == (1, (), NOTHING)
    assert Path(problem.file).parent.name == "bad"


def test_a_broken_glossary_or_value_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "glossary.yaml").write_text("terms: 3")
    glossary = load_glossary(tmp_path / "glossary.yaml")
    assert (len(glossary.problems), glossary.documents) == (1, ())
    path = tmp_path / "att.yaml"
    path.write_text("topic: att\ncards:\n  - id: att-01\n    kind: qa\n    question: *x\n    level: screen\n")
    messages = [problem.message.en for problem in load_file(path).problems]
    assert any("alias *x" in message for message in messages)
    assert not any('"question"' in message for message in messages)
