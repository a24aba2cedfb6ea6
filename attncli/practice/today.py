"""Today's list and its unfinished part: one list per study day, the same for every caller.

`attn due` prints its counts, so the modules that make the list are imported only when it is made.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from attncli.errors import StoreBusy, StoreFull, StoreUnwritable
from attncli.practice.queue import DayList, challenges_left, minutes_are_set, own_cards, planned_for, scheduled_list
from attncli.practice.workspace import Workspace
from attncli.store.database import TODAY
from attncli.store.schedules import Moment, Waiting

if TYPE_CHECKING:
    from attncli.domain.challenge import Challenge


def todays_list(workspace: Workspace, when: Moment) -> DayList:
    """Return the list of the study day of `when`; the first call makes it.

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
            found = scheduled_list(workspace, when._replace(now=when.day_start), first)
    with suppress(StoreBusy, StoreFull, StoreUnwritable):
        store.keep_note(TODAY, json.dumps({"key": key, "since": since, "list": found._asdict()}))
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


_CHOICES = ("new_per_day", "interview", "interview_since", "level", "minutes_per_day", "easy_days", "code_share")


class DueCounts(NamedTuple):
    """The part of today's list that is not done. `topics` sums to `due`; `challenges` is not part of it.

    `code` maps planned challenges to their minutes; `minutes` is the time for the cards.
    """

    new: int
    learning: int
    review: int
    challenges: int
    topics: dict[str, int]
    left_out: int = 0
    minutes: float = 0.0
    code: Mapping[str, float] = {}

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
    """Count the unfinished part of the list of `at` (today's), and the steps due by then."""
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


def next_unsolved(workspace: Workspace, id: str) -> Challenge | None:
    """Return the next challenge of today's list, else the easiest unsolved one of this track or of those that follow.

    None if all are solved.
    """
    from attncli.domain.vocabulary import RUNGS
    from attncli.practice.challenges import standings

    if planned := next((planned for planned in due_counts(workspace).code if planned != id), None):
        return workspace.library.challenge(planned)
    listed = standings(workspace)
    tracks = list(dict.fromkeys(found.challenge.track for found in listed))
    here = next(found.challenge.track for found in listed if found.challenge.id == id)
    place = tracks.index(here)
    order = {track: rank for rank, track in enumerate([*tracks[place:], *tracks[:place]])}
    rest = [found.challenge for found in listed if found.standing not in RUNGS and found.challenge.id != id]
    return min(rest, key=lambda challenge: (order[challenge.track], challenge.level), default=None)
