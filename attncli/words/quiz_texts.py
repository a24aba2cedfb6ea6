"""What is said of a quiz and its score, in the app and line by line."""

from __future__ import annotations

from attncli.i18n import _, quoted

SCORE = _("{right} of {answered} right")
NOT_ASKED = _("{left} not asked")
OF_TOPIC = quoted("{topic} {right}/{answered}")
MISSED = _("Missed")
NONE_MISSED = _("Every answer was right.")
NONE_ANSWERED = _("No question was answered.")
AGAIN = _("{command} draws it again")
KEYS = _("Enter alone gives up a question; q (not in a blank) ends the quiz. Nothing is recorded.")
QUESTION = _("{n}/{total}. {card}, {topic}")
