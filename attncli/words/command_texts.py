"""What the commands print. `due` and `answer` load it: it imports nothing but `Localised`."""

from __future__ import annotations

from attncli.domain.text import Localised
from attncli.domain.text import Localised as _T

COUNTED: dict[str, Localised] = {
    "day": _T("{count:g} day", "{count:g} 天"),
    "days": _T("{count:g} days", "{count:g} 天"),
    "minute": _T("{count:g} minute", "{count:g} 分钟"),
    "minutes": _T("{count:g} minutes", "{count:g} 分钟"),
    "bug": _T("{count} bug", "{count} 处错误"),
    "bugs": _T("{count} bugs", "{count} 处错误"),
    "review": _T("{count} review", "复习 {count} 次"),
    "reviews": _T("{count} reviews", "复习 {count} 次"),
    "row": _T("{count} row", "{count} 条记录"),
    "rows": _T("{count} rows", "{count} 条记录"),
    "note": _T("{count} note", "{count} 条提示"),
    "notes": _T("{count} notes", "{count} 条提示"),
    "card": _T("{count} card", "{count} 张卡片"),
    "cards": _T("{count} cards", "{count} 张卡片"),
    "file": _T("{count} file", "{count} 个文件"),
    "files": _T("{count} files", "{count} 个文件"),
}


def counted(count: float, what: str) -> Localised:
    """So many days, minutes, reviews or rows; `what` names one."""
    return COUNTED[what if count == 1 else f"{what}s"].format(count=count)


# due
DUE_NOW = _T(
    "{counts.due} due: {counts.new} new, {counts.learning} learning, {counts.review} to review; "
    "challenges: {counts.challenges}",
    "待复习 {counts.due}：新卡 {counts.new}，学习中 {counts.learning}，复习 {counts.review}；"
    "到期的编程题 {counts.challenges}",
)
TOO_MANY_FOR_TODAY = _T(
    "{counts.left_out} more to review than fit today (minutes: {minutes:g}); they stay due, and what fades fastest "
    "comes first",
    "还有 {counts.left_out} 张待复习的卡今天 {minutes:g} 分钟内排不下：仍算到期，遗忘最快的先复习",
)

# answer, undo
ANSWER: dict[str, Localised] = {
    "answered": _T("{card} {rating}: {state}, due {due} ({wait})", "{card} {rating}：{state}，{due} 到期（{wait}后）"),
    "leech": _T(
        "{card} was forgotten {lapses} times: split it, or learn what it rests on",
        "{card} 已忘记 {lapses} 次：把它拆开，或先补它所依赖的知识",
    ),
    "undone": _T("took back {card} {rating} of {at}", "已撤销 {card} 在 {at} 的评分 {rating}"),
    "undone-suspend": _T("took back the suspension of {card} at {at}", "已撤销 {at} 对 {card} 的搁置"),
    "undone-bury": _T("took back the burying of {card} at {at}", "已撤销 {at} 对 {card} 的推迟"),
    "undone-unsuspend": _T("took back the return of {card} at {at}", "已撤销 {at} 对 {card} 的恢复"),
    "undone-attempt": _T("took back the attempt at {card} of {at}", "已撤销 {at} 对 {card} 的作答"),
    "undone-mock": _T("took back the last step of the mock interview, of {at}", "已撤销模拟面试在 {at} 的上一步"),
    "undone-repair": _T("took back the repair of {card} of {at}", "已撤销 {at} 对 {card} 的排错"),
    "undone-fit": _T(
        "took back the fit of {at}: the parameters before it are in force again",
        "已撤销 {at} 的参数拟合，恢复之前的参数",
    ),
    "undone-tag": _T("took back the tag of {card} at {at}", "已撤销 {at} 给 {card} 加的标签"),
}
STATES: dict[str, Localised] = {
    "new": _T("new", "新卡"),
    "learning": _T("learning", "学习中"),
    "review": _T("review", "复习"),
    "relearning": _T("relearning", "重新学习"),
}

# suspend, bury, unsuspend
SUSPENDED = _T("{card} is suspended; `attn unsuspend` brings it back", "已搁置 {card}；用 `attn unsuspend` 恢复")
BURIED = _T(
    "{card} is buried until tomorrow; `attn unsuspend` brings it back", "{card} 推迟到明天；用 `attn unsuspend` 恢复"
)
IN_QUEUE = _T("{card} is in the queue", "{card} 在队列中")

# challenges, start, hint
OLD_FILE_KEPT = _T("kept the old file as {file}", "原来的文件保存为 {file}")
NO_SYMPTOM = _T("This solution is rejected. Find out why, and mend it.", "这份解答通不过评测。找出原因并改正。")
REPAIR_HANDED_OUT = _T(
    "{bugs} to find and mend; `{command}` tells how many are repaired",
    "有 {bugs}待改正；用 `{command}` 看改对了几处",
)
HINT = _T("{heading}: {text}", "{heading}：{text}")
LAST_HINT = _T(
    "that was the last hint; `attn solution {challenge}` shows the reference",
    "这是最后一条提示；用 `attn solution {challenge}` 查看参考解",
)
DUE_ON = _T("  due {day:%Y-%m-%d}", "  {day:%Y-%m-%d} 到期")

# grade
GRADE = {
    "again": _T("  A fresh exam, on other inputs: {command}", "  用新的输入再考一次：{command}"),
    "solved": _T("{file} is solved, not hardened: {name}: {said}", "{file} 已解出，但未加固：{name}：{said}"),
    "rejected": _T(
        "{file} is rejected by {name}: {said}; `attn hint {challenge}` helps",
        "{file} 未通过 {name}：{said}；`attn hint {challenge}` 给出提示",
    ),
}

# grade --watch
WATCH_KEYS = _T(
    "h hint · s solution · e editor · n next challenge · r again · q quit",
    "h 提示 · s 参考解 · e 编辑 · n 下一题 · r 重新评测 · q 退出",
)
WATCH: dict[str, Localised] = {
    "watching": _T("watching {file}", "正在监视 {file}"),
    "none-left": _T("no other challenge is left to solve", "没有其他未解出的编程题"),
    "changed": _T("changed: {check} {before} → {now}", "变化：{check} {before} → {now}"),
    "unchanged": _T("no check changed", "各项检查与上次相同"),
    "see-solution": _T(
        "s again shows the reference: it is recorded, and solving it today counts as Again",
        "再按一次 s 显示参考解：会记录下来，今天再做出来也按“重来”计",
    ),
}

# mcp
MCP_WAITS = _T(
    "Waiting for an assistant that speaks MCP on standard input; Ctrl-C ends it. docs/assistant.md says how to add it.",
    "正在等待通过标准输入说 MCP 协议的助手接入；按 Ctrl-C 结束。添加方法见 docs/assistant.md。",
)

# stats
TOTALS = _T(
    "{reviews} ({found.today} today), streak {days}, 30-day retention {recalled}\n"
    "{found.seen}/{found.cards} cards seen, {solved} challenges solved\n"
    "coming due: {coming}",
    "{reviews}（今天 {found.today} 次），连续 {days}，30 天记忆保持率 {recalled}\n"
    "已学 {found.seen}/{found.cards} 张卡片，解出 {solved} 道编程题\n"
    "未来到期：{coming}",
)
TOPIC_HEAD = _T("topic seen recall ready lapses weak", "主题 已学 回忆率 掌握度 遗忘 薄弱")

# restore
SEMICOLON = _T("; ", "；")
RESTORED = _T("restored {rows} from {file}", "已从 {file} 恢复 {rows}")
ROWS_LEFT_OUT = _T(
    "left out {rows} that cannot be used, first {first}; nothing was removed from {file}",
    "有 {rows}无法使用，未恢复，第一条是 {first}；{file} 本身没有改动",
)
WHAT_WAS_KEPT = _T("what was there before is in {kept}", "之前的内容保存在 {kept}")
MISSING = _T(
    "not in the backup but here before: {rows}, kept in {kept}; `attn import log {kept}` adds what is missing",
    "此处原有的 {rows}不在备份中：保存在 {kept}，可用 `attn import log {kept}` 加回",
)

# import, export, sync
IMPORTED = _T("{new} new rows", "新增 {new} 条记录")
EXPORTED = _T("{count} rows in {file}", "{file} 中有 {count} 条记录")
SYNCED = _T(
    "{received} new rows from other machines; {written} of this one in {file}",
    "从其他设备收到 {received} 条新记录；本机的 {written} 条在 {file} 中",
)
LEFT_OUT = _T("left out: {fault}", "未采用：{fault}")
MORE_LEFT_OUT = _T("left out: {count} more", "未采用：另有 {count} 处")

# new challenge
CHALLENGE_NEXT = _T(
    "Write reference.py and wrong/first-mistake.py, then prove it with: attn verify {id}",
    "写好 reference.py 和 wrong/first-mistake.py，再用 attn verify {id} 验证",
)

# new card
NEW_QUESTION = _T("Write the question here.", "在这里写问题。")
NEW_ANSWER = _T("Write the answer here.", "在这里写答案。")
CARD_WRITTEN = _T("{id} is written; `attn show {id}` shows it", "已写好 {id}；用 `attn show {id}` 查看")
CARD_TO_WRITE = _T(
    "Write its question and its answer there, then: attn bank check {path}",
    "在那里写好问题和答案，然后运行：attn bank check {path}",
)
NO_EDITOR = _T(
    "The editor “{editor}” cannot be started ({why}): set one with `attn config editor vim`.",
    "无法启动编辑器“{editor}”（{why}）：请用 `attn config editor vim` 设置。",
)
NO_EDITORS = _T(
    "No editor was found: set one with `attn config editor vim`.",
    "找不到编辑器：请用 `attn config editor vim` 设置。",
)
