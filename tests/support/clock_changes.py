"""Zones and dates of clock changes: forwards and back, by half an hour and by a day, at midnight, and a leap day."""

from datetime import UTC, datetime, time, timedelta

from hypothesis import strategies as st

CLOCK_CHANGES = [
    ("Europe/Berlin", datetime(2026, 3, 29)),
    ("Europe/Berlin", datetime(2026, 10, 25)),
    ("America/New_York", datetime(2026, 3, 8)),
    ("America/Sao_Paulo", datetime(2018, 11, 4)),
    ("Australia/Lord_Howe", datetime(2026, 4, 5)),
    ("Asia/Beirut", datetime(2026, 3, 29)),
    ("Pacific/Apia", datetime(2011, 12, 30)),
    ("Antarctica/Troll", datetime(2026, 3, 29)),
    ("Asia/Shanghai", datetime(2028, 2, 29)),
]
starts = st.one_of(st.just(time(4)), st.times().map(lambda t: time(t.hour, t.minute)))
near_changes = st.sampled_from(CLOCK_CHANGES).flatmap(
    lambda change: st.tuples(
        st.just(change[0]),
        st.datetimes(change[1] - timedelta(days=2), change[1] + timedelta(days=3), timezones=st.just(UTC)),
    )
)
"""Pairs of a zone and a moment within a few days of a clock change there."""
