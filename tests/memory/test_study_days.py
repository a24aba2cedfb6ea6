from __future__ import annotations

import time as clock
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attncli.memory.scheduler import StudyCalendar
from clock_changes import near_changes, starts

ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "Pacific/Apia"]
moments = st.datetimes(datetime(1995, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))


@given(moments, st.sampled_from(ZONES), st.integers(0, 23), st.integers(0, 59))
def test_a_moment_lies_within_its_own_study_day(at: datetime, zone: str, hour: int, minute: int) -> None:
    calendar = StudyCalendar(time(hour, minute), ZoneInfo(zone))
    day = calendar.day(at)
    # A clock set back repeats an hour; the repeated wall-clock times belong to one of the two days, either is fine.
    slack = timedelta(hours=1)
    assert calendar.starts_at(day) - slack <= at < calendar.ends_at(day) + slack


@given(moments, moments, st.sampled_from(["UTC", "Asia/Shanghai"]))
def test_later_moments_never_lie_in_earlier_days(one: datetime, other: datetime, zone: str) -> None:
    calendar = StudyCalendar(zone=ZoneInfo(zone))
    first, second = sorted((one, other))
    assert calendar.day(first) <= calendar.day(second)


def test_the_day_begins_at_four_in_the_morning() -> None:
    calendar = StudyCalendar(zone=UTC)
    night = datetime(2026, 5, 2, 3, 59, tzinfo=UTC)
    assert calendar.day(night) == datetime(2026, 5, 1).toordinal()
    assert calendar.day(night + timedelta(minutes=1)) == datetime(2026, 5, 2).toordinal()


@pytest.mark.parametrize("month, day, hours", [(3, 29, 23), (10, 25, 25), (6, 1, 24)])
def test_a_day_with_a_clock_change_is_one_day(month: int, day: int, hours: int) -> None:
    calendar = StudyCalendar(time(0, 0), ZoneInfo("Europe/Berlin"))
    ordinal = datetime(2026, month, day).toordinal()
    assert calendar.ends_at(ordinal) - calendar.starts_at(ordinal) == timedelta(hours=hours)


def test_the_machine_s_own_zone_is_used_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    clock.tzset()
    try:
        at = datetime(2026, 5, 1, 20, 0, tzinfo=UTC)
        assert StudyCalendar().day(at) == datetime(2026, 5, 2).toordinal()
        assert StudyCalendar().starts_at(datetime(2026, 5, 2).toordinal()) == datetime(2026, 5, 1, 19, 0, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        clock.tzset()


def _in_zone(zone: str, calendar: StudyCalendar, day: int) -> tuple[datetime, datetime]:
    """Return the start and end of a study day for a machine in `zone`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", zone)
        clock.tzset()
        found = calendar.starts_at(day), calendar.ends_at(day)
    clock.tzset()
    return found


@given(near_changes, starts)
@example(("America/New_York", datetime(2026, 3, 8, 12, tzinfo=UTC)), time(2, 30))
@example(("Asia/Beirut", datetime(2026, 3, 29, 12, tzinfo=UTC)), time(0, 0))
def test_the_machine_s_own_zone_has_the_days_of_that_zone(change: tuple[str, datetime], start: time) -> None:
    zone, at = change
    named, own = StudyCalendar(start, ZoneInfo(zone)), StudyCalendar(start)
    day = named.day(at)
    assert _in_zone(zone, own, day) == (named.starts_at(day), named.ends_at(day))


@given(near_changes, starts)
def test_a_day_begins_at_its_hour_or_later_on_its_own_date(change: tuple[str, datetime], start: time) -> None:
    zone, at = change
    calendar = StudyCalendar(start, ZoneInfo(zone))
    day = calendar.day(at)
    wall = calendar.starts_at(day).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert datetime.combine(datetime.fromordinal(day), start) <= wall
    assert calendar.exists(day)


def test_a_zone_that_left_out_a_date_has_no_such_day() -> None:
    calendar = StudyCalendar(zone=ZoneInfo("Pacific/Apia"))
    left_out = datetime(2011, 12, 30).toordinal()
    assert [calendar.exists(left_out + n) for n in (-1, 0, 1)] == [True, False, True]


@given(near_changes, starts)
def test_every_moment_lies_in_exactly_one_study_day(change: tuple[str, datetime], start: time) -> None:
    zone, at = change
    calendar = StudyCalendar(start, ZoneInfo(zone))
    day = calendar.day(at)
    assert [n for n in range(day - 3, day + 4) if calendar.starts_at(n) <= at < calendar.ends_at(n)] == [day]


@given(near_changes, starts, st.integers(0, 2 * 86_400))
def test_study_days_follow_one_another(change: tuple[str, datetime], start: time, seconds: int) -> None:
    zone, at = change
    calendar = StudyCalendar(start, ZoneInfo(zone))
    later = at + timedelta(seconds=seconds)
    assert calendar.day(at) <= calendar.day(later)
    day = calendar.day(at)
    assert calendar.ends_at(day) == calendar.starts_at(day + 1)
    assert calendar.day(calendar.ends_at(day)) > day >= calendar.day(calendar.starts_at(day))
