"""Reviews, quizzes and mock interviews line by line, for screen readers and dumb terminals (`--plain`).

Each mode is a class that reads lines through a function and prints through `echo`. Where an answer must be a number,
letters are commands, such as `q` to quit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from attncli.commands.grade import edit_file, print_report
from attncli.commands.session import echo
from attncli.domain.grade_report_text import deciding_checks, told
from attncli.domain.log_row import Rating
from attncli.domain.mock_interview import PART_NAMES
from attncli.domain.parts import Arrange, Entry, Fill, FindLine
from attncli.domain.tests_report import tests_lines
from attncli.errors import AttnError, EnvironmentFailure, NotFound, Outdated, UsageError
from attncli.export.card_markdown import numbered, revealed
from attncli.i18n import Lang, Localised, _, ngettext
from attncli.practice import mock, mock_log, own_tests, start
from attncli.practice.grade import Judge, read_submission, request_for
from attncli.practice.marking import Asked
from attncli.practice.mock import MISSED, WHOLE, MockInterview, MockOptions
from attncli.practice.mock_report import DRILL_MISSED, clock_text, code_task, report_lines, report_of
from attncli.practice.quiz import Quiz, QuizScore
from attncli.practice.record import interval_text
from attncli.practice.review import RATINGS, ReviewSession, SessionItem, again_text
from attncli.practice.workspace import Workspace

INDENTS = {"head": "\n", "line": "", "missed": "", "point": "    - ", "note": ""}
INVALID = _("Not a valid choice.")
TIME_UP = _("Time is up for this part: finish this question, then the next part starts.")

ReadLine = Callable[[], str]
"""Returns the next line with its newline, or nothing at the end of input."""


class LearnerQuit(Exception):
    """The learner quits, or the input has ended."""


class QuestionChanged(Exception):
    """A command removed, settled or changed the current question while its answer was awaited."""


@dataclass
class PlainSession:
    """A session that prints and reads lines."""

    workspace: Workspace
    read_line: ReadLine

    @property
    def lang(self) -> Lang:
        return self.workspace.lang

    def _say(self, message: Localised) -> None:
        echo(message[self.lang])

    def _line(self) -> str:
        """Return the next line, stripped, full-width characters as ASCII. Raises LearnerQuit at the end of input."""
        if line := self.read_line():
            return unicodedata.normalize("NFKC", line).strip()
        raise LearnerQuit

    def _command_line(self) -> str:
        """Read a line that may be a command. Raises LearnerQuit."""
        line = self._line()
        if line.lower() in ("q", "quit"):
            raise LearnerQuit
        return line

    def _choice(self, question: Localised, *allowed: str) -> str:
        """Ask until the line is one of `allowed`, in upper or lower case. Raises LearnerQuit."""
        while True:
            self._say(question)
            if (line := self._command_line().lower()) in allowed:
                return line
            self._say(INVALID)


# `attn review --plain` and `attn drill --plain`


@dataclass
class PlainReview(PlainSession):
    """One review or drill session."""

    review: ReviewSession
    rng: Random

    def run(self) -> None:
        """Ask until the queue is empty, the learner quits or the input ends; each answer is saved at once."""
        try:
            while item := self.review.next():
                try:
                    self._ask(item)
                except NotFound:
                    self.review.drop()
                    self._say(_("{card} is no longer in its bank; skipped.", card=item.card.id))
        except LearnerQuit:
            pass
        progress = self.review.progress
        done = (
            _("{n} answered and saved, {left} left")
            if self.review.is_recorded
            else _("{n} answered, {left} left; nothing was recorded")
        )
        self._say(done.format(n=progress.answered, left=progress.remaining))

    def _ask(self, item: SessionItem) -> None:
        lang = self.lang
        head = _("{n}. {card}, {topic}, {left} left", n=item.number, card=item.card.id, topic=item.card.topic)
        self._say(head.format(left=self.review.progress.remaining))
        asked = Asked.of(item.card, self.rng)
        try:
            read_answer(asked, lang, self._line, self._command_line)
            if not asked.is_marked_automatically:
                self._say(_("Enter show answer · u undo · s suspend · b bury · q quit"))
                self._command_line()
                asked.submit()
        except QuestionChanged:
            return
        self._print_answer(asked)
        if not asked.is_marked_automatically:
            question = _("Which points did you make? Enter numbers, all or none")
            asked.ticked = read_points(len(item.card.points), self._line, question[lang], lang)
        self._rate(item, asked)

    def _print_answer(self, asked: Asked) -> None:
        if asked.marked is not None:
            echo("  ".join(text[self.lang] for text in asked.told if text[self.lang]))
        echo("\n\n".join(revealed(asked.card, self.lang)))

    def _rate(self, item: SessionItem, asked: Asked) -> None:
        lang, suggested = self.lang, asked.suggestion
        while True:
            item = self.review.refresh()
            choices, default = self._choices(item), _rating_word(suggested, lang)
            prompt = _("Rating: {choices}, r ask again today; press Enter for {default}")
            self._say(prompt.format(choices=choices, default=default))
            line = super()._command_line()
            if self._run_command(line):
                return
            if line.lower() == "r":
                self._say(again_text(item.card.id, self.review.ask_again()))
            elif (rating := _rating(line) if line else suggested) is not None:
                is_recorded = self.review.is_recorded
                try:
                    self.review.rate(rating, points=asked.points, correct=asked.correct)
                except Outdated:
                    self._say(_("Not saved: the intervals have changed. Rate it again."))
                    continue
                interval = interval_text(item.interval(rating), lang)
                saved = _("{card}: {rating}, next in {interval}") if is_recorded else _("{card}: {rating}")
                self._say(saved.format(card=item.card.id, rating=_rating_word(rating, lang), interval=interval))
                return
            else:
                self._say(INVALID)

    def _choices(self, item: SessionItem) -> str:
        lang = self.lang
        named = {rating: f"{int(rating)} {_rating_word(rating, lang)}" for rating in Rating}
        if not self.review.is_recorded:
            return ", ".join(named.values())
        return ", ".join(f"{name} ({interval_text(item.interval(rating), lang)})" for rating, name in named.items())

    def _run_command(self, line: str) -> bool:
        """Run `line` if it is a command; return whether the card was removed."""
        match line.lower():
            case "s":
                self.review.suspend()
            case "b":
                self.review.bury()
            case "u":
                try:
                    self._say(_("Undone: {card}", card=self.review.undo().card.id))
                except UsageError as error:
                    echo(error.message)
                    return False
            case _:
                return False
        return True

    def _command_line(self) -> str:
        """Read a line that may be a command. Raises QuestionChanged, LearnerQuit."""
        line = super()._command_line()
        if self._run_command(line):
            raise QuestionChanged
        return line


def _rating(line: str) -> Rating | None:
    """Return the rating that `line` names by its number or its word, or None."""
    named = (rating for rating in Rating if line.lower() in (str(int(rating)), rating.word, RATINGS[rating].zh))
    return next(named, None)


def _rating_word(rating: Rating, lang: Lang) -> str:
    return RATINGS[rating][lang].lower()


# `attn quiz --plain`


@dataclass
class PlainQuiz(PlainSession):
    """One quiz."""

    quiz: Quiz

    def run(self) -> None:
        """Ask to the end, or until the learner quits; then print the score of what was answered."""
        lang = self.lang
        self._say(_("Press Enter to skip a question; q quits (except in a blank). Schedules are unchanged."))
        try:
            while (asked := self.quiz.current) is not None:
                done, total = self.quiz.progress
                topic = self.workspace.library.topic(asked.card.topic).title
                head = _("{n}/{total}. {card}, {topic}", n=done + 1, total=total, card=asked.card.id, topic=topic)
                echo(f"\n{head[lang]}")
                read_answer(asked, lang, self._line, self._command_line)
                self.quiz.count_current()
        except LearnerQuit:
            pass
        self._print_score(self.quiz.score, lang)

    def _print_score(self, score: QuizScore, lang: Lang) -> None:
        if not score.answered:
            echo("\n" + _("No question was answered.")[lang])
            return
        echo("\n" + _("{right} of {answered} right", right=score.right, answered=score.answered)[lang])
        if score.left:
            echo(_("{left} not asked", left=score.left)[lang])
        for id, (right, answered) in score.topics.items():
            topic = self.workspace.library.topic(id).title
            echo(f"{topic[lang]} {right}/{answered}")
        echo("\n" + (_("Missed") if score.missed else _("Every answer was right."))[lang])
        for missed in score.missed:
            question, answer = (" ".join(text[lang].split()) for text in (missed.question, missed.answer))
            echo(f"{missed.card}  {question}\n    {answer}")
        if score.missed:
            echo("\n" + DRILL_MISSED[lang])
        echo("\n" + _("Same quiz again: {command}", command=self.quiz.options.command)[lang])


# `attn mock --plain`


def hold_interview(workspace: Workspace, options: MockOptions, read_line: ReadLine) -> None:
    """Hold an interview: the unfinished one, unless the learner wants a new one with `options`.

    Quitting stops its clock. Raises NoCardMatches, UsageError.
    """
    try:
        interview = _open_interview(PlainSession(workspace, read_line), options)
    except LearnerQuit:
        return
    with Judge() as grader:
        try:
            PlainMock(workspace, read_line, interview, grader).run()
        finally:
            interview.pause()


def _open_interview(session: PlainSession, options: MockOptions) -> MockInterview:
    workspace = session.workspace
    state = mock_log.unfinished(workspace)
    if state is not None and state.part is not None:
        resume = _(
            "Unfinished interview of {at:%Y-%m-%d %H:%M} ({part}). Enter resume · n start a new one · q quit",
            at=state.begun_at.astimezone(),
            part=PART_NAMES[state.part.name],
        )
        if session._choice(resume, "", "n") == "":
            return MockInterview(workspace, state)
    return MockInterview.begin(workspace, options)


@dataclass
class PlainMock(PlainSession):
    """One mock interview; `part` is the number of the part that was announced last."""

    interview: MockInterview
    grader: Judge
    part: int = field(default=-1, init=False)

    def run(self) -> None:
        """Ask to the end, or until the learner quits; each step is saved at once."""
        self._say(_("q pause and quit · s skip · n next part · u undo (not while typing an answer)"))
        try:
            while self.interview.item is not None:
                self._print_part()
                try:
                    self._ask()
                except QuestionChanged:
                    continue
        except LearnerQuit:
            self._say(_("Paused and saved. Resume: `attn mock`"))
            return
        self._print_report()

    def _print_part(self) -> None:
        state = self.interview.state
        assert state.place is not None
        number = state.plan.part_of(state.place)
        if number == self.part:
            return
        self.part = number
        part = state.plan.parts[number]
        head = ngettext(
            "{name} · {minutes} min · {count} question",
            "{name} · {minutes} min · {count} questions",
            len(part.items),
            name=PART_NAMES[part.name],
            minutes=part.minutes,
        )
        echo(f"\n# {head[self.lang]}")

    def _ask(self) -> None:
        asked = self.interview.asked
        if asked is None:
            self._code()
            return
        if self.interview.time.is_up:
            self._say(TIME_UP)
        self._head(asked)
        if asked.is_marked_automatically:
            read_answer(asked, self.lang, self._line, self._command_line)
            self.interview.reveal()
            self.interview.answer()
            return
        echo(asked.question[self.lang].strip())
        if not asked.revealed:
            self._say(_("Answer aloud in about 30 seconds."))
            self._say(_("Press Enter when done"))
            self._command_line()
            self.interview.reveal()
        echo("\n\n".join(revealed(asked.card, self.lang)))
        if asked.card.points:
            question = _("Which points were made? Enter numbers, all or none")
            asked.ticked = read_points(len(asked.card.points), self._command_line, question[self.lang], self.lang)
            self.interview.answer()
        else:
            self.interview.answer(self._credit())

    def _head(self, asked: Asked) -> None:
        item, (n, total) = self.interview.item, self.interview.number
        topic = self.interview.workspace.library.topic(asked.card.topic).title[self.lang]
        follow_up = (" · " + _("follow-up")[self.lang]) if item and item.kind == "follow-up" else ""
        echo(f"\n{n}/{total}  {asked.card.id} · {topic}{follow_up} · {self._time()}")

    def _time(self) -> str:
        time = self.interview.time
        if time.is_up:
            return _("Time is up")[self.lang]
        return _("{time} left", time=clock_text(time.left_seconds))[self.lang]

    def _credit(self) -> int:
        credits = map(str, range(MISSED, WHOLE + 1))
        return int(self._choice(_("How complete? 2 full · 1 partial · 0 missed"), *credits))

    def _command_line(self) -> str:
        """Read a line that may be a command. Raises QuestionChanged, LearnerQuit."""
        line = super()._command_line()
        match line.lower():
            case "s":
                self.interview.skip()
            case "n":
                self.interview.leave_part()
            case "u":
                try:
                    self.interview.undo()
                except UsageError as error:
                    echo(error.message)
                else:
                    self._say(_("Last step undone"))
            case _:
                return line
        raise QuestionChanged

    def _print_report(self) -> None:
        self._say(_("The interview is over."))
        report = report_of(self.interview.workspace, self.interview.state)
        for kind, line in report_lines(report, self.lang, self.interview.options.command):
            echo(f"{INDENTS[kind]}{line}")

    # A code round

    def _code(self) -> None:
        """Print the task of a code round, then read commands and grade until it is solved, left or its time is up."""
        place, code = self.interview.state.place, mock.hand_out(self.interview)
        echo(f"\n{code.challenge.title[self.lang]}")
        echo(f"\n{start.statement(code.challenge).first[self.lang].strip()}\n")
        echo((mock.draft_task if code.draft else code_task)(code.bugs)[self.lang])
        if code.draft:
            self._say(_("Draft: {file}", file=code.draft))
        while self.interview.state.place == place:
            if self.interview.time.is_up:
                self._say(TIME_UP)
            echo(f"{code.path} · {self._time()}")
            self._say(_("Enter grade · e editor · s skip"))
            match self._command_line().lower():
                case "e":
                    edit_file(self.workspace, code.path)
                case "" | "g":
                    self._grade(code)
                case _:
                    self._say(INVALID)

    def _grade(self, code: mock.CodeRound) -> None:
        """Grade the code, or run the tests of a draft; ask for the result if the judge fails."""
        try:
            if code.draft:
                source = read_submission(code.path)
                asked = own_tests.request_of(code.challenge, source, str(code.path), mock.OPTIONS)
                tests = own_tests.run_on_draft(self.grader, asked, code.repairs)
                echo("\n".join(tests_lines(tests, code.challenge.title, self.lang, of_draft=True)))
                mock.settle_tests(self.interview, code, tests)
                return
            request = request_for(self.workspace, code.challenge.id, code.path, mock.OPTIONS)
            report = self.grader.grade(request)
        except EnvironmentFailure as error:
            self._ask_by_hand(error)
            return
        except AttnError as error:
            echo(f"attn: {error.message}", err=True)
            return
        print_report(report, code.challenge, self.lang)
        failed = next(iter(deciding_checks(report.checks)), None)
        problem = f"{failed.name}: {told(failed, self.lang)}" if failed else ""
        correct = _("Correct: the whiteboard checks pass.")
        self._say(correct if report.accepted else _("Not yet: {problem}", problem=problem))
        mock.settle(self.interview, request, report)

    def _ask_by_hand(self, error: EnvironmentFailure) -> None:
        """Ask the learner or the interviewer whether the code is right, because the judge failed."""
        question = _("Cannot grade it here ({why}). Is it correct? 1 yes · 0 no", why=error.message)
        self.interview.tick_code(int(self._choice(question, "0", "1")), 1)


# Reading an answer


def read_answer(asked: Asked, lang: Lang, read_line: ReadLine, read_numbers: ReadLine) -> None:
    """Print the question; for a marked card also read the answer into `asked` and submit it.

    `read_numbers` reads answers that must be numbers. An empty line gives up.
    """
    echo(asked.question[lang].strip())
    if isinstance(asked.entry, Fill):
        _fields(asked, asked.entry, lang, read_numbers if asked.entry.is_number else read_line)
    elif asked.is_marked_automatically:
        _rows(asked, lang, read_numbers)


def _rows(asked: Asked, lang: Lang, read_line: ReadLine) -> None:
    """Ask for the numbers of options, of items in their order, or of one line of code."""
    rows, entry = asked.rows(lang), asked.entry
    if isinstance(entry, FindLine):
        echo(f"\n{numbered(entry.code)}")
    else:
        echo("\n".join(f"{number}. {row}" for number, row in enumerate(rows, 1)))
    while not asked.revealed:
        echo(_request(entry)[lang])
        places = _numbers(read_line, len(rows), lang)
        if isinstance(entry, FindLine) and len(places) > 1:
            continue
        asked.choose(places)
        try:
            asked.submit()
        except UsageError:
            echo(_out_of_range(len(rows))[lang])


def _request(entry: Entry) -> Localised:
    if isinstance(entry, FindLine):
        return _("Which line?")
    if isinstance(entry, Arrange):
        return _("Enter the numbers in the right order")
    if entry.wanted == 1:
        return _("Enter the number of the correct option")
    return _("Enter the numbers of all correct options")


def _out_of_range(most: int) -> Localised:
    return _("Enter numbers from 1 to {n}", n=most)


def _fields(asked: Asked, entry: Fill, lang: Lang, read_line: ReadLine) -> None:
    """Ask for a number until it can be read, or for the text of each blank."""
    unit = f" ({entry.unit})" if entry.unit else ""
    while not asked.revealed:
        for index in range(entry.fields):
            echo((_("Your answer{unit}", unit=unit) if entry.is_number else _("Blank {n}", n=index + 1))[lang])
            asked.answer.texts[index] = read_line()
        try:
            asked.submit()
        except UsageError as error:
            echo(error.line(lang))


def _numbers(read_line: ReadLine, most: int, lang: Lang) -> list[int]:
    """Return zero-based places from a line such as `2 1 3` or `2,1,3`; none from an empty one."""
    while True:
        numbers = read_line().replace(",", " ").split()
        if all(number.isdecimal() and 1 <= int(number) <= most for number in numbers):
            return [int(number) - 1 for number in numbers]
        echo(_out_of_range(most)[lang])


def read_points(total: int, read_line: ReadLine, question: str, lang: Lang) -> set[int]:
    """Return zero-based points from a line such as `1 3`, `all` or `none`; ask `question` until there is one."""
    while total:
        echo(question)
        words = read_line().lower().replace(",", " ").split()
        if words in (["all"], ["a"]):
            return set(range(total))
        if words in ([], ["none"], ["0"]):
            return set()
        if all(word.isdecimal() and 1 <= int(word) <= total for word in words):
            return {int(word) - 1 for word in words}
        echo(INVALID[lang])
    return set()
