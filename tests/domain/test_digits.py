"""Numbers that differ are printed so that they differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.digits import MOST_DIGITS, digits_apart

numbers = st.floats(-1e6, 1e6)


def shown(due: float, came: float, place: int = 1) -> dict:
    tensors = [{"shape": [1, 2], "dtype": "float64", "values": [0.5, value]} for value in (due, came)]
    return {"expected": tensors[0], "got": tensors[1], "first_wrong_index": [0, place]}


@given(due=numbers, came=numbers, least=st.integers(1, 8))
def test_the_first_wrong_entry_is_seen_to_be_wrong(due: float, came: float, least: int) -> None:
    digits = digits_apart(shown(due, came), least)
    assert least <= digits <= MOST_DIGITS
    if due != came:
        assert f"{due:.{digits}g}" != f"{came:.{digits}g}"
        assert digits == least or f"{due:.{digits - 1}g}" == f"{came:.{digits - 1}g}"


@pytest.mark.parametrize(
    "what",
    [
        {},
        {"expected": 1.0, "got": 1.00000001},
        {**shown(1.0, 1.0 + 1e-9), "first_wrong_index": None},
        {**shown(1.0, 1.0 + 1e-9), "first_wrong_index": [0]},
        {**shown(1.0, 1.0 + 1e-9), "first_wrong_index": [5, 5]},
        shown(1.0, 1.0 + 1e-9, place=0),
        {**shown(1.0, 2.0), "got": {"shape": [1, 2], "dtype": "float32", "values": ["nan", "nan"]}},
        {**shown(1.0, 2.0), "got": {"shape": [1, 2], "dtype": "float32", "device": "meta"}},
    ],
)
def test_elsewhere_the_usual_number_is_enough(what: dict) -> None:
    assert digits_apart(what, 5) == 5
