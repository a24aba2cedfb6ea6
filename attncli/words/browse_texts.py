"""What the app says where cards are looked through, marked and written: search, one card, a new card.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.add-card": _("Add a card"),
    "key.flag": _("Flag"),
    "key.tag": _("Tag"),
    "key.note": _("Note"),
    "key.save": _("Save"),
    "search.filters": _("Also: #tag · is:{states} · kind:numeric · level:screen · topic:kv"),
    "search.unknown": _("{filters} means nothing here and narrows nothing."),
    "card.question-first": _("Space or Enter shows the answer."),
    "card.note": _("Your note"),
    "card.note-prompt": _("Your note on this card; Enter keeps it"),
    "card.tag-prompt": _("A tag to put on, or to take off; Enter"),
    "card.flagged": _("{card} flagged"),
    "card.unflagged": _("{card} is no longer flagged"),
    "card.not-yours": _("{card} is no card of yours: a note can be put on it, its text stays."),
    "card.undone": _("Taken back: {what} of {card}"),
    "card.undone-review": _("the rating"),
    "card.undone-hold": _("putting away or taking back in"),
    "card.undone-annotation": _("the last tag or note"),
    "card.undone-fit": _("the last fit of the parameters"),
    "card.undone-mock": _("the last step of the interview"),
    "card.undone-attempt": _("the last attempt"),
    "add.title": _("A card of your own"),
    "add.topic": _("Topic"),
    "add.question": _("What it asks"),
    "add.answer": _("What is right"),
    "add.note": _("One language is enough. $…$ is a formula, `…` is code. Ctrl+S keeps the card."),
    "add.incomplete": _("A question and an answer are needed."),
    "add.leave": _("Leave? What you typed is not kept."),
    "add.yes": _("y  Leave"),
    "add.no": _("n  Go on writing"),
    "add.kept": _("{card} is in {file}"),
}
