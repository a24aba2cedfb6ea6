"""The interview summary: its data, and the texts and Markdown that its templates share.

`summarise` gathers everything in one language. `--format json` prints the Summary; `export.render` turns it into
Markdown, HTML and PDF. *The day* is the day of the interview, or today without one.

It has two parts, each useful alone: the cheat sheet, one page, and the notes.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal, get_args

from jinja2 import Environment, PackageLoader, StrictUndefined

from attncli.domain.card import Card
from attncli.domain.mock_interview import MissedItem
from attncli.domain.parts import Answer, Code, FindLine, Paragraph
from attncli.domain.vocabulary import Kind, Level, Rung
from attncli.export.card_markdown import markdown
from attncli.i18n import NOTHING, Lang, Localised, _, pgettext, quoted
from attncli.practice.challenges import written
from attncli.practice.mock_report import past_mocks
from attncli.practice.plan import FARTHEST_DAYS, StudyDay, local_date, make_plan
from attncli.practice.queue import WEAK_LAPSES, WEAK_RECALL, Weakness, curve_on, weaknesses
from attncli.practice.stats import ProgressStats, TopicStatus, progress, topic_standings
from attncli.practice.workspace import Workspace

STRONG_READINESS = 0.8
LEAST_SEEN = 3
OPEN_WITH_SHOWN = 5
AVOID_SHOWN = 5
WEAK_LISTED = 20
REVIEW_SHOWN = 30
MOCKS_SHOWN = 5
MISSED_SHOWN = 12
LAST_DAYS_SHOWN = 7
CODE_NAMED = 6
CODE_LINES = 40
SHEET_WEAK = 10
LABEL_CUT_AT, GIST_CUT_AT = 46, 100
_BLANKS = re.compile(r"_{3,}")

Reason = Literal["missed", "points", "lapses", "recall"]
SummaryPart = Literal["sheet", "notes"]
PARTS: tuple[SummaryPart, ...] = get_args(SummaryPart)


@dataclass(frozen=True, slots=True)
class TopicLine:
    """A topic on the day; recall (of the seen cards) and readiness (of all cards) lie in 0…1.

    `need` is the expected number of cards not known on the day, unseen ones included.
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
    """A point that an interviewer ticks off; `missed` if the last review did not tick it."""

    text: str
    missed: bool


@dataclass(frozen=True, slots=True)
class FactLine:
    """A must-know card: its formula between `$`, or its fact in one line."""

    id: str
    topic: str
    question: str
    fact: str


@dataclass(frozen=True, slots=True)
class CardLine:
    """A weak card with its answer, as Markdown, in one line as `gist`, and the `reasons` why it is weak.

    `recall` is the probability of recalling it on the day, 0 if it was forgotten that day.
    """

    id: str
    topic: str
    kind: Kind
    level: Level
    question: str
    gist: str
    answer: str
    explain: str
    points: tuple[Point, ...]
    pitfalls: tuple[str, ...]
    recall: float
    lapses: int
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class DueLine:
    """A card that is not weak and is due by the day."""

    id: str
    topic: str
    question: str
    recall: float


@dataclass(frozen=True, slots=True)
class SolvedLine:
    """A solved challenge with the learner's own file, and the `code` in it without imports and docstrings."""

    id: str
    rung: Rung
    title: str
    level: int
    attempts: int
    solved_at: str
    source: str
    code: str


@dataclass(frozen=True, slots=True)
class MissLine:
    """A question missed in a mock interview, with the numbers asked; `right` is the answer or the points missed."""

    id: str
    question: str
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MockLine:
    """A past mock interview: date, length, score (0…1), points missed, and the questions that these belong to."""

    date: str
    minutes: int
    score: float | None
    missed: tuple[str, ...]
    questions: tuple[MissLine, ...]


@dataclass(frozen=True, slots=True)
class PlanLine:
    """One of the last days: its minutes, and its tasks, in a few words each."""

    date: str
    minutes: int
    to_do: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A topic with its cards in the summary."""

    topic: TopicLine
    must_know: tuple[FactLine, ...]
    weak: tuple[CardLine, ...]
    to_review: tuple[DueLine, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of the summary, in one language.

    `topics` come with the greatest need first. `weak` and `to_review` are the first of `weak_count` and `due_count`
    cards. `repaired` and `tried` are titles of challenges.
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
    must_know: tuple[FactLine, ...]
    weak: tuple[CardLine, ...]
    weak_count: int
    solved: tuple[SolvedLine, ...]
    repaired: tuple[str, ...]
    tried: tuple[str, ...]
    to_review: tuple[DueLine, ...]
    due_count: int
    mocks: tuple[MockLine, ...] = ()
    last_days: tuple[PlanLine, ...] = ()

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
        """The topics with their cards, the greatest need first."""
        return tuple(
            Chapter(
                topic,
                tuple(card for card in self.must_know if card.topic == topic.id),
                tuple(card for card in self.weak if card.topic == topic.id),
                tuple(card for card in self.to_review if card.topic == topic.id),
            )
            for topic in self.topics
        )


# Gathering


def day_ahead(workspace: Workspace) -> date | None:
    """Return the setting `interview`, or None if it is past or not set."""
    day = workspace.settings.interview
    return day if day is not None and day >= local_date(workspace) else None


def summarise(workspace: Workspace, lang: Lang, interview: date | None = None) -> Summary:
    """Return the summary as of now in `lang`, with recall forecast for the day of the interview, or today."""
    now = workspace.clock()
    day = workspace.moment(datetime.combine(interview, time(12), tzinfo=UTC) if interview else None)
    stats, weak, code = progress(workspace), weaknesses(workspace, day), written(workspace)
    topics = _topics(workspace, lang, stats, topic_standings(workspace, day), weak)
    known_weak = {found.card for found in weak}
    due = [entry for entry in workspace.store.queue.due_by_then(curve_on(workspace, day)) if entry[1] not in known_weak]
    due_cards = [(workspace.library.card(id), recall) for recall, id in due[:REVIEW_SHOWN]]
    return Summary(
        lang=lang,
        made_on=now.astimezone().date().isoformat(),
        interview=interview.isoformat() if interview else "",
        days_left=(interview - local_date(workspace)).days if interview else None,
        reviews=stats.reviews,
        streak_days=stats.streak_days,
        retention=stats.retention,
        seen=stats.seen,
        cards=stats.cards,
        recall_on_day=_mean([(topic.recall_on_day, topic.seen) for topic in topics]),
        readiness_on_day=_mean([(topic.readiness_on_day, topic.total) for topic in topics]) or 0.0,
        challenges=stats.challenges.get("total", 0),
        topics=topics,
        open_with=_open_with(topics),
        avoid=_avoid(topics),
        must_know=tuple(
            FactLine(card.id, card.topic, question(card, lang), gist(card, lang))
            for card in map(workspace.library.card, workspace.store.index.must_know()[0])
        ),
        weak=tuple(_card_line(workspace, lang, found) for found in weak[:WEAK_LISTED]),
        weak_count=len(weak),
        solved=tuple(
            SolvedLine(
                id=item.challenge.id,
                rung=item.rung,
                title=item.challenge.title[lang],
                level=item.challenge.level,
                attempts=item.attempts,
                solved_at=item.at.astimezone().date().isoformat(),
                source=item.source.strip("\n"),
                code=code_alone(item.source),
            )
            for item in code.solved
        ),
        repaired=tuple(challenge.title[lang] for challenge in code.repaired),
        tried=tuple(challenge.title[lang] for challenge in code.tried),
        to_review=tuple(
            DueLine(card.id, card.topic, question(card, lang), round(recall, 4)) for card, recall in due_cards
        ),
        due_count=len(due),
        mocks=_mocks(workspace, lang),
        last_days=_last_days(workspace, lang, interview),
    )


def _topics(
    workspace: Workspace, lang: Lang, stats: ProgressStats, on_day: dict[str, TopicStatus], weak: list[Weakness]
) -> tuple[TopicLine, ...]:
    """Return every topic, the greatest need first."""
    topic_of = workspace.store.index.card_topics()
    weak_in = Counter(topic_of.get(found.card) for found in weak)
    lines = []
    for topic in workspace.library.topics():
        here, later = stats.topics[topic.id], on_day[topic.id]
        lines.append(
            TopicLine(
                id=topic.id,
                title=topic.title[lang] or topic.id,
                seen=here.seen,
                total=here.total,
                recall_on_day=later.recall,
                readiness_on_day=later.readiness,
                lapses=here.lapses,
                weak=weak_in[topic.id],
                need=round(here.total * (1 - later.readiness), 1),
            )
        )
    return tuple(sorted(lines, key=lambda line: (-line.need, line.id)))


def _mean(weighted: Sequence[tuple[float, int]]) -> float | None:
    total = sum(weight for _unused, weight in weighted)
    return round(sum(value * weight for value, weight in weighted) / total, 4) if total else None


def _open_with(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    """Return the topics to open with: the ready ones, or else those with the best recall."""
    ready = [topic for topic in topics if topic.seen and topic.readiness_on_day >= STRONG_READINESS]
    tried = [topic for topic in topics if topic.seen >= LEAST_SEEN and topic.recall_on_day >= WEAK_RECALL]
    best = sorted(ready or tried, key=lambda topic: (-topic.readiness_on_day, topic.id))
    return tuple(best[:OPEN_WITH_SHOWN])


def _avoid(topics: tuple[TopicLine, ...]) -> tuple[TopicLine, ...]:
    """Return the topics to avoid: started, but recalled badly or with a third of the seen cards weak."""
    started = [topic for topic in topics if topic.seen >= LEAST_SEEN and topic not in _open_with(topics)]
    shaky = [topic for topic in started if topic.recall_on_day < WEAK_RECALL or 3 * topic.weak >= topic.seen]
    return tuple(sorted(shaky, key=lambda topic: (topic.recall_on_day, -topic.weak, topic.id))[:AVOID_SHOWN])


def _card_line(workspace: Workspace, lang: Lang, weak: Weakness) -> CardLine:
    card = workspace.library.card(weak.card)
    return CardLine(
        id=card.id,
        topic=card.topic,
        kind=card.kind,
        level=card.level,
        question=question(card, lang),
        gist=gist(card, lang),
        answer=answer(card, lang),
        explain=card.explain[lang].strip() if card.explain else "",
        points=tuple(Point(point[lang], n in weak.points_missed) for n, point in enumerate(card.points)),
        pitfalls=tuple(pitfall[lang] for pitfall in card.pitfalls),
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


def _mocks(workspace: Workspace, lang: Lang) -> tuple[MockLine, ...]:
    """Return the last mock interviews, the latest first, with the missed questions."""
    found = []
    for mock in past_mocks(workspace)[:MOCKS_SHOWN]:
        questions = tuple(_missed(item, lang) for item in mock.missed[:MISSED_SHOWN])
        points = (text for item, line in zip(mock.missed, questions, strict=False) for text in _points(item, line))
        date = mock.begun_at.astimezone().date().isoformat()
        found.append(MockLine(date, mock.minutes, mock.share, tuple(dict.fromkeys(points))[:MISSED_SHOWN], questions))
    return tuple(found)


def _points(item: MissedItem, line: MissLine) -> tuple[str, ...]:
    return line.right if item.points else (line.question,)


def _missed(item: MissedItem, lang: Lang) -> MissLine:
    right = (" ".join(text[lang].split()) for text in item.points or (item.answer,))
    return MissLine(item.card, " ".join(item.question[lang].split()) or item.card, tuple(filter(None, right)))


def _last_days(workspace: Workspace, lang: Lang, interview: date | None) -> tuple[PlanLine, ...]:
    """Return the plan of the last days before the interview; empty without one, and on its day."""
    days_left = (interview - local_date(workspace)).days if interview else 0
    if interview is None or not 0 < days_left <= FARTHEST_DAYS:
        return ()
    plan = make_plan(workspace, interview)
    return tuple(
        PlanLine(day.date.isoformat(), round(day.minutes), _to_do(workspace, lang, day))
        for day in plan.days[-LAST_DAYS_SHOWN:]
    )


def _to_do(workspace: Workspace, lang: Lang, day: StudyDay) -> tuple[str, ...]:
    texts = [_("last pass")[lang]] if day.is_last_pass else []
    texts += [_("{count} new", count=len(day.new))[lang]] if day.new else []
    texts += [_("{count} to review", count=len(day.reviews))[lang]] if day.reviews else []
    texts += [workspace.library.challenge(id).title[lang] for id in day.code]
    return tuple(texts) or (_("free")[lang],)


# Template filters


def environment(*, autoescape: bool) -> Environment:
    """Return the Jinja environment with the summary's templates; an unknown name is an error, not an empty string."""
    jinja = Environment(
        loader=PackageLoader("attncli.export"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters["percent"] = percent
    jinja.filters["reasons"] = reasons
    jinja.filters["cell"] = cell
    jinja.filters["asked"] = asked
    jinja.filters["label"] = label
    jinja.filters["first_lines"] = lambda code: "\n".join(code.splitlines()[:CODE_LINES])
    jinja.filters["lines_left_out"] = lambda code: max(0, len(code.splitlines()) - CODE_LINES)
    jinja.filters["code_named"] = code_named
    jinja.globals["translations"] = translations
    return jinja


def translations(lang: Lang) -> tuple[Callable[..., str], Callable[..., str]]:
    """Return `_` and `pgettext` that render a message in `lang`; templates translate with these."""
    return (
        lambda template, **values: _(template, **values)[lang],
        lambda context, template, **values: pgettext(context, template, **values)[lang],
    )


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def reasons(card: CardLine, summary: Summary) -> str:
    """Return the reasons why a card is weak, in a few words."""
    recall = percent(card.recall)
    texts: dict[Reason, Localised] = {
        "missed": _("missed last time"),
        "points": _("points missed last time"),
        "lapses": _("forgotten {lapses} times", lapses=card.lapses),
        "recall": _("recall on interview day {recall}", recall=recall)
        if summary.interview
        else _("recall today {recall}", recall=recall),
    }
    return pgettext("clauses", ", ").join(texts[reason] for reason in card.reasons)[summary.lang]


def code_named(summary: Summary) -> str:
    """Return the titles of some solved challenges, hardened ones first."""
    titles = [line.title for line in sorted(summary.solved, key=lambda line: line.rung != "hardened")]
    more = _(" and {count} more", count=len(titles) - CODE_NAMED)[summary.lang] if len(titles) > CODE_NAMED else ""
    return _(", ")[summary.lang].join(titles[:CODE_NAMED]) + more


def asked(question: str) -> str:
    """Return a question with its blanks escaped, so that underscores are not read as Markdown."""
    return _BLANKS.sub(lambda found: "\\_" * len(found[0]), question)


def cell(text: Any) -> str:
    """Return text for a cell of a Markdown table: one line, pipes escaped."""
    return " ".join(str(text).split()).replace("|", "\\|")


def label(question: str) -> str:
    """Return the first clause of a question, to name a formula on the cheat sheet."""
    line = " ".join(question.split())
    return _cut(re.split(r"[?？。:：]|\.(?= )|____", line)[0].strip() or line, LABEL_CUT_AT)


def _cut(line: str, most: int) -> str:
    """Return the beginning of a line; one with formulas or code stays whole."""
    if {"$", "`"} & set(line) or len(line) <= most + 10:
        return line
    head = line[:most]
    return head[: head.rfind(" ") if " " in head[-15:] else most].rstrip(" ,;，；") + " …"


# The code of a solution


def code_alone(source: str) -> str:
    """Return the code of a file without its imports, its docstrings and the blank lines around them."""
    lines = source.splitlines()
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source.strip("\n")
    left_out: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            left_out += node.body[:1] if len(node.body) > 1 else []
    gone = {n for node in left_out for n in range(node.lineno - 1, node.end_lineno or node.lineno)}
    kept = "\n".join(line for n, line in enumerate(lines) if n not in gone)
    return re.sub(r"\n{3,}", "\n\n\n", kept).strip("\n")


# The answer of a card as Markdown


def question(card: Card, lang: Lang) -> str:
    """Return the question, with the same numbers as in `answer`."""
    return card.wording[lang].strip()


def answer(card: Card, lang: Lang) -> str:
    """Return the solution, with the reasons why other options are wrong, and the short answer if there is one."""
    entry = card.entry()
    code = [Code(quoted(entry.code), marked=entry.lines)] if isinstance(entry, FindLine) else []
    short = [Paragraph(card.answer)] if card.answer else []
    return markdown([*code, *card.solution(), *short], lang)


def gist(card: Card, lang: Lang) -> str:
    """Return the answer in one line: its formula or fact, else the first sentence of the answer, else what is right."""
    if card.formula:
        return f"${card.formula}$"
    if card.fact:
        return card.fact[lang]
    marked = card.mark(Answer())
    text = (card.lead or card.short or (marked.detail if marked else None) or NOTHING)[lang]
    first = re.split(r"(?<=[。！？])|(?<=[.!?])\s+(?=[A-Z`$])", " ".join(text.split()))[0]
    return _cut(first, GIST_CUT_AT)
