"""The commands about cards and the schedule: `cards`, `show`, `answer`, `undo`, `suspend`, `due`, `stats`, `plan`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

import click

from attncli.commands.due import print_due
from attncli.commands.options import DayType, at_option, json_option, topic_option
from attncli.commands.session import echo, on_terminal, print_json, print_result, session
from attncli.config import MOST_MINUTES_PER_DAY
from attncli.domain.log_row import Rating, RowKind, iso
from attncli.domain.text import cells, left, printable, right
from attncli.errors import NothingFound
from attncli.export.card_markdown import whole_card
from attncli.i18n import LANGS, N_, Lang, Localised, _, ngettext, pgettext
from attncli.practice import plan_text, record
from attncli.practice.plan import Plan, StudyDay, make_plan
from attncli.practice.record import schedule_document, take_back
from attncli.practice.stats import ProgressStats, progress

FORECAST_SHOWN = 7
CARDS_PRINTED, DAYS_PRINTED = 12, 14
TITLE_CELLS = 36
STATES: dict[str, Localised] = {
    "new": pgettext("card", "new"),
    "learning": _("learning"),
    "review": _("review"),
    "relearning": _("relearning"),
}
UNDONE: dict[RowKind, Localised] = {
    RowKind.REVIEW: _("undone: {card} {rating} at {at}"),
    RowKind.SUSPEND: _("undone: suspending {card} at {at}"),
    RowKind.BURY: _("undone: burying {card} at {at}"),
    RowKind.UNSUSPEND: _("undone: unsuspending {card} at {at}"),
    RowKind.ATTEMPT: _("undone: the attempt at {card} at {at}"),
    RowKind.MOCK: _("undone: the last step of the mock interview at {at}"),
    RowKind.REPAIR: _("undone: the repair of {card} at {at}"),
    RowKind.FIT: _("undone: the fit at {at}; the previous parameters apply again"),
    RowKind.TAG: _("undone: the tag of {card} at {at}"),
    RowKind.NOTE: _("undone: the note of {card} at {at}"),
}


@click.command(help=N_("List cards, or those that match QUERY: English words or prefixes, or any Chinese text."))
@click.argument("query", required=False)
@topic_option
@json_option
def cards(query: str | None, topic: str | None, as_json: bool) -> None:
    with session().workspace() as workspace:
        found = workspace.library.cards(query, topic)
        lang = workspace.lang
    print_result(
        as_json,
        lambda: [
            {"id": c.id, "topic": c.topic, "kind": c.kind, "level": c.level, "question": c.question[lang]}
            for c in found
        ],
        lambda: (f"{c.id:<10} {c.kind:<9} {c.level:<9} {' '.join(c.question[lang].split())}" for c in found),
    )
    if not found:
        raise NothingFound(
            _("no card matches {query}; try fewer or other words", query=query)
            if query
            else _("there are no cards; run `attn bank check` to check the banks")
        )


@click.command(help=N_("Print CARD in full."))
@click.argument("card")
@click.option("--lang", type=click.Choice(LANGS), help=N_("Language to print; with --json, only this one."))
@json_option
def show(card: str, lang: Lang | None, as_json: bool) -> None:
    current = session()
    current.lang_option = lang or current.lang_option
    with current.workspace() as workspace:
        found = workspace.library.card(card)
        if as_json:
            document = dict(workspace.library.document(found.id))
            narrowed = _in_one_language(document, lang) if lang else document
            print_json({**narrowed, "schedule": schedule_document(workspace.store.schedules.get(found.id))})
            return
        text = whole_card(found, workspace.lang)
    if on_terminal():
        print_markdown(text)
    else:
        echo(text)


def _in_one_language(value: Any, lang: Lang) -> Any:
    """Return `value` with each bilingual text replaced by the one in `lang`."""
    if isinstance(value, dict):
        if set(value) == set(LANGS):
            return value[lang]
        inner = {key: _in_one_language(child, lang) for key, child in value.items()}
        return {key: child for key, child in inner.items() if key not in LANGS or key == lang}
    return [_in_one_language(child, lang) for child in value] if isinstance(value, list) else value


@click.command(help=N_("Record a review of CARD. It is saved once the new schedule is printed."))
@click.argument("card")
@click.option("--rating", required=True, type=click.Choice([rating.word for rating in Rating]))
@at_option
@json_option
def answer(card: str, rating: str, at: datetime | None, as_json: bool) -> None:
    with session().workspace(at) as workspace:
        answered = record.answer(workspace, card, Rating.of(rating), at)
    if as_json:
        print_json(answered.document())
        return
    schedule, lang = answered.schedule, workspace.lang
    days = schedule.interval_days
    minutes = days * 24 * 60
    wait = (
        ngettext("{count:g} day", "{count:g} days", days)
        if days >= 1
        else ngettext("{count:g} minute", "{count:g} minutes", minutes)
    )
    echo(
        _(
            "{card} {rating}: {state}, due {due} ({wait})",
            card=answered.card,
            rating=rating,
            state=STATES[schedule.state.value],
            due=iso(schedule.due_at),
            wait=wait,
        )[lang]
    )
    if answered.leech:
        echo(
            _(
                "{card} was forgotten {lapses} times: split it, or learn its prerequisites",
                card=answered.card,
                lapses=schedule.lapses,
            )[lang]
        )


@click.command(
    help=N_(
        "Undo the last action on this machine.\n\n"
        "A review, suspend, bury, unsuspend, tag, note, attempt, repair, fit or a step of a mock "
        "interview. Hints and references stay recorded as seen."
    )
)
def undo() -> None:
    with session().workspace() as workspace:
        done = take_back(workspace)
    rating = done.rating.word if done.kind is RowKind.REVIEW else ""
    message = UNDONE[done.kind].format(card=done.subject, rating=rating, at=iso(done.at))
    echo(message[workspace.lang])


@click.command(help=N_("Take CARD out of the queue until you unsuspend it."))
@click.argument("card")
def suspend(card: str) -> None:
    with session().workspace() as workspace:
        row = record.hold(workspace, RowKind.SUSPEND, card)
        echo(_("{card} is suspended; undo with `attn unsuspend`", card=row.subject)[workspace.lang])


@click.command(help=N_("Take CARD out of the queue for today."))
@click.argument("card")
def bury(card: str) -> None:
    with session().workspace() as workspace:
        row = record.hold(workspace, RowKind.BURY, card)
        echo(_("{card} is buried until tomorrow; undo with `attn unsuspend`", card=row.subject)[workspace.lang])


@click.command(help=N_("Put a suspended or buried CARD back into the queue."))
@click.argument("card")
def unsuspend(card: str) -> None:
    with session().workspace() as workspace:
        row = record.hold(workspace, RowKind.UNSUSPEND, card)
        echo(_("{card} is back in the queue", card=row.subject)[workspace.lang])


# `attn due`


@click.command(help=N_("Show what is due now."))
@at_option
@json_option
def due(at: datetime | None, as_json: bool) -> None:
    print_due(session(), at, as_json)


# `attn stats`


@click.command(help=N_("Retention, streak, forecast, and how ready each topic is."))
@json_option
def stats(as_json: bool) -> None:
    with session().workspace() as workspace:
        found = progress(workspace)
        lang = workspace.lang
    print_result(as_json, lambda: asdict(found), lambda: [*_totals_lines(found, lang), "", *_topic_lines(found, lang)])


def _totals_lines(found: ProgressStats, lang: Lang) -> list[str]:
    recalled = "–" if found.retention is None else f"{found.retention:.0%}"
    coming = ", ".join(f"{day.date[5:]} {day.due}" for day in found.forecast[:FORECAST_SHOWN])
    solved = f"{found.challenges['solved']}/{found.challenges['total']}"
    totals = [
        _(
            "{reviews} ({today} today), streak {days}, 30-day retention {recalled}",
            reviews=ngettext("{count} review", "{count} reviews", found.reviews),
            today=found.today,
            days=ngettext("{count:g} day", "{count:g} days", found.streak_days),
            recalled=recalled,
        )[lang],
        _("{seen}/{cards} cards seen, {solved} challenges solved", seen=found.seen, cards=found.cards, solved=solved)[
            lang
        ],
        *([_("Must-know: {known}", known=found.must_know.text)[lang]] if found.must_know.text else []),
        _("Coming due: {coming}", coming=coming)[lang],
    ]
    if found.interview is None:
        return totals
    return [plan_text.countdown_line(found.interview.days_left, found.interview.recall)[lang], *totals]


def _topic_lines(found: ProgressStats, lang: Lang) -> list[str]:
    heads = (_("seen"), _("recall"), _("ready"), _("lapses"))
    numbers = " ".join(right(head[lang], width) for head, width in zip(heads, (8, 7, 7, 7), strict=True))
    lines = [left(_("topic")[lang], 10) + f" {numbers}  " + _("weak")[lang]]
    for topic, status in found.topics.items():
        recall = f"{status.recall:.0%}" if status.seen else "–"
        weak = " ".join(card.card for card in status.weak[:3])
        seen = f"{status.seen}/{status.total}"
        lines.append(f"{topic:<10} {seen:>8} {recall:>7} {status.readiness:>7.0%} {status.lapses:>7}  {weak}".rstrip())
    return lines


# `attn plan`


@click.command(help=N_("Plan each day until the interview: what to study, expected recall, what won't fit."))
@click.option(
    "--interview",
    type=DayType(),
    default=None,
    help=N_("Interview date, e.g. 17 Dec or in 3 weeks (default: the setting interview)."),
)
@click.option(
    "--minutes",
    type=click.IntRange(1, MOST_MINUTES_PER_DAY),
    default=None,
    help=N_("Minutes a day (default: the setting minutes_per_day)."),
)
@json_option
def plan(interview: date | None, minutes: int | None, as_json: bool) -> None:
    with session().workspace() as workspace:
        found = make_plan(workspace, interview, minutes)
        titles = {topic.id: topic.title[workspace.lang] for topic in workspace.library.topics()}
        lang, level = workspace.lang, workspace.settings.level
    print_result(as_json, found.document, lambda: plan_lines(found, titles, level, lang))


def plan_lines(plan: Plan, titles: Mapping[str, str], level: str, lang: Lang) -> list[str]:
    """Return the lines of `attn plan`; `titles` maps each topic to its title."""
    return [
        *_forecast_lines(plan, level, lang),
        "",
        *_today_lines(plan, lang),
        "",
        _("Day by day")[lang],
        *_day_lines(plan.days, lang),
        *plan_text.last_pass_line(plan, lang),
        "",
        *_topic_table(plan, titles, lang),
    ]


def _forecast_lines(plan: Plan, level: str, lang: Lang) -> Iterator[str]:
    yield plan_text.countdown_sentence(plan, lang)
    yield plan_text.expected_line(plan, lang)
    yield from plan_text.left_out_lines(plan, lang)
    yield plan_text.basis_line(plan, lang)
    yield from plan_text.studied_line(plan, lang)
    yield from plan_text.rules_lines(plan, level, lang)


def _today_lines(plan: Plan, lang: Lang) -> Iterator[str]:
    day = plan.days[0]
    if plan.studied_minutes:
        left_today = _("Left today: {minutes:.0f} min", minutes=day.minutes)
        yield (left_today if day.minutes else _("Today's list is done."))[lang]
    else:
        yield (_("Today: {minutes:.0f} min", minutes=day.minutes) if day.minutes else _("Today: free"))[lang]
    code = [plan_text.code_text(id, minutes)[lang] for id, minutes in day.code.items()]
    named = {_("New:")[lang]: day.new, _("Review:")[lang]: day.reviews, _("Challenge:")[lang]: code}
    width = max(map(cells, named)) + 1
    for name, ids in named.items():
        if ids:
            count = len(ids) - CARDS_PRINTED
            more = [ngettext("… and {count} more card", "… and {count} more cards", count)[lang]] if count > 0 else []
            yield f"  {left(name, width)}{' '.join([*ids[:CARDS_PRINTED], *more])}"


def _day_lines(days: Sequence[StudyDay], lang: Lang) -> Iterator[str]:
    for day in days[:DAYS_PRINTED]:
        name, minutes = plan_text.day_name(day.date, lang), _("{minutes:.0f} min", minutes=day.minutes)[lang]
        yield f"  {left(name, 14)}{right(minutes, 9)}  {' · '.join(plan_text.day_parts(day, lang))}"
    if len(days) > DAYS_PRINTED:
        yield "  " + ngettext("… and {count} more day", "… and {count} more days", len(days) - DAYS_PRINTED)[lang]


def _topic_table(plan: Plan, titles: Mapping[str, str], lang: Lang) -> Iterator[str]:
    heads = (_("seen"), _("planned"), _("recall"), _("likely"), _("if you stop"))
    columns = " ".join(right(head[lang], width) for head, width in zip(heads, (8, 8, 7, 11, 12), strict=True))
    yield _("Expected recall by topic")[lang]
    yield "  " + left(_("topic")[lang], TITLE_CELLS) + columns
    for id, topic in plan.topics.items():
        likely = f"{topic.expected.low:.0%}–{topic.expected.high:.0%}"
        seen, title = f"{topic.seen}/{topic.cards}", left(_shortened(titles.get(id, id)), TITLE_CELLS)
        yield (
            f"  {title}{seen:>8} {topic.planned:>8} {topic.expected.recall:>7.0%} "
            f"{likely:>11} {topic.stopped.recall:>12.0%}"
        )


def _shortened(title: str) -> str:
    """Return `title` cut to fit its column, with an ellipsis if it was cut."""
    if cells(title) < TITLE_CELLS:
        return title
    while cells(title) >= TITLE_CELLS - 1:
        title = title[:-1]
    return f"{title.rstrip()}…"


def print_markdown(text: str) -> None:
    """Print `text` with its headings and lists drawn, for a terminal.

    Each segment is cleaned after parsing, because `&#x202e;` is a character only then. Links show their address.
    """
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.segment import Segment, Segments

    console = Console()
    drawn = console.render(Markdown(printable(text), hyperlinks=False))
    console.print(Segments(Segment(printable(part.text), part.style) for part in drawn if not part.is_control))
