"""Writes an Anki package: the notes as genanki has them, then what genanki leaves out, schedules and the review log.

Tables and columns are those of Anki's schema 11 (`collection.anki2`), which every Anki since 2.1 opens:

- `cards`: `type`, `queue` (0 new, 1 learning, 2 review, 3 a learning step of a day or more, -1 suspended), `due` (a day
  counted from the collection's first one; for a learning step a Unix time; for a new card its place), `ivl`, `factor`,
  `reps`, `lapses`, `left` (steps left, twice), `data` (JSON: `s`, `d`, `dr`, `decay` of FSRS; `lrt`, the last review);
- `revlog`: one row a review, numbered by its Unix time in milliseconds;
- `col`: `crt`, the moment at which day 0 begins, and in `conf` the hour at which a day does.
"""

from __future__ import annotations

import io
import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from attncli.anki.package import SUSPENDED
from attncli.domain.anki import AnkiCalendar, AnkiReview, AnkiSchedule, CardType

MEMBER = "collection.anki2"
EARLIEST_IN_ZIP = 1980
Fill = Callable[[sqlite3.Cursor, float, Iterator[int]], None]

_STEP_LASTS_A_DAY = 3
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def package_bytes(at: datetime, fill: Fill, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]) -> bytes:
    """The package as a file's content. `fill` writes notes, cards and decks; `schedules` are by the guid of a note."""
    with closing(sqlite3.connect(":memory:")) as connection:
        fill(connection.cursor(), at.timestamp(), count(round(at.timestamp() * 1000)))
        _set_calendar(connection, at, calendar)
        _schedule(connection, calendar, schedules)
        connection.commit()
        return _zipped(connection.serialize(), at)


def _zipped(database: bytes, at: datetime) -> bytes:
    packed = io.BytesIO()
    stamp = at.timetuple()[:6] if at.year >= EARLIEST_IN_ZIP else (EARLIEST_IN_ZIP, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in ((MEMBER, database), ("media", b"{}")):
            member = zipfile.ZipInfo(name, stamp)
            member.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(member, content)
    return packed.getvalue()


def _set_calendar(connection: sqlite3.Connection, at: datetime, calendar: AnkiCalendar) -> None:
    (conf,) = connection.execute("SELECT conf FROM col").fetchone()
    told = {
        "schedVer": 2,
        "sched2021": True,
        "rollover": calendar.rollover_hour,
        "creationOffset": calendar.minutes_west,
    }
    now_ms = round(at.timestamp() * 1000)
    connection.execute(
        "UPDATE col SET crt = ?, mod = ?, scm = ?, conf = ?",
        (round(calendar.starts_at.timestamp()), now_ms, now_ms, json.dumps({**json.loads(conf), **told})),
    )


def _schedule(connection: sqlite3.Connection, calendar: AnkiCalendar, schedules: Mapping[str, AnkiSchedule]) -> None:
    taken = set[int]()
    cards = connection.execute("SELECT cards.id, guid FROM cards JOIN notes ON nid = notes.id").fetchall()
    for card, guid in cards:
        if (schedule := schedules.get(guid)) is not None:
            numbers = [_number(review, taken) for review in schedule.reviews]
            _put(connection, card, schedule, calendar, numbers[-1] // 1000 if numbers else None)
            for number, review in zip(numbers, schedule.reviews, strict=True):
                connection.execute(
                    "INSERT INTO revlog (id, cid, usn, ease, ivl, lastIvl, factor, time, type)"
                    " VALUES (?, ?, -1, ?, ?, ?, ?, ?, ?)",
                    (number, card, *_values(review)),
                )


def _put(
    connection: sqlite3.Connection, card: int, schedule: AnkiSchedule, calendar: AnkiCalendar, last_review: int | None
) -> None:
    if schedule.type is CardType.NEW:
        connection.execute("UPDATE cards SET queue = ? WHERE id = ?", (SUSPENDED if schedule.suspended else 0, card))
        return
    queue, due = _queue(schedule, calendar)
    connection.execute(
        "UPDATE cards SET type = ?, queue = ?, due = ?, ivl = ?, factor = ?, reps = ?, lapses = ?, left = ?, data = ?"
        " WHERE id = ?",
        (
            schedule.type,
            SUSPENDED if schedule.suspended else queue,
            due,
            schedule.interval_days,
            schedule.ease,
            schedule.repetitions,
            schedule.lapses,
            schedule.steps_left * 1001,
            json.dumps(_data(schedule, last_review)),
            card,
        ),
    )


def _queue(schedule: AnkiSchedule, calendar: AnkiCalendar) -> tuple[int, int]:
    """In which queue a card waits, and until when, as that queue counts."""
    day = schedule.due_day - calendar.first_day
    if schedule.type is CardType.REVIEW:
        return CardType.REVIEW, day
    if schedule.reviewed_at and schedule.due_at and (schedule.due_at - schedule.reviewed_at).days >= 1:
        return _STEP_LASTS_A_DAY, day
    return CardType.LEARNING, int(schedule.due_at.timestamp()) if schedule.due_at else 0


def _data(schedule: AnkiSchedule, last_review: int | None) -> dict[str, Any]:
    told = {
        "s": schedule.stability_days and round(schedule.stability_days, 4),
        "d": schedule.difficulty and round(schedule.difficulty, 3),
        "dr": schedule.desired_retention,
        "decay": schedule.decay,
        "lrt": last_review,
    }
    return {key: value for key, value in told.items() if value is not None}


def _number(review: AnkiReview, taken: set[int]) -> int:
    number = (review.at - _EPOCH) // _MILLISECOND
    while number in taken:
        number += 1
    taken.add(number)
    return number


def _values(review: AnkiReview) -> tuple[int, ...]:
    return review.rating, review.interval, review.last_interval, review.ease, review.elapsed_ms, review.type
