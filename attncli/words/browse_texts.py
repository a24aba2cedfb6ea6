"""What the app says where cards are looked through, marked and written: search, one card, a new card.

A part of the table in `app_texts`.
"""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.add-card": _T("Add a card", "新增卡片"),
    "key.flag": _T("Flag", "标旗"),
    "key.tag": _T("Tag", "标签"),
    "key.note": _T("Note", "笔记"),
    "key.save": _T("Save", "保存"),
    "search.filters": _T(
        "Also: #tag · is:{states} · kind:numeric · level:screen · topic:kv",
        "还可以写：#标签 · is:{states} · kind:numeric · level:screen · topic:kv",
    ),
    "search.unknown": _T("{filters} means nothing here and narrows nothing.", "{filters} 不是筛选条件，未作筛选。"),
    "card.question-first": _T("Space or Enter shows the answer.", "按空格或回车显示答案。"),
    "card.note": _T("Your note", "你的笔记"),
    "card.note-prompt": _T("Your note on this card; Enter keeps it", "写给这张卡片的笔记；回车保存"),
    "card.tag-prompt": _T("A tag to put on, or to take off; Enter", "要加上或去掉的标签；回车确认"),
    "card.flagged": _T("{card} flagged", "{card} 已标旗"),
    "card.unflagged": _T("{card} is no longer flagged", "{card} 已取消标旗"),
    "card.not-yours": _T(
        "{card} is no card of yours: a note can be put on it, its text stays.",
        "{card} 不是自建卡片：可以加笔记，不能改正文。",
    ),
    "card.undone": _T("Taken back: {what} of {card}", "已撤销：{card} 的{what}"),
    "card.undone-review": _T("the rating", "评分"),
    "card.undone-hold": _T("putting away or taking back in", "搁置、推迟或恢复"),
    "card.undone-annotation": _T("the last tag or note", "最近的标签或笔记"),
    "card.undone-fit": _T("the last fit of the parameters", "最近一次参数拟合"),
    "card.undone-mock": _T("the last step of the interview", "面试的上一步"),
    "card.undone-attempt": _T("the last attempt", "最近一次作答"),
    "add.title": _T("A card of your own", "新增卡片"),
    "add.topic": _T("Topic", "主题"),
    "add.question": _T("What it asks", "问题"),
    "add.answer": _T("What is right", "答案"),
    "add.note": _T(
        "One language is enough. $…$ is a formula, `…` is code. Ctrl+S keeps the card.",
        "写一种语言就够。$…$ 是公式，`…` 是代码。Ctrl+S 保存。",
    ),
    "add.incomplete": _T("A question and an answer are needed.", "问题和答案都要填。"),
    "add.leave": _T("Leave? What you typed is not kept.", "要离开吗？输入的内容还没有保存。"),
    "add.yes": _T("y  Leave", "y  离开"),
    "add.no": _T("n  Go on writing", "n  继续写"),
    "add.kept": _T("{card} is in {file}", "{card} 已写入 {file}"),
}
