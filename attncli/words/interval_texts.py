"""How long until a card comes back, in one short word."""

from __future__ import annotations

from datetime import timedelta

from attncli.i18n import Lang, Localised, _

INTERVALS: dict[str, Localised] = {
    "seconds": _("{n} s"),
    "minutes": _("{n} min"),
    "hours": _("{n} h"),
    "days": _("{n} d"),
    "months": _("{n} mo"),
    "years": _("{n} y"),
}
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_MONTH_DAYS, _YEAR_DAYS = 30.44, 365.25


def interval_text(interval: timedelta, lang: Lang) -> str:
    """`10 min`, `4 d`, `2.1 mo`, `1.3 y`, and the same in Chinese."""
    unit, number = _in_units(interval.total_seconds())
    return INTERVALS[unit][lang].format(n=number)


def _in_units(seconds: float) -> tuple[str, object]:
    days = seconds / _DAY
    if seconds < _MINUTE:
        return "seconds", round(max(0.0, seconds))
    if seconds < _HOUR:
        return "minutes", round(seconds / _MINUTE)
    if seconds < _DAY:
        return "hours", _short(seconds / _HOUR)
    if days < _MONTH_DAYS:
        return "days", round(days)
    return ("months", _short(days / _MONTH_DAYS)) if days < _YEAR_DAYS else ("years", _short(days / _YEAR_DAYS))


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if number < 9.95 else f"{number:.0f}"
