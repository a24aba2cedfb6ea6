"""Parse a wrong solution's docstring field by field."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.challenge import Field, fields_in, mistake_in
from attncli.i18n import Localised

WHOLE = """Divides by D − 1 (the default of torch.var): it is
the unbiased variance.
方差除以了 D − 1（torch.var
的默认行为）。

symptom: Off by √((D−1)/D): 13 % at D = 4,
NaN at D = 1.
症状：差一个 √((D−1)/D)：D = 4 时差 13 %，
D = 1 时是 NaN。

cards: norm-05, norm-06,
norm-07
rung: hardened
"""


def test_every_field_is_read_over_its_lines() -> None:
    mistake = mistake_in(WHOLE)
    assert mistake.says.en == "Divides by D − 1 (the default of torch.var): it is the unbiased variance."
    assert mistake.says.zh == "方差除以了 D − 1（torch.var的默认行为）。"
    assert mistake.symptom.en == "Off by √((D−1)/D): 13 % at D = 4, NaN at D = 1."
    assert mistake.symptom.zh == "差一个 √((D−1)/D)：D = 4 时差 13 %，D = 1 时是 NaN。"
    assert mistake.cards == ("norm-05", "norm-06", "norm-07")
    assert mistake.rung == "hardened"


def test_a_field_knows_its_line() -> None:
    assert [(field.name, field.line) for field in fields_in(WHOLE)] == [
        ("summary", 1),
        ("Chinese summary", 3),
        ("symptom", 6),
        ("症状", 8),
        ("cards", 11),
        ("rung", 13),
    ]


def test_what_begins_like_a_field_in_the_summary_belongs_to_it() -> None:
    assert fields_in("Note: it is off.\n注意：有偏差。") == [
        Field("summary", "Note: it is off.", 1),
        Field("Chinese summary", "注意：有偏差。", 2),
    ]


def test_an_unknown_field_is_told_under_its_name() -> None:
    assert Field("sympton", "off", 3) in fields_in("A.\n\nsympton: off")


@pytest.mark.parametrize("docstring", ["", "\n\n", "A mistake."])
def test_what_is_missing_is_empty_and_the_rung_the_first(docstring: str) -> None:
    mistake = mistake_in(docstring)
    says = docstring.strip()
    assert (mistake.says, mistake.symptom, mistake.cards) == (Localised(says, says), Localised("", ""), ())
    assert mistake.rung == "solved"


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert mistake_in(text).rung in ("solved", "hardened")


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=30).map(" ".join)
CHINESE = st.from_regex(r"[\u4e00-\u9fa5]{1,40}", fullmatch=True)


@given(WORDS, CHINESE, WORDS, CHINESE, st.sampled_from(["solved", "hardened"]))
def test_what_was_written_is_read(says: str, says_zh: str, symptom: str, symptom_zh: str, rung: str) -> None:
    text = f"{says}\n{says_zh}\n\nsymptom: {symptom}\n症状：{symptom_zh}\n\ncards: att-01\nrung: {rung}\n"
    mistake = mistake_in(text)
    assert (mistake.says, mistake.symptom) == (Localised(says, says_zh), Localised(symptom, symptom_zh))
    assert (mistake.cards, mistake.rung) == (("att-01",), rung)
