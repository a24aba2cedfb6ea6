"""Cause every message about the shape of a card, bank file, glossary or challenge with one damage each."""

from pathlib import Path

import yaml

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import load_challenge, load_glossary

from .conftest import Cards, Errors, changed, only, table


def test_a_good_card_of_each_kind_has_no_problem(cards: Cards, errors: Errors) -> None:
    assert errors(*cards.values()) == []


WRONG_VALUES = """
qa | kind | quiz | "kind" cannot be "quiz"; use one of qa, choice, numeric, cloze, ordering, debug
qa | kind | numerc | "kind" cannot be "numerc"; did you mean "numeric"? use one of qa, choice
qa | kind | 3 | "kind" cannot be the number 3; use one of qa
qa | level | screan | "level" cannot be "screan"; did you mean "screen"? use one of screen, onsite, research
qa | level | null | "level" cannot be nothing; use one of screen, onsite, research
qa | id | Att 1 | "id" "Att 1" is not a valid id; use lower-case letters, digits and single hyphens
qa | id | aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa | "id" is longer than 60 characters; shorten it
qa | core | "yes" | "core" must be true or false, found the text "yes"; write true or false here
qa | question | Why? | "question" must have both languages, found the text "Why?"; write {en: …, zh: …}
qa | question.zh | "  " | "question.zh" is empty; write its text
qa | question.zh | 64 | "question.zh" must be text, found the number 64; put it in quotes
qa | question.zh | true | "question.zh" must be text, found true; put it in quotes
qa | question.zh | [a] | "question.zh" must be text, found a list; write the Chinese text as zh: …
qa | question.fr | x | unknown key "fr"; known keys: en, zh
qa | shrot | 1 | unknown key "shrot"; did you mean "short"?
qa | zzz | 1 | unknown key "zzz"; known keys: id, kind, level, core, question
qa | points | [] | "points" needs at least 3 entries, found 0; add 3 more
qa | points.1 | x | item 2 of "points" must have both languages, found the text "x"
qa | points.0 | {en: a} | missing "zh" in item 1 of "points": write the Chinese text as zh: …
qa | follow_ups | att-02 | "follow_ups" must be a list, found the text "att-02"; write a list here
qa | follow_ups | [3] | item 1 of "follow_ups" must be text, found the number 3; put it in quotes
qa | follow_ups | [{ask: {en: "Why?", zh: 为什么？}}] | missing "answer" in item 1 of "follow_ups": write it as answer
qa | follow_ups | [{ask: {en: a, zh: 甲}, answer: {en: a, zh: 甲}, asks: {}}] | unknown key "asks"; did you mean "ask"?
qa | follow_ups | [{ask: Why, answer: {en: a, zh: 甲}}] | "follow_ups.ask" must have both languages, found the text
qa | as_of | last June | "as_of" "last June" is not a date; write 2017, 2017-06
numeric | slips | [{compute: layers}] | missing "says" in item 1 of "slips": copy the number from the text
qa | sources | [3] | item 1 of "sources" must be a mapping, found the number 3; write a mapping here
qa | sources | [{id: "arxiv:1706.03762", date: June}] | "sources.date" "June" is not a date; write 2017
qa | pitfalls | [{en: a, zh: 甲, errata: "19"}] | "pitfalls.errata" "19" is not an errata id; write E01
choice | options.0.corect | true | unknown key "corect"; did you mean "correct"?
choice | options | [] | "options" needs at least 3 entries, found 0; add 3 more
numeric | unit | 3 | "unit" must be text, found the number 3; put it in quotes
numeric | parameters | [1] | "parameters" must be a mapping, found a list; write a mapping here
numeric | parameters.2 x | [1] | "2 x" is not a valid name; use letters, digits and _, starting with a letter
cloze | blanks.0.form | latex | "blanks.form" cannot be "latex"; use one of text, algebra
cloze | blanks.0.answer | 1 | "blanks.answer" must be text, found the number 1; put it in quotes
ordering | before.0 | [a] | item 1 of "before" needs at least 2 entries, found 1; add 1 more
ordering | before.0 | [a, b, c] | item 1 of "before" takes at most 2 entries, found 3
debug | lines | [0] | item 1 of "lines" must be at least 1, found 0; correct it
debug | lines | ["4"] | item 1 of "lines" must be a whole number, found the text "4"
debug | wrong | sdpa | "wrong" "sdpa" must name a challenge and one of its wrong files
"""


def test_a_wrong_value_is_named_with_its_remedy(errors: Errors) -> None:
    for kind, way, value, message in table(WRONG_VALUES):
        only(errors(changed(kind, way, value)), message)


MISSING_KEYS = """
qa | id | give it a stable id, e.g. id: att-02
qa | kind | write kind: qa (or choice, numeric, cloze, ordering, debug)
qa | level | write level: screen, onsite or research
qa | question | add the question as question: {en: …, zh: …}
qa | short | add the 30-second answer as short: {en: …, zh: …}
qa | explain | add the derivation, number or code as explain: {en: …, zh: …}
qa | points | list three to seven points an interviewer checks
choice | options | add three to five options
numeric | compute | add the formula, e.g. compute:
numeric | unit | set the unit of the answer
numeric | tolerance | set the allowed error, e.g. tolerance: 2%
cloze | blanks | add one entry for each ____
ordering | items | list the items to order
ordering | before | list each pair in order
debug | code | add at most 15 lines
debug | lines | list the failing lines
debug | symptom | describe the symptom
"""


def test_a_missing_key_is_named_with_its_remedy(errors: Errors) -> None:
    for kind, key, remedy in table(MISSING_KEYS):
        only(errors(changed(kind, key, "-")), f'missing "{key}": {remedy}')


def test_a_misspelt_key_is_told_once(cards: Cards, errors: Errors) -> None:
    for kind, key in (("qa", "short"), ("choice", "options"), ("numeric", "compute"), ("debug", "lines")):
        cards[kind][key[:-1]] = cards[kind].pop(key)
        assert errors(cards[kind]) == [f'unknown key "{key[:-1]}"; did you mean "{key}"?']


def test_a_card_of_unknown_kind_has_its_common_keys_judged_too(cards: Cards, errors: Errors) -> None:
    cards["debug"] |= {"kind": "quiz", "level": "hard"}
    assert len(errors(cards["debug"])) == 2


def test_every_problem_is_told_at_once(cards: Cards, errors: Errors) -> None:
    cards["qa"]["level"] = "hard"
    del cards["qa"]["short"]
    cards["choice"]["options"][0]["text"] = {}
    assert len(errors(*cards.values())) == 4


NO_TOPIC = """
 | a bank file must be a mapping with topic and cards, found nothing; start it with topic: …
- 1 | a bank file must be a mapping with topic and cards, found a list; start it with topic: …
cards: [] | missing "topic": name the topic, e.g. topic: att
topic: att | missing "cards": list the cards as cards: [...]
{topic: att, cards: 3} | "cards" must be a list, found the number 3; list the cards as cards: [...]
{topic: att, cards: [3]} | a card must be a mapping, found the number 3; start it with id: …
{topic: att, cards: [], titel: x} | unknown key "titel"; did you mean "title"?
{topic: att, cards: [], title: x} | "title" must have both languages, found the text "x"; write {en: …, zh: …}
"""


def test_a_file_that_is_no_topic_says_why(tmp_path: Path, around: Surroundings) -> None:
    path = tmp_path / "att.yaml"
    for text, message in table(NO_TOPIC):
        path.write_text(text, encoding="utf-8")
        assert [problem.message.en for problem in check([path], around).problems] == [message]


def test_a_broken_glossary_says_why(tmp_path: Path) -> None:
    path = tmp_path / "glossary.yaml"
    for term, message in (
        ({"en": "head"}, 'missing "zh" in item 1 of "terms": write the Chinese text as zh: …'),
        ({"en": "head", "zh": "头", "avoid": []}, 'unknown key "avoid"; did you mean "avoid_zh"?'),
    ):
        path.write_text(yaml.safe_dump({"terms": [term]}), encoding="utf-8")
        assert [problem.message.en for problem in load_glossary(path).problems] == [message]


CHALLENGE = {
    "level": 1,
    "title": {"en": "a", "zh": "甲"},
    "entry": ["sdpa"],
    "statement": {"en": "a", "zh": "甲"},
    "hints": [{"en": "a", "zh": "甲"}],
    "required": ["loads"],
}


def test_a_broken_challenge_says_why(tmp_path: Path) -> None:
    path = tmp_path / "attention" / "sdpa" / "challenge.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump(CHALLENGE, allow_unicode=True), encoding="utf-8")
    assert load_challenge(path).problems == ()
    for changes, message in (
        ({"level": 6}, '"level" must be at most 5, found 6; correct it'),
        ({"required": ["load"]}, 'item 1 of "required" cannot be "load"; did you mean "loads"? use one of loads'),
        ({"entry": []}, '"entry" needs at least 1 entries, found 0; add 1 more'),
        ({"hardened": {"en": "a"}}, 'missing "zh" in "hardened": write the Chinese text as zh: …'),
        ({"mistakes": {}}, 'unknown key "mistakes"; known keys: level, version, title'),
    ):
        path.write_text(yaml.safe_dump(CHALLENGE | changes, allow_unicode=True), encoding="utf-8")
        only([problem.message.en for problem in load_challenge(path).problems], message)
