"""Sessions led by the learner's own AI assistant: it asks a card, submits the attempt, and only then gets the answer.

An answer is given only after an attempt, and a reference never. A rating is recorded only for a card that was asked and
attempted in this session. The session records the same rows as the app.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

from attncli.domain.card import Card, FollowUp
from attncli.domain.grade_report import GradeReport, report_document
from attncli.domain.grade_report_text import diagnosis_lines, headline
from attncli.domain.log_row import Rating, RowKind
from attncli.domain.parts import Answer, Arrange, Choose, Entry, Fill, FindLine
from attncli.domain.vocabulary import CaseRung
from attncli.errors import NotFound, UsageError, unreadable
from attncli.i18n import Lang, _
from attncli.memory.replay import standing
from attncli.practice.challenges import next_hint, standings
from attncli.practice.grade import GradeOptions, GradeRequest, read_submission, request_of, settle
from attncli.practice.marking import Asked
from attncli.practice.queue import CardFilter
from attncli.practice.record import interval_text
from attncli.practice.review import DrillSession, ReviewSession, SessionItem
from attncli.practice.start import file_name, open_round, solution_file, start_challenge
from attncli.practice.stats import progress
from attncli.practice.today import due_counts
from attncli.practice.workspace import Workspace
from attncli.store.schedules import Moment, Waiting

CODE_SUFFIX = ".py"


class OneCard(ReviewSession):
    """A session of one named card, due or not."""

    def __init__(self, workspace: Workspace, card: str) -> None:
        found = workspace.library.card(card)
        self._named = Waiting(found.id, found.topic, workspace.store.schedules.get(found.id) is None)
        super().__init__(workspace)

    def _planned(self, when: Moment) -> list[Waiting]:
        return [self._named]

    def _take(self, when: Moment) -> Waiting | None:
        return self._plan.popleft() if self._plan else None


class AssistantSession:
    """The card that was asked and its attempt. `rng` draws numbers, and the order of options and items."""

    def __init__(self, workspace: Workspace, rng: Random) -> None:
        self.workspace = workspace
        self._rng = rng
        self._drill: ReviewSession | None = None
        self._drill_key: tuple[object, ...] = ()
        self._asked: Asked | None = None

    def due(self) -> dict[str, Any]:
        """Return the cards due now, and the card being asked."""
        return {**due_counts(self.workspace).document(), "asked": self._asked.card.id if self._asked else None}

    def stats(self) -> dict[str, Any]:
        return asdict(progress(self.workspace))

    def challenges(self, track: str | None = None) -> list[dict[str, Any]]:
        return [found.document(self.workspace.lang) for found in standings(self.workspace, track)]

    def next_card(self, topic: str | None = None, card: str | None = None, weak: bool = False) -> dict[str, Any]:
        """Return the question of the next card. Raises UsageError while an attempt has no rating yet."""
        if self._asked is not None and self._asked.revealed:
            raise UsageError(
                _("card {id} was attempted but not rated; record a rating with rate", id=self._asked.card.id)
            )
        if card is not None and (topic is not None or weak):
            raise UsageError(_("give card, or topic or weak, not both"))
        key = (topic, card, weak, self.workspace.moment().day)
        if self._drill is None or key != self._drill_key:
            drill = self._open(topic, card, weak)
            self._drill, self._drill_key, self._asked = drill, key, None
        item = self._drill.next()
        if item is None and type(self._drill) is ReviewSession:
            self._drill = self._open(topic, card, weak)
            item = self._drill.next()
        if item is None:
            self._drill = self._asked = None
            return {
                "card": None,
                "said": _("No more cards to ask.")[self.workspace.lang],
                "due": due_counts(self.workspace).due,
            }
        if self._asked is None or self._asked.card.id != item.card.id:
            self._asked = Asked.of(item.card, self._rng)
        return question_document(self._asked, self.workspace.lang)

    def _open(self, topic: str | None, card: str | None, weak: bool) -> ReviewSession:
        if card is not None:
            return OneCard(self.workspace, card)
        if weak:
            return DrillSession(self.workspace, CardFilter(topic=topic, weak=True), self._rng)
        return ReviewSession(self.workspace, topic)

    def attempt(
        self,
        card: str,
        text: str | None = None,
        numbers: Sequence[int] | None = None,
        blanks: Sequence[str] | None = None,
        gave_up: bool = False,
    ) -> dict[str, Any]:
        """Mark the learner's answer to the current card and return the right one.

        Raises UsageError for another card, a second attempt, or an answer that does not suit the kind of card: then
        nothing is revealed.
        """
        asked = self._current(card)
        if asked.revealed:
            raise UsageError(_("card {id} has already been attempted; record its rating with rate", id=asked.card.id))
        given = {name for name, value in (("text", text), ("numbers", numbers), ("blanks", blanks)) if value}
        if gave_up and given:
            raise UsageError(_("gave_up takes no answer; leave out {names}", names=", ".join(sorted(given))))
        item = self._refreshed()
        if gave_up:
            asked.answer = Answer()
        else:
            self._fill(asked, given, text or "", list(numbers or ()), list(blanks or ()))
        asked.submit()
        return answer_document(asked, item, self.workspace.lang)

    def _fill(self, asked: Asked, given: set[str], text: str, numbers: list[int], blanks: list[str]) -> None:
        """Put an answer of the right form into `asked`, or raise UsageError."""
        entry = asked.entry
        if rows := len(entry.rows):
            fits = given == {"numbers"} and len(set(numbers)) == len(numbers) == (entry.wanted or len(numbers))
            fits = fits and all(1 <= number <= rows for number in numbers)
        elif isinstance(entry, Fill) and not entry.is_number:
            fits = given == {"blanks"} and len(blanks) == entry.fields and any(blank.strip() for blank in blanks)
        else:
            fits = given == {"text"} and bool(text.strip())
        if not fits:
            how = how_to_answer(asked, "en")
            raise UsageError(
                _(
                    "card {id} needs {how}; use gave_up if the learner does not know. Nothing was revealed",
                    id=asked.card.id,
                    how=how,
                )
            )
        asked.answer = Answer([number - 1 for number in numbers], blanks or [text])

    def rate(self, card: str, rating: Rating, points: Sequence[int] | None = None) -> dict[str, Any]:
        """Record the rating of the attempted card; on disk when this returns.

        Raises UsageError for any other card, NotFound if it has left its bank, and Outdated if another interval than
        the one shown would be stored; then nothing is recorded.
        """
        asked, drill = self._current(card), self._drill
        if not asked.revealed or drill is None:
            raise UsageError(
                _("card {id} has not been attempted; submit the learner's answer with attempt", id=asked.card.id)
            )
        total = len(asked.card.points)
        if points and asked.marked is not None:
            raise UsageError(_("card {id} is marked automatically; leave out points", id=asked.card.id))
        if points and not all(1 <= point <= total for point in points):
            raise UsageError(
                _("card {id} has points 1 to {total}; give those the learner made", id=asked.card.id, total=total)
            )
        asked.ticked = {point - 1 for point in points or ()}
        try:
            answered = drill.rate(rating, points=asked.points, correct=asked.correct)
        except NotFound:
            self._drop()
            raise
        assert answered is not None, "an assistant's session is recorded"
        self._asked = None
        if isinstance(drill, OneCard):
            self._drill = None
        return {**answered.document(), "leech": answered.leech, "left": due_counts(self.workspace).due}

    def _current(self, card: str) -> Asked:
        if self._asked is None:
            raise UsageError(_("no card has been asked yet; call next_card first"))
        if card != self._asked.card.id:
            raise UsageError(
                _("card {card} is not the current card; that is {id}", card=card[:40], id=self._asked.card.id)
            )
        return self._asked

    def _refreshed(self) -> SessionItem:
        """Return the item with its current intervals; drop a card that has left its bank."""
        assert self._drill is not None
        try:
            return self._drill.refresh()
        except NotFound:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._drill is not None:
            self._drill.drop()
        self._asked = None


# Cards as data


def question_document(asked: Asked, lang: Lang) -> dict[str, Any]:
    """Return the question with all that is needed to answer it, and `how` to submit the answer."""
    card = asked.card
    document = {"card": card.id, "topic": card.topic, "kind": card.kind, "level": card.level}
    document |= {"question": asked.question[lang].strip(), **_shown(asked, lang)}
    return {**document, "how": how_to_answer(asked, lang)}


def how_to_answer(asked: Asked, lang: Lang) -> str:
    """Return which argument of `attempt` this card expects."""
    match entry := asked.entry:
        case Choose():
            many, one = _("numbers: all correct options"), _("numbers: the one correct option")
            return (many if entry.several else one)[lang]
        case Arrange():
            return _("numbers: all items in the correct order")[lang]
        case FindLine():
            return _("numbers: the line with the bug")[lang]
        case Fill(is_number=True):
            return (_("text: a number in {unit}", unit=entry.unit) if entry.unit else _("text: a number"))[lang]
        case Fill():
            return _("blanks: {n} texts, one per blank", n=entry.fields)[lang]
    return _("text: what the learner said")[lang]


def answer_document(asked: Asked, item: SessionItem, lang: Lang) -> dict[str, Any]:
    """Return the answer and the other sections, the marking, and the interval of each rating."""
    card = asked.card
    document: dict[str, Any] = {"card": card.id, "correct": asked.correct}
    if asked.marked is not None:
        document |= {"said": " ".join(text[lang] for text in asked.told if text[lang])}
        document |= {"suggested_rating": asked.suggestion.word}
    document |= {name: content for name, content in _sections(card, lang).items() if content}
    intervals = {rating.word: interval_text(item.interval(rating), lang) for rating in Rating}
    return {**document, "intervals": intervals}


def _shown(asked: Asked, lang: Lang) -> dict[str, Any]:
    match entry := asked.entry:
        case Choose() | Arrange() | FindLine():
            names: dict[type[Entry], str] = {Choose: "options", Arrange: "items", FindLine: "code"}
            return {names[type(entry)]: _numbered(asked.rows(lang))}
        case Fill(is_number=False):
            return {"blanks": entry.fields}
    return {}


def _numbered(lines: list[str]) -> list[str]:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _sections(card: Card, lang: Lang) -> dict[str, Any]:
    return {
        "answer": card.answer[lang].strip() if card.answer else "",
        "points": _numbered([point[lang] for point in card.points]),
        "explain": card.explain[lang].strip() if card.explain else "",
        "pitfalls": [pitfall[lang] for pitfall in card.pitfalls],
        "unverifiable": card.unverifiable,
        "challenge": list(card.challenges),
        "experiment": card.experiment,
        "follow_ups": [_follow_up(entry, lang) for entry in card.follow_ups],
        "as_of": card.as_of,
        "sources": [source.text for source in card.sources],
    }


def _follow_up(entry: FollowUp, lang: Lang) -> dict[str, str]:
    texts = {"ask": entry.ask, "answer": entry.answer}
    document = {"card": entry.card, **{key: text[lang].strip() for key, text in texts.items() if text}}
    return {key: text for key, text in document.items() if text}


# Challenges


def started(workspace: Workspace, id: str, bug: bool = False, fresh: bool = False) -> dict[str, Any]:
    """Write a file to work on into the solutions folder. Return its path and text.

    Raises UsageError if it exists and `fresh` is off, and for another bug before the last one was attempted: all wrong
    solutions together would reveal the right one.
    """
    path = workspace.home.solutions / file_name(workspace.library.challenge(id).id, has_bugs=bug)
    if bug:
        _refuse_another_bug(workspace, id)
    if path.exists() and not fresh:
        raise UsageError(
            _("{path} already exists; grade it, or use fresh to keep it as a copy and start again", path=path)
        )
    found = start_challenge(workspace, id, bug=bug, force=fresh)
    document: dict[str, Any] = {"file": str(found.path), "kept": str(found.kept) if found.kept else None}
    if found.symptom:
        document["symptom"] = found.symptom[workspace.lang]
    return {**document, "text": read_submission(found.path).decode("utf-8", "replace")}


def _refuse_another_bug(workspace: Workspace, id: str) -> None:
    for row in reversed(standing(workspace.store.log.of_subjects([id]))):
        if row.kind in (RowKind.ATTEMPT, RowKind.REPAIR):
            return
        if row.is_planted:
            raise UsageError(
                _("the last buggy solution of {id} is not graded yet; grade it before asking for another", id=id)
            )


def hinted(workspace: Workspace, id: str) -> dict[str, Any]:
    """Return the next hint and record it as seen."""
    found = next_hint(workspace, id)
    document = {"number": found.number, "total": found.total, "again": found.again}
    return {**document, "text": found.text[workspace.lang].strip()}


def submission(
    workspace: Workspace, id: str, file: str | None = None, source: str | None = None, rung: CaseRung | None = None
) -> GradeRequest:
    """Build the request to the judge about `source`, a `file`, that of an open round, or the learner's solution.

    Raises NotFound and UsageError. Files of a challenge are refused, because a report quotes lines of the graded file.
    """
    if file is not None and source is not None:
        raise UsageError(_("give a file or source, not both"))
    challenge = workspace.library.challenge(id)
    options = GradeOptions(rung=rung or workspace.settings.rung)
    repairing = open_round(workspace, challenge)
    path = repairing.path if repairing else solution_file(workspace, challenge.id)
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
        raise UsageError(unreadable(path, error, _("check the name"))) from error
    if closed:
        raise UsageError(_("{path} belongs to a challenge; grade the learner's own file", path=path))
    if real.suffix != CODE_SUFFIX:
        raise UsageError(
            _("{path} is not a Python file; give one that ends in {code_suffix}", path=path, code_suffix=CODE_SUFFIX)
        )
    return path


def settled(workspace: Workspace, request: GradeRequest, report: GradeReport) -> dict[str, Any]:
    """Record the attempt. Return the report as `attn grade --json` prints it, with a summary in words."""
    settle(workspace, request, report)
    challenge = workspace.library.challenge(report.challenge)
    lines = [f"{text}{cards}" for text, cards in diagnosis_lines(report, challenge.mistakes, workspace.lang)]
    return {"said": headline(report, workspace.lang), "looks_like": lines, **report_document(report)}
