"""What the app's own editor says. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised

TEXTS: dict[str, Localised] = {}
