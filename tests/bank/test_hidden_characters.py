"""Report invisible characters with their position."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attncli.bank.check import Report, check
from attncli.bank.checked_files import Surroundings
from attncli.bank.prose_rules import hidden_findings

Card = dict[str, Any]


def test_a_text_a_list_and_a_key_are_looked_into_and_many_are_counted() -> None:
    found = list(hidden_findings({"a": ["ok", "x\u200b"], "b\u202e": {"en": "\x07", "zh": "中文，⚠\ufe0f"}}))
    assert [(finding.path, finding.at_key) for finding in found] == [
        (("a", 1), False),
        (("b\u202e",), True),
        (("b\u202e", "en"), False),
    ]
    (finding,) = hidden_findings("\u200b\u200c\u200d\u200e\u200f")
    assert finding.message.en == (
        "hidden characters U+200B (zero width space), U+200C (zero width non-joiner), U+200D (zero width joiner) "
        "and 2 more; remove them"
    )


def test_the_check_says_line_and_column(
    cards: dict[str, Card], bank_file: Callable[..., Path], around: Surroundings
) -> None:
    cards["qa"]["points"][1]["zh"] = "二\u2066"
    path = bank_file(cards["qa"])
    report: Report = check([path], around)
    (problem,) = report.problems
    assert problem.message.en == "hidden character U+2066 (left-to-right isolate); remove it"
    assert "\u2066" in path.read_text(encoding="utf-8").splitlines()[problem.line - 1]
