"""`attn mock --plain`: the interview line by line, for screen readers and dumb terminals."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from random import Random
from shutil import get_terminal_size

from attncli.commands.cards import numbered, revealed
from attncli.commands.grade import report_lines
from attncli.commands.session import echo
from attncli.domain.card import ChoiceCard, ClozeCard, DebugCard, NumericCard, OrderingCard
from attncli.domain.log_row import Rating
from attncli.domain.mock_interview import PartName
from attncli.domain.text import Lang
from attncli.errors import AttnError, EditorMissing, EnvironmentFailure, NotFound, Outdated, UsageError
from attncli.practice import mock, mock_log, start
from attncli.practice.grade import WarmJudge
from attncli.practice.marking import Asked
from attncli.practice.mock import MISSED, WHOLE, MockInterview, MockWish, report_of
from attncli.practice.quiz import Quiz, QuizScore
from attncli.practice.review import ReviewSitting, SittingItem
from attncli.practice.start import statement
from attncli.practice.workspace import Workspace
from attncli.words import mock_texts, quiz_texts
from attncli.words.grade_report_texts import deciding_checks, told
from attncli.words.in_chinese import told_in
from attncli.words.interval_texts import interval_text
from attncli.words.mock_texts import MOCK, PART_NAMES
from attncli.words.plain_review_texts import QUESTIONS, SITTING
from attncli.words.shared_review_texts import GONE, OUTDATED, RATINGS

# Reading the answer to a card line by line. An empty line gives up, and is told the answer.

ReadLine = Callable[[], str]
"""Returns the next line with its newline, or nothing at the end of input."""


class LearnerLeft(Exception):
    """The learner wants to stop, or there is no more input."""


def typed_line(read_line: ReadLine) -> str:
    """The next line as it is meant, full-width characters as ASCII. Raises LearnerLeft."""
    if line := read_line():
        return unicodedata.normalize("NFKC", line).strip()
    raise LearnerLeft


def read_answer(asked: Asked, lang: Lang, read_line: ReadLine, read_numbers: ReadLine) -> None:
    """Prints the question, reads the answer into `asked` and submits it; only prints a card that is not marked.

    `read_numbers` reads where only numbers make sense, so that it may treat letters as commands.
    """
    echo(asked.question[lang].strip())
    match asked.card:
        case ChoiceCard():
            _choice(asked, asked.card, lang, read_numbers)
        case NumericCard():
            _numeric(asked, lang, read_numbers)
        case ClozeCard():
            _cloze(asked, lang, read_line)
        case OrderingCard():
            _ordering(asked, asked.card, lang, read_numbers)
        case DebugCard():
            _debug(asked, asked.card, lang, read_numbers)


def _choice(asked: Asked, card: ChoiceCard, lang: Lang, read_line: ReadLine) -> None:
    _print([card.options[index].text[lang] for index in asked.option_order])
    echo(QUESTIONS["choose-many" if card.multiple else "choose"][lang])
    places = _numbers(read_line, len(asked.option_order), lang)
    asked.chosen = {asked.option_order[place] for place in places}
    asked.submit()


def _numeric(asked: Asked, lang: Lang, read_line: ReadLine) -> None:
    unit = f" ({asked.task.unit})" if asked.task and asked.task.unit else ""
    while not asked.revealed:
        echo(QUESTIONS["number"][lang].format(unit=unit))
        asked.texts = [read_line()]
        try:
            asked.submit()
        except UsageError as error:
            echo(told_in(lang, error.message))


def _cloze(asked: Asked, lang: Lang, read_line: ReadLine) -> None:
    for index in range(len(asked.texts)):
        echo(QUESTIONS["blank"][lang].format(n=index + 1))
        asked.texts[index] = read_line()
    asked.submit()


def _ordering(asked: Asked, card: OrderingCard, lang: Lang, read_line: ReadLine) -> None:
    keys, texts = asked.item_order, dict(card.items)
    _print([texts[key][lang] for key in keys])
    while not asked.revealed:
        echo(QUESTIONS["order"][lang])
        asked.item_order = [keys[place] for place in _numbers(read_line, len(keys), lang)]
        try:
            asked.submit()
        except UsageError:
            echo(QUESTIONS["numbers"][lang].format(n=len(keys)))


def _debug(asked: Asked, card: DebugCard, lang: Lang, read_line: ReadLine) -> None:
    echo(f"\n{numbered(card.code)}")
    while not asked.revealed:
        echo(QUESTIONS["line"][lang])
        if len(places := _numbers(read_line, len(card.code.rstrip().splitlines()), lang)) <= 1:
            asked.line = places[0] + 1 if places else 0
            asked.submit()


def read_points(total: int, read_line: ReadLine, ask: Callable[[], None], bad: Callable[[], None]) -> set[int]:
    """Zero-based points from `1 3`, `all` or `none`; asks until the line says one of these."""
    while total:
        ask()
        words = read_line().lower().replace(",", " ").split()
        if words in (["all"], ["a"]):
            return set(range(total))
        if words in ([], ["none"], ["0"]):
            return set()
        if all(word.isdecimal() and 1 <= int(word) <= total for word in words):
            return {int(word) - 1 for word in words}
        bad()
    return set()


def _print(items: list[str]) -> None:
    for number, item in enumerate(items, 1):
        echo(f"{number}. {item}")


def _numbers(read_line: ReadLine, most: int, lang: Lang) -> list[int]:
    """Zero-based places from a line such as `2 1 3` or `2,1,3`; none from an empty one."""
    while True:
        words = read_line().replace(",", " ").split()
        if all(word.isdecimal() and 1 <= int(word) <= most for word in words):
            return [int(word) - 1 for word in words]
        echo(QUESTIONS["numbers"][lang].format(n=most))


# `attn review --plain`: the review sitting line by line, for screen readers and dumb terminals.


class TakenAway(Exception):
    """A command took the current card away while its answer was awaited."""


@dataclass
class PlainReview:
    """One sitting on a pair of text streams."""

    workspace: Workspace
    drill: ReviewSitting
    rng: Random
    read_line: ReadLine

    def run(self) -> None:
        """Asks until the queue is empty, the learner quits or the input ends; every answer is kept at once."""
        try:
            while item := self.drill.next():
                try:
                    self._ask(item)
                except NotFound:
                    self.drill.drop()
                    echo(GONE[self.workspace.lang].format(card=item.card.id))
        except LearnerLeft:
            pass
        progress = self.drill.progress
        key = "done" if self.drill.is_recorded else "done-cram"
        self._say(key, n=progress.answered, left=progress.remaining)

    def _ask(self, item: SittingItem) -> None:
        lang = self.workspace.lang
        self._say("left", n=item.number, card=item.card.id, topic=item.card.topic, left=self.drill.progress.remaining)
        asked = Asked.of(item.card, self.rng)
        try:
            read_answer(asked, lang, self._line, self._number_line)
            if not asked.is_marked_automatically:
                self._say("reveal")
                self._number_line()
                asked.submit()
        except TakenAway:
            return
        self._tell(asked)
        if not asked.is_marked_automatically:
            asked.ticked = read_points(
                len(item.card.points), self._line, lambda: self._say("points"), lambda: self._say("bad")
            )
        self._rate(item, asked)

    def _tell(self, asked: Asked) -> None:
        lang = self.workspace.lang
        if asked.marked is not None:
            echo("  ".join(text[lang] for text in asked.told if text[lang]))
        echo("\n\n".join(revealed(asked.card, lang)))

    def _rate(self, item: SittingItem, asked: Asked) -> None:
        lang, suggested = self.workspace.lang, asked.suggestion
        while True:
            item = self.drill.refresh()
            self._say("rate", choices=self._choices(item), suggested=_word(suggested, lang))
            line = self._line()
            if self._settled(line):
                return
            if (rating := _rating(line) if line else suggested) is not None:
                try:
                    self.drill.rate(rating, points=asked.points, correct=asked.correct)
                except Outdated as error:
                    echo(OUTDATED[error.reason][self.workspace.lang])
                    continue
                interval = interval_text(item.interval(rating), lang)
                key = "saved" if self.drill.is_recorded else "noted"
                self._say(key, card=item.card.id, rating=_word(rating, lang), interval=interval)
                return
            self._say("bad")

    def _choices(self, item: SittingItem) -> str:
        lang = self.workspace.lang
        named = {rating: f"{int(rating)} {_word(rating, lang)}" for rating in Rating}
        if not self.drill.is_recorded:
            return ", ".join(named.values())
        return ", ".join(f"{name} ({interval_text(item.interval(rating), lang)})" for rating, name in named.items())

    def _settled(self, line: str) -> bool:
        """Whether `line` was a command that took the current card away."""
        command = line.lower()
        if command in ("q", "quit"):
            raise LearnerLeft
        if command == "s":
            self.drill.suspend()
        elif command == "b":
            self.drill.bury()
        elif command == "u":
            return self._undo()
        return command in ("s", "b")

    def _undo(self) -> bool:
        try:
            self._say("undone", card=self.drill.undo().card.id)
        except UsageError as error:
            echo(error.message)
            return False
        return True

    def _number_line(self) -> str:
        """The next line where no text is awaited, so that a letter can be a command."""
        line = self._line()
        if self._settled(line):
            raise TakenAway
        return line

    def _line(self) -> str:
        return typed_line(self.read_line)

    def _say(self, key: str, **values: object) -> None:
        echo(SITTING[key][self.workspace.lang].format(**values))


def _rating(line: str) -> Rating | None:
    named: Iterator[Rating] = (
        rating for rating in Rating if line.lower() in (str(int(rating)), rating.word, RATINGS[rating].zh)
    )
    return next(named, None)


def _word(rating: Rating, lang: Lang) -> str:
    return RATINGS[rating][lang].lower()


# `attn quiz --plain`: the quiz line by line, for screen readers and dumb terminals.


@dataclass
class PlainQuiz:
    """One quiz on a pair of text streams."""

    workspace: Workspace
    quiz: Quiz
    read_line: ReadLine

    def run(self) -> None:
        """Asks to the end, or until the learner has enough; then tells the score of what was answered."""
        lang = self.workspace.lang
        echo(quiz_texts.KEYS[lang])
        try:
            while (asked := self.quiz.current) is not None:
                done, total = self.quiz.progress
                topic = self.workspace.library.topic(asked.card.topic).title
                head = quiz_texts.QUESTION.format(n=done + 1, total=total, card=asked.card.id, topic=topic)
                echo(f"\n{head[lang]}")
                read_answer(asked, lang, self._line, self._number_line)
                self.quiz.count_current()
        except LearnerLeft:
            pass
        self._tell(self.quiz.score, lang)

    def _tell(self, score: QuizScore, lang: Lang) -> None:
        if not score.answered:
            echo(f"\n{quiz_texts.NONE_ANSWERED[lang]}")
            return
        echo(f"\n{quiz_texts.SCORE[lang].format(right=score.right, answered=score.answered)}")
        if score.left:
            echo(quiz_texts.NOT_ASKED[lang].format(left=score.left))
        for id, (right, answered) in score.topics.items():
            topic = self.workspace.library.topic(id).title
            echo(quiz_texts.OF_TOPIC.format(topic=topic, right=right, answered=answered)[lang])
        echo(f"\n{(quiz_texts.MISSED if score.missed else quiz_texts.NONE_MISSED)[lang]}")
        for missed in score.missed:
            question, answer = (" ".join(text[lang].split()) for text in (missed.question, missed.answer))
            echo(f"{missed.card}  {question}\n    {answer}")
        echo(f"\n{quiz_texts.AGAIN[lang].format(command=self.quiz.wish.command)}")

    def _number_line(self) -> str:
        """The next line where no text is awaited, so that a letter can be a command."""
        line = self._line()
        if line.lower() in ("q", "quit"):
            raise LearnerLeft
        return line

    def _line(self) -> str:
        return typed_line(self.read_line)


INDENTS = {"head": "\n", "line": "", "missed": "", "point": "    - ", "note": ""}


class Moved(Exception):
    """A command settled the current question, or asked for another, while its answer was awaited."""


def hold_interview(workspace: Workspace, wish: MockWish, read_line: ReadLine) -> None:
    """Goes on with the interview that is unfinished, if the learner does not want a new one, and tells what came of it.

    Leaving stops its clock. Raises NothingFits, UsageError.
    """
    try:
        interview = _chosen(workspace, wish, read_line)
    except LearnerLeft:
        return
    with closing(WarmJudge()) as grader:
        plain = PlainMock(interview, grader, read_line)
        try:
            plain.run()
        finally:
            interview.pause()


def _chosen(workspace: Workspace, wish: MockWish, read_line: ReadLine) -> MockInterview:
    state, lang = mock_log.unfinished(workspace), workspace.lang
    if state is not None and state.part is not None:
        at, part = state.begun_at.astimezone(), PART_NAMES[state.part.name][lang]
        while True:
            echo(MOCK["resume"][lang].format(at=at, part=part))
            line = typed_line(read_line).lower()
            if line in ("q", "quit"):
                raise LearnerLeft
            if line == "n":
                break
            if not line:
                return MockInterview(workspace, state)
            echo(MOCK["bad"][lang])
    return MockInterview.begin(workspace, wish)


@dataclass
class PlainMock:
    """One interview on a pair of text streams."""

    interview: MockInterview
    grader: WarmJudge
    read_line: ReadLine
    """Returns the next line with its newline, or nothing at the end of input."""
    part: int = field(default=-1, init=False)

    def run(self) -> None:
        """Asks to the end, or until the learner leaves; every step is kept at once."""
        self._say("keys")
        try:
            while self.interview.item is not None:
                self._tell_part()
                try:
                    self._ask()
                except Moved:
                    continue
        except LearnerLeft:
            self._say("paused")
            return
        self._tell_left_over(len(self.interview.state.plan.parts))
        self._tell_report()

    def _tell_part(self) -> None:
        state = self.interview.state
        assert state.place is not None
        number = state.plan.part_of(state.place)
        if number == self.part:
            return
        self._tell_left_over(number)
        self.part = number
        part = state.plan.parts[number]
        told = {"name": self._name(part.name), "minutes": part.minutes, "count": len(part.items)}
        echo(f"\n# {mock_texts.PART[self.lang].format(**told)}")

    def _tell_left_over(self, until: int) -> None:
        """Says of the part that was asked last if its time was up before its questions were."""
        state = self.interview.state
        if not 0 <= self.part < until:
            return
        part, results = state.plan.parts[self.part], state.results
        count = sum(place not in results for place in state.plan.places(self.part))
        if count and state.spent_ms.get(self.part, 0) >= part.budget_ms:
            echo(f"\n{mock_texts.LEFT_OVER[self.lang].format(name=self._name(part.name), count=count)}")

    def _ask(self) -> None:
        asked = self.interview.asked
        if asked is None:
            PlainCode(self.interview, self.grader, self._command_line, self._time).run()
            return
        if self.interview.time.is_up:
            echo(mock_texts.FINISH[self.lang])
        self._head(asked)
        if asked.is_marked_automatically:
            read_answer(asked, self.lang, self._text_line, self._command_line)
            self.interview.reveal()
            self.interview.answer()
            return
        echo(asked.question[self.lang].strip())
        if not asked.revealed:
            echo(mock_texts.SAY_IT[self.lang])
            self._say("reveal")
            self._command_line()
            self.interview.reveal()
        echo("\n\n".join(revealed(asked.card, self.lang)))
        if asked.card.points:
            asked.ticked = self._points(len(asked.card.points))
            self.interview.answer()
        else:
            self.interview.answer(self._credit())

    def _head(self, asked: Asked) -> None:
        item, (n, total) = self.interview.item, self.interview.number
        topic = self.interview.workspace.library.topic(asked.card.topic).title[self.lang]
        follow_up = f" · {mock_texts.FOLLOW_UP[self.lang]}" if item and item.kind == "follow-up" else ""
        echo(f"\n{n}/{total}  {asked.card.id} · {topic}{follow_up} · {self._time()}")

    def _time(self) -> str:
        time = self.interview.time
        if time.is_up:
            return mock_texts.TIME_UP[self.lang]
        return mock_texts.TIME_LEFT[self.lang].format(time=mock_texts.clock_text(time.left_seconds))

    def _points(self, total: int) -> set[int]:
        return read_points(total, self._command_line, lambda: self._say("ticks"), lambda: self._say("bad"))

    def _credit(self) -> int:
        while True:
            self._say("credit")
            line = self._command_line()
            if line.isdecimal() and MISSED <= int(line) <= WHOLE:
                return int(line)
            self._say("bad")

    def _command_line(self) -> str:
        """The next line where no text is awaited, so that a letter can be a command."""
        line = self._text_line()
        match line.lower():
            case "q" | "quit":
                raise LearnerLeft
            case "s":
                self.interview.skip()
            case "n":
                self.interview.leave_part()
            case "u":
                self._undo()
            case _:
                return line
        raise Moved

    def _undo(self) -> None:
        try:
            self.interview.undo()
        except UsageError as error:
            echo(error.message)
        else:
            self._say("undone")

    def _text_line(self) -> str:
        return typed_line(self.read_line)

    def _tell_report(self) -> None:
        self._say("over")
        report = report_of(self.interview.workspace, self.interview.state)
        for kind, line in mock_texts.report_lines(report, self.lang, self.interview.wish.command):
            echo(f"{INDENTS[kind]}{line}")

    @property
    def lang(self) -> Lang:
        return self.interview.workspace.lang

    def _name(self, part: PartName) -> str:
        return PART_NAMES[part][self.lang]

    def _say(self, key: str) -> None:
        echo(MOCK[key][self.lang])


# A round of code in `attn mock --plain`: the task, the learner's file, and what a grading says of it.


@dataclass
class PlainCode:
    """One challenge, until it is right, its time is up or the learner leaves it."""

    interview: MockInterview
    grader: WarmJudge
    read_command: Callable[[], str]
    """Returns a line that is none of the commands of the interview."""
    time_left: Callable[[], str]

    def run(self) -> None:
        """Reads commands and grades until the round is settled."""
        place, round = self.interview.state.place, mock.hand_out(self.interview)
        self._tell(round)
        while self.interview.state.place == place:
            if self.interview.time.is_up:
                echo(mock_texts.FINISH[self.lang])
            echo(f"{round.path} · {self.time_left()}")
            echo(MOCK["code"][self.lang])
            match self.read_command().lower():
                case "e":
                    self._edit(round)
                case "" | "g":
                    self._grade(round)
                case _:
                    echo(MOCK["bad"][self.lang])

    def _tell(self, round: mock.CodeRound) -> None:
        echo(f"\n{round.challenge.title[self.lang]}")
        asked = statement(round.challenge)
        echo(f"\n{asked.first[self.lang].strip()}\n")
        echo(mock_texts.code_task(round.bugs)[self.lang])

    def _edit(self, round: mock.CodeRound) -> None:
        try:
            start.edit(round.path, self.interview.workspace.settings.editor, os.environ)
        except EditorMissing as error:
            echo(f"attn: {start.told(error, self.lang)}", err=True)

    def _grade(self, round: mock.CodeRound) -> None:
        try:
            request = mock.request_for(self.interview, round)
            report = self.grader.grade(request)
        except EnvironmentFailure as error:
            self._ask_by_hand(error)
            return
        except AttnError as error:
            echo(f"attn: {error.message}", err=True)
            return
        for line in report_lines(report, round.challenge, self.lang, get_terminal_size((100, 24)).columns):
            echo(line)
        failed = next(iter(deciding_checks(report.checks)), None)
        said = f"{failed.name}: {told(failed, self.lang)}" if failed else ""
        echo(mock_texts.GRADED["right" if report.accepted else "wrong"][self.lang].format(said=said))
        mock.settle(self.interview, request, report)

    def _ask_by_hand(self, error: EnvironmentFailure) -> None:
        """Without a judge whoever looks at the code says whether it is right."""
        while True:
            echo(mock_texts.ASK_BY_HAND[self.lang].format(why=error.message))
            if (line := self.read_command()) in ("0", "1"):
                break
            echo(MOCK["bad"][self.lang])
        self.interview.tick_code(int(line), 1)

    @property
    def lang(self) -> Lang:
        return self.interview.workspace.lang
