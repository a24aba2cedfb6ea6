"""Mock interviews: draw one from a seed, ask it within its time, grade its code, and report.

Each step is on disk before the next one. The same seed and cards give the same interview. It changes no card's
schedule, but missed items count as weak (`attncli.practice.queue.weaknesses`). Code that is graded in it is an
attempt like any other. Reports follow from the log and the current banks alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from attncli.domain.card import Card
from attncli.domain.card_kinds import QaCard
from attncli.domain.challenge import MOST_BUGS, Challenge, Repair
from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import RowKind
from attncli.domain.mock_interview import LEAST_MINUTES, MOST_MINUTES, MockItem, MockPart, MockPlan, PartName
from attncli.domain.tests_report import OwnTestsReport
from attncli.domain.text import wrapped
from attncli.domain.vocabulary import LEVELS, Level
from attncli.errors import NoCardMatches, NotFound, UsageError
from attncli.i18n import Localised, _, ngettext
from attncli.memory.replay import standing
from attncli.practice import grade, mock_log, own_tests
from attncli.practice.grade import GradeOptions, GradeRequest, read_submission
from attncli.practice.marking import Asked
from attncli.practice.mock_log import MockState
from attncli.practice.queue import CardFilter, matching_cards
from attncli.practice.record import take_back
from attncli.practice.start import file_name, offers_rounds, planted_in, start_challenge, without_docstring, write_new
from attncli.practice.workspace import Workspace
from attncli.store.index import CardSummary

MOCK_MINUTES = 45
MOCK_LEVEL: Level = "onsite"
OPTIONS = GradeOptions(rung="solved")
"""Options of every grading here: an interviewer at the whiteboard asks for the first rung."""
WHOLE, PARTLY, MISSED = 2, 1, 0
"""Credit for a spoken answer without points to tick."""

# Below this there is no time for a second round of code.
REPAIR_FROM_MINUTES = 25
MOST_CANDIDATES = 600
LONGEST_WARM_UP = 120
"""The length in characters of a short question."""
ITEMS_A_DIVE_MINUTE = 0.7
EASY_BELOW_MINUTES = 10
TASK_WIDTH = 110
MINUTES_A_BUG = 4
MOST_DRAFT_BUGS, MINUTES_A_DRAFT_BUG = 2, 6
SHARE_OF_TESTS = 0.6
"""Share of an assisted round for the tests; the rest is for the repair."""
_CHALLENGE_LEVELS: dict[Level, tuple[int, ...]] = {"screen": (1, 2), "onsite": (2, 3), "research": (3, 4, 5)}


class MockOptions(NamedTuple):
    """Options of an interview to draw. With `interviewer`, another person sees the points at once and ticks them.

    With `assistant`, an assistant's draft with bugs is tested and repaired, instead of a whiteboard and a repair.
    """

    minutes: int = MOCK_MINUTES
    level: Level = MOCK_LEVEL
    seed: int = 0
    interviewer: bool = False
    assistant: bool = False

    @property
    def command(self) -> str:
        """The command that draws the same interview again."""
        beside = (" --interviewer" if self.interviewer else "") + (" --assistant" if self.assistant else "")
        return f"attn mock --minutes {self.minutes} --level {self.level} --seed {self.seed}{beside}"


@dataclass(frozen=True, slots=True)
class MockTime:
    """The time that a part has taken, and the rest of its budget, negative once it is exceeded."""

    spent_ms: int
    budget_ms: int

    @property
    def left_seconds(self) -> int:
        return -((self.spent_ms - self.budget_ms) // 1000)

    @property
    def is_up(self) -> bool:
        return self.spent_ms >= self.budget_ms


class MockInterview:
    """An interview in progress. `item` is asked now, None at the end; `asked` its card, None for code.

    A follow-up is asked as a spoken card. When the time of a part is up, the current item may be finished; the rest of
    the part is not asked.
    """

    def __init__(self, workspace: Workspace, state: MockState) -> None:
        self.workspace = workspace
        self.state = state
        self.asked: Asked | None = None
        self._asked_at = workspace.clock()
        self._answered_at: datetime | None = None
        self._running_since: datetime | None = None
        self._ask_next()

    @classmethod
    def begin(cls, workspace: Workspace, options: MockOptions) -> MockInterview:
        """Draw an interview and record it; an unfinished one ends. Raises NoCardMatches, UsageError."""
        plan = draw_plan(workspace, options)
        if (before := mock_log.unfinished(workspace)) is not None:
            mock_log.step(workspace, before.id, "end", {})
        return cls(workspace, mock_log.begin(workspace, plan))

    @classmethod
    def resume(cls, workspace: Workspace) -> MockInterview | None:
        """Return the unfinished interview, at the item where it stopped; None if there is none."""
        state = mock_log.unfinished(workspace)
        return None if state is None else cls(workspace, state)

    @property
    def item(self) -> MockItem | None:
        return self.state.item

    @property
    def part(self) -> MockPart | None:
        return self.state.part

    @property
    def options(self) -> MockOptions:
        plan = self.state.plan
        has_draft = any(part.name == "tests" for part in plan.parts)
        return MockOptions(plan.minutes, plan.level, plan.seed, plan.interviewer, has_draft)

    @property
    def number(self) -> tuple[int, int]:
        """The current item of its part, from 1, and how many there are."""
        place = self._place()
        places = self.state.plan.places(self.state.plan.part_of(place))
        return place - places.start + 1, len(places)

    @property
    def is_running(self) -> bool:
        """True if the clock of the current part runs."""
        return self._running_since is not None and not self.state.is_over

    @property
    def time(self) -> MockTime:
        """The time of the current part, now."""
        part = self.state.plan.part_of(self._place())
        return MockTime(self._spent_ms(), self.state.plan.parts[part].budget_ms)

    def reveal(self) -> None:
        """Stop the answer time of the current question: it was answered aloud, or its entry is marked.

        Raises UsageError for an entry that cannot be marked.
        """
        asked = self._required()
        if not asked.revealed:
            asked.submit()
        if self._answered_at is None:
            self._answered_at = self.workspace.clock()

    def answer(self, credit: int | None = None) -> None:
        """Settle the current question; on disk when this returns.

        A marked question counts as marked, one with points by those that are ticked; any other takes `credit`, from
        MISSED to WHOLE. Raises UsageError without a valid credit, or before the answer was revealed.
        """
        asked = self._required()
        if not asked.revealed and not self.state.plan.interviewer:
            raise UsageError(_("the answer is not revealed yet"))
        got, of = _result(asked, credit)
        fields: dict[str, Any] = {
            "got": got,
            "of": of,
            "answer_ms": _milliseconds(self._asked_at, self._answered_at or self.workspace.clock()),
        }
        if asked.correct is None and asked.card.points:
            fields["points"] = sorted(asked.ticked)
        if asked.marked:
            fields |= asdict(asked.answer)
        self._step("answer", fields)

    def skip(self) -> None:
        """Skip the current item; code keeps the result of its best grading."""
        self._step("skip", {})

    def leave_part(self) -> None:
        """Skip the current item and go on to the next part; the rest of this one is not asked."""
        self._step("leave", {})

    def end(self) -> None:
        """End the interview early, with the current item skipped; it still has a report."""
        if not self.state.is_over:
            self._step("end", {})

    def tick_code(self, got: int, of: int, cards: tuple[str, ...] = (), verdict: str = "") -> None:
        """Record the result of grading the current code. It settles the round if all is right or the time is up.

        Without a judge, a person gives the result.
        """
        if self.item is None or not self.item.is_code:
            raise UsageError(_("this part asks for no code; see `attn mock`"))
        settles = got >= of or self.time.is_up
        self._step("grade", {"got": got, "of": of, "settles": settles, "cards": list(cards[:20]), "verdict": verdict})

    def pause(self) -> None:
        """Stop the clock and record the time; the next step starts it again."""
        if not self.state.is_over and self._running_since is not None:
            mock_log.pause(self.workspace, self.state.id, self._place(), self._spent_ms())
            self._reload()
            self._running_since = None

    def go_on(self) -> None:
        """Start the clock again after a pause."""
        if self._running_since is None:
            self._asked_at = self._running_since = self.workspace.clock()

    def undo(self) -> None:
        """Undo the last step. Raises UsageError if there is none after the first row."""
        rows = standing(self.workspace.store.log.of_subjects([self.state.id]))
        steps = [row for row in rows if row.kind is RowKind.MOCK and row.payload.get("step") != "begin"]
        if not steps:
            raise UsageError(_("there is no answer in this interview to undo"))
        take_back(self.workspace, steps[-1])
        self._reload()

    def _step(self, name: str, fields: dict[str, Any]) -> None:
        place = self._place()
        mock_log.step(self.workspace, self.state.id, name, {"item": place, "spent_ms": self._spent_ms(), **fields})
        self._reload()

    def _reload(self) -> None:
        before = self.state.place
        state = mock_log.state_of(self.workspace, self.state.id)
        if state is None:
            raise UsageError(_("this interview was undone elsewhere; start another"))
        self.state = state
        if state.place != before or self.asked is None:
            self._ask_next()
        else:
            self._running_since = self.workspace.clock()

    def _ask_next(self) -> None:
        """Ask the next item; one that has left its bank is skipped."""
        self.asked = None
        self._answered_at = None
        self._asked_at = self._running_since = self.workspace.clock()
        item = self.item
        if item is None:
            return
        try:
            if item.is_code:
                self.workspace.library.challenge(item.id)
                return
            self.asked = asked_at(self.workspace, self.state, self._place())
        except NotFound:
            self.skip()
            return
        if self.state.plan.interviewer and not self.asked.is_marked_automatically:
            self.asked.revealed = True

    def _spent_ms(self) -> int:
        part = self.state.plan.part_of(self._place())
        before = self.state.spent_ms.get(part, 0)
        if self._running_since is None:
            return before
        return before + _milliseconds(self._running_since, self.workspace.clock())

    def _place(self) -> int:
        if self.state.place is None:
            raise UsageError(_("the interview is over"))
        return self.state.place

    def _required(self) -> Asked:
        if self.asked is None:
            raise UsageError(_("there is no current question"))
        return self.asked


def asked_at(workspace: Workspace, state: MockState, place: int) -> Asked:
    """Return the card at a place of an interview, with the values that it asks. Raises NotFound as `asked_card`."""
    item = state.plan.items[place]
    return Asked.of(asked_card(workspace, item), Random(f"{state.plan.seed} {place} {item.id}"))


def asked_card(workspace: Workspace, item: MockItem) -> Card:
    """Return the card as an interview asks it: answer and points only; a follow-up as a spoken card.

    Raises NotFound if the card or its follow-up does not exist.
    """
    card = workspace.library.card(item.id)
    if item.kind == "follow-up":
        entry = card.follow_ups[item.n] if item.n < len(card.follow_ups) else None
        if entry is None or entry.ask is None or entry.answer is None:
            raise NotFound(
                _("card {id} has no follow-up {n}; list them with `attn show {id}`", id=card.id, n=item.n + 1)
            )
        return QaCard(
            id=card.id, topic=card.topic, level=card.level, core=card.core, question=entry.ask, short=entry.answer
        )
    return replace(
        card,
        explain=None if card.answer else card.explain,
        pitfalls=(),
        follow_ups=(),
        sources=(),
        experiment="",
        challenge=(),
    )


def _result(asked: Asked, credit: int | None) -> tuple[int, int]:
    if asked.correct is not None:
        return int(asked.correct), 1
    if asked.card.points:
        return len(asked.ticked), len(asked.card.points)
    if credit is None or not MISSED <= credit <= WHOLE:
        raise UsageError(
            _(
                "an answer without points scores {missed}, {partly} or {whole}",
                missed=MISSED,
                partly=PARTLY,
                whole=WHOLE,
            )
        )
    return credit, WHOLE


def _milliseconds(since: datetime, now: datetime) -> int:
    return max(0, round((now - since).total_seconds() * 1000))


# Rounds of code


@dataclass(frozen=True, slots=True)
class CodeRound:
    """A challenge and the file in which to write it, or in which to repair `bugs` planted bugs.

    If `draft` is set, `path` has the tests of that file, an assistant's draft with the bugs `repairs`; `draft_text` is
    its code.
    """

    challenge: Challenge
    path: Path
    bugs: int
    draft: Path | None = None
    draft_text: str = ""
    repairs: tuple[Repair, ...] = ()


def hand_out(interview: MockInterview) -> CodeRound:
    """Return the file of the current round; it is written the first time, and kept if it exists.

    Raises UsageError if it cannot be written, NotFound if the challenge does not exist.
    """
    item, workspace = interview.item, interview.workspace
    if item is None or not item.is_code:
        raise UsageError(_("this part asks for no code; see `attn mock`"))
    challenge = workspace.library.challenge(item.id)
    folder = workspace.home.solutions / f"mock-{interview.state.begun_at:%Y%m%d-%H%M%S}"
    has_bugs = item.kind != "whiteboard"
    path = folder / file_name(challenge.id, has_bugs=has_bugs)
    if not path.exists():
        path = _new_file(interview, item, challenge, folder)
    code = CodeRound(challenge, path, max(1, item.n) if has_bugs else 0)
    return _tests_of(workspace, code) if item.kind == "tests" else code


def _tests_of(workspace: Workspace, code: CodeRound) -> CodeRound:
    """Return the round in which the tests of a draft are written, beside it."""
    path = code.path.with_name(own_tests.tests_file(workspace, code.challenge.id).name)
    if not path.exists():
        lang = workspace.lang
        task = "\n".join(wrapped(draft_task(code.bugs)[lang], TASK_WIDTH))
        how = own_tests.how_written(code.challenge)[lang]
        write_new(path, own_tests.starter(code.challenge, lang, f"{task}\n\n{how}"), force=False)
    draft = planted_in(workspace, code.challenge, code.path)
    text = without_docstring(read_submission(code.path).decode("utf-8", "replace"))
    return replace(code, path=path, draft=code.path, draft_text=text, repairs=draft.repairs if draft else ())


def draft_task(bugs: int) -> Localised:
    """Return the task of writing tests for an assistant's draft with `bugs` bugs."""
    return ngettext(
        "An AI assistant wrote this draft. It has {count} bug. First write tests that fail on the draft and pass on "
        "correct code: the bug counts if a test exposes it, and a test that fails on correct code (a false alarm) "
        "scores 0. In the next part you repair the draft.",
        "An AI assistant wrote this draft. It has {count} bugs. First write tests that fail on the draft and pass on "
        "correct code: each bug counts if a test exposes it, and a test that fails on correct code (a false alarm) "
        "scores 0. In the next part you repair the draft.",
        bugs,
    )


def _new_file(interview: MockInterview, item: MockItem, challenge: Challenge, folder: Path) -> Path:
    workspace, seed = interview.workspace, interview.state.plan.seed
    if item.kind == "whiteboard":
        return start_challenge(workspace, challenge.id, folder).path
    if item.n and offers_rounds(challenge):
        return start_challenge(workspace, challenge.id, folder, repair=item.n, seed=seed).path
    return start_challenge(workspace, challenge.id, folder, bug=True, wrong=_drawn_bug(challenge, seed)).path


def _drawn_bug(challenge: Challenge, seed: int) -> str:
    """Draw a mistake that shows on the first rung; the same seed draws the same one."""
    names = _wrong_names(challenge)
    seen = [name for name in names if name in challenge.mistakes and challenge.mistakes[name].rung == "solved"]
    return Random(f"{seed} bug").choice(seen or names) if names else ""


def _wrong_names(challenge: Challenge) -> list[str]:
    return sorted(path.stem for path in (Path(challenge.folder) / "wrong").glob("*.py"))


def settle(interview: MockInterview, request: GradeRequest, report: GradeReport) -> None:
    """Record a grading: as an attempt or a repair, and its result in the interview."""
    workspace = interview.workspace
    grade.settle(workspace, request, report)
    cards = tuple(dict.fromkeys(card for found in report.diagnosis for card in found.cards))
    if report.repaired is None:
        interview.tick_code(int(report.accepted), 1, cards, report.verdict)
        return
    left = tuple(bug.wrong for bug in report.repaired.left)
    mistakes = workspace.library.challenge(report.challenge).mistakes
    cards += tuple(card for bug in left if bug in mistakes for card in mistakes[bug].cards)
    # A rejected file is not fully repaired, even if all bugs are gone: one counts as left.
    done = report.repaired.of if report.accepted else min(report.repaired.done, report.repaired.of - 1)
    interview.tick_code(done, report.repaired.of, tuple(dict.fromkeys(cards)), report.verdict)


def settle_tests(interview: MockInterview, code: CodeRound, report: OwnTestsReport) -> None:
    """Record the result of the tests of a draft: the bugs that they expose, none if there is a false alarm."""
    mistakes = code.challenge.mistakes
    cards = tuple(card for bug in report.survived if bug in mistakes for card in mistakes[bug].cards)
    exposed = 0 if report.false_alarms else report.all.caught
    interview.tick_code(exposed, code.bugs, tuple(dict.fromkeys(cards)), report.verdict)


# Drawing an interview


def split(minutes: int, assistant: bool = False) -> dict[PartName, int]:
    """Split the minutes over the parts. Raises UsageError for too few or too many."""
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        raise UsageError(
            _(
                "an interview takes {least_minutes} to {most_minutes} minutes, not {minutes}",
                least_minutes=LEAST_MINUTES,
                most_minutes=MOST_MINUTES,
                minutes=minutes,
            )
        )
    is_short = minutes < REPAIR_FROM_MINUTES
    warm_up, dive = (0.2, 0.3) if is_short else (0.15, 0.25)
    shares: dict[PartName, int] = {"warm-up": round(warm_up * minutes), "deep-dive": round(dive * minutes)}
    coding = minutes - sum(shares.values())
    if assistant:
        tests = round(SHARE_OF_TESTS * coding)
        return shares | {"tests": tests, "repair": coding - tests}
    if is_short:
        return shares | {"whiteboard": coding}
    repair = round(0.2 * minutes)
    return shares | {"whiteboard": coding - repair, "repair": repair}


def draw_plan(workspace: Workspace, options: MockOptions) -> MockPlan:
    """Draw the interview. Raises UsageError for its minutes, NoCardMatches if there is no card to ask."""
    minutes = split(options.minutes, options.assistant)
    cards = sorted(matching_cards(workspace, CardFilter()), key=lambda card: card.id)
    if not cards:
        raise NoCardMatches([], {})
    dive = _deep_dive(workspace, cards, options, minutes["deep-dive"])
    asked: dict[PartName, tuple[MockItem, ...]] = {
        "warm-up": _warm_up(cards, options, minutes["warm-up"], dive),
        "deep-dive": dive,
        **(_draft if options.assistant else _coding)(workspace, options, minutes),
    }
    parts = tuple(MockPart(name, minutes[name], asked[name]) for name in minutes if asked.get(name))
    return MockPlan(options.minutes, options.level, options.seed, options.interviewer, parts)


def _warm_up(
    cards: Sequence[CardSummary], options: MockOptions, count: int, dive: Sequence[MockItem]
) -> tuple[MockItem, ...]:
    """Draw spoken and marked questions in turn, from as many topics as possible; none of the deep dive.

    Short questions of a first call come first, whatever the level of the interview: no numbers, no code.
    """
    rng = Random(f"{options.seed} warm-up")
    asked_later = {item.id for item in dive}
    pool = [card for card in cards if card.id not in asked_later]
    pool = rng.sample(pool, min(len(pool), MOST_CANDIDATES))
    topics = Counter(card.topic for card in cards if card.id in asked_later)
    drawn: list[MockItem] = []
    while pool and len(drawn) < count:
        is_spoken = len(drawn) % 2 == 0
        # `min` takes the first of equals, and the pool is in the order of the draw.
        card = min(
            pool,
            key=lambda card: (
                not _is_short(card),
                topics[card.topic] > 0,
                (card.kind == "qa") != is_spoken,
                topics[card.topic],
            ),
        )
        pool.remove(card)
        topics[card.topic] += 1
        drawn.append(MockItem("card", card.id))
    return tuple(drawn)


def _is_short(card: CardSummary) -> bool:
    is_quick = len(card.question.en) <= LONGEST_WARM_UP and card.kind not in ("numeric", "debug")
    return card.level == "screen" and is_quick


def _deep_dive(
    workspace: Workspace, cards: Sequence[CardSummary], options: MockOptions, minutes: int
) -> tuple[MockItem, ...]:
    """Follow a card, its follow-ups, then the cards that these link to, until the time is used."""
    count = max(2, round(ITEMS_A_DIVE_MINUTE * minutes))
    open_cards = {card.id for card in cards}
    waiting = [_first_of_dive(workspace, cards, options, min(count - 1, 3))]
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
    """Return the indices of the follow-ups that have both a question and an answer."""
    return [n for n, entry in enumerate(card.follow_ups) if entry.ask and entry.answer]


def _first_of_dive(workspace: Workspace, cards: Sequence[CardSummary], options: MockOptions, follow_ups: int) -> Card:
    """Draw a spoken card of the level; its number of follow-ups is as near as possible to `follow_ups`."""
    rng = Random(f"{options.seed} deep-dive")
    drawn = rng.sample(list(cards), len(cards))
    order: tuple[str, ...] = LEVELS
    wanted = order.index(options.level)
    drawn.sort(key=lambda card: (abs(order.index(card.level) - wanted), card.kind != "qa"))
    best, most = None, -1
    for card in _found(workspace, (card.id for card in drawn[:MOST_CANDIDATES])):
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


def _coding(
    workspace: Workspace, options: MockOptions, minutes: dict[PartName, int]
) -> dict[PartName, tuple[MockItem, ...]]:
    """Draw a challenge to write, and another to repair, of another track if possible.

    The repair has several bugs if a challenge offers repair rounds, otherwise the single bug of a wrong solution.
    """
    challenges = sorted(workspace.library.challenges(), key=lambda challenge: challenge.id)
    found: dict[PartName, tuple[MockItem, ...]] = {}
    white = next(iter(_in_turn(challenges, options, minutes["whiteboard"], "whiteboard")), None)
    if white is None:
        return found
    found["whiteboard"] = (MockItem("whiteboard", white.id),)
    if "repair" in minutes:
        others = [challenge for challenge in challenges if challenge.id != white.id and _wrong_names(challenge)]
        in_turn = _in_turn(others, options, minutes["repair"], "repair")
        in_turn.sort(key=lambda challenge: (not offers_rounds(challenge), challenge.track == white.track))
        bugs = max(1, min(MOST_BUGS, minutes["repair"] // MINUTES_A_BUG))
        found["repair"] = tuple(
            MockItem("repair", challenge.id, bugs if offers_rounds(challenge) else 0) for challenge in in_turn[:1]
        )
    return found


def _draft(
    workspace: Workspace, options: MockOptions, minutes: dict[PartName, int]
) -> dict[PartName, tuple[MockItem, ...]]:
    """Draw the challenge of an assistant's draft, to test and then to repair."""
    challenges = sorted(filter(offers_rounds, workspace.library.challenges()), key=lambda challenge: challenge.id)
    bugs = max(1, min(MOST_DRAFT_BUGS, minutes["tests"] // MINUTES_A_DRAFT_BUG))
    drawn = _in_turn(challenges, options, minutes["tests"], "tests")[:1]
    return {
        "tests": tuple(MockItem("tests", challenge.id, bugs) for challenge in drawn),
        "repair": tuple(MockItem("repair", challenge.id, bugs) for challenge in drawn),
    }


def _in_turn(challenges: Sequence[Challenge], options: MockOptions, minutes: int, part: PartName) -> list[Challenge]:
    """Return the challenges in drawn order, those of the level first; kernels last."""
    wanted = _CHALLENGE_LEVELS[options.level]
    if minutes < EASY_BELOW_MINUTES:
        wanted = wanted[:1]
    drawn = Random(f"{options.seed} {part}").sample(list(challenges), len(challenges))
    return sorted(drawn, key=lambda found: (found.kernel, min(abs(found.level - level) for level in wanted)))
