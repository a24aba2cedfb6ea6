"""What a card says in Anki, and what the commands say that write and read packages."""

from __future__ import annotations

from attncli.i18n import Localised, _

# on the cards

# export

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
