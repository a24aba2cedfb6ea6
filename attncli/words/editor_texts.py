"""What the app's own editor says. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised

_T = Localised

TEXTS: dict[str, Localised] = {
    "key.write": _T("Write here", "在此编写"),
    "key.save-and-grade": _T("Save and grade", "保存并评测"),
    "key.save-and-back": _T("Save and back", "保存并返回"),
    "key.statement": _T("Statement", "题目"),
    "key.new-line": _T("New line", "换行"),
    "key.to-start": _T("To the start", "到开头"),
    "key.to-end": _T("To the end", "到末尾"),
    "editor.saved": _T("saved", "已保存"),
    "editor.unsaved": _T("not saved yet", "尚未保存"),
    "editor.place": _T("line {line}, column {column}", "第 {line} 行，第 {column} 列"),
    "editor.kept-other": _T(
        "{file} had been changed elsewhere; that text is now in {kept}.",
        "{file} 在别处被改过；那份内容已存到 {kept}。",
    ),
}
