"""How long reviews took, by the log: on which day, new cards apart from known ones."""

from __future__ import annotations

from attncli.domain.log_row import LONGEST_LOOK_SECONDS
from attncli.store.connection import Connection

LATEST_ROWS = 600
DAILY_ROWS = 5_000
_ELAPSED = f"""
    CASE WHEN json_valid(payload) AND json_type(payload, '$.elapsed_ms') = 'integer'
    THEN max(0, min({LONGEST_LOOK_SECONDS * 1000}, json_extract(payload, '$.elapsed_ms'))) END
"""


def seconds_by_novelty(connection: Connection, first_day: int, last_day: int) -> dict[bool, tuple[int, float]]:
    """Whether cards were new that day → (cards, each counted once a day, and seconds) of the latest timed reviews."""
    rows = connection.rows(
        f"""SELECT introduced_day = latest.day, count(DISTINCT latest.subject || ' ' || latest.day), sum(elapsed_ms)
        FROM (SELECT subject, day, {_ELAPSED} AS elapsed_ms FROM log
              WHERE kind = 'review' AND day BETWEEN ? AND ? ORDER BY day DESC LIMIT {LATEST_ROWS}) AS latest
        JOIN schedule ON schedule.subject = latest.subject WHERE elapsed_ms IS NOT NULL GROUP BY 1""",
        (first_day, last_day),
    )
    return {bool(is_new): (cards, elapsed_ms / 1000) for is_new, cards, elapsed_ms in rows}


def seconds_by_day(connection: Connection, first_day: int, last_day: int) -> dict[int, float]:
    """Study day → seconds of its timed reviews, by the latest `DAILY_ROWS` reviews of those days."""
    rows = connection.rows(
        f"""SELECT day, sum(elapsed_ms) FROM (SELECT day, {_ELAPSED} AS elapsed_ms FROM log
            WHERE kind = 'review' AND day BETWEEN ? AND ? ORDER BY day DESC LIMIT {DAILY_ROWS})
        WHERE elapsed_ms IS NOT NULL GROUP BY day""",
        (first_day, last_day),
    )
    return {day: elapsed_ms / 1000 for day, elapsed_ms in rows}


def spent_on(connection: Connection, day: int) -> tuple[float, int]:
    """(seconds of the timed reviews on a study day, how many reviews were not timed)."""
    sql = f"SELECT sum(elapsed_ms), count(*) - count(elapsed_ms) FROM (SELECT {_ELAPSED} AS elapsed_ms FROM log"
    elapsed_ms, untimed = connection.row(f"{sql} WHERE kind = 'review' AND day = ?)", (day,))
    return (elapsed_ms or 0) / 1000, untimed
