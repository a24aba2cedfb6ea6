"""`attn quiz --plain`: the quiz line by line, for screen readers and dumb terminals."""

from __future__ import annotations

from dataclasses import dataclass

from attncli.commands.plain_answers import LearnerLeft, ReadLine, read_answer, typed_line
from attncli.commands.shared.stdout import echo
from attncli.domain.text import Lang
from attncli.practice.quiz import Quiz, QuizScore
from attncli.practice.workspace import Workspace
from attncli.words import quiz_texts


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
