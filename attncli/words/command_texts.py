"""What the commands print. `due` and `answer` load it: it imports nothing but `Localised`."""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext

COUNTED: dict[str, Localised] = {
    "day": _("{count:g} day"),
    "days": _("{count:g} days"),
    "minute": _("{count:g} minute"),
    "minutes": _("{count:g} minutes"),
    "bug": _("{count} bug"),
    "bugs": _("{count} bugs"),
    "review": _("{count} review"),
    "reviews": _("{count} reviews"),
    "row": _("{count} row"),
    "rows": _("{count} rows"),
    "note": _("{count} note"),
    "notes": _("{count} notes"),
    "card": _("{count} card"),
    "cards": _("{count} cards"),
    "file": _("{count} file"),
    "files": _("{count} files"),
}


def counted(count: float, what: str) -> Localised:
    """So many days, minutes, reviews or rows; `what` names one."""
    return COUNTED[what if count == 1 else f"{what}s"].format(count=count)


# due

# answer, undo
ANSWER: dict[str, Localised] = {
    "answered": _("{card} {rating}: {state}, due {due} ({wait})"),
    "leech": _("{card} was forgotten {lapses} times: split it, or learn what it rests on"),
    "undone": _("took back {card} {rating} of {at}"),
    "undone-suspend": _("took back the suspension of {card} at {at}"),
    "undone-bury": _("took back the burying of {card} at {at}"),
    "undone-unsuspend": _("took back the return of {card} at {at}"),
    "undone-attempt": _("took back the attempt at {card} of {at}"),
    "undone-mock": _("took back the last step of the mock interview, of {at}"),
    "undone-repair": _("took back the repair of {card} of {at}"),
    "undone-fit": _("took back the fit of {at}: the parameters before it are in force again"),
    "undone-tag": _("took back the tag of {card} at {at}"),
}
STATES: dict[str, Localised] = {
    "new": pgettext("card", "new"),
    "learning": _("learning"),
    "review": _("review"),
    "relearning": _("relearning"),
}

# suspend, bury, unsuspend

# challenges, start, hint

# grade
GRADE = {
    "again": _("  A fresh exam, on other inputs: {command}"),
    "solved": _("{file} is solved, not hardened: {name}: {said}"),
    "rejected": _("{file} is rejected by {name}: {said}; `attn hint {challenge}` helps"),
}

# grade --watch
WATCH: dict[str, Localised] = {}

# mcp

# stats

# restore

# import, export, sync

# new challenge

# new card
