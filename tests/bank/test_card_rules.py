"""Break every rule about single cards, each with one card."""

from typing import Any

import pytest

from attncli.bank.card_rules import MAX_COMBINATIONS, card_findings, choices_of, combinations

from .conftest import Card, Cards, Errors, changed, only, table

BROKEN = """
qa | tags | [a, a] | "a" is listed twice; remove one of the two
qa | follow_ups | [att-01] | the card is its own follow-up; remove it from follow_ups
qa | numbers | [{says: d_k, compute: import os}] | "import os" is not an arithmetic expression
qa | numbers | [{says: d_k, compute: [1]}] | "compute" must be a formula; write it as text
qa | must_know | true | a must_know card has either formula, one line of LaTeX, or fact
choice | options.0.correct | - | no option is correct; mark at least one with correct: true
choice | options.1.why_not | - | a wrong option needs a reason; add why_not: {en: …, zh: …}
choice | options.0.errata | E19 | a correct option cannot have errata
choice | options.1.text.en | keys | two options are the same; change one of them
numeric | parameters.layers | [] | parameter "layers" has no values; write a list such as
numeric | parameters.layers | 24 | parameter "layers" has no values; write a list such as
numeric | parameters.layers.1 | x | a value of "layers" must be a number, found "x"
numeric | parameters.layers | [true] | a value of "layers" must be a number, found "True"
numeric | tolerance | about 2 | tolerance "about 2" cannot be read; write 2% or 0.5
numeric | tolerance | [2] | tolerance "[2]" cannot be read; write 2% or 0.5
numeric | tolerance | -1 | tolerance "-1" cannot be read; write 2% or 0.5
numeric | compute | 2 * layer * dtype | the formula uses "layer", which is not a parameter
numeric | compute | layers * dtype - | "layers * dtype -" is not an arithmetic expression; use numbers
numeric | compute | layers.x * dtype | "layers.x" is not allowed in a formula
numeric | compute | lg(layers) * dtype | unknown function "lg"; use one of min, max
numeric | compute | layers ** 10 ** 9 * dtype | a power needs more than 4096 bits
numeric | compute | dtype / (layers - 24) | "dtype / (layers - 24)" divides by zero
numeric | compute | dtype * (layers - 24) | the answer must be positive, found 0 for layers = 24, dtype = 2; change
numeric | compute | 2 * layers | compute does not use parameter "dtype"; use it or remove it
numeric | compute | {a: 1} | "compute" must be a formula; write it as text
numeric | unit | GiBs | unknown unit "GiBs"; use one of bit, B, KB
numeric | unit | s | "B" and "s" measure different things; use units of the same kind
cloze | question.zh | 指数是 ____。 | the question has 1 blanks, but blanks has 2 entries
cloze | question.en | ____ and _____ | the question has 1 blanks, but blanks has 2 entries
cloze | blanks.0.answer | 2*x/d | "x" is not a name of this formula; its variables are d, i
cloze | blanks.0.answer | 2*i/ | "2*i/" is not a formula; write one
cloze | blanks.0.answer | sqrt(0-i) | "sqrt(0-i)" is undefined for positive variables
cloze | blanks.1.variables | [d] | only form: algebra has variables; add it or remove
ordering | before | [[score, mask], [mask, score]] | the order is circular (score → mask → score)
ordering | before.1 | [mask, mask] | the order is circular (mask → mask)
ordering | before.1 | [mask, softmx] | no item has the key "softmx"; did you mean
debug | lines | [3] | there is no line 3: the code has 2 lines
debug | lines | [2, 2] | "2" is listed twice; remove one of the two
debug | code | "x = 1\\n\\ny = 2\\n" | line 2 of the code is empty; name the failing line
debug | code | "x = 1\\ny = = 2\\n" | the code is not valid Python (invalid syntax
"""


def test_a_broken_rule_is_named(cards: Cards, errors: Errors) -> None:
    for kind, way, value, message in table(BROKEN):
        only(errors(changed(kind, way, value)), message)
    cards["ordering"]["items"].append(cards["ordering"]["items"][0])
    only(errors(cards["ordering"]), '"score" is listed twice; remove one of the two')
    cards["cloze"]["blanks"].pop()
    assert (
        errors(cards["cloze"]) == ["the question has 2 blanks, but blanks has 1 entries; write each blank as ____"] * 2
    )
    only(errors(cards["debug"] | {"code": "x = 1\n" * 16}), "the code has 16 lines; use at most 15")
    both = {"must_know": True, "formula": "x", "fact": {"en": "x", "zh": "x"}}
    only(errors(cards["qa"] | both), "a must_know card has either formula")


def test_a_choice_needs_a_wrong_option(cards: Cards, errors: Errors) -> None:
    for option in cards["choice"]["options"]:
        option["correct"] = True
    only(errors(cards["choice"]), "every option is correct; add a wrong one with why_not")


def test_placeholders_and_parameters_match_in_both_languages(cards: Cards, errors: Errors) -> None:
    question = cards["numeric"]["question"]
    question |= {"en": "in {{dtype}}: bytes?", "zh": "{{ layer }} 层、{{dtype}}、{{heads}}：多少字节？"}
    assert errors(cards["numeric"]) == [
        'the question does not show parameter "layers"; write {{layers}} where it belongs',
        "{{heads}} is not a parameter; add it to parameters or remove it",
        '{{layer}} is not a parameter; did you mean "layers"?',
    ]


def test_a_parameter_is_no_function(cards: Cards, errors: Errors) -> None:
    card = cards["numeric"]
    card["parameters"]["max"] = [1, 2]
    card["compute"] += " * max"
    for lang in ("en", "zh"):
        card["question"][lang] += " {{max}}"
    only(errors(card), 'parameter "max" has the name of a function; rename it')


def test_a_fixed_number_needs_no_parameters_and_an_unconverted_one_any_unit(cards: Cards, errors: Errors) -> None:
    card = cards["numeric"] | {"question": {"en": "Bytes?", "zh": "多少字节？"}, "compute": 96, "tolerance": 0}
    del card["parameters"], card["compute_unit"]
    assert errors(card) == []
    del cards["numeric"]["compute_unit"]
    assert errors(cards["numeric"] | {"unit": "tokens"}) == []


def test_labels_of_choices(cards: Cards) -> None:
    assert choices_of([24, 0.5]) == [["24", 24], ["0.5", 0.5]]
    assert choices_of({"bf16": 2}) == [["bf16", 2]]


def test_all_combinations_are_tried_and_many_are_sampled(cards: Cards, monkeypatch: pytest.MonkeyPatch) -> None:
    card = cards["numeric"]
    assert len(list(combinations(card))) == 4
    card["parameters"] = {name: list(range(1, 20)) for name in "abcde"}
    sample = list(combinations(card))
    assert len(sample) == MAX_COMBINATIONS + 2
    assert dict.fromkeys("abcde", 1) in sample
    assert dict.fromkeys("abcde", 19) in sample
    assert sample == list(combinations(card))


def test_a_fragment_counts_as_python(cards: Cards, errors: Errors) -> None:
    for code in ("return x\n", "    x = 1\n    y = 2\n", "self.a = b\n", "@decorator\ndef f(): ...\n", "yield 1\n"):
        assert errors(cards["debug"] | {"code": code, "lines": [1]}) == []


def test_an_order_of_many_keys_without_a_circle_is_fine(cards: Cards, errors: Errors) -> None:
    keys = [f"k{number}" for number in range(12)]
    card = cards["ordering"]
    card["items"] = [{"key": key, "text": {"en": key, "zh": key}} for key in keys]
    card["before"] = [[first, second] for first in keys for second in keys if first < second]
    assert errors(card) == []


NEXT = {"ask": {"en": "And without it?", "zh": "不缩放呢？"}, "answer": {"en": "It saturates.", "zh": "会饱和。"}}


def told(card: Card) -> list[str]:
    return [finding.message.en for finding in card_findings(card)]


def test_a_follow_up_may_be_a_question_with_its_answer_but_no_repetition(cards: Cards) -> None:
    again = NEXT | {"ask": {"en": "How?", "zh": "如何？"}}
    for follow_ups, message in (
        (["att-02", NEXT, again], None),
        ([NEXT | {"card": "att-01"}], "the card is its own follow-up; remove it from follow_ups"),
        ([NEXT, NEXT], '"And without it?" is listed twice; remove one of the two'),
        (["mask-01", NEXT | {"card": "mask-01"}], '"mask-01" is listed twice; remove one of the two'),
    ):
        found = told(cards["qa"] | {"follow_ups": follow_ups})
        assert any(message in each for each in found) if message else found == []


def slips(*formulas: object) -> list[dict[str, Any]]:
    return [{"compute": formula, "says": {"en": "No.", "zh": "不对。"}} for formula in formulas]


def test_a_slip_is_told_apart_from_the_right_answer_and_from_others(cards: Cards) -> None:
    right, once = "2 * layers * dtype * 2 ** 30", "layers * dtype * 2 ** 30"
    for formulas, message in (
        ([once, "2 * layers * dtype * 1e9"], None),
        ([right], "gives 96 for layers = 24, dtype = 2, within the tolerance of the right answer 96"),
        (["64 * 2 ** 30"], "gives 64 for layers = 32, dtype = 1, within the tolerance of the right answer 64"),
        ([once, once], "within the tolerance of slip 1 (48)"),
        (["layer * 2 ** 30"], '"layer"'),
        ([True], '"compute" must be a formula; write it as text'),
        (["2 ** 1000 * 2.0"], "the slip gives"),
    ):
        found = told(cards["numeric"] | {"slips": slips(*formulas)})
        assert any(message in each for each in found) if message else found == [], found


def test_a_parameter_outside_the_question_is_refused(cards: Cards) -> None:
    card = cards["numeric"] | {"explain": {"en": "With {{layers}} of {{d}}.", "zh": "{{ layers }} 层。"}}
    found = [(finding.path, finding.message.en) for finding in card_findings(card)]
    said = "{{layers}} is filled in only in the question; remove it here or write a number"
    assert found == [(("explain", "en"), said), (("explain", "zh"), said)]
