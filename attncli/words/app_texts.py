"""Every text of the app itself, in English and Chinese: one table, so that a test can prove both complete.

Card texts come from the bank; only what the app says by itself stands here: of a review in `app_review_texts`, of
challenges in `app_challenge_texts`, of drills and quizzes in `app_choosing_texts`, of mock interviews in
`app_mock_texts`, everything else below.
`say("home.streak", lang, days=3)`.
"""

from __future__ import annotations

from attncli.domain.text import Lang
from attncli.domain.text import Localised as _T
from attncli.words import (
    app_challenge_texts,
    app_choosing_texts,
    app_mock_texts,
    app_review_texts,
    browse_texts,
    editor_texts,
    first_run_texts,
    home_texts,
    own_case_texts,
    refused_input_texts,
    settings_texts,
    shared_review_texts,
    stats_texts,
    summary_file_texts,
)

TEXTS: dict[str, _T] = {
    "key.help": _T("Help", "帮助"),
    "key.home": _T("Home", "主页"),
    "key.back": _T("Back", "返回"),
    "key.quit": _T("Quit", "退出"),
    "key.language": _T("中文", "English"),
    "key.theme": _T("Light or dark", "浅色或深色"),
    "key.palette": _T("Every command", "全部命令"),
    "key.review": _T("Review", "复习"),
    "key.challenges": _T("Challenges", "编程题"),
    "key.search": _T("Search", "搜索"),
    "key.stats": _T("Stats", "统计"),
    "key.plan": _T("Plan", "计划"),
    "key.study-plan": _T("Study today's list", "学今天的内容"),
    "home.plan-key": _T("p plan", "p 计划"),
    "plan.title": _T("Plan for the interview", "面试计划"),
    "key.reveal": _T("Show answer", "显示答案"),
    "key.submit": _T("Answer", "提交"),
    "key.tick": _T("Tick", "勾选"),
    "key.points": _T("Tick", "勾选"),
    "key.rate": _T("Rate", "评分"),
    "key.accept": _T("Accept", "按建议"),
    "key.experiment": _T("Run the experiment", "运行实验"),
    "key.follow-up": _T("Open the next follow-up", "展开下一条追问"),
    "key.undo": _T("Undo", "撤销"),
    "key.suspend": _T("Suspend", "搁置"),
    "key.bury": _T("Bury", "推迟"),
    "key.up": _T("Up", "上移"),
    "key.down": _T("Down", "下移"),
    "key.item-down": _T("Move item down", "条目下移"),
    "key.move-item": _T("Move item", "移动条目"),
    "key.open": _T("Open", "打开"),
    "key.edit": _T("Edit", "编辑"),
    "key.grade": _T("Grade", "评测"),
    "key.hint": _T("Hint", "提示"),
    "key.solution": _T("Solution", "参考解"),
    "key.card": _T("Card", "卡片"),
    "key.fresh": _T("Fresh exam", "换题再考"),
    "key.bug": _T("Debug", "找错"),
    "key.repair": _T("Repair", "排错"),
    "key.bugs": _T("So many bugs", "几处错误"),
    "key.next-challenge": _T("Next challenge", "下一题"),
    "key.harden": _T("What hardening asks", "加固要求"),
    "key.cancel": _T("Cancel", "取消"),
    "key.track-name": _T("Track", "类别"),
    "key.track": _T("Next track", "下一类"),
    "key.unsuspend": _T("Take back in", "恢复"),
    "key.leave-field": _T("Leave the field", "离开输入框"),
    "app.too-small": _T(
        "This terminal is {width}×{height}. attn needs at least {least_width}×{least_height}: please make it larger.",
        "当前终端为 {width}×{height}，attn 至少需要 {least_width}×{least_height}，请放大窗口。",
    ),
    "app.problems": _T(
        "{count} problems in bank files; the rest is used. First: {first}. `attn bank check` lists them.",
        "题库文件有 {count} 处问题，其余照常使用。第一处：{first}。用 `attn bank check` 查看全部。",
    ),
    "app.name": _T("attn", "attn"),
    "app.problems-one": _T(
        "{count} problem in the bank files; the rest is used: {first}. `attn bank check` says more.",
        "题库文件有 {count} 处问题，其余照常使用：{first}。用 `attn bank check` 查看。",
    ),
    "home.title": _T("Today", "今天"),
    "home.parts": _T(
        "{new} new · {learning} learning · {review} to review", "新卡 {new} · 学习中 {learning} · 复习 {review}"
    ),
    "home.challenges": _T("{count} challenges due", "{count} 道编程题到期"),
    "home.challenges-one": _T("{count} challenge due", "{count} 道编程题到期"),
    "home.streak": _T("{days}-day streak", "连续 {days} 天"),
    "home.no-streak": _T("no streak yet", "尚未连续打卡"),
    "home.all": _T("All topics", "全部主题"),
    "home.column-topic": _T("Topic", "主题"),
    "home.column-due": _T("due", "待复习"),
    "home.column-cards": _T("cards", "卡片"),
    "home.column-ready": _T("ready", "掌握度"),
    "fault.busy": _T(
        "Not stored yet: another attn is writing. Trying again; Esc gives it up.",
        "尚未保存：另一个 attn 正在写入，正在重试；按 Esc 放弃。",
    ),
    "fault.still-busy": _T(
        "Not stored: another attn is still writing. Press the key again.",
        "未保存：另一个 attn 仍在写入，请稍后再按一次。",
    ),
    "fault.full": _T(
        "Not stored: the disk is full. Free some space and press the key again.",
        "未保存：磁盘已满。请腾出空间后再按一次。",
    ),
    "fault.unwritable": _T(
        "Not stored: your history cannot be written; `attn doctor` says why.",
        "未保存：学习记录无法写入，可用 `attn doctor` 查看原因。",
    ),
    "fault.store": _T(
        "Not stored: your history cannot be used; `attn doctor` says why.",
        "未保存：学习记录无法使用，可用 `attn doctor` 查看原因。",
    ),
    "fault.damaged": _T(
        "Not stored: the cache is damaged. Start attn again; it is rebuilt.",
        "未保存：缓存已损坏。重新启动 attn 即可重建。",
    ),
    "fault.clock": _T(
        "Not stored: this machine's clock is wrong. Set it and press again.",
        "未保存：本机时钟不对。请校准后再按一次。",
    ),
    "fault.gone": shared_review_texts.GONE,
    "fault.outdated": shared_review_texts.OUTDATED,
    "fault.no-torch": _T(
        "Grading needs PyTorch, and it is not installed: pip install torch.",
        "评测需要 PyTorch，但还没有安装：pip install torch。",
    ),
    "fault.judge": _T("{message}", "评测程序出错：{message}"),
    "fault.experiment": _T("{message}", "实验没有跑完：{message}"),
    "fault.config": _T("{message}", "设置没有保存：{message}"),
    "fault.other": _T("{message}", "没有成功：{message}"),
    "key.report": _T("Report", "报告"),
    "search.title": _T("Search", "搜索"),
    "search.prompt": _T("Words of a question or an answer, English or Chinese", "输入题目或答案中的词，中英文均可"),
    "search.found": _T("{count} cards", "{count} 张卡片"),
    "search.found-one": _T("{count} card", "{count} 张卡片"),
    "search.first": _T("{shown} of {count} cards; type more", "共 {count} 张，列出 {shown} 张；多输几个字"),
    "search.nothing": _T("No card says “{query}”.", "没有卡片提到“{query}”。"),
    "stats.title": _T("Statistics", "统计"),
    "stats.retention": _T("Retention", "记忆保持率"),
    "stats.reviews": _T("Reviews", "复习次数"),
    "stats.streak": _T("Streak", "连续天数"),
    "stats.retained": _T("{share} ({window})", "{share}（{window}）"),
    "stats.last-days": _T("last {days} days", "近 {days} 天"),
    "stats.reviews-today": _T("{total}, {today} of them today", "共 {total} 次，今天 {today} 次"),
    "stats.seen": _T("Cards seen", "已学卡片"),
    "stats.challenges": _T("Challenges solved", "已解出的编程题"),
    "stats.no-reviews": _T("No reviews yet: rate a few cards first.", "还没有复习记录，先复习几张卡片吧。"),
    "stats.heatmap": _T("Reviews a day", "每日复习次数"),
    "stats.forecast": _T("Due in the next {days} days", "未来 {days} 天到期"),
    "stats.topics": _T("Readiness by topic", "各主题掌握度"),
    "stats.weekdays": _T("Mon Tue Wed Thu Fri Sat Sun", "周一 周二 周三 周四 周五 周六 周日"),
    "help.title": _T("Keys on this screen", "本页按键"),
    "help.close": _T("Escape closes", "Esc 关闭"),
    "help.ime": _T(
        "Full-width keys (１ ２ ３ ４ ？ ！) work too, so a Chinese input method may stay on.",
        "全角按键（１ ２ ３ ４ ？ ！）同样有效，不必关闭中文输入法。",
    ),
    "palette.prompt": _T("Type a command", "输入命令"),
    "palette.review": _T("Start a review of all topics", "复习全部主题"),
    "palette.home": _T("Go to Home", "回到主页"),
    "palette.challenges": _T("List the challenges", "查看编程题"),
    "palette.stats": _T("Show statistics", "查看统计"),
    "palette.plan": _T("Show the plan for the interview", "查看面试计划"),
    "palette.search": _T("Search the cards", "搜索卡片"),
    "palette.language": _T("Switch to Chinese", "切换为英文"),
    "palette.theme": _T("Switch between light and dark", "切换浅色与深色"),
    "palette.quit": _T("Quit attn", "退出 attn"),
    **app_review_texts.TEXTS,
    **app_choosing_texts.TEXTS,
    **app_mock_texts.TEXTS,
    **app_challenge_texts.TEXTS,
    **browse_texts.TEXTS,
    **editor_texts.TEXTS,
    **first_run_texts.TEXTS,
    **home_texts.TEXTS,
    **own_case_texts.TEXTS,
    **settings_texts.TEXTS,
    **stats_texts.TEXTS,
    **summary_file_texts.TEXTS,
    **refused_input_texts.TEXTS,
}


def say(key: str, lang: Lang, **values: object) -> str:
    """The text with its placeholders filled in. Raises KeyError for a key that is not in the table."""
    return TEXTS[key][lang].format(**values)


def say_counted(key: str, lang: Lang, count: int, **values: object) -> str:
    """`say` of something that is counted: the text `key-one` speaks of one."""
    return say(f"{key}-one" if count == 1 else key, lang, count=count, **values)
