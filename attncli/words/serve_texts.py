"""What the page around the app says in a browser."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

PAGE: dict[str, _T] = {
    "closed": _T("The app has ended.", "应用已退出。"),
    "again": _T("Open it again", "重新打开"),
    "noscript": _T("The app needs JavaScript.", "应用需要启用 JavaScript。"),
}
TOO_MANY = _T("Too many apps are open here; close one.", "打开的应用太多了，请先关闭一个。")
