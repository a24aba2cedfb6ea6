"""A round of code in `attn mock --plain`: the task, the learner's file, and what a grading says of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from shutil import get_terminal_size

from attncli.commands.printed.printed_report import report_lines
from attncli.commands.shared.stdout import echo
from attncli.domain.text import Lang
from attncli.errors import AttnError, EditorMissing, EnvironmentFailure
from attncli.practice import learners_editor, mock_code
from attncli.practice.mock import MockInterview
from attncli.practice.warm_judge import WarmJudge
from attncli.practice.whole_statement import statement
from attncli.words import mock_texts
from attncli.words.grade_report_texts import deciding_checks, told
from attncli.words.mock_texts import MOCK


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
        place, round = self.interview.state.place, mock_code.hand_out(self.interview)
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

    def _tell(self, round: mock_code.CodeRound) -> None:
        echo(f"\n{round.challenge.title[self.lang]}")
        asked = statement(round.challenge)
        echo(f"\n{asked.first[self.lang].strip()}\n")
        echo(mock_texts.code_task(round.bugs)[self.lang])

    def _edit(self, round: mock_code.CodeRound) -> None:
        try:
            learners_editor.edit(round.path, self.interview.workspace.settings.editor, os.environ)
        except EditorMissing as error:
            echo(f"attn: {learners_editor.told(error, self.lang)}", err=True)

    def _grade(self, round: mock_code.CodeRound) -> None:
        try:
            request = mock_code.request_for(self.interview, round)
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
        mock_code.settle(self.interview, request, report)

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
