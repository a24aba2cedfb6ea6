"""What the app says in a review: its screen, the kinds of answer, undo and hold, the end of a session.

A part of the table in `app_texts`; what `attn review --plain` says in the same words stands in `shared_review_texts`.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T
from attncli.words import shared_review_texts

TEXTS: dict[str, _T] = {
    "review.title": _T("Review", "复习"),
    "review.points": _T("Points you made", "你说到的要点"),
    "review.follow-ups-open": _T("Follow-ups (o opens the next answer)", "追问（按 o 展开下一条答案）"),
    "review.experiment": _T("See it shown (x): attn experiment {id}", "运行实验验证（x）：attn experiment {id}"),
    "experiment.running": _T("Claimed: {claim}\n\nRunning … {share}", "论断：{claim}\n\n运行中……{share}"),
    "experiment.quick": _T(
        "This was the quick form; the full one: attn experiment {id}", "这是快速版；完整版：attn experiment {id}"
    ),
    "review.challenge": _T("Write it yourself: challenge {id}", "动手实现：编程题 {id}"),
    "review.say-it": _T(
        "Answer aloud in 30 to 45 seconds, then press Space.", "先用 30 到 45 秒口头作答，再按空格键。"
    ),
    "review.waits-new": _T("{count} new", "新卡 {count}"),
    "review.waits-learning": _T("{count} learning", "学习中 {count}"),
    "review.waits-due": _T("{count} due", "待复习 {count}"),
    "review.time-left": _T("{seconds} s", "{seconds} 秒"),
    "review.time-up": _T("{seconds} seconds are over; take the time you need.", "{seconds} 秒到了，不急，答完再看。"),
    "review.suspended": _T("Suspended: {card} leaves the queue.", "已搁置：{card} 不再出现在队列中。"),
    "review.unsuspended": _T("{card} is back in the queue.", "{card} 已回到队列。"),
    "review.buried": _T("Buried: {card} comes back tomorrow.", "已推迟：{card} 明天再出现。"),
    "review.undone": _T("Taken back: the rating of {card}.", "已撤销对 {card} 的评分。"),
    "review.nothing-to-undo": _T("There is nothing to take back.", "没有可撤销的操作。"),
    "review.undone-hold": _T("Taken back: {card} is in the queue again.", "已撤销：{card} 已回到队列。"),
    "review.kind-qa": _T("question", "问答"),
    "review.kind-choice": _T("choice", "选择"),
    "review.kind-numeric": _T("number", "计算"),
    "review.kind-cloze": _T("cloze", "填空"),
    "review.kind-ordering": _T("ordering", "排序"),
    "review.kind-debug": _T("debug", "找错"),
    "review.level-screen": _T("screen", "初筛"),
    "review.level-onsite": _T("onsite", "现场面"),
    "review.level-research": _T("research", "研究岗"),
    "mark.your-answer": _T("(your answer)", "（你的答案）"),
    "choice.one": _T("Choose one with its letter, then press Enter.", "按字母选一项，再按回车。"),
    "choice.several": _T(
        "Choose every right one with its letter, then press Enter.", "按字母选出所有正确项，再按回车。"
    ),
    "numeric.prompt": _T("Your answer", "你的答案"),
    "numeric.hint": _T(
        "Type a number (48, 1.5e3, 3/4, 2**20), then Enter. Enter alone shows the answer.",
        "输入数字（48、1.5e3、3/4、2**20），回车提交；不填直接回车则显示答案。",
    ),
    "numeric.hint-quiz": _T(
        "Type a number (48, 1.5e3, 3/4, 2**20), then Enter.", "输入数字（48、1.5e3、3/4、2**20），回车提交。"
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
    "review.as-of": shared_review_texts.AS_OF,
    "review.unverifiable": shared_review_texts.UNVERIFIABLE,
    **{
        f"review.{name}": shared_review_texts.HEADINGS[name]
        for name in ("answer", "explain", "pitfalls", "follow-ups", "sources")
    },
    **{f"rating.{rating.word}": text for rating, text in shared_review_texts.RATINGS.items()},
}
