from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.arithmetic import DIMENSIONS, ComputeError, convert


@pytest.mark.parametrize(
    ("value", "source", "target", "result"),
    [
        (2**31, "B", "GiB", 2.0),
        (1, "TB", "GB", 1000.0),
        (1, "GiB", "B", 2**30),
        (8, "bit", "B", 1.0),
        (0.25, "", "%", 25.0),
        (175_000_000_000, "", "亿", 1750.0),
        (7_000_000_000, "", "billion", 7.0),
        (1.5, "billion", "M", 1500.0),
        (2, "days", "h", 48.0),
        (1500, "us", "ms", 1.5),
        (3e15, "FLOP", "PFLOP", 3.0),
        (4.8e12, "B/s", "TB/s", 4.8),
        (3.6e6, "B/h", "KB/s", 1.0),
        (5, "tokens", "tokens", 5),
        (5, "", "", 5),
    ],
)
def test_units_convert(value: float, source: str, target: str, result: float) -> None:
    assert convert(value, source, target) == pytest.approx(result, rel=1e-12)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("B", "GiBs", 'unknown unit "GiBs"; use one of bit, B, KB'),
        ("token", "B", 'unknown unit "token"; use one of'),
        ("B", "s", '"B" and "s" measure different things; use units of the same kind'),
        ("B/s", "B", 'unknown unit "B/s"'),
        ("B/s", "B/token", 'unknown unit "token"'),
    ],
)
def test_units_that_do_not_convert_say_why(source: str, target: str, message: str) -> None:
    with pytest.raises(ComputeError) as caught:
        convert(1, source, target)
    assert caught.value.message.en.startswith(message)


PAIRS = [(first, second) for table in DIMENSIONS.values() for first in table for second in table]


@given(st.floats(1e-6, 1e6), st.sampled_from(PAIRS))
def test_there_and_back_is_the_same(value: float, units: tuple[str, str]) -> None:
    first, second = units
    assert convert(convert(value, first, second), second, first) == pytest.approx(value, rel=1e-9)
