"""A clock that tests move."""

from datetime import UTC, datetime, timedelta


class Clock:
    """A clock that only moves when a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 6, 12, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)
