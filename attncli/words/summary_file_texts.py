"""What the app says where it writes the interview summary, a part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.export-summary": _("Export the summary"),
    "palette.export-summary": _("Export the interview summary"),
    "summary.written": _("The interview summary is in {file}"),
}
