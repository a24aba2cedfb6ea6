"""Parse dates as people type them; displayed dates can be typed back."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.dates import date_words, read_date, short_date
from attncli.errors import UsageError

TODAY = date(2026, 11, 27)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-12-17", date(2026, 12, 17)),
        ("17 Dec", date(2026, 12, 17)),
        ("Dec 17", date(2026, 12, 17)),
        ("17 December 2027", date(2027, 12, 17)),
        ("december 17th, 2026", date(2026, 12, 17)),
        ("17dec", date(2026, 12, 17)),
        ("3 Sept", date(2027, 9, 3)),
        ("27 Nov", TODAY),
        ("26 Nov", date(2027, 11, 26)),
        ("29 Feb", date(2028, 2, 29)),
        ("in 3 weeks", date(2026, 12, 18)),
        ("in a week", date(2026, 12, 4)),
        ("in 3 months", date(2027, 2, 27)),
        ("+21d", date(2026, 12, 18)),
        ("+21", date(2026, 12, 18)),
        ("tomorrow", date(2026, 11, 28)),
        ("12月17日", date(2026, 12, 17)),
        ("2027年1月5日", date(2027, 1, 5)),
        ("3周后", date(2026, 12, 18)),
        ("２个月后", date(2027, 1, 27)),
    ],
)
def test_what_people_type_is_read(text: str, day: date) -> None:
    assert read_date(text, TODAY) == day


@pytest.mark.parametrize(
    ("text", "meanings"),
    [("12/17", "write 17 Dec"), ("5/6", "write 6 May or 5 Jun"), ("17.12.2026", "write 17 Dec 2026")],
)
def test_slashes_are_refused_with_their_meanings(text: str, meanings: str) -> None:
    with pytest.raises(UsageError, match=meanings) as error:
        read_date(text, TODAY)
    assert "月" in error.value.message["zh"]


@pytest.mark.parametrize("text", ["soon", "30 Feb", "99/99", "17 Foo", "2027-02-30", "31 Apr 2027", "+"])
def test_the_rest_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError, match="is not a date; write it like"):
        read_date(text, TODAY)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 364))
def test_what_is_shown_can_be_typed_back(today: date, ahead: int) -> None:
    day = today + timedelta(days=ahead)
    assert all(read_date(date_words(day)[lang], today) == day for lang in ("en", "zh"))  # type: ignore[index]
    assert all(read_date(short_date(day)[lang], today) == day for lang in ("en", "zh"))  # type: ignore[index]
