"""How long until a card comes back, in one short word."""

from __future__ import annotations

from datetime import timedelta

from attncli.domain.text import Lang
from attncli.words.app_texts import say

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


def interval_text(interval: timedelta, lang: Lang) -> str:
    """`10 min`, `4 d`, `2.1 mo`, `1.3 y`, and the same in Chinese."""
    seconds = interval.total_seconds()
    days = seconds / _DAY
    if seconds < _MINUTE:
        return say("interval.seconds", lang, n=round(max(0.0, seconds)))
    if seconds < _HOUR:
        return say("interval.minutes", lang, n=round(seconds / _MINUTE))
    if seconds < _DAY:
        return say("interval.hours", lang, n=_short(seconds / _HOUR))
    if days < _MONTH_DAYS:
        return say("interval.days", lang, n=round(days))
    if days < _YEAR_DAYS:
        return say("interval.months", lang, n=_short(days / _MONTH_DAYS))
    return say("interval.years", lang, n=_short(days / _YEAR_DAYS))


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:.0f}"
