"""What the page around the app says in a browser."""

from __future__ import annotations

from attncli.i18n import Localised, _

PAGE: dict[str, Localised] = {
    "closed": _("The app has ended."),
    "again": _("Open it again"),
    "noscript": _("The app needs JavaScript."),
}
