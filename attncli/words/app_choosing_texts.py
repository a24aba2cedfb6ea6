"""What the app says where the learner chooses cards beyond the schedule: the drill, and the quiz in the app.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.drill": _("Drill"),
    "key.start": _("Start"),
    "key.change": _("Change"),
    "palette.drill": _("Drill cards of your choice"),
    "drill.title": _("Drill"),
    "drill.start": _("Start: {asked} of {count} cards that fit"),
    "drill.nothing": _("No card fits."),
    "drill.without": _("{count} if “{name}” is left open"),
    "drill.topic": _("Topic"),
    "drill.kind": _("Kind"),
    "drill.level": _("Interview level"),
    "drill.weak": _("Weak cards only"),
    "drill.count": _("At most"),
    "drill.cram": _("Cram"),
    "drill.any": _("any"),
    "drill.yes": _("yes"),
    "drill.no": _("no"),
    "drill.cards": _("{count} cards"),
    "drill.note": _(
        "Answers are reviews and change the schedule; a cram records nothing. Unseen cards count as today's new ones. "
        "Weak is what you would likely not recall today, forgot often, or missed last time. "
        "Suspended and buried cards are left out."
    ),
    "key.quiz": _("Quiz"),
    "key.new-quiz": _("New quiz"),
    "palette.quiz": _("Take a quiz of all topics"),
    "quiz.title": _("Quiz"),
    "quiz.blank": _("Nothing was answered; Enter once more skips it."),
    "fault.nothing-fits": _("There is no card for that here; choose another topic."),
    "done.answered": _("{count} answered"),
    "done.not-recorded": _("A cram: nothing was recorded."),
}
