"""What Home says besides the counts: how long it takes, the last weeks, and why nothing is due. Part of `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "home.why-empty": _("There are no cards: a adds one; `attn bank check` tests a bank."),
    "home.why-suspended": _("Every card is suspended: / finds them, and takes them back in."),
    "home.why-limit": _("Today's new cards are done: {introduced}. Still unseen: {unseen}."),
    "home.why-minutes": _("Today's minutes are full. Still unseen: {unseen}."),
    "home.why-off": _("No new cards a day are wanted (, changes it). Still unseen: {unseen}."),
    "home.why-buried": _("Put off until tomorrow: {buried}."),
    "home.why-waiting": _("Every card is learned, and none is due yet."),
}
