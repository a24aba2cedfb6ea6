"""The summary's own words in both languages."""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.domain.text import Localised as _T
from attncli.domain.vocabulary import RUNGS
from attncli.words.grade_report_texts import STANDINGS
from attncli.words.shared_review_texts import HEADINGS

LABELS: dict[str, _T] = {
    "title": _T("Interview summary", "面试总结"),
    "made_on": _T("Made on", "生成日期"),
    "interview": _T("Interview on", "面试日期"),
    "days_left": _T("days left", "距面试天数"),
    "reviews": _T("reviews: {count}", "复习 {count} 次"),
    "streak": _T("days in a row: {count}", "连续 {count} 天"),
    "retention": _T("retention, 30 days", "近 30 天记忆保持率"),
    "seen": _T("cards seen", "已学卡片"),
    "solved_count": _T("challenges solved", "已解出的编程题"),
    "hardened_count": _T("{count} hardened", "其中已加固 {count}"),
    "recall": _T("recall of seen cards today", "已学卡片今日回忆率"),
    "recall_on_day": _T("recall of seen cards on the day", "已学卡片当天回忆率"),
    "readiness": _T("readiness, unseen cards counted", "掌握度（含未学卡片）"),
    "forecast_note": _T(
        "The forecast assumes no further review; every review until then raises it.",
        "预测假定此后不再复习；在那之前每复习一次都会更高。",
    ),
    "open_with": _T("Open with", "主动谈"),
    "no_open_with": _T(
        "Nothing is firm yet: no topic with three cards seen is recalled at 70\u00a0%.",
        "还没有把握大的主题：已学三张以上的主题，回忆率都不到 70%。",
    ),
    "open_with_code": _T("Code you have written", "亲手写出的代码"),
    "more": _T(" and {count} more", "等，另有 {count} 道"),
    "avoid": _T("Do not bring up", "不要主动提"),
    "no_avoid": _T("None of the topics that you began is shaky.", "已开始的主题都比较稳。"),
    "map": _T("Readiness by topic", "各主题掌握度"),
    "map_note": _T(
        "Dark: readiness on the day. Light: share of the cards seen. The topic with most left to learn comes first.",
        "深色：当天掌握度；浅色：已学卡片占比。缺口最大的主题排在最前。",
    ),
    "map_note_today": _T(
        "Dark: readiness today. Light: share of the cards seen. The topic with most left to learn comes first.",
        "深色：今日掌握度；浅色：已学卡片占比。缺口最大的主题排在最前。",
    ),
    "not_started": _T("Not begun", "尚未开始"),
    "nothing_begun": _T(
        "No card has been reviewed yet; `attn review` begins.", "还没有复习过卡片；用 `attn review` 开始。"
    ),
    "topic": _T("Topic", "主题"),
    "cards": _T("Seen", "已学"),
    "short_recall": _T("Recall", "回忆率"),
    "short_readiness": _T("Readiness", "掌握度"),
    "weak_cards": _T("Weak", "薄弱"),
    "lapses": _T("Lapses", "遗忘次数"),
    "weakest": _T("Look at these first", "先看这几张"),
    "weak": _T("Weak cards with their answers, by topic", "各主题的薄弱卡片与答案"),
    "weak_shown": _T(
        "The {shown} weakest of {count}; `attn drill --weak` asks them all.",
        "共 {count} 张，这里列出最弱的 {shown} 张；`attn drill --weak` 可逐一练习。",
    ),
    "no_weak": _T("No weak cards.", "没有薄弱卡片。"),
    "due": _T("Also due by the day", "到那天为止还会到期的"),
    "due_today": _T("Also due today", "今天还会到期的"),
    "due_shown": _T(
        "The {shown} least certain of {count} are listed.", "共 {count} 张，这里列出把握最小的 {shown} 张。"
    ),
    "points": _T("An interviewer ticks off", "面试官会逐条核对"),
    "point_missed": _T("left out last time", "上次漏了"),
    "solved": _T("Your own code", "你自己的代码"),
    "no_solved": _T("No challenge solved yet.", "还没有解出任何编程题。"),
    "repaired": _T("Repaired, with bugs planted in a given file", "修好的带错代码"),
    "tried": _T("Tried, not solved yet", "做过，尚未解出"),
    "level": _T("level", "难度"),
    "attempts": _T("attempts: {count}", "尝试 {count} 次"),
    "code_above": _T("The code stands in the first part.", "代码见前一部分。"),
    "mocks": _T("Mock interviews", "模拟面试"),
    "mock_missed": _T("points missed", "漏掉的要点"),
    "last_days": _T("The last days", "最后几天"),
    "minutes": _T("min", "分钟"),
    "reason_missed": _T("missed last time", "上次没答对"),
    "reason_points": _T("points missed last time", "上次漏了要点"),
    "reason_lapses": _T("forgotten {lapses} times", "忘过 {lapses} 次"),
    "reason_recall": _T("recall on the day {recall}", "当天回忆率 {recall}"),
    "reason_recall_today": _T("recall today {recall}", "今日回忆率 {recall}"),
    "is": _T(": ", "："),
    "and": _T(", ", "，"),
    "list": _T(", ", "、"),
    "aside": _T(" ({})", "（{}）"),
    "share": _T("{} %", "{}%"),
    "licence": _T("Cards: CC BY 4.0", "卡片内容：CC BY 4.0"),
}
ANSWERS: dict[str, _T] = {
    "tolerance": _T(" (within {tolerance})", "（误差 {tolerance} 以内）"),
    "slip": _T("Not {number}: ", "不是 {number}："),
    "line": _T("Line {lines}: {symptom}", "第 {lines} 行：{symptom}"),
    "between": _T(" or ", " 或 "),
    "fix": _T("Fixed:", "改为："),
}


def labels(lang: Lang) -> dict[str, str]:
    """The words of the summary, and those that it shares with reviews and reports."""
    shared = {name: HEADINGS[name] for name in ("explain", "pitfalls")} | {
        f"rung_{rung}": STANDINGS[rung] for rung in RUNGS
    }
    return {name: text[lang] for name, text in (LABELS | shared).items()}
