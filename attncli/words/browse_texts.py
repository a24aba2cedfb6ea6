"""What the app says where cards are looked through, marked and written: search, one card, a new card.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "card.note-prompt": _("Your note on this card; Enter keeps it"),
    "card.tag-prompt": _("A tag to put on, or to take off; Enter"),
    "card.undone-review": _("the rating"),
    "card.undone-hold": _("putting away or taking back in"),
    "card.undone-annotation": _("the last tag or note"),
    "card.undone-fit": _("the last fit of the parameters"),
    "card.undone-mock": _("the last step of the interview"),
    "card.undone-attempt": _("the last attempt"),
}
