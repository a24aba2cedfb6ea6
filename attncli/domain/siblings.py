"""How many days siblings (a card, its challenges, its follow-ups) are kept apart, and which of them waits.

They give each other away. Nothing of this is kept: it follows from the schedules and the day, and no due date moves.
Of siblings that are due together the one that has waited longest comes; the others wait until none of theirs was
studied that day or the day before. A week late nothing waits any more: with two days every fiftieth card of the
bundled bank meets a sibling all the same, with a week every thousandth, and a card is a quarter of a day late in the
mean either way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

APART_DAYS = 2
"""Siblings are kept so many days apart."""
LONGEST_WAIT_DAYS = 7
"""Nothing waits for a sibling that is so many days late."""


class Meeting(NamedTuple):
    """A review that is due beside a sibling; `comes` if that one was studied just now or comes today in any case.

    Otherwise the sibling is a due review as well, and one of the two is to wait.
    """

    card: str
    topic: str
    days_late: int
    interval_days: float
    sibling: str
    comes: bool


def waiting(meetings: Iterable[Meeting]) -> dict[str, str]:
    """Card → topic of those that wait today."""
    met: dict[str, list[Meeting]] = defaultdict(list)
    for meeting in meetings:
        met[meeting.card].append(meeting)
    stands, waits = set[str](), dict[str, str]()
    for card in sorted(met, key=lambda card: (-met[card][0].days_late, met[card][0].interval_days, card)):
        if any(meeting.comes or meeting.sibling in stands for meeting in met[card]):
            waits[card] = met[card][0].topic
        else:
            stands.add(card)
    return waits
