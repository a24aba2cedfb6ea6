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
DUE_NOW = _(
    "{counts.due} due: {counts.new} new, {counts.learning} learning, {counts.review} to review; "
    "challenges: {counts.challenges}"
)
TOO_MANY_FOR_TODAY = _(
    "{counts.left_out} more to review than fit today (minutes: {minutes:g}); they stay due, and what fades fastest "
    "comes first"
)

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
SUSPENDED = _("{card} is suspended; `attn unsuspend` brings it back")
BURIED = _("{card} is buried until tomorrow; `attn unsuspend` brings it back")
IN_QUEUE = _("{card} is in the queue")

# challenges, start, hint
OLD_FILE_KEPT = _("kept the old file as {file}")
NO_SYMPTOM = _("This solution is rejected. Find out why, and mend it.")
REPAIR_HANDED_OUT = _("{bugs} to find and mend; `{command}` tells how many are repaired")
HINT = _("{heading}: {text}")
LAST_HINT = _("that was the last hint; `attn solution {challenge}` shows the reference")
DUE_ON = _("  due {day:%Y-%m-%d}")

# grade
GRADE = {
    "again": _("  A fresh exam, on other inputs: {command}"),
    "solved": _("{file} is solved, not hardened: {name}: {said}"),
    "rejected": _("{file} is rejected by {name}: {said}; `attn hint {challenge}` helps"),
}

# grade --watch
WATCH_KEYS = _("h hint · s solution · e editor · n next challenge · r again · q quit")
WATCH: dict[str, Localised] = {
    "watching": _("watching {file}"),
    "none-left": _("no other challenge is left to solve"),
    "changed": _("changed: {check} {before} → {now}"),
    "unchanged": _("no check changed"),
    "see-solution": _("s again shows the reference: it is recorded, and solving it today counts as Again"),
}

# mcp
MCP_WAITS = _(
    "Waiting for an assistant that speaks MCP on standard input; Ctrl-C ends it. docs/assistant.md says how to add it."
)

# stats
TOTALS = _(
    "{reviews} ({found.today} today), streak {days}, 30-day retention {recalled}\n"
    "{found.seen}/{found.cards} cards seen, {solved} challenges solved\n"
    "coming due: {coming}"
)
TOPIC_HEAD = _("topic seen recall ready lapses weak")

# restore
SEMICOLON = _("; ")
RESTORED = _("restored {rows} from {file}")
ROWS_LEFT_OUT = _("left out {rows} that cannot be used, first {first}; nothing was removed from {file}")
WHAT_WAS_KEPT = _("what was there before is in {kept}")
MISSING = _("not in the backup but here before: {rows}, kept in {kept}; `attn import log {kept}` adds what is missing")

# import, export, sync
IMPORTED = _("{new} new rows")
EXPORTED = _("{count} rows in {file}")
SYNCED = _("{received} new rows from other machines; {written} of this one in {file}")
LEFT_OUT = _("left out: {fault}")
MORE_LEFT_OUT = _("left out: {count} more")

# new challenge
CHALLENGE_NEXT = _("Write reference.py and wrong/first-mistake.py, then prove it with: attn verify {id}")

# new card
NEW_QUESTION = _("Write the question here.")
NEW_ANSWER = _("Write the answer here.")
CARD_WRITTEN = _("{id} is written; `attn show {id}` shows it")
CARD_TO_WRITE = _("Write its question and its answer there, then: attn bank check {path}")
NO_EDITOR = _("The editor “{editor}” cannot be started ({why}): set one with `attn config editor vim`.")
NO_EDITORS = _("No editor was found: set one with `attn config editor vim`.")
