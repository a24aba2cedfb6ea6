"""What was typed in the app, or asked of it, and cannot be: the reasons of `attncli.errors.InvalidInput`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "unfit.tag": _("That is no tag: use letters, digits and hyphens, at most 40."),
    "unfit.note": _("The note is too long to keep; shorten it."),
    "unfit.topic": _("That is no topic: use lower-case letters, digits and single hyphens, such as mine."),
    "unfit.search-length": _("The search has {count} characters; {most} is the most."),
    "unfit.search-time": _("The search takes too long; use fewer words."),
    "unfit.number": _("“{text}” is no number; write one such as 1.5, 1.5e3, 3/4 or {example}."),
    "unfit.number-unread": _(
        "“{text}” cannot be read; write a number such as 1.5, 1.5e3 or 3/4, commas in groups of three digits alone."
    ),
    "unfit.unit": _("“{given}” does not fit here; the answer is asked for in {unit}."),
    "unfit.unit-none": _("“{given}” does not fit here; the answer is asked for as a plain number."),
    "unfit.no-hints": _("This challenge has no hints; o shows the reference."),
    "unfit.no-bug": _("This challenge has no wrong solution to debug."),
    "unfit.file-large": _("{file} is too large for a solution: a short Python file is."),
    "unfit.file-no-text": _("{file} is no text in UTF-8; open it in another editor."),
    "unfit.file-unread": _("{file} cannot be read; check its permissions."),
    "unfit.undo": _("There is nothing of this machine to take back."),
    "unfit.interview-none": _("No interview date is set. Press , for the settings and give the day there."),
    "unfit.interview-past": _(
        "The interview date that is set is past. Press , for the settings and give the next one there."
    ),
    "unfit.interview-far": _(
        "The interview is more than two years away, too far to plan for. Press , for the settings."
    ),
}
