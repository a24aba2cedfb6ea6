from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.link_rules import Known, errata_findings, link_findings, source_findings

Card = dict[str, Any]


@pytest.fixture
def known(tmp_path: Path) -> Known:
    folder = tmp_path / "attention" / "sdpa"
    (folder / "wrong").mkdir(parents=True)
    (folder / "wrong" / "no-scale.py").touch()
    return Known({"att-01"}, {"att-00": "att-01"}, {"sdpa": folder}, {"rope-relative"})


def messages(card: Card, known: Known) -> list[tuple[bool, str]]:
    return [(finding.error, finding.message.en) for finding in link_findings(card, known)]


def test_links_to_what_exists_are_fine(known: Known) -> None:
    card = {"follow_ups": ["att-01"], "challenge": "sdpa", "experiment": "rope-relative", "wrong": "sdpa/no-scale"}
    assert messages(card, known) == []
    assert messages({"challenge": ["sdpa"]}, known) == []


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ({"follow_ups": ["att-31"]}, 'there is no card "att-31"; did you mean "att-'),
        ({"follow_ups": ["zzz"]}, 'there is no card "zzz"; correct the id or remove the link'),
        ({"follow_ups": ["att-00"]}, 'card "att-00" is now "att-01"; write the new id'),
        ({"challenge": "sdpaa"}, 'there is no challenge "sdpaa"; did you mean "sdpa"?'),
        ({"challenge": ["sdpa", "sdpaa"]}, 'there is no challenge "sdpaa"; did you mean "sdpa"?'),
        ({"experiment": "rope-relativ"}, 'there is no experiment "rope-relativ"; did you mean "rope-relative"?'),
        ({"wrong": "zzz/no-scale"}, 'there is no challenge "zzz"; correct the id or remove the link'),
        ({"wrong": "sdpa/no-scal"}, 'challenge sdpa has no wrong/no-scal.py; did you mean "no-scale"?'),
        ({"wrong": "sdpa/zzz"}, "challenge sdpa has no wrong/zzz.py; its wrong files are no-scale"),
    ],
)
def test_links_to_nothing_are_errors(known: Known, card: Card, message: str) -> None:
    ((error, found),) = messages(card, known)
    assert error
    assert found.startswith(message)


def test_errata_ids_are_those_of_the_list() -> None:
    card = {"pitfalls": [{"errata": "E113"}, {"errata": "E114"}, {}], "options": [{"errata": "E00"}]}
    assert [finding.message.en for finding in errata_findings(card)] == [
        "there is no E114; the errata are E01 … E113",
        "there is no E00; the errata are E01 … E113",
    ]


@pytest.mark.parametrize(
    "identifier",
    [
        "arxiv:1706.03762",
        "arxiv:2104.09864v5",
        "arxiv:cs/0112017",
        "arxiv:math.GT/0309136",
        "doi:10.1162/neco.1997.9.8.1735",
        "url:https://example.org/a/b?c=d",
        "isbn:978-0-262-03561-3",
        "isbn:0262035618",
        "isbn:080442957X",
    ],
)
def test_sources_that_look_like_identifiers(identifier: str) -> None:
    assert list(source_findings({"sources": [{"id": identifier}]})) == []


@pytest.mark.parametrize(
    ("identifier", "message"),
    [
        ("Vaswani 2017", 'source "Vaswani 2017" is not an identifier; write arxiv:1706.03762, doi:'),
        ("1706.03762", 'source "1706.03762" is not an identifier; write arxiv:'),
        ("arxiv:1713.03762", 'source "arxiv:1713.03762" is malformed; write it like arxiv:1706.03762'),
        ("arxiv:1706.3762x", 'source "arxiv:1706.3762x" is malformed'),
        ("arxiv:", 'source "arxiv:" is malformed'),
        ("doi:11.1/x", 'source "doi:11.1/x" is malformed; write it like doi:10.'),
        ("url:example.org", 'source "url:example.org" is malformed; write it like url:https://'),
        ("isbn:978-0-262-03561-4", 'source "isbn:978-0-262-03561-4" is malformed; write it like isbn:'),
        ("isbn:0262035617", 'source "isbn:0262035617" is malformed'),
        ("isbn:12", 'source "isbn:12" is malformed'),
    ],
)
def test_other_sources_are_named(identifier: str, message: str) -> None:
    (finding,) = source_findings({"sources": [{"id": identifier}]})
    assert finding.message.en.startswith(message)


def test_cards_of_broken_files_can_be_linked_to(
    cards: dict[str, Card], bank_file: Callable[..., Path], around: Surroundings
) -> None:
    linking = bank_file(cards["qa"] | {"follow_ups": ["mask-01"]})
    broken = bank_file({"id": "mask-01", "kind": "quiz"}, topic="mask")
    report = check([linking, broken], around)
    assert not any("there is no card" in problem.message.en for problem in report.problems)
    assert {problem.file for problem in report.problems} == {str(broken)}
