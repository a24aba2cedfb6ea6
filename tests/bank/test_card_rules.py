"""Break every rule about single cards, each with one card."""

from collections.abc import Callable
from typing import Any

import pytest

from attncli.bank.card_rules import MAX_COMBINATIONS, card_findings, choices_of, combinations

Card = dict[str, Any]
Errors = Callable[..., list[str]]
Damage = Callable[[Card], object]


def only(found: list[str], start: str) -> None:
    assert len(found) == 1, found
    assert found[0].startswith(start), found


@pytest.mark.parametrize(
    ("kind", "damage", "message"),
    [
        ("qa", lambda c: c.update(tags=["a", "a"]), '"a" is listed twice; remove one of the two'),
        ("qa", lambda c: c.update(follow_ups=["att-01"]), "the card is its own follow-up; remove it from follow_ups"),
        (
            "qa",
            lambda c: c.update(numbers=[{"says": "d_k", "compute": "import os"}]),
            '"import os" is not an arithmetic expression',
        ),
        (
            "qa",
            lambda c: c.update(numbers=[{"says": "d_k", "compute": [1]}]),
            '"compute" must be a formula; write it as text',
        ),
        (
            "choice",
            lambda c: c["options"][0].pop("correct"),
            "no option is correct; mark at least one with correct: true",
        ),
        (
            "choice",
            lambda c: c["options"][1].pop("why_not"),
            "a wrong option needs a reason; add why_not: {en: …, zh: …}",
        ),
        ("choice", lambda c: c["options"][0].update(errata="E19"), "a correct option cannot have errata"),
        ("choice", lambda c: c["options"][1]["text"].update(en="keys"), "two options are the same; change one of them"),
        (
            "numeric",
            lambda c: c["parameters"].update(layers=[]),
            'parameter "layers" has no values; write a list such as',
        ),
        (
            "numeric",
            lambda c: c["parameters"].update(layers=24),
            'parameter "layers" has no values; write a list such as',
        ),
        (
            "numeric",
            lambda c: c["parameters"].update(layers=[24, "x"]),
            'a value of "layers" must be a number, found "x"',
        ),
        (
            "numeric",
            lambda c: c["parameters"].update(layers=[True]),
            'a value of "layers" must be a number, found "True"',
        ),
        ("numeric", lambda c: c.update(tolerance="about 2"), 'tolerance "about 2" cannot be read; write 2% or 0.5'),
        ("numeric", lambda c: c.update(tolerance=[2]), 'tolerance "[2]" cannot be read; write 2% or 0.5'),
        ("numeric", lambda c: c.update(tolerance=-1), 'tolerance "-1" cannot be read; write 2% or 0.5'),
        (
            "numeric",
            lambda c: c.update(compute="2 * layer * dtype"),
            'the formula uses "layer", which is not a parameter',
        ),
        (
            "numeric",
            lambda c: c.update(compute="layers * dtype -"),
            '"layers * dtype -" is not an arithmetic expression; use numbers',
        ),
        ("numeric", lambda c: c.update(compute="layers.x * dtype"), '"layers.x" is not allowed in a formula'),
        ("numeric", lambda c: c.update(compute="lg(layers) * dtype"), 'unknown function "lg"; use one of min, max'),
        ("numeric", lambda c: c.update(compute="layers ** 10 ** 9 * dtype"), "a power needs more than 4096 bits"),
        ("numeric", lambda c: c.update(compute="dtype / (layers - 24)"), '"dtype / (layers - 24)" divides by zero'),
        (
            "numeric",
            lambda c: c.update(compute="dtype * (layers - 24)"),
            "the answer must be positive, found 0 for layers = 24, dtype = 2; change",
        ),
        (
            "numeric",
            lambda c: c.update(compute="2 * layers"),
            'compute does not use parameter "dtype"; use it or remove it',
        ),
        ("numeric", lambda c: c.update(compute={"a": 1}), '"compute" must be a formula; write it as text'),
        ("numeric", lambda c: c.update(unit="GiBs"), 'unknown unit "GiBs"; use one of bit, B, KB'),
        ("numeric", lambda c: c.update(unit="s"), '"B" and "s" measure different things; use units of the same kind'),
        (
            "cloze",
            lambda c: c["question"].update(zh="指数是 ____。"),
            "the question has 1 blanks, but blanks has 2 entries",
        ),
        (
            "cloze",
            lambda c: c["question"].update(en="____ and _____"),
            "the question has 1 blanks, but blanks has 2 entries",
        ),
        ("cloze", lambda c: c["blanks"].pop(), None),
        (
            "cloze",
            lambda c: c["blanks"][0].update(answer="2*x/d"),
            '"x" is not a name of this formula; its variables are d, i',
        ),
        ("cloze", lambda c: c["blanks"][0].update(answer="2*i/"), '"2*i/" is not a formula; write one'),
        (
            "cloze",
            lambda c: c["blanks"][0].update(answer="sqrt(0-i)"),
            '"sqrt(0-i)" is undefined for positive variables',
        ),
        (
            "cloze",
            lambda c: c["blanks"][1].update(variables=["d"]),
            "only form: algebra has variables; add it or remove",
        ),
        (
            "ordering",
            lambda c: c["before"].append(["softmax", "score"]),
            "the order is circular (score → mask → softmax → score)",
        ),
        ("ordering", lambda c: c["before"].append(["mask", "mask"]), "the order is circular (mask → mask)"),
        ("ordering", lambda c: c["before"].append(["mask", "softmx"]), 'no item has the key "softmx"; did you mean'),
        ("ordering", lambda c: c["items"].append(c["items"][0]), '"score" is listed twice; remove one of the two'),
        ("debug", lambda c: c.update(code="x = 1\n" * 16), "the code has 16 lines; use at most 15"),
        ("debug", lambda c: c.update(lines=[3]), "there is no line 3: the code has 2 lines"),
        ("debug", lambda c: c.update(lines=[2, 2]), '"2" is listed twice; remove one of the two'),
        ("debug", lambda c: c.update(code="x = 1\n\ny = 2\n"), "line 2 of the code is empty; name the failing line"),
        ("qa", lambda c: c.update(must_know=True), "a must_know card has either formula, one line of LaTeX, or fact"),
        (
            "qa",
            lambda c: c.update(must_know=True, formula="x", fact={"en": "x", "zh": "x"}),
            "a must_know card has either formula",
        ),
        ("debug", lambda c: c.update(code="x = 1\ny = = 2\n"), "the code is not valid Python (invalid syntax"),
    ],
)
def test_a_broken_rule_is_named(
    cards: dict[str, Card], errors: Errors, kind: str, damage: Damage, message: str | None
) -> None:
    damage(cards[kind])
    found = errors(cards[kind])
    if message is None:
        assert len(found) == 2
        assert all("the question has 2 blanks, but blanks has 1 entries" in text for text in found)
    else:
        only(found, message)


def test_a_choice_needs_a_wrong_option(cards: dict[str, Card], errors: Errors) -> None:
    for option in cards["choice"]["options"]:
        option["correct"] = True
    only(errors(cards["choice"]), "every option is correct; add a wrong one with why_not")


def test_placeholders_and_parameters_match_in_both_languages(cards: dict[str, Card], errors: Errors) -> None:
    question = cards["numeric"]["question"]
    question |= {"en": "in {{dtype}}: bytes?", "zh": "{{ layer }} 层、{{dtype}}、{{heads}}：多少字节？"}
    assert errors(cards["numeric"]) == [
        'the question does not show parameter "layers"; write {{layers}} where it belongs',
        "{{heads}} is not a parameter; add it to parameters or remove it",
        '{{layer}} is not a parameter; did you mean "layers"?',
    ]


def test_a_parameter_is_no_function(cards: dict[str, Card], errors: Errors) -> None:
    card = cards["numeric"]
    card["parameters"]["max"] = [1, 2]
    card["compute"] += " * max"
    for lang in ("en", "zh"):
        card["question"][lang] += " {{max}}"
    only(errors(card), 'parameter "max" has the name of a function; rename it')


def test_a_fixed_number_needs_no_parameters(cards: dict[str, Card], errors: Errors) -> None:
    card = cards["numeric"] | {"question": {"en": "Bytes?", "zh": "多少字节？"}, "compute": 96, "tolerance": 0}
    del card["parameters"], card["compute_unit"]
    assert errors(card) == []


def test_a_unit_without_conversion_is_fine_where_nothing_is_converted(cards: dict[str, Card], errors: Errors) -> None:
    del cards["numeric"]["compute_unit"]
    cards["numeric"]["unit"] = "tokens"
    assert errors(cards["numeric"]) == []


def test_labels_of_choices(cards: dict[str, Card]) -> None:
    assert choices_of([24, 0.5]) == [["24", 24], ["0.5", 0.5]]
    assert choices_of({"bf16": 2}) == [["bf16", 2]]


def test_all_combinations_are_tried_and_many_are_sampled(
    cards: dict[str, Card], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = cards["numeric"]
    assert len(list(combinations(card))) == 4
    card["parameters"] = {name: list(range(1, 20)) for name in "abcde"}
    sample = list(combinations(card))
    assert len(sample) == MAX_COMBINATIONS + 2
    assert dict.fromkeys("abcde", 1) in sample
    assert dict.fromkeys("abcde", 19) in sample
    assert sample == list(combinations(card))


@pytest.mark.parametrize(
    "code", ["return x\n", "    x = 1\n    y = 2\n", "self.a = b\n", "@decorator\ndef f(): ...\n", "yield 1\n"]
)
def test_a_fragment_counts_as_python(cards: dict[str, Card], errors: Errors, code: str) -> None:
    assert errors(cards["debug"] | {"code": code, "lines": [1]}) == []


def test_an_order_of_many_keys_without_a_circle_is_fine(cards: dict[str, Card], errors: Errors) -> None:
    keys = [f"k{number}" for number in range(12)]
    card = cards["ordering"]
    card["items"] = [{"key": key, "text": {"en": key, "zh": key}} for key in keys]
    card["before"] = [[first, second] for first in keys for second in keys if first < second]
    assert errors(card) == []


NEXT = {"ask": {"en": "And without it?", "zh": "不缩放呢？"}, "answer": {"en": "It saturates.", "zh": "会饱和。"}}


@pytest.mark.parametrize(
    ("follow_ups", "message"),
    [
        ([NEXT | {"card": "att-01"}], "the card is its own follow-up; remove it from follow_ups"),
        ([NEXT, NEXT], '"And without it?" is listed twice; remove one of the two'),
        (["mask-01", NEXT | {"card": "mask-01"}], '"mask-01" is listed twice; remove one of the two'),
    ],
)
def test_follow_ups_that_repeat_are_refused(cards: dict[str, Card], follow_ups: list[Any], message: str) -> None:
    found = [finding.message.en for finding in card_findings(cards["qa"] | {"follow_ups": follow_ups})]
    assert any(message in told for told in found)


def test_a_follow_up_may_be_a_question_with_its_answer(cards: dict[str, Card]) -> None:
    assert (
        card_findings(cards["qa"] | {"follow_ups": ["att-02", NEXT, NEXT | {"ask": {"en": "How?", "zh": "如何？"}}]})
        == []
    )


def slips(*formulas: object) -> list[dict[str, Any]]:
    return [{"compute": formula, "says": {"en": "No.", "zh": "不对。"}} for formula in formulas]


@pytest.mark.parametrize(
    ("formulas", "message"),
    [
        (
            ["2 * layers * dtype * 2 ** 30"],
            "the slip gives 96 for layers = 24, dtype = 2, within the tolerance of the right answer 96",
        ),
        (["64 * 2 ** 30"], "the slip gives 64 for layers = 32, dtype = 1, within the tolerance of the right answer 64"),
        (["layers * dtype * 2 ** 30", "layers * dtype * 2 ** 30"], "within the tolerance of slip 1 (48)"),
        (["layer * 2 ** 30"], '"layer"'),
        ([True], '"compute" must be a formula; write it as text'),
        (["2 ** 1000 * 2.0"], "the slip gives"),
    ],
)
def test_a_slip_that_cannot_be_told_apart_is_refused(
    cards: dict[str, Card], formulas: list[object], message: str
) -> None:
    found = [finding.message.en for finding in card_findings(cards["numeric"] | {"slips": slips(*formulas)})]
    assert any(message in told for told in found), found


def test_a_parameter_outside_the_question_is_refused(cards: dict[str, Card]) -> None:
    card = cards["numeric"] | {"explain": {"en": "With {{layers}} of {{d}}.", "zh": "{{ layers }} 层。"}}
    found = [(finding.path, finding.message.en) for finding in card_findings(card)]
    said = "{{layers}} is filled in only in the question; remove it here or write a number"
    assert found == [(("explain", "en"), said), (("explain", "zh"), said)]


def test_slips_that_can_be_told_apart_pass(cards: dict[str, Card]) -> None:
    card = cards["numeric"] | {"slips": slips("layers * dtype * 2 ** 30", "2 * layers * dtype * 1e9")}
    assert card_findings(card) == []
