"""What a card says in Anki, and what the commands say that write and read packages."""

from __future__ import annotations

from attncli.i18n import Localised, _

# on the cards
MARK_SEVERAL = _("Several are right.")
PUT_IN_ORDER = _("Put these in order:")
ONE_ORDER = _("One right order:")
BEFORE = _("What must come first:")
ASKED_IN = _("Answer in {unit}.")
WITHIN = _("{expected} (within {tolerance})")
COMPUTED = _("Computed as {formula}")
ALSO_RIGHT = _("{answer} (also {others})")

# export
ANKI_WRITTEN = _("cards in {file}: {cards}; with a schedule: {reviewed}; reviews: {reviews}")
FROM_ANKI_LEFT_OUT = _("left out, since they came from Anki: {count}; `--topic` takes a topic of theirs along")

# import
ANKI_IMPORTED: dict[str, Localised] = {
    "done": _(
        "cards in {file}: {cards} (new: {new_cards}, of attn: {own}, here already: {known}); "
        "reviews: {reviews} (new: {new_reviews})"
    ),
    "dry-run": _("nothing was written (--dry-run)"),
    "file": _("new cards are in {file}"),
    "suspended": _("suspended there, and now here: {count}"),
    "unreadable": _("cards left out, with nothing to read on one side (pictures or sounds alone): {count}"),
    "media": _("pictures or sounds left out of texts: {count}"),
    "gone": _("cards of attn that no bank here has: {count}; their reviews are kept and count once the card is here"),
    "forgotten": _("reviews from before a card was reset in Anki, which count no more: {count}"),
    "taken_back": _("reviews here that this package corrects, taken back: {count}"),
    "lost": _("reviews left out, of cards that are not here: {count}"),
}
