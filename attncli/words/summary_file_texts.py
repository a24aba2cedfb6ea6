"""What the app says where it writes the interview summary, a part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.export-summary": _T("Export the summary", "导出面试总结"),
    "palette.export-summary": _T("Export the interview summary", "导出面试总结"),
    "summary.written": _T("The interview summary is in {file}", "面试总结已写入 {file}"),
}
