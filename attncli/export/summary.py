"""The interview summary as data: what `attn export summary --format json` prints, and what the other formats show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from attncli.domain.card import Kind, Level
from attncli.domain.rungs import Rung
from attncli.domain.text import Lang

Reason = Literal["missed", "points", "lapses", "recall"]


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic on the day; recall (of the seen cards) and readiness (of all) lie in 0…1.

    `need` is how many of its cards would be missing on the day, unseen ones counted.
    """

    id: str
    title: str
    seen: int
    total: int
    recall_on_day: float
    readiness_on_day: float
    lapses: int
    weak: int
    need: float


@dataclass(frozen=True, slots=True)
class Point:
    """What an interviewer ticks off; `missed` where the last review ticked others and not this one."""

    text: str
    missed: bool


@dataclass(frozen=True, slots=True)
class CardLine:
    """A weak card with its answer, as Markdown. `reasons` say why it is weak;
    `recall` is the probability of recalling it on the day, 0 where it was forgotten on that very day.
    """

    id: str
    topic: str
    kind: Kind
    level: Level
    question: str
    answer: str
    explain: str
    points: tuple[Point, ...]
    pitfalls: tuple[str, ...]
    recall: float
    lapses: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DueLine:
    """A card that is not weak and comes due by the day."""

    id: str
    topic: str
    question: str
    recall: float


@dataclass(frozen=True, slots=True)
class SolvedLine:
    """A challenge with the learner's own code that solved it."""

    id: str
    rung: Rung
    title: str
    level: int
    attempts: int
    solved_at: str
    source: str


@dataclass(frozen=True, slots=True)
class MockLine:
    """A mock interview that was held: when, how long it was, the share (0…1) that it scored, what it missed."""

    date: str
    minutes: int
    score: float | None
    missed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One of the last days: how long, and what to do, in a few words each."""

    date: str
    minutes: int
    to_do: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A topic with what the summary says of its cards."""

    topic: TopicLine
    weak: tuple[CardLine, ...]
    to_review: tuple[DueLine, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the summary says, in one language. *The day* is the interview's, today without one.

    `topics` and what follows from them come with the greatest need first. `weak_count` and `due_count` are how many
    cards there are; `weak` and `to_review` may be fewer. `repaired` and `tried` are titles of challenges.
    """

    lang: Lang
    made_on: str
    interview: str
    days_left: int | None
    reviews: int
    streak_days: int
    retention: float | None
    seen: int
    cards: int
    recall_on_day: float | None
    readiness_on_day: float
    challenges: int
    topics: tuple[TopicLine, ...]
    open_with: tuple[TopicLine, ...]
    avoid: tuple[TopicLine, ...]
    weak: tuple[CardLine, ...]
    weak_count: int
    solved: tuple[SolvedLine, ...]
    repaired: tuple[str, ...]
    tried: tuple[str, ...]
    to_review: tuple[DueLine, ...]
    due_count: int
    mocks: tuple[MockLine, ...] = ()
    last_days: tuple[PlanLine, ...] = ()

    def document(self) -> dict[str, Any]:
        """What `--format json` prints."""
        return asdict(self)

    @property
    def started(self) -> tuple[TopicLine, ...]:
        return tuple(topic for topic in self.topics if topic.seen)

    @property
    def not_started(self) -> tuple[TopicLine, ...]:
        return tuple(topic for topic in self.topics if not topic.seen)

    @property
    def hardened(self) -> int:
        return sum(line.rung == "hardened" for line in self.solved)

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The topics of which there are cards to print, those with the greatest need first."""
        found = (
            Chapter(
                topic,
                tuple(card for card in self.weak if card.topic == topic.id),
                tuple(card for card in self.to_review if card.topic == topic.id),
            )
            for topic in self.topics
        )
        return tuple(chapter for chapter in found if chapter.weak or chapter.to_review)
