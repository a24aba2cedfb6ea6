"""What the app says in a review: its screen, the kinds of answer, undo and hold, the end of a session.

A part of the table in `app_texts`; what `attn review --plain` says in the same words stands in `shared_review_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext

TEXTS: dict[str, Localised] = {
    "review.waits-new": _("{count} new"),
    "review.waits-learning": _("{count} learning"),
    "review.waits-due": _("{count} due"),
    "review.kind-qa": _("question"),
    "review.kind-choice": _("choice"),
    "review.kind-numeric": _("number"),
    "review.kind-cloze": _("cloze"),
    "review.kind-ordering": _("ordering"),
    "review.kind-debug": _("debug"),
    "review.level-screen": _("screen"),
    "review.level-onsite": _("onsite"),
    "review.level-research": pgettext("position", "research"),
    "review.as-of": _("As of {date}."),
    "review.unverifiable": _("Nobody has published this; it cannot be checked."),
    "review.answer": _("Answer"),
    "review.explain": _("Why"),
    "review.pitfalls": _("Pitfalls"),
    "review.follow-ups": _("Follow-ups"),
    "review.sources": _("Sources"),
    "rating.again": _("Again"),
    "rating.hard": _("Hard"),
    "rating.good": _("Good"),
    "rating.easy": _("Easy"),
}
