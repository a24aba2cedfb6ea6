"""What a card and its reviews are to Anki: the nouns that a package is written from and read into.

An interval is so many whole days, or, where it is negative, so many seconds; an ease is in thousandths. Both are as
Anki's tables have them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

OWN_GUID = "attn:"
FIRST_EASE, LEAST_EASE = 2500, 1300


class CardType(IntEnum):
    """`cards.type`."""

    NEW = 0
    LEARNING = 1
    REVIEW = 2
    RELEARNING = 3


class ReviewType(IntEnum):
    """`revlog.type`: what the card was when it was answered; the last two are no answers."""

    LEARNING = 0
    REVIEW = 1
    RELEARNING = 2
    FILTERED = 3
    MANUAL = 4
    RESCHEDULED = 5


@dataclass(frozen=True, slots=True)
class AnkiReview:
    """One row of `revlog`: answered with `rating` 1…4 at `at`, in `elapsed_ms`."""

    at: datetime
    rating: int
    interval: int
    last_interval: int
    ease: int
    elapsed_ms: int
    type: ReviewType


@dataclass(frozen=True, slots=True, kw_only=True)
class AnkiSchedule:
    """Where a card stands: `due_day` is a study day (ordinal), `due_at` the moment of a learning step.

    `stability_days`, `difficulty`, `desired_retention` and `decay` are FSRS's, None for a card without them.
    """

    type: CardType
    suspended: bool = False
    due_day: int = 0
    due_at: datetime | None = None
    interval_days: int = 0
    ease: int = 0
    repetitions: int = 0
    lapses: int = 0
    steps_left: int = 0
    stability_days: float | None = None
    difficulty: float | None = None
    desired_retention: float | None = None
    decay: float | None = None
    reviewed_at: datetime | None = None
    reviews: tuple[AnkiReview, ...] = ()


@dataclass(frozen=True, slots=True)
class AnkiCalendar:
    """When Anki's day 0 is: the study day `first_day`, which begins at `starts_at` and at the local `rollover_hour`."""

    first_day: int
    starts_at: datetime
    rollover_hour: int
    minutes_west: int


def own_guid(id: str, formerly: tuple[str, ...] = ()) -> str:
    """What names the note of a card for ever, through renames too: by it Anki knows that it has the note already."""
    return f"{OWN_GUID}{formerly[0] if formerly else id}"


def own_card(guid: str) -> str:
    """The card (by an id that it has or had) whose note this is; empty for a note that is not from here."""
    return guid.removeprefix(OWN_GUID) if guid.startswith(OWN_GUID) else ""


@dataclass(frozen=True, slots=True)
class Template:
    """The two sides of a card of one note type; `is_cloze` where a note has a card for each numbered gap."""

    question: str
    answer: str
    is_cloze: bool


@dataclass(frozen=True, slots=True)
class ForeignCard:
    """A card of somebody's Anki collection; `fields` are its note's, HTML, by name; `reviews` are its answers.

    `forgotten` are those before the card was reset to a new one: they count no more.
    """

    guid: str
    ord: int
    deck: str
    template: Template
    fields: dict[str, str]
    suspended: bool
    changed_at: datetime
    reviews: tuple[AnkiReview, ...]
    forgotten: tuple[AnkiReview, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignCollection:
    """What a package holds; `lost_reviews` belong to cards that are not in it, or say no rating."""

    cards: tuple[ForeignCard, ...]
    lost_reviews: int = 0
