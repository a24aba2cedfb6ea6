"""What the settings are called, and what each does: the screen that changes them has nothing else to say about them."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

NAMES: dict[str, _T] = {
    "lang": _T("Language", "语言"),
    "desired_retention": _T("Desired retention", "目标记忆保持率"),
    "topic_retention": _T("Retention by topic", "各主题的记忆保持率"),
    "new_per_day": _T("New cards a day", "每日新卡"),
    "day_start": _T("The day begins at", "一天从几点算起"),
    "fuzz": _T("Spread due dates", "错开到期日"),
    "learning_steps": _T("Learning steps", "学习间隔"),
    "relearning_steps": _T("Relearning steps", "重学间隔"),
    "maximum_interval_days": _T("Longest interval", "最长间隔"),
    "theme": _T("Colours", "配色"),
    "reduced_motion": _T("Reduced motion", "减少动态效果"),
    "answer_timer": _T("Answer timer", "作答计时"),
    "editor": _T("Editor", "编辑器"),
    "rung": _T("Accept challenges as", "编程题通过标准"),
    "interview": _T("Interview", "面试日期"),
    "level": _T("Interview level", "面试级别"),
    "minutes_per_day": _T("Minutes a day", "每天分钟数"),
    "easy_days": _T("Easy days", "少学的日子"),
}
"""What stands beside a value."""

EXPLAINED: dict[str, _T] = {
    "lang": _T(
        "Language of cards, screens and messages. `l` switches it anywhere in the app.",
        "卡片、界面和提示所用的语言；在应用里随时按 l 切换。",
    ),
    "desired_retention": _T(
        "The share of reviews that you want to recall, 0.7 to 0.97. More costs time: at 0.95 intervals are 0.4 times "
        "as long as at 0.9.",
        "希望复习时还记得的比例，0.7 到 0.97。调高要花更多时间：0.95 的间隔只有 0.9 的 0.4 倍。",
    ),
    "topic_retention": _T(
        "Topics that you want to recall better, or less well, than the rest: att=0.95 kv=0.85; empty for none.",
        "单独设定某些主题的目标记忆保持率，例如 att=0.95 kv=0.85；留空表示都一样。",
    ),
    "new_per_day": _T(
        "How many unseen cards a day brings at most, 0 to 9999. Each new card comes back several times in its first "
        "weeks.",
        "每天最多出现多少张未学的卡片，0 到 9999。每张新卡在头几周会再出现好几次。",
    ),
    "day_start": _T(
        "The local time at which a new day begins: before it, late answers still count for yesterday.",
        "新的一天从本地几点开始，例如 04:00；在此之前的作答仍算前一天。",
    ),
    "fuzz": _T(
        "Whether intervals are spread by a few days, so that cards learnt together do not stay together.",
        "是否把间隔错开几天，免得一起学的卡片总是一起到期。",
    ),
    "learning_steps": _T(
        "Delays between the first answers to a new card, such as 1m 10m; empty for none.",
        "新卡头几次作答之间的间隔，例如 1m 10m；留空表示不设。",
    ),
    "relearning_steps": _T(
        "Delays after a card was forgotten, such as 10m; empty for none.",
        "忘记之后再次出现前的间隔，例如 10m；留空表示不设。",
    ),
    "maximum_interval_days": _T("No card waits longer than this many days.", "任何卡片的间隔都不超过这么多天。"),
    "theme": _T(
        "Dark, light, or contrast: white on black, nothing faint. Ctrl+T changes between dark and light.",
        "深色、浅色或高对比度（黑底白字，没有灰字）；Ctrl+T 切换深浅。",
    ),
    "reduced_motion": _T(
        "Whether lists and texts jump where they would glide.",
        "开启后列表和文字直接跳转，不再平滑滚动。",
    ),
    "answer_timer": _T(
        "Whether a review counts down the 30 seconds that an answer takes aloud. It interrupts nothing.",
        "复习时是否为口头作答倒数 30 秒；到点只提示，不打断。",
    ),
    "editor": _T(
        "The command that opens a solution, such as vim or code --wait; empty for $VISUAL, then $EDITOR.",
        "打开答案文件所用的命令，例如 vim 或 code --wait；留空则依次用 $VISUAL、$EDITOR。",
    ),
    "rung": _T(
        "What counts as accepted: solved is right at the whiteboard, hardened is right in production too.",
        "达到哪一级算通过：已解出是白板面试的要求，已加固是生产环境的要求。",
    ),
    "interview": _T(
        "The day of the interview, such as 2027-03-31, today or later; empty for none.",
        "面试日期，例如 2027-03-31，不能早于今天；留空表示未定。",
    ),
    "level": _T(
        "The interview ahead: screen (a first call), onsite (whole rounds), research. New cards up to it come first; "
        "a drill and a mock interview in the app begin with it.",
        "面试属于哪一级：初筛（电话或首轮）、现场面（完整轮次）、研究岗。不超过该级的新卡先出，应用里的专项练习和模拟面试默认选它。",
    ),
    "minutes_per_day": _T(
        "How many minutes a day the plan for the interview and the review queue may fill, 1 to 960; the queue keeps to "
        "them once they are set.",
        "面试计划和复习队列每天可以安排多少分钟，1 到 960；设置之后，队列才按这个时间安排。",
    ),
    "easy_days": _T(
        "Weekdays with less time, each with the percentage of the minutes that is left, such as sat=50 sun=0; empty "
        "for none.",
        "时间较少的日子，写出还剩百分之几的时间，例如 sat=50 sun=0（周六一半，周日休息）；留空表示没有。",
    ),
}
"""What a setting does and how its value is written."""

TEXTS: dict[str, _T] = {
    "key.settings": _T("Settings", "设置"),
    "palette.settings": _T("Change the settings", "修改设置"),
    "settings.title": _T("Settings", "设置"),
    "settings.none": _T("none", "无"),
    "settings.default": _T("Default: {value}.", "默认值：{value}。"),
    "settings.unfit": _T(
        "“{value}” does not fit and was not kept; see above how it is written.",
        "“{value}” 不合要求，未保存；写法见上。",
    ),
    "settings.kept": _T("Kept.", "已保存。"),
    "settings.from-next-start": _T(
        "Kept; schedules follow it when attn is started next.", "已保存；下次启动 attn 时按它安排复习。"
    ),
    "settings.prompt": _T("Enter keeps it, Esc leaves it as it was", "回车保存，Esc 放弃修改"),
    "settings.true": _T("yes", "是"),
    "settings.false": _T("no", "否"),
    "settings.en": _T("English", "English"),
    "settings.zh": _T("中文", "中文"),
    "settings.dark": _T("dark", "深色"),
    "settings.light": _T("light", "浅色"),
    "settings.contrast": _T("contrast", "高对比度"),
    "settings.solved": _T("solved", "已解出"),
    "settings.hardened": _T("hardened", "已加固"),
    "settings.any": _T("any", "不限"),
    "settings.screen": _T("screen", "初筛"),
    "settings.onsite": _T("onsite", "现场面"),
    "settings.research": _T("research", "研究岗"),
}
"""Everything else on the screen; a part of the table in `app_texts`."""
