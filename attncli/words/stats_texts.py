"""What the statistics say of recall and time. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

RECALLED = _("recalled")
PREDICTED = _("predicted by FSRS")
TEXTS: dict[str, Localised] = {
    "stats.minutes": _("Minutes of reviews a day"),
    "stats.not-timed": _("No review of the last days was timed."),
    "stats.recall": _("Recall against prediction"),
    "stats.reading": _("Reading the histories of your cards…"),
    "stats.no-recall": _("No card was reviewed on a later day yet; there is nothing to compare."),
    "stats.sampled": _(
        "The {cards} cards that were reviewed last, {reviews} reviews on later days: the first of each day, before any "
        "step."
    ),
    "stats.by-prediction": _("By what FSRS predicted"),
    "stats.curve": _("Your forgetting curve"),
    "stats.curve-axes": _("% recalled, by days since the last review"),
    "stats.by-days": _("By days since the last review"),
    "stats.days": _("{span} days"),
    "stats.days-from": _("{first} days and more"),
    "stats.by-kind": _("By kind"),
    "stats.by-topic": _("By topic"),
    "stats.column-recalled": _("recalled"),
    "stats.column-predicted": _("predicted"),
    "stats.seconds": _("seconds"),
}
