"""The interview summary as data: how topics stand, weak cards with answers, solved challenges, what is left to do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from attncli.domain.card import Card
from attncli.domain.rungs import Rung
from attncli.domain.text import Lang
from attncli.errors import NotFound
from attncli.practice.challenge_standings import solved, standings
from attncli.practice.study_progress import Progress, TopicStanding, progress, recall_of_seen, topic_standings
from attncli.practice.workspace import Workspace

STRONG_READINESS = 0.8
STRENGTHS_SHOWN = 5
GAPS_SHOWN = 8
WEAK_SHOWN = 20
REVIEW_SHOWN = 30


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic now and on the interview day; recall and readiness lie in 0…1."""

    id: str
    title: str
    seen: int
    total: int
    recall: float
    readiness: float
    recall_on_day: float
    lapses: int


@dataclass(frozen=True, slots=True)
class CardLine:
    """A card with its answer; `recall` is the probability of recalling it on the interview day (today without one)."""

    id: str
    topic: str
    question: str
    answer: str
    explain: str
    points: tuple[str, ...]
    pitfalls: tuple[str, ...]
    recall: float
    lapses: int


@dataclass(frozen=True, slots=True)
class SolvedLine:
    """A solved challenge with the learner's own code."""

    id: str
    rung: Rung
    title: str
    level: int
    attempts: int
    solved_at: str
    source: str


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything that the summary says, in one language."""

    lang: Lang
    made_on: str
    interview: str
    days_left: int | None
    reviews: int
    streak_days: int
    retention: float | None
    seen: int
    cards: int
    topics: tuple[TopicLine, ...]
    strengths: tuple[TopicLine, ...]
    gaps: tuple[TopicLine, ...]
    weak: tuple[CardLine, ...]
    solved: tuple[SolvedLine, ...]
    tried: tuple[str, ...]
    to_review: tuple[CardLine, ...]

    def document(self) -> dict[str, Any]:
        from dataclasses import asdict

        return asdict(self)


def summarise(workspace: Workspace, lang: Lang, interview: date | None = None) -> Summary:
    """The summary at the workspace's present; recall is forecast for the interview day where one is given."""
    now = workspace.clock()
    here = progress(workspace)
    on_day = _standings_on(workspace, interview)
    topics = _topics(workspace, lang, here, on_day)
    weak = _weak(workspace, lang, on_day)
    return Summary(
        lang=lang,
        made_on=now.astimezone().date().isoformat(),
        interview=interview.isoformat() if interview else "",
        days_left=(interview - now.astimezone().date()).days if interview else None,
        reviews=here.reviews,
        streak_days=here.streak_days,
        retention=here.retention,
        seen=here.seen,
        cards=here.cards,
        topics=topics,
        strengths=_strengths(topics),
        gaps=_gaps(topics),
        weak=weak[:WEAK_SHOWN],
        solved=_solved(workspace, lang),
        tried=_tried(workspace, lang),
        to_review=_to_review(workspace, lang, interview),
    )


def _standings_on(workspace: Workspace, interview: date | None) -> dict[str, TopicStanding]:
    when = datetime.combine(interview, time(12), tzinfo=UTC) if interview else None
    return topic_standings(workspace, workspace.moment(when))


def _topics(
    workspace: Workspace, lang: Lang, here: Progress, on_day: dict[str, TopicStanding]
) -> tuple[TopicLine, ...]:
    lines = []
    for topic in workspace.library.topics():
        now = here.topics[topic.id]
        later = on_day[topic.id]
        title = topic.title[lang] or topic.id
        lines.append(
            TopicLine(topic.id, title, now.seen, now.total, now.recall, now.readiness, later.recall, now.lapses)
        )
    return tuple(lines)


def _strengths(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    strong = [topic for topic in topics if topic.seen and topic.readiness >= STRONG_READINESS]
    return tuple(sorted(strong, key=lambda topic: -topic.readiness)[:STRENGTHS_SHOWN])


def _gaps(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    missing = [topic for topic in topics if topic.readiness < STRONG_READINESS]
    return tuple(sorted(missing, key=lambda topic: (topic.readiness, topic.id))[:GAPS_SHOWN])


def _weak(workspace: Workspace, lang: Lang, standings: dict[str, TopicStanding]) -> tuple[CardLine, ...]:
    weak = [item for standing in standings.values() for item in standing.weak]
    weak.sort(key=lambda item: (item.recall, -item.lapses, item.card))
    found = []
    for item in weak:
        try:
            card = workspace.library.card(item.card)
        except NotFound:
            continue
        found.append(card_line(card, lang, item.recall, item.lapses))
    return tuple(found)


def card_line(card: Card, lang: Lang, recall: float, lapses: int) -> CardLine:
    """A card as the summary shows it: its short answer, or its explanation where it has none."""
    answer = card.short or card.explain
    return CardLine(
        id=card.id,
        topic=card.topic,
        question=card.listed[lang].strip(),
        answer=answer[lang].strip() if answer else "",
        explain=card.explain[lang].strip() if card.explain and card.short else "",
        points=tuple(point[lang] for point in card.points),
        pitfalls=tuple(pitfall.says[lang] for pitfall in card.pitfalls),
        recall=recall,
        lapses=lapses,
    )


def _solved(workspace: Workspace, lang: Lang) -> tuple[SolvedLine, ...]:
    return tuple(
        SolvedLine(
            id=item.challenge.id,
            rung=item.rung,
            title=item.challenge.title[lang],
            level=item.challenge.level,
            attempts=item.attempts,
            solved_at=item.at.astimezone().date().isoformat(),
            source=item.source.strip("\n"),
        )
        for item in solved(workspace)
    )


def _tried(workspace: Workspace, lang: Lang) -> tuple[str, ...]:
    found = standings(workspace)
    return tuple(f"{s.challenge.title[lang]} ({s.challenge.id})" for s in found if s.standing == "tried")


def _to_review(workspace: Workspace, lang: Lang, interview: date | None) -> tuple[CardLine, ...]:
    """The seen cards that come due before the day, those with the lowest recall first."""
    when = datetime.combine(interview, time(12), tzinfo=UTC) if interview else workspace.clock()
    last_day = workspace.moment(when).day
    lines = []
    for id, schedule, recall in recall_of_seen(workspace, workspace.moment(when)):
        if schedule.due_day <= last_day:
            try:
                card = workspace.library.card(id)
            except NotFound:
                continue
            lines.append(card_line(card, lang, recall, schedule.lapses))
    lines.sort(key=lambda line: (line.recall, line.id))
    return tuple(lines[:REVIEW_SHOWN])
