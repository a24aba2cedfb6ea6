"""Today's list and what is left of it: one list a study day, the same for whoever asks; and why nothing is left.

`attn due` prints the counts of it: what makes the list is imported where it is made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from attncli.errors import StoreBusy, StoreFull, StoreUnwritable
from attncli.practice.queue import DayList, challenges_left, minutes_are_set, own_cards, planned_for, scheduled_list
from attncli.practice.workspace import Workspace
from attncli.store.database import TODAY
from attncli.store.schedules import Moment, Waiting


def todays_list(workspace: Workspace, when: Moment) -> DayList:
    """Return the list of the study day of `when`; whoever asks first makes it.

    It follows from the rows of the history before that day, the settings, the banks, the flags and the day. The cache
    keeps it; without the cache the same list is made again.
    """
    store = workspace.store
    key = _list_key(workspace, when)
    kept = json.loads(store.note(TODAY) or "{}")
    if kept.get("key") == key and not store.has_past_changed(kept["since"], when.day_start):
        return DayList(**kept["list"])
    since, first = store.newest_row(), own_cards(workspace)
    from attncli.practice.derive import as_day_began

    with as_day_began(workspace, when):
        if interview := planned_for(workspace, when):
            from attncli.practice.plan import planned_list

            found = planned_list(workspace, when, interview, first)
        else:
            found = scheduled_list(workspace, replace(when, now=when.day_start), first)
    with suppress(StoreBusy, StoreFull, StoreUnwritable):
        store.keep_note(TODAY, json.dumps({"key": key, "since": since, "list": asdict(found)}))
    return found


def _list_key(workspace: Workspace, when: Moment) -> str:
    settings = workspace.settings
    choices = [settings.text(key) for key in _CHOICES]
    begins = when.day_start.isoformat()
    parts = [
        when.day,
        begins,
        *choices,
        settings.scheduling,
        minutes_are_set(workspace),
        workspace.store.files.version(),
    ]
    return "|".join(map(str, parts))


_CHOICES = ("new_per_day", "interview", "level", "minutes_per_day", "easy_days", "code_share")


@dataclass(frozen=True)
class DueCounts:
    """The part of today's list that is not done. `topics` sums to `due`; `challenges` is not part of it.

    `code` maps planned challenges to their minutes; `minutes` is what the cards take.
    """

    new: int
    learning: int
    review: int
    challenges: int
    topics: dict[str, int]
    left_out: int = 0
    minutes: float = 0.0
    code: Mapping[str, float] = field(default_factory=dict)

    @property
    def due(self) -> int:
        return self.new + self.learning + self.review

    def document(self) -> dict[str, Any]:
        """Return the JSON of `attn due --json`."""
        return {
            "due": self.due,
            "new": self.new,
            "learning": self.learning,
            "review": self.review,
            "challenges": self.challenges,
            "topics": self.topics,
        }


def due_counts(workspace: Workspace, at: datetime | None = None) -> DueCounts:
    """Count what is left of the list of `at` (today's), and the steps due by then."""
    when = workspace.moment(at)
    queue, found = workspace.store.queue, todays_list(workspace, when)
    learning, left = queue.learning(when), queue.still_open(found.cards, when)
    new = sum(card.is_new for card in left)
    seen = len(left) - new + len(learning)
    code = challenges_left(workspace, found, when)
    return DueCounts(
        new=new,
        learning=len(learning),
        review=len(left) - new,
        challenges=len(code) if planned_for(workspace, when) else len(queue.challenges_due(when)),
        topics=dict(sorted(Counter(card.topic for card in (*learning, *left)).items())),
        left_out=found.left_out,
        minutes=(new * found.learn_seconds + seen * found.review_seconds) / 60,
        code=code,
    )


def cards_left(workspace: Workspace, when: Moment, topic: str | None = None) -> list[Waiting]:
    """Return the cards of today's list (of one topic) that are not done, in order."""
    return workspace.store.queue.still_open(todays_list(workspace, when).cards, when, topic)


# Why nothing is left


Reason = Literal["empty", "suspended", "limit", "minutes", "planned", "off", "buried", "waiting"]


@dataclass(frozen=True, slots=True)
class Standstill:
    """The reason why nothing is due, and `next_at`, the time of the next due card (None if there is none).

    `unseen` cards are still to be learned; `introduced` were today, out of `new_per_day` or what the minutes allow.
    """

    cards: int
    suspended: int
    buried: int
    unseen: int
    introduced: int
    new_per_day: int
    by_minutes: bool
    is_planned: bool
    next_at: datetime | None

    @property
    def reason(self) -> Reason:
        """The first reason that the learner can do something about, if there is one."""
        if not self.cards:
            return "empty"
        if self.suspended == self.cards:
            return "suspended"
        if self.unseen and self.is_planned:
            return "planned"
        if self.unseen:
            return "minutes" if self.by_minutes else "limit" if self.new_per_day else "off"
        return "buried" if self.buried else "waiting"


def standstill(workspace: Workspace) -> Standstill:
    """Return why nothing is due now."""
    when, queue = workspace.moment(), workspace.store.queue
    cards, suspended = workspace.library.count_cards(), len(queue.suspended())
    unseen = queue.count_unseen(when)
    buried = cards - suspended - len(queue.available(when))
    introduced, new_per_day = queue.introduced(when.day), workspace.settings.new_per_day
    is_held_by_minutes = introduced < new_per_day and minutes_are_set(workspace)
    is_planned = bool(planned_for(workspace, when))
    brings_new = is_planned or new_per_day > 0
    return Standstill(
        cards=cards,
        suspended=suspended,
        buried=buried,
        unseen=unseen,
        introduced=introduced,
        new_per_day=new_per_day,
        by_minutes=is_held_by_minutes,
        is_planned=is_planned,
        next_at=_next_at(workspace, when, tomorrow=bool(buried or (unseen and brings_new))),
    )


def _next_at(workspace: Workspace, when: Moment, tomorrow: bool) -> datetime | None:
    """Return when the next step or review is due; `tomorrow` if new or buried cards come then."""
    day = workspace.store.queue.next_review_day(when)
    coming = [
        workspace.store.queue.next_step(when),
        None if day is None else workspace.calendar.starts_at(day),
        when.day_end if tomorrow else None,
    ]
    return min((moment for moment in coming if moment is not None), default=None)
