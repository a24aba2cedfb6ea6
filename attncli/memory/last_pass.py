"""What the review queue needs of the plan for an interview: plain arithmetic, because `attn due` loads it.

The plan itself is in `plan_day`. Due dates stay as they are; a card counts as due besides once its day of the
last pass has come and it was not reviewed since.
"""

from __future__ import annotations

from math import ceil

from attncli.memory.time_per_card import LEARN_SECONDS, REVIEW_SECONDS

LONGEST_PASS_DAYS = 7


def pass_days(seen_seconds: float, seconds_a_day: float) -> int:
    """How many days before the interview the last pass begins: as many as all seen cards take, a week at most."""
    if seen_seconds >= LONGEST_PASS_DAYS * seconds_a_day:
        return LONGEST_PASS_DAYS
    return max(1, ceil(seen_seconds / seconds_a_day))


def new_cards_in(minutes: float, reviews: int, introduced: int) -> int:
    """How many more new cards fit the minutes of a day beside its reviews, after so many new ones."""
    left = minutes * 60 - reviews * REVIEW_SECONDS - introduced * LEARN_SECONDS
    return max(0, int(left // LEARN_SECONDS))
