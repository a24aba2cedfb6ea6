"""Choose cards: today's list, cards that match a filter, weak cards, and search with filters.

Without an interview date, today's list has the due reviews and `new_per_day` new cards. If the learner has set minutes
a day, it is cut to fit them. Before an interview the list is that of the plan.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from attncli.config import WEEKDAYS, Settings, is_set
from attncli.domain.vocabulary import KINDS, LEVELS, Kind, Level, waiting
from attncli.errors import ConfigInvalid, EnvironmentFailure, NoCardMatches
from attncli.practice.workspace import Workspace
from attncli.store.index import CardSummary
from attncli.store.schedules import Moment, Waiting

if TYPE_CHECKING:
    from random import Random

    from attncli.domain.log_row import LastReview
    from attncli.memory.replay import Annotation
    from attncli.store.schedules import RecallCurve

PACE_DAYS, PACE_REVIEWS = 28, 600
"""Days of the log, and the most reviews, from which the time a card takes is measured."""
DRILL_COUNT = 20
WEAK_LAPSES = 3
WEAK_RECALL = 0.7
STATES = ("new", "seen", "due", "suspended", "buried", "leech", "weak", "own", "flagged", "noted", "must-know")
"""The values of the filter `is:`."""


class DayList(NamedTuple):
    """Today's list: cards and challenges in the order of study, the same for every caller on this study day.

    `challenges` maps each to the minutes expected for it. `left_out` counts due reviews that do not fit; they stay
    due. The seconds are this learner's for learning and for reviewing a card.
    """

    cards: Sequence[str]
    challenges: Mapping[str, float]
    left_out: int
    learn_seconds: float
    review_seconds: float


# Today's list


def challenges_left(workspace: Workspace, found: DayList, when: Moment) -> dict[str, float]:
    """Return the challenges of a day's list that are not solved that day, each with its minutes."""
    done = workspace.store.queue.solved_today(found.challenges, when)
    return {id: minutes for id, minutes in found.challenges.items() if id not in done}


def planned_for(workspace: Workspace, when: Moment) -> int:
    """Return the day (an ordinal) of the interview that today's list prepares for; 0 if none lies ahead."""
    interview = workspace.settings.interview
    return interview.toordinal() if interview is not None and interview.toordinal() >= when.day else 0


def own_cards(workspace: Workspace) -> set[str]:
    """Return the cards that the learner added, imported or flagged."""
    own = workspace.store.index.cards_below(f"{workspace.home.banks}{os.sep}")
    from attncli.practice.record import annotated_cards

    return {*own, *(id for id, found in annotated_cards(workspace).items() if found.flagged)}


def scheduled_list(workspace: Workspace, when: Moment, first: Collection[str]) -> DayList:
    """Return the list without an interview: due reviews, and new cards spread among them."""
    from attncli.memory.queue_order import Traits, fitting, interleaved, spread

    queue, seconds = workspace.store.queue, seconds_a_card(workspace, when)
    is_limited = minutes_are_set(workspace)
    due = reviews = reviews_today(workspace, when, by_loss=is_limited)
    quota = max(0, workspace.settings.new_per_day - queue.introduced(when.day))
    if is_limited:
        left = 60 * minutes_of(workspace.settings, when.day) - len(queue.learning(when)) * seconds[1]
        count, new = fitting(left, len(due), *seconds)
        reviews, quota = due[:count], min(quota, new)
    unseen = queue.unseen(when, quota, first)
    cards = interleaved(spread(reviews, unseen), lambda card: Traits(card.topic, card.kind, card.is_new))
    return DayList([card.id for card in cards], {}, len(due) - len(reviews), *seconds)


def reviews_today(workspace: Workspace, when: Moment, by_loss: bool = False) -> list[Waiting]:
    """Return the due reviews without those that wait for a sibling, the longest-waiting first.

    With `by_loss`, those that lose most recall by waiting come first.
    """
    held = held_apart(workspace, when)
    return [waiting for waiting in workspace.store.queue.reviews(when, by_loss) if waiting.id not in held]


def held_apart(workspace: Workspace, when: Moment) -> dict[str, str]:
    """Return card → topic of due reviews that wait because a card or challenge that gives them away is too near."""
    return waiting(workspace.store.queue.meetings(when))


def seconds_a_card(workspace: Workspace, when: Moment) -> tuple[float, float]:
    """Return this learner's seconds to learn a card, and to review one; a card counts once a day."""
    from attncli.memory.queue_order import LEARN_SECONDS, REVIEW_SECONDS, usual_seconds

    spent: dict[tuple[bool, int, str], float] = defaultdict(float)
    for day, card, ms, is_new in workspace.store.log.timed_reviews(when.day - PACE_DAYS, when.day - 1, PACE_REVIEWS):
        if ms is not None:
            spent[is_new, day, card] += ms / 1000
    learned, reviewed = ([spent[key] for key in spent if key[0] is is_new] for is_new in (True, False))
    return usual_seconds(learned, LEARN_SECONDS), usual_seconds(reviewed, REVIEW_SECONDS)


def minutes_are_set(workspace: Workspace) -> bool:
    """Return True if the learner chose the minutes a day; an unreadable config file limits nothing."""
    try:
        return is_set(workspace.home.config, "minutes_per_day")
    except (ConfigInvalid, EnvironmentFailure):
        return False


def minutes_of(settings: Settings, day: int) -> float:
    """Return the minutes of a study day, fewer on easy days."""
    percent = dict(settings.easy_days).get(WEEKDAYS[(day - 1) % 7], 100)
    return settings.minutes_per_day * percent / 100


# Filters


class CardFilter(NamedTuple):
    """A filter for at most `count` cards, up to `level`; None means any. With `cram`, answers are not recorded.

    `only` names the cards from which to draw; none means all.
    """

    topic: str | None = None
    kind: Kind | None = None
    level: Level | None = None
    must_know: bool = False
    weak: bool = False
    count: int = DRILL_COUNT  # type: ignore[assignment]
    cram: bool = False
    only: tuple[str, ...] = ()
    has_right_answer: bool = False


def default_level(workspace: Workspace) -> Level | None:
    """Return the interview level in the settings as a default filter; None means any."""
    return level_of(workspace.settings.level)


def level_of(choice: str) -> Level | None:
    """Return the level of this name; None for any."""
    return next((level for level in LEVELS if level == choice), None)


def matching_cards(workspace: Workspace, card_filter: CardFilter) -> list[CardSummary]:
    """Return every card that fits, the weakest first if `weak` is set; none that is suspended or buried.

    Raises NotFound for an unknown topic.
    """
    when = workspace.moment()
    topic = None if card_filter.topic is None else workspace.library.topic(card_filter.topic).id
    available = workspace.store.queue.available(when, topic)
    found = [
        card
        for card in workspace.store.index.list_cards(topic)
        if card.id in available and card_filter.kind in (None, card.kind)
        if card_filter.level is None or card.level in LEVELS[: LEVELS.index(card_filter.level) + 1]
        if card.must_know or not card_filter.must_know
        if card.id in card_filter.only or not card_filter.only
        if card.kind != "qa" or not card_filter.has_right_answer
    ]
    if not card_filter.weak:
        return found
    rank = {weak.card: place for place, weak in enumerate(weaknesses(workspace, when))}
    return sorted((card for card in found if card.id in rank), key=lambda card: rank[card.id])


def draw_cards(workspace: Workspace, card_filter: CardFilter, rng: Random) -> list[CardSummary]:
    """Return at most `count` cards: the weakest of weak ones, otherwise a random draw. Raises NoCardMatches."""
    found = require_matching_cards(workspace, card_filter)
    return found[: card_filter.count] if card_filter.weak else rng.sample(found, min(card_filter.count, len(found)))


def require_matching_cards(workspace: Workspace, card_filter: CardFilter) -> list[CardSummary]:
    """Return `matching_cards`; raise NoCardMatches, which suggests the condition to drop, if there are none."""
    if found := matching_cards(workspace, card_filter):
        return found
    options = [f"--{name} {value}" for name in ("topic", "kind", "level") if (value := getattr(card_filter, name))]
    options += [f"--{name.replace('_', '-')}" for name in ("must_know", "weak") if getattr(card_filter, name)]
    raise NoCardMatches(options, without(workspace, card_filter))


def without(workspace: Workspace, card_filter: CardFilter) -> dict[str, int]:
    """Return how many cards would fit without one condition, for each condition whose removal helps."""
    relaxed = {
        "weak": card_filter._replace(weak=False),
        "must-know": card_filter._replace(must_know=False),
        "kind": card_filter._replace(kind=None),
        "level": card_filter._replace(level=None),
        "topic": card_filter._replace(topic=None),
    }
    counts = {name: len(matching_cards(workspace, other)) for name, other in relaxed.items() if other != card_filter}
    return {name: count for name, count in counts.items() if count}


# Weak cards


def is_weak(lapses: int, recall: float, missed: bool) -> bool:
    """Return True if forgotten three times or more, less than 70 % likely to be recalled today, or missed last time."""
    return missed or lapses >= WEAK_LAPSES or recall < WEAK_RECALL


def has_missed(last: LastReview, points: int) -> bool:
    """Return True if part of a card with `points` points was missed in a review.

    It was rated again, marked wrong, or some points were ticked and others not. If none is ticked and the rating is
    good, the learner does not use ticks, so nothing counts as missed.
    """
    from attncli.domain.log_row import Rating

    some = last.points is not None and 0 < len(last.points) < points
    return last.rating == Rating.AGAIN or last.correct is False or some


class Weakness(NamedTuple):
    """A weak card and the reasons; `points_missed` are indices into its points.

    `recall` is the probability of recall on the day in question: 0 if the card was forgotten on that very day, or never
    reviewed.
    """

    card: str
    recall: float
    lapses: int
    missed: bool
    points_missed: tuple[int, ...] = ()


def weaknesses(workspace: Workspace, when: Moment) -> list[Weakness]:
    """Return the weak cards: missed ones first, then the least likely to be recalled.

    A miss in a quiz or a mock interview counts until the card is reviewed, or answered right in another one.
    """
    found: dict[str, Weakness] = {}
    perhaps = workspace.store.queue.perhaps_weak(curve_on(workspace, when), WEAK_RECALL, WEAK_LAPSES)
    for id, recall, lapses, last in perhaps:
        points = len((workspace.store.index.card(id) or {}).get("points") or ()) if last.points else 0
        missed = has_missed(last, points)
        if is_weak(lapses, recall, missed):
            found[id] = Weakness(id, recall, lapses, missed, _points_missed(last.points, points))
    found |= {weak.card: weak for weak in _missed_beside_reviews(workspace, when, found)}
    return sorted(found.values(), key=lambda weak: (not weak.missed, weak.recall, -weak.lapses, weak.card))


def _missed_beside_reviews(workspace: Workspace, when: Moment, weak: Mapping[str, Weakness]) -> Iterator[Weakness]:
    """Yield the cards that were missed when a quiz or an interview asked them last, after their last review."""
    from attncli.domain.log_row import RowKind
    from attncli.memory.scheduler import recall_on
    from attncli.practice.mock_log import Settled, last_results

    last, renamed = last_results(workspace), workspace.store.index.renames()
    for row in workspace.store.log.of_kind(RowKind.QUIZ):
        id = renamed.get(row.subject, row.subject)
        if id not in last or last[id].at < row.at:
            last[id] = Settled(int(row.payload.get("correct") is True), 1, row.at)
    for id, asked in last.items():
        schedule, document = workspace.store.schedules.get(id), workspace.store.index.card(id)
        if not asked.is_missed or document is None:
            continue
        points_missed = _points_missed(asked.points, len(document.get("points") or ()))
        if schedule is None:
            yield Weakness(id, 0.0, 0, True, points_missed)
        elif asked.at > schedule.reviewed_at:
            recall = weak[id].recall if id in weak else recall_on(schedule, when.day, workspace.policy.decay)
            yield Weakness(id, recall, schedule.lapses, True, points_missed)


def curve_on(workspace: Workspace, when: Moment) -> RecallCurve:
    """Return the forgetting curve with this learner's weights, for the study day of `when`."""
    decay = workspace.policy.decay
    from attncli.memory.scheduler import curve_factor
    from attncli.store.schedules import RecallCurve

    return RecallCurve(curve_factor(decay), -decay, when.day)


def _points_missed(ticked: Collection[int] | None, points: int) -> tuple[int, ...]:
    """Return the points that were not ticked; empty if none was ticked."""
    return tuple(number for number in range(points) if number not in ticked) if ticked else ()


# Search


class FoundCards(NamedTuple):
    """The cards found, best first; `count` is their number before the limit.

    `annotations` has the cards with tags, a flag or a note; `unknown` lists filters that have no meaning.
    """

    cards: list[CardSummary]
    count: int  # type: ignore[assignment]
    annotations: dict[str, Annotation]
    unknown: tuple[str, ...]


def browse(workspace: Workspace, line: str, most: int | None = None) -> FoundCards:
    """Return the cards (at most `most`) that match all words and filters; filters without meaning are ignored."""
    return _Browse(workspace).find(line, most)


class _Browse:
    """One search; the data for a filter is read only if the line has that filter."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.moment = workspace.moment()

    @cached_property
    def annotations(self) -> dict[str, Annotation]:
        from attncli.practice.record import annotated_cards

        return annotated_cards(self.workspace)

    def find(self, line: str, most: int | None) -> FoundCards:
        from unicodedata import normalize

        words, filters, unknown = list[str](), list[Callable[[CardSummary], bool]](), list[str]()
        for word in normalize("NFC", line).split():
            fits = self._filter(word)
            if fits is not None:
                filters.append(fits)
            else:
                (unknown if word.lower().startswith(("is:", "kind:", "level:", "topic:")) else words).append(word)
        library = self.workspace.library
        if most is not None and not words and not filters:
            first = self.workspace.store.index.list_cards(None, most)
            return FoundCards(first, library.count_cards(), self.annotations, tuple(unknown))
        cards = [card for card in library.cards(" ".join(words)) if all(fits(card) for fits in filters)]
        return FoundCards(cards[:most], len(cards), self.annotations, tuple(unknown))

    def _filter(self, word: str) -> Callable[[CardSummary], bool] | None:
        name, _, value = word.lower().partition(":")
        if word.startswith("#") and len(word) > 1:
            tagged = {id for id, found in self.annotations.items() if word[1:].lower() in found.tags}
            return lambda card: card.id in tagged
        if name == "kind" and value in KINDS:
            return lambda card: card.kind == value
        if name == "level" and value in LEVELS:
            return lambda card: card.level == value
        if name == "topic" and value in {topic.id for topic in self.workspace.library.topics()}:
            return lambda card: card.topic == value
        if name == "is" and value in STATES:
            ids = set(self._in_state(value))
            return lambda card: card.id in ids
        return None

    def _in_state(self, state: str) -> Iterable[str]:
        store = self.workspace.store
        match state:
            case "due":
                waiting = [store.queue.learning(self.moment), reviews_today(self.workspace, self.moment)]
                return [card.id for cards in waiting for card in cards]
            case "weak":
                return [weak.card for weak in weaknesses(self.workspace, self.moment)]
            case "flagged":
                return [id for id, found in self.annotations.items() if found.flagged]
            case "must-know":
                return store.index.must_know()[0]
            case "noted":
                return [id for id, found in self.annotations.items() if found.note]
            case "leech":
                from attncli.memory.replay import is_leech

                return [id for id, schedule in store.schedules.all() if is_leech(schedule)]
            case "seen":
                return [id for id, _ in store.schedules.all()]
            case "new":
                return {*store.index.card_ids()} - {id for id, _ in store.schedules.all()}
            case "own":
                return store.index.cards_below(f"{self.workspace.home.banks}{os.sep}")
            case "suspended":
                return store.queue.suspended()
        return [id for id in store.index.card_ids() if store.schedules.hold(id)[1] == self.moment.day]
