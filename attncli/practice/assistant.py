"""A sitting that the learner's own assistant leads: it puts a card, hands in the attempt, and only then is told more.

Nothing here tells an answer before an attempt, a reference ever, or records a rating for a card that was not put and
attempted in this sitting. What is recorded are the rows that the app records for the same acts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

from attncli.domain.card import Card, ChoiceCard, ClozeCard, DebugCard, OrderingCard
from attncli.domain.challenge import CaseRung
from attncli.domain.grade_report import GradeReport, report_document
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.text import Lang
from attncli.errors import NotFound, UsageError
from attncli.memory.replay import standing
from attncli.practice.challenges import next_hint, standings
from attncli.practice.grade import GradeOptions, GradeRequest, read_submission, request_of, settle
from attncli.practice.marking import Asked, Section, sections
from attncli.practice.queue import Wish, due_counts
from attncli.practice.review import ChosenDrill, PlannedCards, ReviewSitting, SittingItem
from attncli.practice.start import solution_file, start_challenge
from attncli.practice.stats import progress
from attncli.practice.workspace import Workspace
from attncli.store.queue_table import Moment, Waiting
from attncli.words.assistant_texts import HOW, NOTHING_LEFT
from attncli.words.grade_report_texts import diagnosis_lines, headline
from attncli.words.interval_texts import interval_text


class OneCard(ReviewSitting):
    """A sitting of one named card, due or not."""

    def __init__(self, workspace: Workspace, card: str) -> None:
        found = workspace.library.card(card)
        self._named = Waiting(found.id, found.topic, workspace.store.schedules.get(found.id) is None)
        super().__init__(workspace)

    def _planned(self, when: Moment) -> PlannedCards:
        return PlannedCards([self._named])

    def _take(self, when: Moment) -> Waiting | None:
        return self._plan.take() if self._plan else None


class AssistantSitting:
    """What was put and what was attempted. `rng` draws numbers, and the order of options and items."""

    def __init__(self, workspace: Workspace, rng: Random) -> None:
        self.workspace = workspace
        self._rng = rng
        self._drill: ReviewSitting | None = None
        self._wanted: tuple[object, ...] = ()
        self._asked: Asked | None = None

    def due(self) -> dict[str, Any]:
        """What is due now, and which card is being asked."""
        return {**due_counts(self.workspace).document(), "asked": self._asked.card.id if self._asked else None}

    def stats(self) -> dict[str, Any]:
        return progress(self.workspace).document()

    def next_card(self, topic: str | None = None, card: str | None = None, weak: bool = False) -> dict[str, Any]:
        """The question of the next card. Raises UsageError while an attempted card waits for its rating."""
        if self._asked is not None and self._asked.revealed:
            raise UsageError(f"card {self._asked.card.id} was attempted and has no rating yet; record one with rate")
        if card is not None and (topic is not None or weak):
            raise UsageError("name a card, or a topic or weak ones, not both")
        wanted = (topic, card, weak, self.workspace.moment().day)
        if self._drill is None or wanted != self._wanted:
            drill = self._opened(topic, card, weak)
            self._drill, self._wanted, self._asked = drill, wanted, None
        item = self._drill.next()
        if item is None and type(self._drill) is ReviewSitting:
            self._drill = self._opened(topic, card, weak)
            item = self._drill.next()
        if item is None:
            self._drill = self._asked = None
            return {"card": None, "said": NOTHING_LEFT[self.workspace.lang], "due": due_counts(self.workspace).due}
        if self._asked is None or self._asked.card.id != item.card.id:
            self._asked = Asked.of(item.card, self._rng)
        return question_document(self._asked, self.workspace.lang)

    def _opened(self, topic: str | None, card: str | None, weak: bool) -> ReviewSitting:
        if card is not None:
            return OneCard(self.workspace, card)
        if weak:
            return ChosenDrill(self.workspace, Wish(topic=topic, weak=True), self._rng)
        return ReviewSitting(self.workspace, topic)

    def attempt(
        self,
        card: str,
        text: str | None = None,
        numbers: Sequence[int] | None = None,
        blanks: Sequence[str] | None = None,
        gave_up: bool = False,
    ) -> dict[str, Any]:
        """Takes the learner's answer to the card that was put; what is right is told from here on.

        Raises UsageError for another card, a second attempt, or what is no answer to this kind of card: then nothing
        was told.
        """
        asked = self._put(card)
        if asked.revealed:
            raise UsageError(f"card {asked.card.id} was attempted already; record its rating with rate")
        given = {name for name, value in (("text", text), ("numbers", numbers), ("blanks", blanks)) if value}
        if gave_up and given:
            raise UsageError(f"gave_up goes with no answer, but {', '.join(sorted(given))} was given too")
        item = self._still_there()
        if gave_up:
            asked.item_order = []
            asked.texts = ["" for _ in asked.texts]
        else:
            self._fill(asked, given, text or "", list(numbers or ()), list(blanks or ()))
        asked.submit()
        return answer_document(asked, item, self.workspace.lang)

    def _fill(self, asked: Asked, given: set[str], text: str, numbers: list[int], blanks: list[str]) -> None:
        """Puts an answer of the right shape into `asked`, or raises UsageError."""
        card = asked.card
        fits = given == {"text"} and bool(text.strip())
        if isinstance(card, (ChoiceCard, OrderingCard, DebugCard)):
            most, exactly = _numbers_wanted(asked)
            fits = given == {"numbers"} and len(set(numbers)) == len(numbers) == (exactly or len(numbers))
            fits = fits and all(1 <= number <= most for number in numbers)
        elif isinstance(card, ClozeCard):
            fits = given == {"blanks"} and len(blanks) == len(card.blanks) and any(blank.strip() for blank in blanks)
        if not fits:
            wanted = how_to_answer(asked, "en")
            raise UsageError(
                f"card {card.id} wants {wanted}; gave_up where the learner does not know. Nothing was told"
            )
        if isinstance(card, ChoiceCard):
            asked.chosen = {asked.option_order[number - 1] for number in numbers}
        elif isinstance(card, OrderingCard):
            asked.item_order = [asked.item_order[number - 1] for number in numbers]
        elif isinstance(card, DebugCard):
            asked.line = numbers[0]
        elif isinstance(card, ClozeCard):
            asked.texts = blanks
        elif asked.task is not None:
            asked.texts = [text]

    def rate(self, card: str, rating: Rating, points: Sequence[int] | None = None) -> dict[str, Any]:
        """Records the rating of the card that was attempted: on disk when this returns.

        Raises UsageError for any other card, NotFound if it has left its bank, and Outdated where another interval
        than the one that was told would be stored; then nothing was recorded.
        """
        asked, drill = self._put(card), self._drill
        if not asked.revealed or drill is None:
            raise UsageError(f"card {asked.card.id} was not attempted yet; hand in the learner's answer with attempt")
        total = len(asked.card.points)
        if points and asked.marked is not None:
            raise UsageError(f"card {asked.card.id} was marked; leave out points")
        if points and not all(1 <= point <= total for point in points):
            raise UsageError(f"card {asked.card.id} has the points 1 to {total}; name those that the learner made")
        asked.ticked = {point - 1 for point in points or ()}
        try:
            answered = drill.answer(rating, points=asked.points, correct=asked.correct)
        except NotFound:
            self._left_out()
            raise
        self._asked = None
        if isinstance(drill, OneCard):
            self._drill = None
        return {**answered.document(), "leech": answered.leech, "left": due_counts(self.workspace).due}

    def _put(self, card: str) -> Asked:
        if self._asked is None:
            raise UsageError("no card was put yet; call next_card first")
        if card != self._asked.card.id:
            raise UsageError(f"card {card[:40]} is not the one that was put; that is {self._asked.card.id}")
        return self._asked

    def _still_there(self) -> SittingItem:
        """The item with its intervals as they stand now; a card that left its bank is put no longer."""
        assert self._drill is not None
        try:
            return self._drill.refresh()
        except NotFound:
            self._left_out()
            raise

    def _left_out(self) -> None:
        if self._drill is not None:
            self._drill.drop()
        self._asked = None


def _numbers_wanted(asked: Asked) -> tuple[int, int]:
    """The largest number that names something, and how many are wanted; 0 for one or more."""
    if isinstance(asked.card, ChoiceCard):
        return len(asked.option_order), 0 if asked.card.multiple else 1
    if isinstance(asked.card, DebugCard):
        return len(asked.card.code.rstrip().splitlines()), 1
    return len(asked.item_order), len(asked.item_order)


# A card as data in one language: what may be told before an attempt, and what only after it.


def question_document(asked: Asked, lang: Lang) -> dict[str, Any]:
    """The question with whatever has to be seen to answer it, and `how` to hand the answer in."""
    card = asked.card
    told = {"card": card.id, "topic": card.topic, "kind": card.kind, "level": card.level}
    return {**told, "question": asked.question[lang].strip(), **_to_see(asked, lang), "how": how_to_answer(asked, lang)}


def how_to_answer(asked: Asked, lang: Lang) -> str:
    """Which argument of an attempt this card wants."""
    card = asked.card
    unit = asked.task.unit if asked.task else ""
    kind: str = card.kind
    if isinstance(card, ChoiceCard) and card.multiple:
        kind = "choice-many"
    elif unit:
        kind = "numeric-unit"
    return HOW[kind][lang].format(unit=unit, n=len(asked.texts))


def answer_document(asked: Asked, item: SittingItem, lang: Lang) -> dict[str, Any]:
    """The answer and everything else behind the question, the marking, and what each rating would do."""
    card = asked.card
    document: dict[str, Any] = {"card": card.id, "correct": asked.correct}
    if asked.marked is not None:
        document |= {"said": " ".join(text[lang] for text in asked.told if text[lang])}
        document |= {"suggested_rating": asked.suggestion.word}
    document |= {section.replace("-", "_"): _told(section, card, lang) for section in sections(card)}
    intervals = {rating.word: interval_text(item.interval(rating), lang) for rating in Rating}
    return {**document, "intervals": intervals}


def _to_see(asked: Asked, lang: Lang) -> dict[str, Any]:
    match asked.card:
        case ChoiceCard() as card:
            return {"options": _numbered([card.options[index].text[lang] for index in asked.option_order])}
        case OrderingCard() as card:
            texts = dict(card.items)
            return {"items": _numbered([texts[key][lang] for key in asked.item_order])}
        case DebugCard() as card:
            return {"code": _numbered(card.code.rstrip().splitlines())}
        case ClozeCard() as card:
            return {"blanks": len(card.blanks)}
    return {}


def _numbered(lines: list[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _told(section: Section, card: Card, lang: Lang) -> Any:
    match section:
        case "answer" | "explain":
            text = card.short if section == "answer" else card.explain
            return text[lang].strip() if text else ""
        case "points":
            return _numbered([point[lang] for point in card.points])
        case "pitfalls":
            return [pitfall.says[lang] for pitfall in card.pitfalls]
        case "follow-ups":
            return [_follow_up(asked.card, asked.ask, asked.answer, lang) for asked in card.follow_ups]
        case "sources":
            return [source.text for source in card.sources]
        case "challenge":
            return list(card.challenges)
        case "unverifiable":
            return True
        case "experiment":
            return card.experiment
        case "as-of":
            return card.as_of


def _follow_up(card: str, ask: Any, answer: Any, lang: Lang) -> dict[str, str]:
    told = {"card": card, "ask": ask[lang].strip() if ask else "", "answer": answer[lang].strip() if answer else ""}
    return {key: text for key, text in told.items() if text}


# Coding with the learner's own assistant: what there is, a file to work on, hints, and grading. Never a reference.

CODE_SUFFIX = ".py"


def listed(workspace: Workspace, track: str | None = None) -> dict[str, Any]:
    """Every challenge (of `track`) with the learner's standing in it."""
    return {"challenges": [found.document(workspace.lang) for found in standings(workspace, track)]}


def started(workspace: Workspace, id: str, bug: bool = False, fresh: bool = False) -> dict[str, Any]:
    """Writes a file to work on into the solutions folder, and its text. UsageError where there is one already.

    A wrong solution to debug is handed out only when the one before it was attempted: all of them together tell what
    is right.
    """
    path = solution_file(workspace, workspace.library.challenge(id).id)
    if bug:
        _refuse_another_bug(workspace, id)
    if path.exists() and not fresh:
        raise UsageError(f"{path} already exists and is never overwritten; grade it, or say fresh to keep it as a copy")
    found = start_challenge(workspace, id, bug=bug, force=fresh)
    told: dict[str, Any] = {"file": str(found.path), "kept": str(found.kept) if found.kept else None}
    if found.symptom:
        told["symptom"] = found.symptom[workspace.lang]
    return {**told, "text": read_submission(found.path).decode("utf-8", "replace")}


def _refuse_another_bug(workspace: Workspace, id: str) -> None:
    for row in reversed(standing(workspace.store.log.of_subjects([id]))):
        if row.kind in (RowKind.ATTEMPT, RowKind.REPAIR):
            return
        if row.is_planted:
            raise UsageError(f"a bug of {id} was handed out and not attempted yet; grade it before you ask for another")


def hinted(workspace: Workspace, id: str) -> dict[str, Any]:
    """The next hint, recorded as seen."""
    found = next_hint(workspace, id)
    told = {"number": found.number, "total": found.total, "again": found.again}
    return {**told, "text": found.text[workspace.lang].strip()}


def submission(
    workspace: Workspace,
    id: str,
    file: str | None = None,
    source: str | None = None,
    rung: CaseRung | None = None,
) -> GradeRequest:
    """What the judge is asked about `source`, a `file`, or else the learner's own in the solutions folder.

    Raises NotFound and UsageError. A challenge's own files are refused: a report quotes lines of what it grades.
    """
    if file is not None and source is not None:
        raise UsageError("give a file or source, not both")
    challenge = workspace.library.challenge(id)
    options = GradeOptions(rung=rung or workspace.settings.rung)
    path = solution_file(workspace, challenge.id)
    if source is not None:
        return request_of(workspace, challenge, source.encode("utf-8", "replace"), path.name, options)
    if file is not None:
        path = _allowed(workspace, path.parent / file)
    return request_of(workspace, challenge, read_submission(path), str(path), options, path)


def _allowed(workspace: Workspace, path: Path) -> Path:
    files = workspace.source_files
    try:
        real = path.resolve()
        closed = any(real.is_relative_to(folder.resolve()) for folder in (files.impl, files.own_challenges))
    except (OSError, ValueError, RuntimeError) as error:
        raise UsageError(f"cannot read {path} ({error}); check the name") from error
    if closed:
        raise UsageError(f"{path} belongs to a challenge; grade a file of the learner's own")
    if real.suffix != CODE_SUFFIX:
        raise UsageError(f"{path} is no Python file; name one that ends in {CODE_SUFFIX}")
    return path


def settled(workspace: Workspace, request: GradeRequest, report: GradeReport) -> dict[str, Any]:
    """Records the attempt; the report as `attn grade --json` prints it, and in words what it comes to."""
    settle(workspace, request, report, GradeOptions(rung=request.rung))
    challenge = workspace.library.challenge(report.challenge)
    lines = [f"{says}{cards}" for says, cards in diagnosis_lines(report, challenge.mistakes, workspace.lang)]
    return {"said": headline(report, workspace.lang), "looks_like": lines, **report_document(report)}
