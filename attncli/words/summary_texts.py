"""The summary's own words in both languages."""

from __future__ import annotations

from attncli.domain.text import Lang

LABELS: dict[str, dict[Lang, str]] = {
    "title": {"en": "Interview summary", "zh": "面试总结"},
    "made_on": {"en": "Made on", "zh": "生成日期"},
    "interview": {"en": "Interview on", "zh": "面试日期"},
    "days_left": {"en": "days left", "zh": "天后"},
    "reviews": {"en": "Reviews", "zh": "复习次数"},
    "streak": {"en": "Streak (days)", "zh": "连续天数"},
    "retention": {"en": "Retention (30 days)", "zh": "记忆保持率（30 天）"},
    "seen": {"en": "Cards seen", "zh": "已学卡片"},
    "strengths": {"en": "Strengths", "zh": "强项"},
    "no_strengths": {"en": "No topic is at 80 % readiness yet.", "zh": "还没有主题达到 80% 的准备度。"},
    "gaps": {"en": "Gaps", "zh": "薄弱环节"},
    "no_gaps": {"en": "Every topic is at 80 % readiness or more.", "zh": "所有主题的准备度都在 80% 以上。"},
    "topics": {"en": "Topic by topic", "zh": "各主题情况"},
    "topic": {"en": "Topic", "zh": "主题"},
    "cards": {"en": "Seen", "zh": "已学"},
    "recall": {"en": "Recall now", "zh": "当前回忆率"},
    "recall_on_day": {"en": "Recall on the day", "zh": "面试当天回忆率"},
    "readiness": {"en": "Readiness", "zh": "准备度"},
    "lapses": {"en": "Lapses", "zh": "遗忘次数"},
    "weak": {"en": "Weak cards with their short answers", "zh": "薄弱卡片与简答"},
    "no_weak": {"en": "No weak cards.", "zh": "没有薄弱卡片。"},
    "explain": {"en": "In detail", "zh": "展开"},
    "points": {"en": "An interviewer ticks off", "zh": "面试官会逐条核对"},
    "pitfalls": {"en": "Pitfalls", "zh": "常见误区"},
    "rung_solved": {"en": "solved", "zh": "已解出"},
    "rung_hardened": {"en": "hardened", "zh": "已加固"},
    "solved": {"en": "Challenges solved, with your code", "zh": "已解出的编程题与你的代码"},
    "no_solved": {"en": "No challenge solved yet.", "zh": "还没有解出任何编程题。"},
    "tried": {"en": "Tried, not solved yet", "zh": "做过，尚未解出"},
    "level": {"en": "level", "zh": "难度"},
    "attempts": {"en": "attempts", "zh": "次尝试"},
    "to_review": {"en": "To review before the day", "zh": "面试前要复习的"},
    "nothing_to_review": {"en": "Nothing comes due before then.", "zh": "到那天之前没有到期的卡片。"},
    "is": {"en": ": ", "zh": "："},
    "and": {"en": ", ", "zh": "，"},
    "list": {"en": ", ", "zh": "、"},
    "aside": {"en": " ({})", "zh": "（{}）"},
    "share": {"en": "{} %", "zh": "{}%"},
    "licence": {"en": "Cards: CC BY 4.0", "zh": "卡片内容：CC BY 4.0"},
}


def labels(lang: Lang) -> dict[str, str]:
    return {key: texts[lang] for key, texts in LABELS.items()}
