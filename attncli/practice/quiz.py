"""A quiz: cards with one right answer, drawn from a seed and scored at the end.

It changes no schedule. Each answer is recorded, and a missed card counts as weak until it is reviewed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

from attncli.domain.log_row import RowKind
from attncli.domain.parts import Arrange
from attncli.domain.vocabulary import Level
from attncli.errors import UsageError
from attncli.i18n import NOTHING, Localised, _
from attncli.practice.marking import Asked
from attncli.practice.queue import CardFilter, require_matching_cards
from attncli.practice.record import record
from attncli.practice.workspace import Workspace

QUIZ_COUNT = 10


@dataclass(frozen=True, slots=True)
class QuizOptions:
    """Options of a quiz: `topic` None draws from all topics, `level` from cards up to that level.

    The same seed draws the same quiz as long as the cards are the same.
    """

    topic: str | None = None
    count: int = QUIZ_COUNT
    seed: int = 0
    level: Level | None = None

    @property
    def command(self) -> str:
        """The command that draws the same quiz again."""
        topic = f" --topic {self.topic}" if self.topic else ""
        level = f" --level {self.level}" if self.level else ""
        return f"attn quiz{topic}{level} --count {self.count} --seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that was not answered right, as it was asked, with the right answer."""

    card: str
    question: Localised
    answer: Localised


@dataclass(frozen=True, slots=True)
class QuizScore:
    """`right` of the `answered` questions; `topics` maps each topic to (right, answered), in the order of the quiz."""

    right: int
    answered: int
    left: int
    topics: dict[str, tuple[int, int]]
    missed: tuple[Missed, ...]


class Quiz:
    """A quiz in progress. `current` is the question, None at the end; after submitting it, call `count_current`.

    Suspended and buried cards are left out. Raises NoCardMatches if there is no card to draw, NotFound for an unknown
    topic.
    """

    def __init__(self, workspace: Workspace, options: QuizOptions) -> None:
        self.workspace = workspace
        self.options = options
        wanted = CardFilter(options.topic, level=options.level, has_right_answer=True)
        found = sorted(card.id for card in require_matching_cards(workspace, wanted))
        drawn = Random(options.seed).sample(found, min(options.count, len(found)))
        # Each question has its own randomness, so that none depends on how the one before was drawn.
        self._questions = [Asked.of(workspace.library.card(id), Random(f"{options.seed} {id}")) for id in drawn]
        self._counted = 0

    @property
    def current(self) -> Asked | None:
        return self._questions[self._counted] if self._counted < len(self._questions) else None

    @property
    def progress(self) -> tuple[int, int]:
        """(questions answered, questions in all)."""
        return self._counted, len(self._questions)

    def count_current(self) -> None:
        """Record the answer to the current question and go on.

        Raises UsageError if it was not submitted, or there is none.
        """
        if self.current is None or self.current.marked is None:
            raise UsageError(_("there is no answer to count"))
        record(self.workspace, RowKind.QUIZ, self.current.card.id, {"correct": self.current.marked.correct})
        self._counted += 1

    @property
    def score(self) -> QuizScore:
        """The score of the questions answered so far."""
        answered = self._questions[: self._counted]
        asked = Counter(question.card.topic for question in answered)
        right = Counter(question.card.topic for question in answered if question.correct)
        return QuizScore(
            right=right.total(),
            answered=len(answered),
            left=len(self._questions) - len(answered),
            topics={topic: (right[topic], count) for topic, count in asked.items()},
            missed=tuple(
                Missed(question.card.id, question.question, right_answer(question))
                for question in answered
                if not question.correct
            ),
        )


def right_answer(asked: Asked) -> Localised:
    """Return the feedback for a wrong answer: the whole order for an ordering card, else the marking's detail."""
    if isinstance(asked.entry, Arrange):
        return asked.right_answer
    return asked.marked.detail if asked.marked else NOTHING
