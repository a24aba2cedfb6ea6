"""Report a mock interview (credit and time of each part, missed items, cards to read), also as lines.

Reports follow from the log and the current banks alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from attncli.domain.log_row import ANSWER_SECONDS
from attncli.domain.mock_interview import PART_NAMES, MissedItem, MockItem, MockReport, PartScore
from attncli.domain.parts import Answer
from attncli.domain.vocabulary import LEVEL_NAMES
from attncli.errors import AttnError, NotFound
from attncli.i18n import NOTHING, Lang, Localised, _, ngettext
from attncli.practice.marking import Asked
from attncli.practice.mock import asked_at
from attncli.practice.mock_log import MockState, Settled, states
from attncli.practice.workspace import Workspace

LineKind = Literal["head", "line", "missed", "point", "note"]
DRILL_MISSED = _("`attn drill --weak` drills what you missed. Schedules are unchanged.")


def past_mocks(workspace: Workspace) -> tuple[MockReport, ...]:
    """Return the reports of interviews in which something was answered, the latest first."""
    return tuple(report_of(workspace, state) for state in states(workspace) if state.settled or state.tried)


def report_of(workspace: Workspace, state: MockState) -> MockReport:
    """Report the results of an interview so far."""
    parts = tuple(_part(state, number) for number in range(len(state.plan.parts)))
    shares = [part.credit / part.asked for part in parts if part.asked]
    missed = tuple(_missed(workspace, state))
    return MockReport(
        id=state.id,
        begun_at=state.begun_at,
        minutes=state.plan.minutes,
        level=state.plan.level,
        seed=state.plan.seed,
        is_finished=state.is_over and not state.is_ended,
        is_open=not state.is_over,
        share=sum(shares) / len(shares) if shares else 0.0,
        parts=parts,
        missed=missed,
        answer_seconds=_answer_seconds(state),
        read=_to_read(workspace, state),
    )


def _part(state: MockState, number: int) -> PartScore:
    part, places = state.plan.parts[number], state.plan.places(number)
    asked = [state.results[place] for place in places if place in state.results]
    spent_ms = state.spent_ms.get(number, 0)
    return PartScore(
        name=part.name,
        minutes=part.minutes,
        spent_seconds=spent_ms // 1000,
        credit=sum(result.credit for result in asked),
        asked=len(asked),
        not_asked=len(places) - len(asked),
        is_over_time=spent_ms >= part.budget_ms,
    )


def _missed(workspace: Workspace, state: MockState) -> Iterator[MissedItem]:
    for place, item, settled in state.answered():
        if settled.is_missed:
            try:
                yield _missed_item(workspace, state, place, settled)
            except NotFound:
                yield MissedItem(item.id, item.is_code, NOTHING, NOTHING, ())


def _missed_item(workspace: Workspace, state: MockState, place: int, settled: Settled) -> MissedItem:
    item = state.plan.items[place]
    if item.is_code:
        challenge = workspace.library.challenge(item.id)
        title = _("{title} (tests)", title=challenge.title) if item.kind == "tests" else challenge.title
        return MissedItem(challenge.id, True, title, NOTHING, ())
    asked = asked_at(workspace, state, place)
    card, made = asked.card, settled.points or ()
    points = () if asked.is_marked_automatically else tuple(p for n, p in enumerate(card.points) if n not in made)
    answer = _marked(asked, settled) or (NOTHING if points else card.answer or card.explain or NOTHING)
    return MissedItem(card.id, False, asked.question, answer, points)


def _marked(asked: Asked, settled: Settled) -> Localised:
    """Return the right answer beside the one that was given; empty for a spoken card."""
    try:
        marked = asked.card.mark(settled.answer or Answer())
    except (AttnError, IndexError, ValueError):  # the card has changed since
        return asked.right_answer
    return marked.detail if marked else NOTHING


def _answer_seconds(state: MockState) -> tuple[int, ...]:
    answers = [settled.answer_ms for _place, item, settled in state.answered() if not item.is_code]
    return tuple(sorted(answer_ms // 1000 for answer_ms in answers if answer_ms is not None))


def _to_read(workspace: Workspace, state: MockState) -> tuple[str, ...]:
    """Return the cards to read, most missed first: those missed, what their follow-ups link to, and cards on failed
    code.
    """
    missing: dict[str, float] = {}
    for _place, item, settled in state.answered():
        if settled.is_missed:
            for card in _read_for(workspace, item, settled):
                missing[card] = missing.get(card, 0.0) + 1 - settled.credit
    return tuple(sorted(missing, key=lambda card: -missing[card]))


def _read_for(workspace: Workspace, item: MockItem, settled: Settled) -> Iterator[str]:
    known = workspace.store.index.card
    try:
        if item.is_code:
            cards = settled.cards or workspace.library.challenge(item.id).cards[:2]
            yield from (card for card in cards if known(card))
            return
        card = workspace.library.card(item.id)
    except NotFound:
        return
    yield card.id
    if item.kind == "follow-up" and item.n < len(card.follow_ups) and known(card.follow_ups[item.n].card):
        yield card.follow_ups[item.n].card


# The report as lines


def clock_text(seconds: int) -> str:
    """Format seconds as `4:05`, time beyond the budget as `+0:05`."""
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'+' if seconds < 0 else ''}{minutes}:{rest:02}"


def code_task(bugs: int) -> Localised:
    """Return the task of a code round: to fix `bugs` bugs, or to write the code if there are none."""
    if not bugs:
        return _("Write it as you would at the whiteboard:")
    return ngettext("Find and fix {count} bug in this file:", "Find and fix {count} bugs in this file:", bugs)


def read_line(report: MockReport, lang: Lang) -> str:
    """Return the line that lists the cards to read."""
    return _("Read: {cards}", cards=_(", ")[lang].join(report.read))[lang]


def report_lines(report: MockReport, lang: Lang, command: str = "") -> Iterator[tuple[LineKind, str]]:
    """Yield the report line by line; `command` draws the interview again."""
    yield from score_lines(report, lang)
    for missed in report.missed:
        yield from missed_lines(missed, lang)
    if report.read:
        yield "line", read_line(report, lang)
        yield "note", DRILL_MISSED[lang]
    if command:
        yield "note", _("Same interview again: {command}", command=command)[lang]


def score_lines(report: MockReport, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """Yield the score by part and the times, down to the heading of the missed questions."""
    title = _(
        "{share:.0%} · {minutes} min · {level}",
        share=report.share,
        minutes=report.minutes,
        level=LEVEL_NAMES[report.level],
    )[lang]
    if any(part.name == "tests" for part in report.parts):
        title += " · " + _("AI-assisted")[lang]
    if report.is_open:
        title += " · " + _("unfinished")[lang]
    elif not report.is_finished:
        title += " · " + _("ended early")[lang]
    yield "head", title
    yield from (("line", line) for line in _part_lines(report, lang))
    yield from (("note", line) for line in _time_lines(report, lang))
    yield "head", (_("Missed questions") if report.missed else _("No mistakes."))[lang]


def _part_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    for part in report.parts:
        name = PART_NAMES[part.name]
        if not part.asked:
            yield _("{name}: not reached", name=name)[lang]
            continue
        line = _(
            "{name}: {credit:g} of {asked}, {spent} of {minutes} min",
            name=name,
            credit=round(part.credit, 2),
            asked=part.asked,
            spent=clock_text(part.spent_seconds),
            minutes=part.minutes,
        )[lang]
        line += _(", {count} not asked", count=part.not_asked)[lang] if part.not_asked else ""
        yield line + (_(", over time")[lang] if part.is_over_time else "")


def _time_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    if seconds := report.answer_seconds:
        yield _(
            "Answers: median {median} s, {within} of {answers} within {limit} s",
            median=seconds[len(seconds) // 2],
            within=sum(taken <= ANSWER_SECONDS for taken in seconds),
            answers=len(seconds),
            limit=ANSWER_SECONDS,
        )[lang]


def missed_lines(missed: MissedItem, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """Yield a missed question, then the right answer."""
    question = " ".join(missed.question[lang].split()) or _("no longer in its bank")[lang]
    if missed.is_code:
        yield "missed", _("not solved: {title} (`attn start {id}`)", title=question, id=missed.card)[lang]
        return
    yield "missed", f"{missed.card}  {question}"
    if missed.answer[lang]:
        yield "point", " ".join(missed.answer[lang].split())
    yield from (("point", point[lang]) for point in missed.points)
