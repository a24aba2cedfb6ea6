"""What the app says around a mock interview: where it is chosen, its keys, its report. A part of `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "palette.mock": _("Mock interview"),
    "mock.minutes": _("Minutes"),
    "mock.level": _("Interview level"),
    "mock.interviewer": _("Somebody interviews me"),
}
