"""What the app says where the learner chooses cards beyond the schedule: the drill, and the quiz in the app.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "palette.drill": _("Drill cards of your choice"),
    "drill.topic": _("Topic"),
    "drill.kind": _("Kind"),
    "drill.level": _("Interview level"),
    "drill.weak": _("Weak cards only"),
    "drill.count": _("At most"),
    "palette.quiz": _("Take a quiz of all topics"),
}
