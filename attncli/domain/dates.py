"""Read and format dates: `17 Dec`, `in 3 weeks`, `+21d`, `12月17日`."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from unicodedata import normalize

from attncli.errors import UsageError
from attncli.i18n import Localised, _

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FULL_MONTHS = "january february march april may june july august september october november december".split()
_WEEKDAY = re.compile(r"\b(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?\b|(周|星期)[一二三四五六日天]")
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\s*([a-z]{3,9})\.?,?\s*(\d{4})?")
_MONTH_FIRST = re.compile(r"([a-z]{3,9})\.?\s*(\d{1,2})(?:st|nd|rd|th)?,?\s*(\d{4})?")
_CHINESE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]?")
_AHEAD = re.compile(
    r"(?:in\s*|\+)(\d{1,3}|an?|one)\s*(d|days?|w|weeks?|m|months?)?|(\d{1,3})\s*(天|日|周|星期|个?月)(?:后|以后)?"
)
_SLASHED = re.compile(r"(\d{1,2})[/.](\d{1,2})(?:[/.](\d{4}|\d\d))?")
_WORDS = {"today": 0, "tomorrow": 1, "今天": 0, "明天": 1, "后天": 2}


def read_date(text: str, today: date) -> date:
    """Parse a date; without a year, return the next such day. Raises UsageError."""
    words = " ".join(_WEEKDAY.sub(" ", normalize("NFKC", text).lower()).split()).strip(" ,")
    if found := _SLASHED.fullmatch(words):
        raise UsageError(_ambiguous(text, int(found[1]), int(found[2]), found[3] or ""))
    with suppress(ValueError, OverflowError):
        if (day := _read(words, today)) is not None:
            return day
    raise UsageError(_not_a_date(text))


def _not_a_date(text: str) -> Localised:
    return _("{text!r} is not a date; write it like 2027-03-31, 31 Mar or in 3 weeks", text=text)


def _read(words: str, today: date) -> date | None:
    if words in _WORDS:
        return today + timedelta(days=_WORDS[words])
    if found := _AHEAD.fullmatch(words):
        number, unit = found[1] or found[3], found[2] or found[4] or "d"
        return _ahead(today, int(number) if number.isdecimal() else 1, unit)
    if found := _CHINESE.fullmatch(words):
        return _in_year(found[1], int(found[2]), int(found[3]), today)
    if found := _DAY_FIRST.fullmatch(words):
        return _in_year(found[3], _month(found[2]), int(found[1]), today)
    if found := _MONTH_FIRST.fullmatch(words):
        return _in_year(found[3], _month(found[1]), int(found[2]), today)
    return date.fromisoformat(words)


def _ahead(today: date, number: int, unit: str) -> date:
    if unit[0] in "d天日":
        return today + timedelta(days=number)
    if unit[0] in "w周星":
        return today + timedelta(weeks=number)
    year, month = divmod(today.year * 12 + today.month - 1 + number, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def _month(name: str) -> int:
    """Return the number of the month whose name starts with `name`, 0 if there is none."""
    return next(
        (number for number, full in enumerate(_FULL_MONTHS, 1) if full.startswith(name) or name == f"{full[:3]}t"), 0
    )


def _in_year(year: str | None, month: int, day: int, today: date) -> date:
    """Return the day in `year`, or without one the next from today on. Raises ValueError if there is none."""
    if year:
        return date(int(year), month, day)
    return next(found for found in _each_year(month, day, today) if found >= today)


def _each_year(month: int, day: int, today: date) -> Iterator[date]:
    date(2000, month, day)  # a leap year: raises for a day that no year has
    for year in range(today.year, today.year + 9):
        with suppress(ValueError):
            yield date(year, month, day)


def _ambiguous(text: str, first: int, second: int, year: str) -> Localised:
    """Return the message that lists the possible meanings of a date with slashes."""
    pairs = dict.fromkeys(((second, first), (first, second)))
    days = [_day_and_month(day, month) for day, month in pairs if 1 <= month <= 12 and 1 <= day <= 31]
    meanings = [Localised(f"{day.en} {year}".strip(), f"{year and year + '年'}{day.zh}") for day in days]
    if not meanings:
        return _not_a_date(text)
    return _("{text!r} may be month/day or day/month; write {meanings}", text=text, meanings=_(" or ").join(meanings))


def _day_and_month(day: int, month: int) -> Localised:
    return Localised(f"{day} {MONTHS[month - 1]}", f"{month}月{day}日")


def short_date(day: date) -> Localised:
    """Format a day as `17 Dec`."""
    return _day_and_month(day.day, day.month)


def date_words(day: date) -> Localised:
    """Format a day as `Thu 17 Dec 2026`; `read_date` reads it back."""
    weekday = _("Mon Tue Wed Thu Fri Sat Sun")
    english, chinese = (weekday[lang].split()[day.weekday()] for lang in ("en", "zh"))
    short = short_date(day)
    return Localised(f"{english} {short.en} {day.year}", f"{day.year}年{short.zh} {chinese}")
