"""What Home says besides the counts: how long it takes, the last weeks, and why nothing is due. Part of `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "home.minutes": _T("{due} due, about {minutes} min", "{due} 张待复习，约 {minutes} 分钟"),
    "home.weeks": _T("last 4 weeks", "近四周"),
    "home.nothing-due": _T("Nothing is due.", "现在没有待复习的卡片。"),
    "home.why-empty": _T(
        "There are no cards: a adds one; `attn bank check` tests a bank.",
        "还没有卡片：按 a 添加；`attn bank check` 检查题库。",
    ),
    "home.why-suspended": _T(
        "Every card is suspended: / finds them, and takes them back in.", "卡片都已搁置：按 / 查找并恢复。"
    ),
    "home.why-limit": _T(
        "Today's new cards are done: {introduced}. Still unseen: {unseen}.",
        "今天的 {introduced} 张新卡已学完，还有 {unseen} 张未学。",
    ),
    "home.why-minutes": _T(
        "Today's minutes are full. Still unseen: {unseen}.",
        "今天的时间已排满，还有 {unseen} 张未学。",
    ),
    "home.why-off": _T(
        "No new cards a day are wanted (, changes it). Still unseen: {unseen}.",
        "每日新卡设为 0（按 , 修改），还有 {unseen} 张未学。",
    ),
    "home.why-buried": _T("Put off until tomorrow: {buried}.", "推迟到明天：{buried} 张。"),
    "home.why-waiting": _T("Every card is learned, and none is due yet.", "全部卡片都已学，还没到复习时间。"),
    "home.next-in": _T("Next in {interval}.", "下一张在 {interval}后。"),
    "home.instead": _T(
        "Meanwhile: d drills any card · z quiz · c challenges",
        "可以先做：d 专项练习 · z 测验 · c 编程题",
    ),
}
