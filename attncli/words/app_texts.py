"""Every text of the app itself, in English and Chinese: one table, so that a test can prove both complete.

Card texts come from the bank; only what the app says by itself stands here. `say("home.streak", lang, days=3)`.
"""

from __future__ import annotations

from attncli.domain.text import Lang, Localised
from attncli.words import app_challenge_texts, review_texts

_T = Localised

TEXTS: dict[str, Localised] = {
    "key.help": _T("Help", "帮助"),
    "key.home": _T("Home", "主页"),
    "key.back": _T("Back", "返回"),
    "key.quit": _T("Quit", "退出"),
    "key.language": _T("中文", "English"),
    "key.theme": _T("Light or dark", "浅色或深色"),
    "key.review": _T("Review", "复习"),
    "key.challenges": _T("Challenges", "编程题"),
    "key.search": _T("Search", "搜索"),
    "key.stats": _T("Stats", "统计"),
    "key.reveal": _T("Show answer", "显示答案"),
    "key.submit": _T("Answer", "提交"),
    "key.tick": _T("Tick", "勾选"),
    "key.points": _T("Tick", "勾选"),
    "key.rate": _T("Rate", "评分"),
    "key.accept": _T("Accept", "按建议"),
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
    "home.due": _T("{due} due", "{due} 张待复习"),
    "home.nothing-due": _T("Nothing is due. Well done.", "今天没有待复习的卡片，做得好。"),
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
    "home.empty-bank": _T("There are no cards yet.", "还没有卡片。"),
    "review.title": _T("Review", "复习"),
    "review.points": _T("Points you made", "你说到的要点"),
    "review.follow-ups-open": _T("Follow-ups (o opens the next answer)", "追问（按 o 展开下一条答案）"),
    "review.challenge": _T("Write it yourself: challenge {id}", "动手实现：编程题 {id}"),
    "review.say-it": _T(
        "Answer aloud in 30 to 45 seconds, then press Space.", "先用 30 到 45 秒口头作答，再按空格键。"
    ),
    "review.suspended": _T("Suspended: {card} leaves the queue.", "已搁置：{card} 不再出现在队列中。"),
    "review.unsuspended": _T("{card} is back in the queue.", "{card} 已回到队列。"),
    "review.buried": _T("Buried: {card} comes back tomorrow.", "已推迟：{card} 明天再出现。"),
    "review.undone": _T("Taken back: the rating of {card}.", "已撤销对 {card} 的评分。"),
    "review.nothing-to-undo": _T("There is nothing to take back.", "没有可撤销的操作。"),
    "review.undone-hold": _T("Taken back: {card} is in the queue again.", "已撤销：{card} 已回到队列。"),
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
        "Not stored: the database cannot be written; `attn doctor` says why.",
        "未保存：数据库无法写入，可用 `attn doctor` 查看原因。",
    ),
    "fault.replaced": _T(
        "Not stored: another database took its place. Close attn, start it again.",
        "未保存：数据库文件已被替换。请退出 attn 后重新启动。",
    ),
    "fault.store": _T(
        "Not stored: the database cannot be used; `attn doctor` says why.",
        "未保存：数据库无法使用，可用 `attn doctor` 查看原因。",
    ),
    "fault.damaged": _T(
        "Not stored: the database is damaged. Run `attn doctor --rebuild`.",
        "未保存：数据库已损坏。请退出并运行 `attn doctor --rebuild`。",
    ),
    "fault.clock": _T(
        "Not stored: this machine's clock is wrong. Set it and press again.",
        "未保存：本机时钟不对。请校准后再按一次。",
    ),
    "fault.gone": review_texts.GONE,
    "fault.other": _T("{message}", "{message}"),
    "review.kind-qa": _T("question", "问答"),
    "review.kind-choice": _T("choice", "选择"),
    "review.kind-numeric": _T("number", "计算"),
    "review.kind-cloze": _T("cloze", "填空"),
    "review.kind-ordering": _T("ordering", "排序"),
    "review.kind-debug": _T("debug", "找错"),
    "review.level-screen": _T("screen", "初筛"),
    "review.level-onsite": _T("onsite", "现场面"),
    "review.level-research": _T("research", "研究岗"),
    "mark.your-answer": _T("your answer", "你的答案"),
    "choice.one": _T("Choose one with its letter, then press Enter.", "按字母选一项，再按回车。"),
    "choice.several": _T(
        "Choose every right one with its letter, then press Enter.", "按字母选出所有正确项，再按回车。"
    ),
    "numeric.prompt": _T("Your answer", "你的答案"),
    "numeric.hint": _T(
        "Type a number (48, 1.5e3, 3/4, 2**20), then Enter. Enter alone shows the answer.",
        "输入数字（48、1.5e3、3/4、2**20），回车提交；不填直接回车则显示答案。",
    ),
    "cloze.hint": _T(
        "Enter goes to the next blank, then answers. Formulas may be written in any equal form.",
        "回车跳到下一空，最后一空回车提交；公式可写成任何等价形式。",
    ),
    "cloze.prompt": _T("Blank {n}", "第 {n} 空"),
    "ordering.prompt": _T(
        "Put them in order: Shift+↑/↓ moves an item, Enter answers.", "排出顺序：Shift+↑/↓ 移动条目，回车提交。"
    ),
    "ordering.one-order": _T("A right order", "一种正确顺序"),
    "debug.prompt": _T("Which line is wrong? ↑/↓ chooses it, Enter answers.", "哪一行有错？↑/↓ 选择，回车提交。"),
    "done.title": _T("Session done", "本轮结束"),
    "done.nothing": _T("Nothing to review here right now.", "这里暂时没有要复习的卡片。"),
    "done.recalled": _T("{percent} % recalled", "记住 {percent}%"),
    "done.minutes": _T("{minutes} min", "{minutes} 分钟"),
    "done.still-due": _T("{due} still due", "还剩 {due} 张"),
    "done.waiting": _T("The next card comes back in {interval}.", "下一张卡片将在 {interval}后出现。"),
    "done.again": _T("Rated Again", "需要重来的卡片"),
    "done.leave": _T("Enter: back to Home", "回车：返回主页"),
    "key.tab": _T("Report", "题目/报告"),
    "search.title": _T("Search", "搜索"),
    "search.prompt": _T("Words of a question or an answer, English or Chinese", "输入题目或答案中的词，中英文均可"),
    "search.found": _T("{count} cards", "{count} 张卡片"),
    "search.found-one": _T("{count} card", "{count} 张卡片"),
    "search.nothing": _T("No card says “{query}”.", "没有卡片提到“{query}”。"),
    "stats.title": _T("Statistics", "统计"),
    "stats.retention": _T("Retention", "记忆保持率"),
    "stats.reviews": _T("Reviews", "复习次数"),
    "stats.streak": _T("Streak", "连续天数"),
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
    "palette.search": _T("Search the cards", "搜索卡片"),
    "palette.language": _T("Switch to Chinese", "切换为英文"),
    "palette.theme": _T("Switch between light and dark", "切换浅色与深色"),
    "palette.quit": _T("Quit attn", "退出 attn"),
    "review.as-of": review_texts.AS_OF,
    "review.unverifiable": review_texts.UNVERIFIABLE,
    **{
        f"review.{name}": review_texts.HEADINGS[name]
        for name in ("answer", "explain", "pitfalls", "follow-ups", "sources")
    },
    **{f"rating.{rating.word}": text for rating, text in review_texts.RATINGS.items()},
    **{f"outdated.{reason}": text for reason, text in review_texts.OUTDATED.items()},
    **app_challenge_texts.TEXTS,
}


def say(key: str, lang: Lang, **values: object) -> str:
    """The text with its placeholders filled in. Raises KeyError for a key that is not in the table."""
    return TEXTS[key][lang].format(**values)


def say_counted(key: str, lang: Lang, count: int, **values: object) -> str:
    """`say` of something that is counted: the text `key-one` speaks of one."""
    return say(f"{key}-one" if count == 1 else key, lang, count=count, **values)
