"""What the app says in a review: its screen, the kinds of answer, undo and hold, the end of a session.

A part of the table in `app_texts`; what `attn review --plain` says in the same words stands in `shared_review_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext
from attncli.words import shared_review_texts

TEXTS: dict[str, Localised] = {
    "review.title": _("Review"),
    "review.points": _("Points you made"),
    "review.follow-ups-open": _("Follow-ups (o opens the next answer)"),
    "review.experiment": _("See it shown (x): attn experiment {id}"),
    "experiment.running": _("Claimed: {claim}\n\nRunning … {share}"),
    "experiment.quick": _("This was the quick form; the full one: attn experiment {id}"),
    "review.challenge": _("Write it yourself: challenge {id}"),
    "review.say-it": _("Answer aloud in 30 to 45 seconds, then press Space."),
    "review.waits-new": _("{count} new"),
    "review.waits-learning": _("{count} learning"),
    "review.waits-due": _("{count} due"),
    "review.time-left": _("{seconds} s"),
    "review.time-up": _("{seconds} seconds are over; take the time you need."),
    "review.suspended": _("Suspended: {card} leaves the queue."),
    "review.unsuspended": _("{card} is back in the queue."),
    "review.buried": _("Buried: {card} comes back tomorrow."),
    "review.undone": _("Taken back: the rating of {card}."),
    "review.nothing-to-undo": _("There is nothing to take back."),
    "review.undone-hold": _("Taken back: {card} is in the queue again."),
    "review.kind-qa": _("question"),
    "review.kind-choice": _("choice"),
    "review.kind-numeric": _("number"),
    "review.kind-cloze": _("cloze"),
    "review.kind-ordering": _("ordering"),
    "review.kind-debug": _("debug"),
    "review.level-screen": _("screen"),
    "review.level-onsite": _("onsite"),
    "review.level-research": pgettext("position", "research"),
    "mark.your-answer": _("(your answer)"),
    "choice.one": _("Choose one with its letter, then press Enter."),
    "choice.several": _("Choose every right one with its letter, then press Enter."),
    "numeric.prompt": _("Your answer"),
    "numeric.hint": _("Type a number (48, 1.5e3, 3/4, 2**20), then Enter. Enter alone shows the answer."),
    "numeric.hint-quiz": _("Type a number (48, 1.5e3, 3/4, 2**20), then Enter."),
    "cloze.hint": _("Enter goes to the next blank, then answers. Formulas may be written in any equal form."),
    "cloze.prompt": _("Blank {n}"),
    "ordering.prompt": _("Put them in order: Shift+↑/↓ moves an item, Enter answers."),
    "ordering.one-order": _("A right order"),
    "debug.prompt": _("Which line is wrong? ↑/↓ chooses it, Enter answers."),
    "done.title": _("Session done"),
    "done.nothing": _("Nothing to review here right now."),
    "done.recalled": _("{percent} % recalled"),
    "done.minutes": _("{minutes} min"),
    "done.still-due": _("{due} still due"),
    "done.waiting": _("The next card comes back in {interval}."),
    "done.again": _("Rated Again"),
    "done.leave": _("Enter: back to Home"),
    "review.as-of": shared_review_texts.AS_OF,
    "review.unverifiable": shared_review_texts.UNVERIFIABLE,
    **{
        f"review.{name}": shared_review_texts.HEADINGS[name]
        for name in ("answer", "explain", "pitfalls", "follow-ups", "sources")
    },
    **{f"rating.{rating.word}": text for rating, text in shared_review_texts.RATINGS.items()},
}
