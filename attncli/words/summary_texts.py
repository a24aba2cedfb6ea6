"""The summary's own words in both languages."""

from __future__ import annotations

from attncli.domain.vocabulary import RUNGS, STANDING_NAMES
from attncli.i18n import Lang, Localised, _, pgettext

LABELS: dict[str, Localised] = {
    "title": _("Interview summary"),
    "made_on": _("Made on"),
    "interview": _("Interview on"),
    "days_left": _("days left"),
    "reviews": _("reviews: {count}"),
    "streak": _("days in a row: {count}"),
    "retention": _("retention, 30 days"),
    "seen": _("cards seen"),
    "solved_count": _("challenges solved"),
    "hardened_count": _("{count} hardened"),
    "recall": _("recall of seen cards today"),
    "recall_on_day": _("recall of seen cards on the day"),
    "readiness": _("readiness, unseen cards counted"),
    "forecast_note": _("The forecast assumes no further review; every review until then raises it."),
    "open_with": _("Open with"),
    "no_open_with": _("Nothing is firm yet: no topic with three cards seen is recalled at 70\u00a0%."),
    "open_with_code": _("Code you have written"),
    "more": _(" and {count} more"),
    "avoid": _("Do not bring up"),
    "no_avoid": _("None of the topics that you began is shaky."),
    "map": _("Readiness by topic"),
    "map_note": _(
        "Dark: readiness on the day. Light: share of the cards seen. The topic with most left to learn comes first."
    ),
    "map_note_today": _(
        "Dark: readiness today. Light: share of the cards seen. The topic with most left to learn comes first."
    ),
    "not_started": _("Not begun"),
    "nothing_begun": _("No card has been reviewed yet; `attn review` begins."),
    "topic": _("Topic"),
    "cards": _("Seen"),
    "short_recall": _("Recall"),
    "short_readiness": _("Readiness"),
    "weak_cards": _("Weak"),
    "lapses": _("Lapses"),
    "weakest": _("Look at these first"),
    "weak": _("Weak cards with their answers, by topic"),
    "weak_shown": _("The {shown} weakest of {count}; `attn drill --weak` asks them all."),
    "no_weak": _("No weak cards."),
    "due": _("Also due by the day"),
    "due_today": _("Also due today"),
    "due_shown": _("The {shown} least certain of {count} are listed."),
    "points": _("An interviewer ticks off"),
    "point_missed": _("left out last time"),
    "solved": _("Your own code"),
    "no_solved": _("No challenge solved yet."),
    "repaired": _("Repaired, with bugs planted in a given file"),
    "tried": _("Tried, not solved yet"),
    "level": _("level"),
    "attempts": _("attempts: {count}"),
    "code_above": _("The code stands in the first part."),
    "mocks": _("Mock interviews"),
    "mock_missed": _("points missed"),
    "last_days": _("The last days"),
    "minutes": _("min"),
    "reason_missed": _("missed last time"),
    "reason_points": _("points missed last time"),
    "reason_lapses": _("forgotten {lapses} times"),
    "reason_recall": _("recall on the day {recall}"),
    "reason_recall_today": _("recall today {recall}"),
    "is": _(": "),
    "and": pgettext("clauses", ", "),
    "list": _(", "),
    "aside": _(" ({})"),
    "share": _("{} %"),
    "licence": _("Cards: CC BY 4.0"),
}
ANSWERS: dict[str, Localised] = {}


def labels(lang: Lang) -> dict[str, str]:
    """The words of the summary, and those that it shares with reviews and reports."""
    shared = {"explain": _("Why"), "pitfalls": _("Pitfalls")} | {f"rung_{rung}": STANDING_NAMES[rung] for rung in RUNGS}
    return {name: text[lang] for name, text in (LABELS | shared).items()}
