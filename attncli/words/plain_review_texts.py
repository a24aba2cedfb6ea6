"""What `attn review --plain` says and asks, line by line."""

from __future__ import annotations

from attncli.i18n import Localised, _

SITTING: dict[str, Localised] = {
    "left": _("{n}. {card}, {topic}, {left} left"),
    "reveal": _("Enter shows the answer; u undo, s suspend, b bury, q quit"),
    "points": _("Which points did you make? Numbers, or all, or none"),
    "rate": _("Rating: {choices}; Enter takes {suggested}"),
    "saved": _("{card}: {rating}, again in {interval}"),
    "done": _("{n} answered, all kept. {left} left."),
    "noted": _("{card}: {rating}"),
    "done-cram": _("{n} answered, nothing recorded. {left} left."),
    "bad": _("That is none of the choices."),
    "undone": _("Taken back: {card}"),
}
QUESTIONS: dict[str, Localised] = {
    "choose": _("Your choice, by number"),
    "choose-many": _("Your choices, by number; several may be right"),
    "number": _("Your answer{unit}"),
    "blank": _("Blank {n}"),
    "order": _("The right order, by number"),
    "line": _("Which line?"),
    "numbers": _("Numbers from 1 to {n}, please"),
}
