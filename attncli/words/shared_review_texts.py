"""What ratings are called, and what a review says of a card: in the app, `attn review --plain` and `attn show`."""

from __future__ import annotations

from attncli.domain.log_row import Rating
from attncli.i18n import Localised, _

HEADINGS: dict[str, Localised] = {
    "answer": _("Answer"),
    "explain": _("Why"),
    "points": _("Points"),
    "pitfalls": _("Pitfalls"),
    "sources": _("Sources"),
    "see": _("See also"),
    "follow-ups": _("Follow-ups"),
    "slips": _("Usual slips"),
    "why": _("why not"),
    "line": _("line"),
    "fix": _("Fix"),
    "challenge": _("Challenge"),
    "experiment": _("Experiment"),
}
AS_OF = _("As of {date}.")
UNVERIFIABLE = _("Nobody has published this; it cannot be checked.")
RATINGS: dict[Rating, Localised] = {
    Rating.AGAIN: _("Again"),
    Rating.HARD: _("Hard"),
    Rating.GOOD: _("Good"),
    Rating.EASY: _("Easy"),
}
OUTDATED = _("Nothing stored: the intervals have changed. Rate it again.")
GONE = _("{card} is no longer in its bank; it is left out.")
