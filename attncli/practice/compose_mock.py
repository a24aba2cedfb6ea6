"""Planning a mock interview: minutes split over the parts, and what is asked in each, drawn by a seed.

The same seed and the same cards give the same interview. Suspended and buried cards are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from attncli.domain.card import LEVELS, Card, Level
from attncli.domain.challenge import Challenge
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES, MockItem, MockPart, MockPlan, PartName
from attncli.domain.repairs import MOST_BUGS
from attncli.errors import NotFound, NothingFits, UsageError
from attncli.practice.cards.choose_cards import Wish, fitting
from attncli.practice.repair_round import offers_rounds
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

MOCK_MINUTES = 45
MOCK_LEVEL: Level = "onsite"

# Below this there is no time for a second round of code.
REPAIR_FROM_MINUTES = 25
LOOKED_AT = 600
ITEMS_A_DIVE_MINUTE = 0.7
EASY_BELOW_MINUTES = 10
MINUTES_A_BUG = 4
_CHALLENGE_LEVELS: dict[Level, tuple[int, ...]] = {"screen": (1, 2), "onsite": (2, 3), "research": (3, 4, 5)}


@dataclass(frozen=True, slots=True)
class MockWish:
    """An interview to draw. With an `interviewer` somebody else sees the points at once, and ticks them."""

    minutes: int = MOCK_MINUTES
    level: Level = MOCK_LEVEL
    seed: int = 0
    interviewer: bool = False

    @property
    def command(self) -> str:
        """What draws the same interview again."""
        beside = " --interviewer" if self.interviewer else ""
        return f"attn mock --minutes {self.minutes} --level {self.level} --seed {self.seed}{beside}"


def split(minutes: int) -> dict[PartName, int]:
    """The minutes of each part; their sum is `minutes`. Raises UsageError for too few or too many."""
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        raise UsageError(f"an interview takes {LEAST_MINUTES} to {MOST_MINUTES} minutes, not {minutes}")
    if minutes < REPAIR_FROM_MINUTES:
        shares: dict[PartName, int] = {"warm-up": round(0.2 * minutes), "deep-dive": round(0.3 * minutes)}
        return shares | {"whiteboard": minutes - sum(shares.values())}
    shares = {"warm-up": round(0.15 * minutes), "deep-dive": round(0.25 * minutes)}
    repair = round(0.2 * minutes)
    return shares | {"whiteboard": minutes - repair - sum(shares.values()), "repair": repair}


def draw_plan(workspace: Workspace, wish: MockWish) -> MockPlan:
    """The interview of a wish. Raises UsageError for its minutes, NothingFits if there is no card to ask."""
    minutes = split(wish.minutes)
    cards = sorted(fitting(workspace, Wish()), key=lambda card: card.id)
    if not cards:
        raise NothingFits([], {})
    dive = _deep_dive(workspace, cards, wish, minutes["deep-dive"])
    asked: dict[PartName, tuple[MockItem, ...]] = {
        "warm-up": _warm_up(cards, wish, minutes["warm-up"], dive),
        "deep-dive": dive,
        **_coding(workspace, wish, minutes),
    }
    parts = tuple(MockPart(name, minutes[name], asked[name]) for name in minutes if asked.get(name))
    return MockPlan(wish.minutes, wish.level, wish.seed, wish.interviewer, parts)


def _warm_up(
    cards: Sequence[CardSummary], wish: MockWish, count: int, dive: Sequence[MockItem]
) -> tuple[MockItem, ...]:
    """Spoken and marked questions by turns, of as many topics as there are; none that the deep dive asks."""
    rng = Random(f"{wish.seed} warm-up")
    asked_later = {item.id for item in dive}
    easy = LEVELS[: LEVELS.index(wish.level) + 1]
    pool = [card for card in cards if card.id not in asked_later]
    pool = [card for card in pool if card.level in easy] or pool
    pool = rng.sample(pool, min(len(pool), LOOKED_AT))
    topics = Counter(card.topic for card in cards if card.id in asked_later)
    drawn: list[MockItem] = []
    while pool and len(drawn) < count:
        is_spoken = len(drawn) % 2 == 0
        # `min` takes the first of equals, and the pool is in the order of the draw.
        card = min(
            pool, key=lambda card: (topics[card.topic] > 0, (card.kind == "qa") != is_spoken, topics[card.topic])
        )
        pool.remove(card)
        topics[card.topic] += 1
        drawn.append(MockItem("card", card.id))
    return tuple(drawn)


def _deep_dive(
    workspace: Workspace, cards: Sequence[CardSummary], wish: MockWish, minutes: int
) -> tuple[MockItem, ...]:
    """A card, its follow-ups, then the cards that it links to with theirs, as far as the time goes."""
    count = max(2, round(ITEMS_A_DIVE_MINUTE * minutes))
    open_cards = {card.id for card in cards}
    waiting = [_first_of_dive(workspace, cards, wish, min(count - 1, 3))]
    seen: set[str] = set()
    items: list[MockItem] = []
    while waiting and len(items) < count:
        card = waiting.pop(0)
        seen.add(card.id)
        items.append(MockItem("card", card.id))
        items += [MockItem("follow-up", card.id, n) for n in answered_follow_ups(card)]
        linked = (entry.card for entry in card.follow_ups if entry.card in open_cards - seen)
        waiting += [found for found in _found(workspace, linked) if found.id not in {other.id for other in waiting}]
        seen |= {other.id for other in waiting}
    return tuple(items[:count])


def answered_follow_ups(card: Card) -> list[int]:
    """The places of the follow-ups that have a question and an answer of their own."""
    return [n for n, entry in enumerate(card.follow_ups) if entry.ask and entry.answer]


def _first_of_dive(workspace: Workspace, cards: Sequence[CardSummary], wish: MockWish, follow_ups: int) -> Card:
    """A spoken card of the level that has so many follow-ups; where none has, one that comes near."""
    rng = Random(f"{wish.seed} deep-dive")
    drawn = rng.sample(list(cards), len(cards))
    order: tuple[str, ...] = LEVELS
    wanted = order.index(wish.level)
    drawn.sort(key=lambda card: (abs(order.index(card.level) - wanted), card.kind != "qa"))
    best, most = None, -1
    for card in _found(workspace, (card.id for card in drawn[:LOOKED_AT])):
        if (count := len(answered_follow_ups(card))) > most:
            best, most = card, count
        if most >= follow_ups:
            break
    assert best is not None
    return best


def _found(workspace: Workspace, ids: Iterable[str]) -> Iterable[Card]:
    for id in ids:
        try:
            yield workspace.library.card(id)
        except NotFound:
            continue


def _coding(workspace: Workspace, wish: MockWish, minutes: dict[PartName, int]) -> dict[PartName, tuple[MockItem, ...]]:
    """A challenge to write, and another one, of another track where there is one, to repair: with several bugs, if one
    offers such rounds, otherwise with the one of a wrong solution."""
    challenges = sorted(workspace.library.challenges(), key=lambda challenge: challenge.id)
    found: dict[PartName, tuple[MockItem, ...]] = {}
    white = next(iter(_in_turn(challenges, wish, minutes["whiteboard"], "whiteboard")), None)
    if white is None:
        return found
    found["whiteboard"] = (MockItem("whiteboard", white.id),)
    if "repair" in minutes:
        rest = [challenge for challenge in challenges if challenge.id != white.id and _has_wrong(challenge)]
        in_turn = _in_turn(rest, wish, minutes["repair"], "repair")
        in_turn.sort(key=lambda challenge: (not offers_rounds(challenge), challenge.track == white.track))
        bugs = max(1, min(MOST_BUGS, minutes["repair"] // MINUTES_A_BUG))
        found["repair"] = tuple(
            MockItem("repair", challenge.id, bugs if offers_rounds(challenge) else 0) for challenge in in_turn[:1]
        )
    return found


def _in_turn(challenges: Sequence[Challenge], wish: MockWish, minutes: int, part: PartName) -> list[Challenge]:
    """The challenges in the order of the draw, those of the wanted level first; kernels only where nothing else is."""
    wanted = _CHALLENGE_LEVELS[wish.level]
    if minutes < EASY_BELOW_MINUTES:
        wanted = wanted[:1]
    drawn = Random(f"{wish.seed} {part}").sample(list(challenges), len(challenges))
    return sorted(drawn, key=lambda found: (found.kernel, min(abs(found.level - level) for level in wanted)))


def _has_wrong(challenge: Challenge) -> bool:
    return any((Path(challenge.folder) / "wrong").glob("*.py"))
