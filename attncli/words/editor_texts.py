"""What the app's own editor says. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.write": _T("Write here", "在此编写"),
    "key.save-and-grade": _T("Save and grade", "保存并评测"),
    "key.save-and-back": _T("Save and back", "保存并返回"),
    "key.statement": _T("Statement", "题目"),
    "key.new-line": _T("New line", "换行"),
    "key.to-start": _T("To the start", "到开头"),
    "key.to-end": _T("To the end", "到末尾"),
    "key.redo": _T("Redo", "重做"),
    "key.cut": _T("Cut", "剪切"),
    "key.paste": _T("Paste", "粘贴"),
    "key.select-all": _T("Select everything", "全选"),
    "key.word-left": _T("A word to the left", "左移一个词"),
    "key.word-right": _T("A word to the right", "右移一个词"),
    "key.line-start": _T("To the start of the line", "到行首"),
    "key.line-end": _T("To the end of the line", "到行末"),
    "key.delete-word": _T("Delete the word before", "删除前一个词"),
    "key.delete-rest": _T("Delete the rest of the line, or the line", "删到行末，再按删掉整行"),
    "editor.saved": _T("saved", "已保存"),
    "editor.unsaved": _T("not saved yet", "尚未保存"),
    "editor.place": _T("line {line}, column {column}", "第 {line} 行，第 {column} 列"),
    "editor.kept-other": _T(
        "{file} had been changed elsewhere; that text is now in {kept}.",
        "{file} 在别处被改过；那份内容已存到 {kept}。",
    ),
}
