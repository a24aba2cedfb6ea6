"""Study days: the learner's calendar days, which roll over at a local hour and not at midnight."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo


@dataclass(frozen=True)
class StudyCalendar:
    """Maps moments to study days (proleptic ordinals) and back.

    `zone` None is the machine's own time zone. A day begins when the wall clock first shows `day_start` on its date
    (as much later as the clock is put forward where that leaves it out), and lasts until the next one begins: 23 or 25
    hours where the clock changes, none at all where a zone left out a date. So days follow one another, and every
    moment lies in exactly one.
    """

    day_start: time = time(4, 0)
    zone: tzinfo | None = None

    def day(self, at: datetime) -> int:
        """The study day that holds the aware moment `at`."""
        wall = at.astimezone(self.zone).replace(tzinfo=None)
        day = (wall - self._offset).toordinal()
        while at < self.starts_at(day):
            day -= 1
        while at >= self.ends_at(day):
            day += 1
        return day

    def starts_at(self, day: int) -> datetime:
        """The UTC moment at which study day `day` begins."""
        wall = datetime.fromordinal(day) + self._offset
        if self.zone is not None:
            return wall.replace(tzinfo=self.zone).astimezone(UTC)
        # Not `wall.astimezone()`: where the clock skips that time, it takes the offset from behind the change.
        return datetime.fromtimestamp(wall.timestamp(), UTC)

    def ends_at(self, day: int) -> datetime:
        """The UTC moment at which study day `day` is over (and the next begins)."""
        return self.starts_at(day + 1)

    def exists(self, day: int) -> bool:
        """Whether study day `day` has any moment: a zone that moves across the date line leaves one out."""
        return self.starts_at(day) < self.ends_at(day)

    @property
    def _offset(self) -> timedelta:
        return timedelta(hours=self.day_start.hour, minutes=self.day_start.minute)
