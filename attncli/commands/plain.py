"""`attn mock --plain`: the interview line by line, for screen readers and dumb terminals."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field

from attncli.commands.plain_answers import LearnerLeft, ReadLine, read_answer, read_points, typed_line
from attncli.commands.plain_code import PlainCode
from attncli.commands.printed.card_markdown import revealed
from attncli.commands.shared.stdout import echo
from attncli.domain.mock_interview import PartName
from attncli.domain.text import Lang
from attncli.errors import UsageError
from attncli.practice import mock_log
from attncli.practice.cards.ask import Asked
from attncli.practice.compose_mock import MockWish
from attncli.practice.mock import NOTHING, WHOLE, MockInterview
from attncli.practice.score_mock import report_of
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.workspace import Workspace
from attncli.words import mock_texts
from attncli.words.mock_texts import MOCK, PART_NAMES

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
            if line.isdecimal() and NOTHING <= int(line) <= WHOLE:
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
