"""What the app's own editor says. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.write": _("Write here"),
    "key.save-and-grade": _("Save and grade"),
    "key.save-and-back": _("Save and back"),
    "key.statement": _("Statement"),
    "key.new-line": _("New line"),
    "key.to-start": _("To the start"),
    "key.to-end": _("To the end"),
    "key.redo": _("Redo"),
    "key.cut": _("Cut"),
    "key.paste": _("Paste"),
    "key.select-all": _("Select everything"),
    "key.word-left": _("A word to the left"),
    "key.word-right": _("A word to the right"),
    "key.line-start": _("To the start of the line"),
    "key.line-end": _("To the end of the line"),
    "key.delete-word": _("Delete the word before"),
    "key.delete-rest": _("Delete the rest of the line, or the line"),
    "editor.saved": _("saved"),
    "editor.unsaved": _("not saved yet"),
    "editor.place": _("line {line}, column {column}"),
    "editor.kept-other": _("{file} had been changed elsewhere; that text is now in {kept}."),
}
