"""A quiz: cards that have one right answer, drawn by a seed, scored at the end. It changes no schedule and no log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from random import Random

from attncli.domain.card import LEVELS, Level, OrderingCard
from attncli.domain.text import NOTHING, Localised
from attncli.errors import NothingFits, UsageError
from attncli.practice.marking import Asked, give_up_ordering
from attncli.practice.queue import Wish, fitting
from attncli.practice.workspace import Workspace
from attncli.store.bank_index import CardSummary

QUIZ_COUNT = 10


@dataclass(frozen=True, slots=True)
class QuizWish:
    """`topic` None draws from all, `level` from what is asked in interviews up to it.

    The same seed draws the same quiz as long as the cards are the same.
    """

    topic: str | None = None
    count: int = QUIZ_COUNT
    seed: int = 0
    level: Level | None = None

    @property
    def command(self) -> str:
        """What draws the same quiz again."""
        topic = f" --topic {self.topic}" if self.topic else ""
        level = f" --level {self.level}" if self.level else ""
        return f"attn quiz{topic}{level} --count {self.count} --seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Missed:
    """A question that was not answered right, as it was asked, and what is right."""

    card: str
    question: Localised
    answer: Localised


@dataclass(frozen=True, slots=True)
class QuizScore:
    """`right` of the `answered` questions; `topics` has (right, answered) of each topic, in the order they came."""

    right: int
    answered: int
    left: int
    topics: dict[str, tuple[int, int]]
    missed: tuple[Missed, ...]


class Quiz:
    """`current` is the question to ask, None at the end; once it is submitted, `count_current` goes on to the next.

    Cards that are suspended or buried are left out. Raises NothingFits if there is no card to draw, NotFound for an
    unknown topic.
    """

    def __init__(self, workspace: Workspace, wish: QuizWish) -> None:
        self.wish = wish
        found = sorted(card.id for card in _drawable(workspace, wish))
        if not found:
            raise _nothing(workspace, wish)
        drawn = Random(wish.seed).sample(found, min(wish.count, len(found)))
        # Each question has its own randomness, so that none depends on how the one before was drawn.
        self._questions = [Asked.of(workspace.library.card(id), Random(f"{wish.seed} {id}")) for id in drawn]
        self._counted = 0

    @property
    def current(self) -> Asked | None:
        return self._questions[self._counted] if self._counted < len(self._questions) else None

    @property
    def progress(self) -> tuple[int, int]:
        """How many questions were answered, of how many."""
        return self._counted, len(self._questions)

    def count_current(self) -> None:
        """Counts the current question, which was submitted. Raises UsageError if it was not, or there is none."""
        if self.current is None or self.current.marked is None:
            raise UsageError("no question has been answered that could be counted")
        self._counted += 1

    @property
    def score(self) -> QuizScore:
        """What the questions came to that were answered so far."""
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
    """What marking says of a wrong answer: the right one, and the slip behind a number; of an order, a whole one."""
    if isinstance(asked.card, OrderingCard):
        return give_up_ordering(asked.card).detail
    return asked.marked.detail if asked.marked else NOTHING


def _drawable(workspace: Workspace, wish: QuizWish) -> list[CardSummary]:
    """The cards that have one right answer."""
    levels = LEVELS[: LEVELS.index(wish.level) + 1] if wish.level else LEVELS
    return [card for card in fitting(workspace, Wish(wish.topic)) if card.kind != "qa" and card.level in levels]


def _nothing(workspace: Workspace, wish: QuizWish) -> NothingFits:
    """What was asked for, and how many cards there would be without one condition of it."""
    asked = [f"--{name} {value}" for name in ("topic", "level") if (value := getattr(wish, name))]
    if not asked:
        return NothingFits([], {})
    wider = {"level": replace(wish, level=None), "topic": replace(wish, topic=None)}
    counts = {name: len(_drawable(workspace, other)) for name, other in wider.items() if other != wish}
    return NothingFits(["a quiz with", *asked], {name: count for name, count in counts.items() if count})
