"""The summary's own words in both languages."""

from __future__ import annotations

from attncli.domain.rungs import RUNGS
from attncli.domain.text import Lang, Localised
from attncli.words.reports import STANDINGS
from attncli.words.shared_review_texts import HEADINGS

_T = Localised

LABELS: dict[str, Localised] = {
    "title": _T("Interview summary", "面试总结"),
    "made_on": _T("Made on", "生成日期"),
    "interview": _T("Interview on", "面试日期"),
    "days_left": _T("days left", "天后"),
    "reviews": _T("Reviews", "复习次数"),
    "streak": _T("Streak (days)", "连续天数"),
    "retention": _T("Retention (30 days)", "记忆保持率（30 天）"),
    "seen": _T("Cards seen", "已学卡片"),
    "strengths": _T("Strengths", "强项"),
    "no_strengths": _T("No topic is at 80 % readiness yet.", "还没有主题达到 80% 的掌握度。"),
    "gaps": _T("Gaps", "薄弱环节"),
    "no_gaps": _T("Every topic is at 80 % readiness or more.", "所有主题的掌握度都在 80% 以上。"),
    "topics": _T("Topic by topic", "各主题情况"),
    "topic": _T("Topic", "主题"),
    "cards": _T("Seen", "已学"),
    "recall": _T("Recall now", "当前回忆率"),
    "recall_on_day": _T("Recall on the day", "面试当天回忆率"),
    "readiness": _T("Readiness", "掌握度"),
    "lapses": _T("Lapses", "遗忘次数"),
    "weak": _T("Weak cards with their short answers", "薄弱卡片与简答"),
    "no_weak": _T("No weak cards.", "没有薄弱卡片。"),
    "points": _T("An interviewer ticks off", "面试官会逐条核对"),
    "solved": _T("Challenges solved, with your code", "已解出的编程题与你的代码"),
    "no_solved": _T("No challenge solved yet.", "还没有解出任何编程题。"),
    "tried": _T("Tried, not solved yet", "做过，尚未解出"),
    "level": _T("level", "难度"),
    "attempts": _T("attempts", "次尝试"),
    "to_review": _T("To review before the day", "面试前要复习的"),
    "nothing_to_review": _T("Nothing comes due before then.", "到那天之前没有到期的卡片。"),
    "is": _T(": ", "："),
    "and": _T(", ", "，"),
    "list": _T(", ", "、"),
    "aside": _T(" ({})", "（{}）"),
    "share": _T("{} %", "{}%"),
    "licence": _T("Cards: CC BY 4.0", "卡片内容：CC BY 4.0"),
}


def labels(lang: Lang) -> dict[str, str]:
    """The words of the summary, and those that it shares with reviews and reports."""
    shared = {name: HEADINGS[name] for name in ("explain", "pitfalls")} | {
        f"rung_{rung}": STANDINGS[rung] for rung in RUNGS
    }
    return {name: text[lang] for name, text in (LABELS | shared).items()}
