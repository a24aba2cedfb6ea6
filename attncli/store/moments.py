"""UTC moments as the integers that the database holds: microseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


def moment(at_us: int) -> datetime:
    return _EPOCH + at_us * _MICROSECOND
