"""What is said in a mock interview, in the app and line by line, and of what it came to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from attncli.domain.log_row import ANSWER_SECONDS
from attncli.domain.mock_interview import MissedItem, MockReport, PartName
from attncli.domain.vocabulary import LEVEL_NAMES
from attncli.i18n import Lang, Localised, _
from attncli.words.command_texts import counted

PART_NAMES: dict[PartName, Localised] = {
    "warm-up": _("Warm-up"),
    "deep-dive": _("Deep dive"),
    "whiteboard": _("Whiteboard"),
    "repair": _("Repair"),
}
REPAIR_IT = _("{bugs} to find and mend in this file:")
GRADED = {
    "right": _("Right: what the whiteboard asks for is met."),
    "wrong": _("Not right yet: {said}"),
}

MOCK: dict[str, Localised] = {
    "keys": _(
        "Where no text is typed: q stops the clock and leaves, s skips, n next part, u takes back the last step."
    ),
    "reveal": _("Enter when you have said it"),
    "ticks": _("Which points were made? Numbers, or all, or none"),
    "credit": _("Was it answered? 2 wholly, 1 partly, 0 not"),
    "code": _("Enter grades the file, e opens the editor, s leaves it as it is"),
    "resume": _("An interview of {at:%Y-%m-%d %H:%M} is unfinished ({part}). Enter goes on with it, n begins anew."),
    "paused": _("The clock is stopped and everything is kept; `attn mock` goes on from here."),
    "undone": _("The last step is taken back."),
    "bad": _("That is none of the choices."),
    "over": _("That was the interview."),
}

REPORT: dict[str, Localised] = {
    "title": _("{share:.0%} · {minutes} min · {level}"),
    "open": _("not finished: what came of it so far"),
    "early": _("ended early"),
    "part": _("{name}: {credit:g} of {asked}, {spent} of {minutes} min"),
    "not-reached": _("{name}: not reached"),
    "not-asked": _(", {count} were not asked"),
    "over-time": _(", over time"),
    "times": _("Answers: median {median} s, {within} of {answers} within {limit} s"),
    "longest": _("Longest: {cards}"),
    "missed": _("What was missed"),
    "none-missed": _("Nothing was missed."),
    "none-asked": _("Nothing was asked."),
    "code-missed": _("not solved: {title} (`attn start {id}`)"),
    "gone": _("no longer in its bank"),
    "read": _("To read: {cards}"),
    "weak": _("`attn drill --weak` asks what was missed; no card's schedule has changed."),
    "again": _("{command} draws this interview again"),
}

LineKind = Literal["head", "line", "missed", "point", "note"]


def clock_text(seconds: int) -> str:
    """`4:05`; below zero as the time that is over."""
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'+' if seconds < 0 else ''}{minutes}:{rest:02}"


def code_task(bugs: int) -> Localised:
    """What is asked for in a round of code: to mend so many bugs, or to write where there are none."""
    if not bugs:
        return _("Write it as at the whiteboard:")
    named = counted(bugs, "bug")
    return Localised(REPAIR_IT.en.format(bugs=named.en), REPAIR_IT.zh.format(bugs=named.zh))


def read_line(report: MockReport, lang: Lang) -> str:
    """What to read, of a report that names something."""
    return REPORT["read"][lang].format(cards=_(", ")[lang].join(report.read))


def report_lines(report: MockReport, lang: Lang, command: str = "") -> Iterator[tuple[LineKind, str]]:
    """What an interview came to, line by line; `command` is what draws it again."""
    yield from score_lines(report, lang)
    for missed in report.missed:
        yield from missed_lines(missed, lang)
    if report.read:
        yield "line", read_line(report, lang)
        yield "note", REPORT["weak"][lang]
    if command:
        yield "note", REPORT["again"][lang].format(command=command)


def score_lines(report: MockReport, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """The score by part and the times, down to the heading of what was missed."""
    level = LEVEL_NAMES[report.level][lang]
    title = REPORT["title"][lang].format(share=report.share, minutes=report.minutes, level=level)
    ended = "open" if report.is_open else "" if report.is_finished else "early"
    yield "head", f"{title} · {REPORT[ended][lang]}" if ended else title
    yield from (("line", line) for line in _part_lines(report, lang))
    yield from (("note", line) for line in _time_lines(report, lang))
    settled = "none-missed" if any(part.asked for part in report.parts) else "none-asked"
    yield "head", REPORT["missed" if report.missed else settled][lang]


def _part_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    for part in report.parts:
        name = PART_NAMES[part.name][lang]
        if not part.asked:
            yield REPORT["not-reached"][lang].format(name=name)
            continue
        spent = clock_text(part.spent_seconds)
        told = {"name": name, "credit": round(part.credit, 2), "asked": part.asked, "spent": spent}
        line = REPORT["part"][lang].format(**told, minutes=part.minutes)
        line += REPORT["not-asked"][lang].format(count=part.not_asked) if part.not_asked else ""
        yield line + (REPORT["over-time"][lang] if part.is_over_time else "")


def _time_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    if (times := report.times) is None:
        return
    told = {"median": times.median_seconds, "within": times.within, "answers": times.answers, "limit": ANSWER_SECONDS}
    yield REPORT["times"][lang].format(**told)
    if times.longest:
        cards = ", ".join(f"{card} {seconds} s" for card, seconds in times.longest)
        yield REPORT["longest"][lang].format(cards=cards)


def missed_lines(missed: MissedItem, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """One thing that was missed, then what would have been right."""
    if missed.is_code:
        title = missed.question[lang] or REPORT["gone"][lang]
        yield "missed", REPORT["code-missed"][lang].format(title=title, id=missed.card)
        return
    question = " ".join(missed.question[lang].split()) or REPORT["gone"][lang]
    yield "missed", f"{missed.card}  {question}"
    if missed.answer[lang]:
        yield "point", " ".join(missed.answer[lang].split())
    yield from (("point", point[lang]) for point in missed.points)
