"""Gathers the interview summary: how topics stand on the day, weak cards with answers, own code, what is left to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from attncli.domain.mock_report import MockReport
from attncli.domain.text import Lang
from attncli.export.card_answers import answer, question
from attncli.export.summary import CardLine, DueLine, MockLine, PlanLine, Point, Reason, SolvedLine, Summary, TopicLine
from attncli.practice.cards.weakness import WEAK_LAPSES, WEAK_RECALL, Weakness, weaknesses
from attncli.practice.own_solutions import OwnSolutions, written
from attncli.practice.plan import FARTHEST_DAYS, StudyDay, local_date, make_plan
from attncli.practice.score_mock import past_mocks
from attncli.practice.stats import ProgressStats, TopicStanding, due_by_then, progress, topic_standings
from attncli.practice.workspace import Workspace
from attncli.words.plan_texts import FREE, LAST_PASS, NEW, REVIEWS

STRONG_READINESS = 0.8
LEAST_SEEN = 3
OPEN_WITH_SHOWN = 5
AVOID_SHOWN = 5
WEAK_LISTED = 20
REVIEW_SHOWN = 30
MOCKS_SHOWN = 5
MISSED_SHOWN = 12
LAST_DAYS_SHOWN = 7


def day_ahead(workspace: Workspace) -> date | None:
    """The setting `interview` while that day lies ahead."""
    day = workspace.settings.interview
    return day if day is not None and day >= local_date(workspace) else None


def summarise(workspace: Workspace, lang: Lang, interview: date | None = None) -> Summary:
    """The summary at the workspace's present; recall is forecast for the interview day where one is given."""
    now = workspace.clock()
    day = workspace.moment(datetime.combine(interview, time(12), tzinfo=UTC) if interview else None)
    here, weak, code = progress(workspace), weaknesses(workspace, day), written(workspace)
    topics = _topics(workspace, lang, here, topic_standings(workspace, day), weak)
    known_weak = {found.card for found in weak}
    due = [(recall, id) for recall, id in due_by_then(workspace, day) if id not in known_weak]
    return Summary(
        lang=lang,
        made_on=now.astimezone().date().isoformat(),
        interview=interview.isoformat() if interview else "",
        days_left=(interview - local_date(workspace)).days if interview else None,
        reviews=here.reviews,
        streak_days=here.streak_days,
        retention=here.retention,
        seen=here.seen,
        cards=here.cards,
        recall_on_day=_mean([(topic.recall_on_day, topic.seen) for topic in topics]),
        readiness_on_day=_mean([(topic.readiness_on_day, topic.total) for topic in topics]) or 0.0,
        challenges=here.challenges.get("total", 0),
        topics=topics,
        open_with=_open_with(topics),
        avoid=_avoid(topics),
        weak=tuple(_card_line(workspace, lang, found) for found in weak[:WEAK_LISTED]),
        weak_count=len(weak),
        solved=_solved(code, lang),
        repaired=tuple(challenge.title[lang] for challenge in code.repaired),
        tried=tuple(challenge.title[lang] for challenge in code.tried),
        to_review=tuple(_due_line(workspace, lang, id, recall) for recall, id in due[:REVIEW_SHOWN]),
        due_count=len(due),
        mocks=_mocks(workspace, lang),
        last_days=_last_days(workspace, lang, interview),
    )


def _mean(weighted: Sequence[tuple[float, int]]) -> float | None:
    total = sum(weight for _, weight in weighted)
    return round(sum(value * weight for value, weight in weighted) / total, 4) if total else None


def _topics(
    workspace: Workspace, lang: Lang, here: ProgressStats, on_day: dict[str, TopicStanding], weak: list[Weakness]
) -> tuple[TopicLine, ...]:
    """Every topic, the one with the greatest need first."""
    topic_of = workspace.store.index.card_topics()
    weak_in = Counter(topic_of.get(found.card) for found in weak)
    forgotten_in = Counter(topic_of.get(found.card) for found in weak if found.recall == 0)
    lines = []
    for topic in workspace.library.topics():
        now, later, forgotten = here.topics[topic.id], on_day[topic.id], forgotten_in[topic.id]
        readiness = _without(later.readiness, later.total, forgotten)
        lines.append(
            TopicLine(
                id=topic.id,
                title=topic.title[lang] or topic.id,
                seen=now.seen,
                total=now.total,
                recall_on_day=_without(later.recall, later.seen, forgotten),
                readiness_on_day=readiness,
                lapses=now.lapses,
                weak=weak_in[topic.id],
                need=round(now.total * (1 - readiness), 1),
            )
        )
    return tuple(sorted(lines, key=lambda line: (-line.need, line.id)))


def _without(mean: float, cards: int, forgotten: int) -> float:
    """The mean over so many cards, with those that were forgotten today counted as 0 and not as 1."""
    return round(max(0.0, mean - forgotten / cards), 4) if cards else 0.0


def _open_with(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    """The topics that are ready; while there is none, those of which most is recalled."""
    ready = [topic for topic in topics if topic.seen and topic.readiness_on_day >= STRONG_READINESS]
    tried = [topic for topic in topics if topic.seen >= LEAST_SEEN and topic.recall_on_day >= WEAK_RECALL]
    best = sorted(ready or tried, key=lambda topic: (-topic.readiness_on_day, topic.id))
    return tuple(best[:OPEN_WITH_SHOWN])


def _avoid(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    """The topics that were begun and will not hold on the day: little recalled, or weak in a third of what was seen."""
    shaky = [topic for topic in topics if topic.seen and _is_shaky(topic) and topic not in _open_with(topics)]
    return tuple(sorted(shaky, key=lambda topic: (topic.recall_on_day, -topic.weak, topic.id))[:AVOID_SHOWN])


def _is_shaky(topic: TopicLine) -> bool:
    return topic.recall_on_day < WEAK_RECALL or 3 * topic.weak >= topic.seen


def _card_line(workspace: Workspace, lang: Lang, weak: Weakness) -> CardLine:
    card = workspace.library.card(weak.card)
    return CardLine(
        id=card.id,
        topic=card.topic,
        kind=card.kind,
        level=card.level,
        question=question(card, lang),
        answer=answer(card, lang),
        explain=card.explain[lang].strip() if card.explain else "",
        points=tuple(Point(point[lang], n in weak.points_missed) for n, point in enumerate(card.points)),
        pitfalls=tuple(pitfall.says[lang] for pitfall in card.pitfalls),
        recall=round(weak.recall, 4),
        lapses=weak.lapses,
        reasons=_reasons(weak),
    )


def _reasons(weak: Weakness) -> tuple[Reason, ...]:
    found: dict[Reason, bool] = {
        "missed": weak.missed and not weak.points_missed,
        "points": bool(weak.points_missed),
        "lapses": weak.lapses >= WEAK_LAPSES,
        "recall": 0 < weak.recall < WEAK_RECALL,
    }
    return tuple(reason for reason, holds in found.items() if holds)


def _due_line(workspace: Workspace, lang: Lang, id: str, recall: float) -> DueLine:
    card = workspace.library.card(id)
    return DueLine(card.id, card.topic, question(card, lang), round(recall, 4))


def _solved(code: OwnSolutions, lang: Lang) -> tuple[SolvedLine, ...]:
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
        for item in code.solved
    )


def _mocks(workspace: Workspace, lang: Lang) -> tuple[MockLine, ...]:
    """The last mock interviews, the latest first, with the points that were not made in them."""
    return tuple(
        MockLine(
            date=held.begun_at.astimezone().date().isoformat(),
            minutes=held.minutes,
            score=held.share,
            missed=_missed_points(held, lang),
        )
        for held in past_mocks(workspace)[:MOCKS_SHOWN]
    )


def _missed_points(held: MockReport, lang: Lang) -> tuple[str, ...]:
    """The points of cards; of follow-ups and challenges what was asked."""
    told = (point for missed in held.missed for point in (missed.points or (missed.question,)))
    return tuple(dict.fromkeys(text for point in told if (text := " ".join(point[lang].split()))))[:MISSED_SHOWN]


def _last_days(workspace: Workspace, lang: Lang, interview: date | None) -> tuple[PlanLine, ...]:
    """What the plan says of the last days before the interview; nothing without one, or on the day itself."""
    days_left = (interview - local_date(workspace)).days if interview else 0
    if interview is None or not 0 < days_left <= FARTHEST_DAYS:
        return ()
    plan = make_plan(workspace, interview)
    return tuple(
        PlanLine(day.date.isoformat(), round(day.minutes), _to_do(workspace, lang, day))
        for day in plan.days[-LAST_DAYS_SHOWN:]
    )


def _to_do(workspace: Workspace, lang: Lang, day: StudyDay) -> tuple[str, ...]:
    said = [LAST_PASS[lang]] if day.is_last_pass else []
    said += [NEW[lang].format(count=len(day.new))] if day.new else []
    said += [REVIEWS[lang].format(count=len(day.reviews))] if day.reviews else []
    said += [workspace.library.challenge(id).title[lang] for id in day.challenges]
    return tuple(said) or (FREE[lang],)
