"""What the app asks before the first card, a part of the table in `app_texts`; the names are those of the settings."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.go-on": _T("Next question", "下一项"),
    "key.finish": _T("Finish", "完成"),
    "key.skip-all": _T("Skip all", "全部跳过"),
    "first-run.title": _T("Welcome", "欢迎"),
    "first-run.intro": _T(
        "Four questions, then Home, where r starts. Enter takes what stands there.",
        "先回答四个问题，然后到主页按 r 开始。按回车采用当前的值。",
    ),
    "first-run.later": _T(
        "All of it can be changed later: press , on Home for the settings.",
        "以后都能修改：在主页按 , 打开设置。",
    ),
    "first-run.lang": _T("Of cards, screens and messages.", "卡片、界面和提示所用的语言。"),
    "first-run.interview": _T(
        "If there is one, such as {example}: attn plans towards that day.",
        "如果已定：写成 {example}，之后会按这一天安排计划。",
    ),
    "first-run.level": _T(
        "Screen: a first call. Onsite: whole rounds. Cards up to it come first.",
        "准备到哪一级：初筛是首轮电话，现场面是完整轮次；这一级以内的卡片先出。",
    ),
    "first-run.minutes": _T(
        "How long you want to study; 30 minutes bring 10 new cards a day.",
        "每天想学多久；30 分钟约每天 10 张新卡。",
    ),
    "first-run.open": _T("empty for none", "未定则留空"),
    "first-run.wrong-interview": _T(
        "Write a day to come such as {example}, or leave it empty.", "请写将来的一天，例如 {example}，或者留空。"
    ),
    "first-run.wrong-minutes": _T("Write a whole number from 1 to 960.", "请写 1 到 960 之间的整数。"),
}
