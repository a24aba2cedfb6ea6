"""What is said of an answer that was marked, in the app and line by line."""

from __future__ import annotations

from attncli.i18n import Localised, _

HEADS: dict[str, Localised] = {
    "right": _("✓ Right"),
    "wrong": _("✗ Not right"),
    "partly": _("~ Partly right: {right} of {total}"),
    "no-answer": _("no answer"),
}
