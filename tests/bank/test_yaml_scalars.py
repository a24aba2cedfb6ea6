import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.bank.yaml_reader import resolve


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("24", 24),
        ("-3", -3),
        ("+5", 5),
        ("0", 0),
        ("0.5", 0.5),
        ("1e-5", 1e-5),
        ("2E3", 2000.0),
        ("-1.25", -1.25),
    ],
)
def test_the_few_special_words(word: str, value: object) -> None:
    assert resolve(word) == value
    assert type(resolve(word)) is type(value)


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "no",
        "on",
        "Null",
        "TRUE",
        "2017-06",
        "2017-06-12",
        "1_000",
        "0x10",
        "0o7",
        "007",
        "1:30",
        ".inf",
        ".nan",
        "1.",
        ".5",
        "1e999",
        "1,000",
        "9" * 41,
        "9" * 5000,
        "--1",
        "+",
        "1e",
        "<<",
        "=",
        "٣",
    ],
)
def test_everything_else_is_text(word: str) -> None:
    assert resolve(word) == word


@given(st.integers(min_value=-(10**40) + 1, max_value=10**40 - 1))
def test_whole_numbers_are_exact(number: int) -> None:
    assert resolve(str(number)) == number


@given(st.text())
def test_any_word_resolves_to_itself_or_a_finite_number(word: str) -> None:
    value = resolve(word)
    assert value is None or isinstance(value, bool) or value == word or math.isfinite(float(value))
