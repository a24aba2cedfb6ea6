"""Parse dates as people type them; displayed dates can be typed back."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.domain.dates import date_words, read_date, short_date
from attncli.errors import UsageError

TODAY = date(2026, 11, 27)


def test_what_people_type_is_read() -> None:
    for day, texts in {
        TODAY: ["27 Nov"],
        date(2026, 11, 28): ["tomorrow"],
        date(2026, 12, 4): ["in a week"],
        date(2026, 12, 17): ["2026-12-17", "17 Dec", "Dec 17", "december 17th, 2026", "17dec", "12月17日"],
        date(2026, 12, 18): ["in 3 weeks", "+21d", "+21", "3周后"],
        date(2027, 1, 5): ["2027年1月5日"],
        date(2027, 1, 27): ["２个月后"],
        date(2027, 2, 27): ["in 3 months"],
        date(2027, 9, 3): ["3 Sept"],
        date(2027, 11, 26): ["26 Nov"],
        date(2027, 12, 17): ["17 December 2027"],
        date(2028, 2, 29): ["29 Feb"],
    }.items():
        assert {text: read_date(text, TODAY) for text in texts} == dict.fromkeys(texts, day)


def test_slashes_are_refused_with_their_meanings_and_the_rest_with_examples() -> None:
    meanings = {"12/17": "write 17 Dec", "5/6": "write 6 May or 5 Jun", "17.12.2026": "write 17 Dec 2026"}
    for text, meaning in meanings.items():
        with pytest.raises(UsageError, match=meaning) as error:
            read_date(text, TODAY)
        assert "月" in error.value.message["zh"]
    for text in ("soon", "30 Feb", "99/99", "17 Foo", "2027-02-30", "31 Apr 2027", "+"):
        with pytest.raises(UsageError, match="is not a date; write it like"):
            read_date(text, TODAY)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 364))
def test_what_is_shown_can_be_typed_back(today: date, ahead: int) -> None:
    day = today + timedelta(days=ahead)
    assert all(read_date(date_words(day)[lang], today) == day for lang in ("en", "zh"))  # type: ignore[index]
    assert all(read_date(short_date(day)[lang], today) == day for lang in ("en", "zh"))  # type: ignore[index]
