"""What the statistics say of recall and time. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

RECALLED = _T("recalled", "实际记得")
PREDICTED = _T("predicted by FSRS", "FSRS 预测")
TEXTS: dict[str, _T] = {
    "stats.minutes": _T("Minutes of reviews a day", "每日复习分钟数"),
    "stats.not-timed": _T("No review of the last days was timed.", "近几天没有计时的复习。"),
    "stats.recall": _T("Recall against prediction", "实际记忆与预测"),
    "stats.reading": _T("Reading the histories of your cards…", "正在读取卡片的历史……"),
    "stats.no-recall": _T(
        "No card was reviewed on a later day yet; there is nothing to compare.", "还没有卡片在隔天复习过，暂无可比。"
    ),
    "stats.sampled": _T(
        "The {cards} cards that were reviewed last, {reviews} reviews on later days: the first of each day, before any "
        "step.",
        "最近复习的 {cards} 张卡片，共 {reviews} 次隔天复习（每天只算第一次，不含当天的重复）。",
    ),
    "stats.by-prediction": _T("By what FSRS predicted", "按 FSRS 预测的记忆概率"),
    "stats.curve": _T("Your forgetting curve", "你的遗忘曲线"),
    "stats.curve-axes": _T("% recalled, by days since the last review", "记得的百分比，横轴为距上次复习的天数"),
    "stats.by-days": _T("By days since the last review", "按距上次复习的天数"),
    "stats.days": _T("{span} days", "{span} 天"),
    "stats.days-from": _T("{first} days and more", "{first} 天及以上"),
    "stats.by-kind": _T("By kind", "按题型"),
    "stats.by-topic": _T("By topic", "按主题"),
    "stats.column-recalled": _T("recalled", "实际记得"),
    "stats.column-predicted": _T("predicted", "预测"),
    "stats.seconds": _T("seconds", "秒数"),
}
