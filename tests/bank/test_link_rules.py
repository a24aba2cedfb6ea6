from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.bank import link_rules
from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known, Match, errata_findings, link_findings, matches, source_findings

from .conftest import Cards, Errors, Writer, table


@pytest.fixture
def known(tmp_path: Path) -> Known:
    folder = tmp_path / "attention" / "sdpa"
    (folder / "wrong").mkdir(parents=True)
    (folder / "wrong" / "no-scale.py").touch()
    return Known({"att-01"}, {"att-00": "att-01"}, {"sdpa": folder}, {"rope-relative"})


def test_links_to_what_exists_are_fine(known: Known) -> None:
    card = {"follow_ups": ["att-01"], "challenge": "sdpa", "experiment": "rope-relative", "wrong": "sdpa/no-scale"}
    assert list(link_findings(card, known)) == list(link_findings({"challenge": ["sdpa"]}, known)) == []


LINKS = """
follow_ups: [att-31] | there is no card "att-31"; did you mean "att-
follow_ups: [zzz] | there is no card "zzz"; correct the id or remove the link
follow_ups: [att-00] | card "att-00" is now "att-01"; write the new id
challenge: sdpaa | there is no challenge "sdpaa"; did you mean "sdpa"?
challenge: [sdpa, sdpaa] | there is no challenge "sdpaa"; did you mean "sdpa"?
experiment: rope-relativ | there is no experiment "rope-relativ"; did you mean "rope-relative"?
wrong: zzz/no-scale | there is no challenge "zzz"; correct the id or remove the link
wrong: sdpa/no-scal | challenge sdpa has no wrong/no-scal.py; did you mean "no-scale"?
wrong: sdpa/zzz | challenge sdpa has no wrong/zzz.py; its wrong files are no-scale
"""


def test_links_to_nothing_are_errors(known: Known) -> None:
    for card, message in table(LINKS):
        (finding,) = link_findings(yaml.safe_load(card), known)
        assert finding.error and finding.message.en.startswith(message)


def test_errata_ids_are_those_of_the_list() -> None:
    card = {"pitfalls": [{"errata": "E113"}, {"errata": "E114"}, {}], "options": [{"errata": "E00"}]}
    assert [finding.message.en for finding in errata_findings(card)] == [
        "there is no E114; the errata are E01 … E113",
        "there is no E00; the errata are E01 … E113",
    ]


SOURCES = (
    "arxiv:1706.03762 arxiv:2104.09864v5 arxiv:cs/0112017 arxiv:math.GT/0309136 doi:10.1162/neco.1997.9.8.1735 "
    "url:https://example.org/a/b?c=d isbn:978-0-262-03561-3 isbn:0262035618 isbn:080442957X"
)
NO_SOURCES = """
Vaswani 2017 | is not an identifier; write arxiv:1706.03762, doi:
1706.03762 | is not an identifier; write arxiv:
arxiv:1713.03762 | is malformed; write it like arxiv:1706.03762
arxiv:1706.3762x | is malformed
arxiv: | is malformed
doi:11.1/x | is malformed; write it like doi:10.
url:example.org | is malformed; write it like url:https://
isbn:978-0-262-03561-4 | is malformed; write it like isbn:
isbn:0262035617 | is malformed
isbn:12 | is malformed
"""


def test_sources_are_identifiers() -> None:
    for identifier in SOURCES.split():
        assert list(source_findings({"sources": [{"id": identifier}]})) == []
    for identifier, message in table(NO_SOURCES):
        (finding,) = source_findings({"sources": [{"id": identifier}]})
        assert finding.message.en.startswith(f'source "{identifier}" {message}')


def test_cards_of_broken_files_can_be_linked_to(cards: Cards, bank_file: Writer, around: Surroundings) -> None:
    linking = bank_file(cards["qa"] | {"follow_ups": ["mask-01"]})
    broken = bank_file({"id": "mask-01", "kind": "quiz"}, topic="mask")
    report = check([linking, broken], around)
    assert not any("there is no card" in problem.message.en for problem in report.problems)
    assert {problem.file for problem in report.problems} == {str(broken)}


QUESTION = "Why are the attention scores divided by the square root of d_k before softmax?"


def test_what_is_asked_again_is_found() -> None:
    for other, same in (
        (QUESTION.upper().replace("?", " ?!"), True),
        (QUESTION.replace("before softmax", "before the softmax"), False),
        (QUESTION.replace("Why are", "Why, exactly, are"), False),
    ):
        assert list(matches(["Something else?", QUESTION, other])) == [Match(1, 2, same)]


def test_what_asks_something_else_or_differs_in_a_number_is_no_match() -> None:
    elsewhere = QUESTION.replace("attention scores", "router logits of a mixture of experts")
    for other in ("Why is the mask added before softmax and not after it?", elsewhere, ""):
        assert list(matches([QUESTION, other])) == []
    sizes = [f"How large is the KV cache of a model with {n} layers and eight heads?" for n in (24, 32)]
    assert list(matches(sizes)) == []


def test_chinese_is_compared_by_characters_and_a_question_is_told_once() -> None:
    first = "注意力分数为什么要除以根号 d_k，请从方差推导"
    assert list(matches([first, first.replace("请从", "请你从")])) == [Match(0, 1, False)]
    assert list(matches([first, "混合专家的负载均衡损失为什么写成 f 乘 P"])) == []
    questions = [f"Why are attention scores scaled in the model called {word}?" for word in ("a", "b", "c", "d", "e")]
    assert [match.later for match in matches(questions)] == [1, 2, 3, 4]


def test_the_work_is_linear_in_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    resembles = link_rules._Question.resembles

    def counted(self: Any, other: Any) -> bool:
        nonlocal compared
        compared += 1
        return resembles(self, other)

    monkeypatch.setattr(link_rules._Question, "resembles", counted)
    count = 2000
    questions = [f"What is generated question {n} about, and why does it matter to {n * 7}?" for n in range(count)]
    assert list(matches(questions)) == []
    assert compared <= count * link_rules._SKETCH * link_rules._MAX_BUCKET


def test_a_repeated_question_is_named_with_the_earlier_card(cards: Cards, errors: Errors) -> None:
    again = cards["debug"] | {"question": {"en": "What else?", "zh": cards["qa"]["question"]["zh"]}}
    assert errors(cards["qa"], again) == ["the question is the same as that of att-01; ask something else, or keep one"]
