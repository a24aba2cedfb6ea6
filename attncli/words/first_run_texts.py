"""What the app asks before the first card, a part of the table in `app_texts`; the names are those of the settings."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "first-run.lang": _("Of cards, screens and messages."),
    "first-run.interview": _("If there is one, such as {example}: attn plans towards that day."),
    "first-run.level": _("Screen: a first call. Onsite: whole rounds. Cards up to it come first."),
    "first-run.minutes": _("How long you want to study; 30 minutes bring 10 new cards a day."),
    "first-run.wrong-interview": _("Write a day to come such as {example}, or leave it empty."),
    "first-run.wrong-minutes": _("Write a whole number from 1 to 960."),
}
