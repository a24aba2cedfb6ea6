"""What is said of an answer that was marked, in the app and line by line."""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext, quoted

HEADS: dict[str, Localised] = {
    "right": _("✓ Right"),
    "wrong": _("✗ Not right"),
    "partly": _("~ Partly right: {right} of {total}"),
    "no-answer": _("no answer"),
}
IS_RIGHT = _("“{option}” is right.")
IS_WRONG = _("“{option}”: {why}")
NO_REASON = _("it is wrong.")
WANTED = _("Wanted: {blanks}")
COMES_BEFORE = _("“{first}” comes before “{second}”.")
LINE = _("Line {lines}: {symptom}")
FIX = _(" Fix: {fix}")
RIGHT_NUMBER = _("{expected}.")
WRONG_NUMBER = _("{expected} was wanted (within {tolerance}), not {given}.")
THE_NUMBER = _("The answer is {expected}.")
BETWEEN_SENTENCES = pgettext("sentences", " ")
BETWEEN_REMARKS = quoted(" ")
BETWEEN_BLANKS = _("; ")
BETWEEN_ITEMS = quoted(" → ")
BETWEEN_LINES = _(" or ")
