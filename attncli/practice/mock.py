"""A mock interview: what is asked now, how long it has taken, and each step on disk before the next one.

It changes no card's schedule: like a quiz it tells where one stands, and what it found missing counts as weak
(`attncli.practice.cards.weakness`). Code that is graded in it is an attempt like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from attncli.domain.card import LEVELS, Card, Level, QaCard
from attncli.domain.challenge import MOST_BUGS, Challenge
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import ANSWER_SECONDS, RowKind
from attncli.domain.mock_interview import (
    LEAST_MINUTES,
    MOST_MINUTES,
    MissedItem,
    MockItem,
    MockPart,
    MockPlan,
    MockReport,
    PartName,
    PartScore,
    SpokenTimes,
)
from attncli.domain.text import NOTHING, Localised
from attncli.errors import NotFound, NothingFits, UsageError
from attncli.memory.replay import standing
from attncli.practice import grade, mock_log
from attncli.practice.grade import GradeOptions, GradeRequest
from attncli.practice.marking import Asked
from attncli.practice.mock_log import MockState, Settled, states
from attncli.practice.queue import Wish, fitting
from attncli.practice.record import take_back
from attncli.practice.start import offers_rounds, start_challenge
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

WHOLE, PARTLY, MISSED = 2, 1, 0
"""What a spoken answer without points to tick comes to."""


@dataclass(frozen=True, slots=True)
class MockTime:
    """What a part has taken, and how much is left of its time: below zero once that is up."""

    spent_ms: int
    budget_ms: int

    @property
    def left_seconds(self) -> int:
        return -((self.spent_ms - self.budget_ms) // 1000)

    @property
    def is_up(self) -> bool:
        return self.spent_ms >= self.budget_ms


class MockInterview:
    """`item` is what is asked now, None at the end; `asked` is the card that puts it, None for code.

    A follow-up is asked as a spoken card of its own. When the time of a part is up, what is in hand may be finished;
    the rest of the part is not asked.
    """

    def __init__(self, workspace: Workspace, state: MockState) -> None:
        self.workspace = workspace
        self.state = state
        self.asked: Asked | None = None
        self._asked_at = workspace.clock()
        self._answered_at: datetime | None = None
        self._since: datetime | None = None
        self._go_on()

    @classmethod
    def begin(cls, workspace: Workspace, wish: MockWish) -> MockInterview:
        """Draws a new interview and records it; one that is not finished ends. Raises NothingFits, UsageError."""
        plan = draw_plan(workspace, wish)
        if (before := mock_log.unfinished(workspace)) is not None:
            mock_log.step(workspace, before.id, "end", {})
        return cls(workspace, mock_log.begin(workspace, plan))

    @classmethod
    def resume(cls, workspace: Workspace) -> MockInterview | None:
        """The interview that was not finished, where it stopped; None if there is none."""
        state = mock_log.unfinished(workspace)
        return None if state is None else cls(workspace, state)

    @property
    def item(self) -> MockItem | None:
        return self.state.item

    @property
    def part(self) -> MockPart | None:
        return self.state.part

    @property
    def wish(self) -> MockWish:
        plan = self.state.plan
        return MockWish(plan.minutes, plan.level, plan.seed, plan.interviewer)

    @property
    def number(self) -> tuple[int, int]:
        """Which item of its part is asked, from 1, and how many there are."""
        place = self._place()
        places = self.state.plan.places(self.state.plan.part_of(place))
        return place - places.start + 1, len(places)

    @property
    def is_running(self) -> bool:
        """Whether the clock of the current part runs."""
        return self._since is not None and not self.state.is_over

    @property
    def time(self) -> MockTime:
        """The time of the current part, now."""
        part = self.state.plan.part_of(self._place())
        return MockTime(self._spent_ms(), self.state.plan.parts[part].budget_ms)

    def reveal(self) -> None:
        """The answer has been given aloud, or marks what was entered: from here on no time counts towards it.

        Raises UsageError for what cannot be marked.
        """
        asked = self._asked()
        if not asked.revealed:
            asked.submit()
        if self._answered_at is None:
            self._answered_at = self.workspace.clock()

    def answer(self, credit: int | None = None) -> None:
        """Settles the current question; on disk when this returns.

        A marked one counts as it was marked, one with points by those that are ticked; any other takes `credit`, from
        NOTHING to WHOLE. Raises UsageError without one, or before the answer was revealed.
        """
        asked = self._asked()
        if not asked.revealed and not self.state.plan.interviewer:
            raise UsageError("the answer has not been given yet")
        got, of = _result(asked, credit)
        told: dict[str, Any] = {"got": got, "of": of, "answer_ms": self._answer_ms()}
        if asked.correct is None and asked.card.points:
            told["points"] = sorted(asked.ticked)
        self._step("answer", told)

    def skip(self) -> None:
        """Leaves the current question; code keeps what its best grading came to."""
        self._step("skip", {})

    def leave_part(self) -> None:
        """Goes on to the next part; what was not asked in this one stays so."""
        self._step("leave", {})

    def end(self) -> None:
        """Ends the interview before everything was asked; its report stands."""
        if not self.state.is_over:
            self._step("end", {})

    def tick_code(self, got: int, of: int, cards: tuple[str, ...] = (), verdict: str = "") -> None:
        """What a grading of the current code came to. It settles the round if all is right, or the time is up.

        Without a judge whoever ticks says what it came to.
        """
        if self.item is None or not self.item.is_code:
            raise UsageError("no code is asked for now; `attn mock` shows what is")
        settles = got >= of or self.time.is_up
        self._step("grade", {"got": got, "of": of, "settles": settles, "cards": list(cards[:20]), "verdict": verdict})

    def pause(self) -> None:
        """Stops the clock and keeps what it said; the next step starts it again."""
        if not self.state.is_over and self._since is not None:
            mock_log.pause(self.workspace, self.state.id, self._place(), self._spent_ms())
            self._read_anew()
            self._since = None

    def go_on(self) -> None:
        """Starts the clock again after a pause."""
        if self._since is None:
            self._asked_at = self._since = self.workspace.clock()

    def undo(self) -> None:
        """Takes back the last step of this interview. Raises UsageError where there is none but its beginning."""
        rows = standing(self.workspace.store.log.of_subjects([self.state.id]))
        steps = [row for row in rows if row.kind is RowKind.MOCK and row.payload.get("step") != "begin"]
        if not steps:
            raise UsageError("nothing was answered in this interview that could be taken back")
        take_back(self.workspace, steps[-1])
        self._read_anew()

    def _step(self, name: str, told: dict[str, Any]) -> None:
        place = self._place()
        mock_log.step(self.workspace, self.state.id, name, {"item": place, "spent_ms": self._spent_ms(), **told})
        self._read_anew()

    def _read_anew(self) -> None:
        before = self.state.place
        found = mock_log.state_of(self.workspace, self.state.id)
        if found is None:
            raise UsageError("this interview was taken back elsewhere; begin another")
        self.state = found
        if found.place != before or self.asked is None:
            self._go_on()
        else:
            self._since = self.workspace.clock()

    def _go_on(self) -> None:
        """Asks what is next; what has left its bank is settled as left out."""
        self.asked = None
        self._answered_at = None
        self._asked_at = self._since = self.workspace.clock()
        item = self.item
        if item is None:
            return
        try:
            if item.is_code:
                self.workspace.library.challenge(item.id)
                return
            card = asked_card(self.workspace, item)
        except NotFound:
            self.skip()
            return
        self.asked = Asked.of(card, Random(f"{self.state.plan.seed} {self._place()} {item.id}"))
        if self.state.plan.interviewer and not self.asked.is_marked_automatically:
            self.asked.revealed = True

    def _spent_ms(self) -> int:
        part = self.state.plan.part_of(self._place())
        before = self.state.spent_ms.get(part, 0)
        return before if self._since is None else before + _milliseconds(self._since, self.workspace.clock())

    def _answer_ms(self) -> int:
        return _milliseconds(self._asked_at, self._answered_at or self.workspace.clock())

    def _place(self) -> int:
        if self.state.place is None:
            raise UsageError("the interview is over")
        return self.state.place

    def _asked(self) -> Asked:
        if self.asked is None:
            raise UsageError("no question is being asked")
        return self.asked


def asked_card(workspace: Workspace, item: MockItem) -> Card:
    """The card as an interview asks it: its answer and points alone; a follow-up as a spoken card of its own.

    Raises NotFound where the card, or its follow-up, is not there.
    """
    card = workspace.library.card(item.id)
    if item.kind == "follow-up":
        entry = card.follow_ups[item.n] if item.n < len(card.follow_ups) else None
        if entry is None or entry.ask is None or entry.answer is None:
            raise NotFound(f"card {card.id} has no follow-up {item.n + 1}; `attn show {card.id}` shows those it has")
        return QaCard(
            id=card.id, topic=card.topic, level=card.level, core=card.core, question=entry.ask, short=entry.answer
        )
    return replace(
        card,
        explain=None if card.short else card.explain,
        pitfalls=(),
        follow_ups=(),
        sources=(),
        experiment="",
        challenges=(),
    )


def _result(asked: Asked, credit: int | None) -> tuple[int, int]:
    if asked.correct is not None:
        return int(asked.correct), 1
    if asked.card.points:
        return len(asked.ticked), len(asked.card.points)
    if credit is None or not MISSED <= credit <= WHOLE:
        raise UsageError(f"an answer without points comes to {MISSED}, {PARTLY} or {WHOLE}")
    return credit, WHOLE


def _milliseconds(since: datetime, now: datetime) -> int:
    return max(0, round((now - since).total_seconds() * 1000))


# The rounds of code in a mock interview: the file that is handed out, and what a grading of it counts for.

OPTIONS = GradeOptions(rung="solved")
"""An interviewer at the whiteboard asks for the first rung."""


@dataclass(frozen=True, slots=True)
class CodeRound:
    """A challenge and the file in which it is written, or in which so many `bugs` are mended."""

    challenge: Challenge
    path: Path
    bugs: int


def hand_out(interview: MockInterview) -> CodeRound:
    """The file of the current round, written on first sight; a file that is there is gone on with.

    Raises UsageError where none can be written, NotFound if the challenge is not there.
    """
    item, workspace = interview.item, interview.workspace
    if item is None or not item.is_code:
        raise UsageError("no code is asked for now; `attn mock` shows what is")
    challenge = workspace.library.challenge(item.id)
    folder = workspace.home.solutions / f"mock-{interview.state.begun_at:%Y%m%d-%H%M%S}"
    path = folder / f"{challenge.id}.py"
    if not path.exists():
        path = _written(interview, item, challenge, folder)
    return CodeRound(challenge, path, max(1, item.n) if item.kind == "repair" else 0)


def _written(interview: MockInterview, item: MockItem, challenge: Challenge, folder: Path) -> Path:
    workspace, seed = interview.workspace, interview.state.plan.seed
    if item.kind != "repair":
        return start_challenge(workspace, challenge.id, folder).path
    if item.n and offers_rounds(challenge):
        return start_challenge(workspace, challenge.id, folder, repair=item.n, seed=seed).path
    return start_challenge(workspace, challenge.id, folder, bug=True, wrong=_drawn_bug(challenge, seed)).path


def _drawn_bug(challenge: Challenge, seed: int) -> str:
    """A mistake that the first rung sees: the same seed plants the same one."""
    stems = sorted(path.stem for path in (Path(challenge.folder) / "wrong").glob("*.py"))
    seen = [stem for stem in stems if stem in challenge.mistakes and challenge.mistakes[stem].rung == "solved"]
    return Random(f"{seed} bug").choice(seen or stems) if stems else ""


def request_for(interview: MockInterview, round: CodeRound) -> GradeRequest:
    """What the judge is asked about the file of a round. Raises NotFound, UsageError."""
    return grade.request_for(interview.workspace, round.challenge.id, round.path, OPTIONS)


def settle(interview: MockInterview, request: GradeRequest, report: GradeReport) -> None:
    """Records a grading: an attempt at the challenge or a repair, and what it counts for in the interview."""
    workspace = interview.workspace
    grade.settle(workspace, request, report, OPTIONS)
    cards = tuple(dict.fromkeys(card for found in report.diagnosis for card in found.cards))
    if report.repaired is None:
        interview.tick_code(int(report.accepted), 1, cards, report.verdict)
        return
    left = tuple(bug.wrong for bug in report.repaired.left)
    mistakes = workspace.library.challenge(report.challenge).mistakes
    cards += tuple(card for bug in left if bug in mistakes for card in mistakes[bug].cards)
    # What was broken anew is no reason to call it whole: one bug counts as left while the file is rejected.
    done = report.repaired.of if report.accepted else min(report.repaired.done, report.repaired.of - 1)
    interview.tick_code(done, report.repaired.of, tuple(dict.fromkeys(cards)), report.verdict)


# What mock interviews came to: score by part, points missed, times against the 30-second answer, what to read.
#
# Everything follows from the log and the banks as they are now.


def past_mocks(workspace: Workspace) -> tuple[MockReport, ...]:
    """The interviews in which something was answered, the latest first."""
    return tuple(report_of(workspace, state) for state in states(workspace) if state.settled or state.tried)


def report_of(workspace: Workspace, state: MockState) -> MockReport:
    """What an interview has come to so far."""
    parts = tuple(_part(state, number) for number in range(len(state.plan.parts)))
    shares = [part.credit / part.asked for part in parts if part.asked]
    missed = tuple(_missed(workspace, state))
    return MockReport(
        id=state.id,
        begun_at=state.begun_at,
        minutes=state.plan.minutes,
        level=state.plan.level,
        seed=state.plan.seed,
        is_finished=state.is_over and not state.is_ended,
        is_open=not state.is_over,
        share=sum(shares) / len(shares) if shares else 0.0,
        parts=parts,
        missed=missed,
        times=_times(state),
        read=_to_read(workspace, state),
    )


def _part(state: MockState, number: int) -> PartScore:
    part, places = state.plan.parts[number], state.plan.places(number)
    asked = [state.results[place] for place in places if place in state.results]
    spent_ms = state.spent_ms.get(number, 0)
    return PartScore(
        name=part.name,
        minutes=part.minutes,
        spent_seconds=spent_ms // 1000,
        credit=sum(result.credit for result in asked),
        asked=len(asked),
        not_asked=len(places) - len(asked),
        is_over_time=spent_ms >= part.budget_ms,
    )


def _missed(workspace: Workspace, state: MockState) -> Iterator[MissedItem]:
    for item, settled in state.answered():
        if settled.is_missed:
            try:
                yield _missed_item(workspace, item, settled)
            except NotFound:
                yield MissedItem(item.id, item.is_code, NOTHING, NOTHING, ())


def _missed_item(workspace: Workspace, item: MockItem, settled: Settled) -> MissedItem:
    if item.is_code:
        challenge = workspace.library.challenge(item.id)
        return MissedItem(challenge.id, True, challenge.title, NOTHING, ())
    card = asked_card(workspace, item)
    made = settled.points or ()
    points = tuple(point for n, point in enumerate(card.points) if n not in made)
    return MissedItem(card.id, False, card.listed, NOTHING if points else _told(card), points)


def _told(card: Card) -> Localised:
    return card.short or card.explain or NOTHING


def _times(state: MockState) -> SpokenTimes | None:
    """Of answers that were given: what was left out took no time that says anything."""
    spoken = [
        (item.id, settled.answer_ms // 1000)
        for item, settled in state.answered()
        if not item.is_code and settled.answer_ms is not None
    ]
    if not spoken:
        return None
    seconds = sorted(taken for _, taken in spoken)
    longest = sorted((entry for entry in spoken if entry[1] > ANSWER_SECONDS), key=lambda entry: -entry[1])
    within = sum(taken <= ANSWER_SECONDS for taken in seconds)
    return SpokenTimes(seconds[len(seconds) // 2], within, len(seconds), tuple(longest[:5]))


def _to_read(workspace: Workspace, state: MockState) -> tuple[str, ...]:
    """Cards of which most was missed, with what their follow-ups link to; cards that explain what failed in code."""
    missing: dict[str, float] = {}
    for item, settled in state.answered():
        if settled.is_missed:
            for card in _read_for(workspace, item, settled):
                missing[card] = missing.get(card, 0.0) + 1 - settled.credit
    return tuple(sorted(missing, key=lambda card: -missing[card]))


def _read_for(workspace: Workspace, item: MockItem, settled: Settled) -> Iterator[str]:
    known = workspace.store.index.card
    try:
        if item.is_code:
            cards = settled.cards or workspace.library.challenge(item.id).cards[:2]
            yield from (card for card in cards if known(card))
            return
        card = workspace.library.card(item.id)
    except NotFound:
        return
    yield card.id
    if item.kind == "follow-up" and item.n < len(card.follow_ups) and known(card.follow_ups[item.n].card):
        yield card.follow_ups[item.n].card


# Planning a mock interview: minutes split over the parts, and what is asked in each, drawn by a seed.
#
# The same seed and the same cards give the same interview. Suspended and buried cards are left out.

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
