"""What the app says where the learner chooses cards beyond the schedule: the drill, and the quiz in the app.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.drill": _T("Drill", "专项练习"),
    "key.start": _T("Start", "开始"),
    "key.change": _T("Change", "更改"),
    "palette.drill": _T("Drill cards of your choice", "自选卡片专项练习"),
    "drill.title": _T("Drill", "专项练习"),
    "drill.start": _T("Start: {asked} of {count} cards that fit", "开始：符合条件的 {count} 张中练 {asked} 张"),
    "drill.nothing": _T("No card fits.", "没有符合条件的卡片。"),
    "drill.without": _T("{count} if “{name}” is left open", "不限“{name}”则有 {count} 张"),
    "drill.topic": _T("Topic", "主题"),
    "drill.kind": _T("Kind", "题型"),
    "drill.level": _T("Interview level", "面试级别"),
    "drill.weak": _T("Weak cards only", "只练薄弱卡片"),
    "drill.count": _T("At most", "最多"),
    "drill.cram": _T("Cram", "突击"),
    "drill.any": _T("any", "不限"),
    "drill.yes": _T("yes", "是"),
    "drill.no": _T("no", "否"),
    "drill.cards": _T("{count} cards", "{count} 张卡片"),
    "drill.note": _T(
        "Answers are reviews and change the schedule; a cram records nothing. Unseen cards count as today's new ones. "
        "Weak is what you would likely not recall today, forgot often, or missed last time. "
        "Suspended and buried cards are left out.",
        "作答算作复习，会改变复习安排；突击则不留任何记录。未学的卡片计入今天的新卡。"
        "薄弱指今天很可能想不起来、多次忘记或上次没答全的卡片。已搁置和已推迟的卡片不出。",
    ),
    "key.quiz": _T("Quiz", "测验"),
    "key.new-quiz": _T("New quiz", "再来一份"),
    "palette.quiz": _T("Take a quiz of all topics", "全部主题测验"),
    "quiz.title": _T("Quiz", "测验"),
    "quiz.blank": _T("Nothing was answered; Enter once more skips it.", "还没有作答；再按一次回车跳过本题。"),
    "fault.nothing-fits": _T(
        "There is no card for that here; choose another topic.", "这里没有合适的卡片，请换个主题。"
    ),
    "done.answered": _T("{count} answered", "答了 {count} 张"),
    "done.not-recorded": _T("A cram: nothing was recorded.", "突击练习：没有留下记录。"),
}
