"""What an assistant is told over `attn mcp` where it asked for what cannot be. English stands where it is raised."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

ASSISTANT: tuple[_T, ...] = (
    _T("card {id} was attempted and has no rating yet", "卡片 {id} 已作答，还没有评分"),
    _T("record one with rate", "请用 rate 记录评分"),
    _T("name a card, or a topic or weak ones, not both", "可以指定一张卡片，或者指定主题或薄弱卡片，不能同时用"),
    _T("card {id} was attempted already", "卡片 {id} 已经作答"),
    _T("record its rating with rate", "请用 rate 记录它的评分"),
    _T("gave_up goes with no answer, but {given} was given too", "gave_up 不能带答案，却同时给了 {given}"),
    _T("card {id} wants {wanted}", "卡片 {id} 需要 {wanted}"),
    _T(
        "gave_up where the learner does not know. Nothing was told",
        "学习者不知道时用 gave_up。没有透露任何内容",
    ),
    _T("card {id} was not attempted yet", "卡片 {id} 还没有作答"),
    _T("hand in the learner's answer with attempt", "请用 attempt 提交学习者的回答"),
    _T("card {id} was marked", "卡片 {id} 已判分"),
    _T("leave out points", "请去掉 points"),
    _T("card {id} has the points 1 to {total}", "卡片 {id} 的要点编号为 1 到 {total}"),
    _T("name those that the learner made", "请给出学习者说到的编号"),
    _T("no card was put yet", "还没有出过卡片"),
    _T("call next_card first", "请先调用 next_card"),
    _T("card {id} is not the one that was put", "卡片 {id} 不是当前这张"),
    _T("that is {id}", "当前是 {id}"),
    _T("a bug of {id} was handed out and not attempted yet", "{id} 已给出一份有错的解答，尚未作答"),
    _T("grade it before you ask for another", "请先评测它，再要下一份"),
    _T("grade it, or say fresh to keep it as a copy", "请评测它，或用 fresh 把它另存为副本"),
    _T("give a file or source, not both", "file 和 source 只能给一个"),
    _T("{path} belongs to a challenge", "{path} 属于一道编程题"),
    _T("grade a file of the learner's own", "请评测学习者自己的文件"),
    _T("{path} is no Python file", "{path} 不是 Python 文件"),
    _T("name one that ends in {suffix}", "请给出以 {suffix} 结尾的文件"),
    _T("there is no tool {name}", "没有工具 {name}"),
    _T("there are {names}", "可用的有：{names}"),
    _T("{tool}: {fault}; its input schema says what it takes", "{tool}：{fault}；参数写法见它的 input schema"),
)
