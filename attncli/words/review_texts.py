"""What a review says: of a card and a rating in both front ends, of an answer that was marked, and line by line."""

from __future__ import annotations

from attncli.domain.rating import Rating
from attncli.domain.text import Localised

_T = Localised

HEADINGS: dict[str, Localised] = {
    "answer": _T("Answer", "答案"),
    "explain": _T("Why", "讲解"),
    "points": _T("Points", "要点"),
    "pitfalls": _T("Pitfalls", "常见误区"),
    "sources": _T("Sources", "出处"),
    "see": _T("See also", "相关"),
    "follow-ups": _T("Follow-ups", "追问"),
    "slips": _T("Usual slips", "常见失误"),
    "why": _T("why not", "为什么不对"),
    "line": _T("line", "行"),
    "fix": _T("Fix", "改为"),
    "challenge": _T("Challenge", "编程题"),
    "experiment": _T("Experiment", "实验"),
}
AS_OF = _T("As of {date}.", "截至 {date}。")
UNVERIFIABLE = _T("Nobody has published this; it cannot be checked.", "未有公开资料，无法核实。")
RATINGS: dict[Rating, Localised] = {
    Rating.AGAIN: _T("Again", "重来"),
    Rating.HARD: _T("Hard", "困难"),
    Rating.GOOD: _T("Good", "良好"),
    Rating.EASY: _T("Easy", "简单"),
}
OUTDATED: dict[str, Localised] = {
    "answered": _T(
        "Nothing stored: answered elsewhere meanwhile. Rate it as it stands now.",
        "未保存：这张卡片刚在别处答过。间隔已更新，请重新评分。",
    ),
    "day": _T(
        "Nothing stored: a new study day has begun. Rate it again.",
        "未保存：新的学习日已开始。间隔已更新，请重新评分。",
    ),
    "settings": _T(
        "Nothing stored: the settings were changed. Rate it again.",
        "未保存：设置已更改。间隔已更新，请重新评分。",
    ),
}
GONE = _T("{card} is no longer in its bank; it is left out.", "{card} 已不在题库中，不再出题。")

# Of an answer that was marked
HEADS: dict[str, Localised] = {
    "right": _T("✓ Right", "✓ 正确"),
    "wrong": _T("✗ Not right", "✗ 不对"),
    "partly": _T("~ Partly right: {right} of {total}", "~ 部分正确：{total} 项中对 {right} 项"),
    "no-answer": _T("no answer", "未作答"),
}
IS_RIGHT = _T("“{option}” is right.", "“{option}”是对的。")
IS_WRONG = _T("“{option}”: {why}", "“{option}”：{why}")
NO_REASON = _T("it is wrong.", "这是错的。")
WANTED = _T("Wanted: {blanks}", "应为：{blanks}")
COMES_BEFORE = _T("“{first}” comes before “{second}”.", "“{first}”要排在“{second}”之前。")
LINE = _T("Line {lines}: {symptom}", "第 {lines} 行：{symptom}")
FIX = _T(" Fix: {fix}", " 改为：{fix}")
RIGHT_NUMBER = _T("{expected}.", "{expected}。")
WRONG_NUMBER = _T(
    "{expected} was wanted (within {tolerance}), not {given}.",
    "应为 {expected}（误差 {tolerance} 以内），而不是 {given}。",
)
THE_NUMBER = _T("The answer is {expected}.", "答案是 {expected}。")
BETWEEN_SENTENCES = _T(" ", "")
BETWEEN_REMARKS = _T(" ", " ")
BETWEEN_BLANKS = _T("; ", "；")
BETWEEN_ITEMS = _T(" → ", " → ")
BETWEEN_LINES = _T(" or ", "或")

# Line by line
SITTING: dict[str, Localised] = {
    "left": _T("{n}. {card}, {topic}, {left} left", "第 {n} 题：{card}，{topic}，还剩 {left} 题"),
    "reveal": _T(
        "Enter shows the answer; u undo, s suspend, b bury, q quit", "回车看答案；u 撤销，s 搁置，b 推迟，q 退出"
    ),
    "points": _T(
        "Which points did you make? Numbers, or all, or none", "说到了哪些要点？输入编号，all 全部，none 没有"
    ),
    "rate": _T("Rating: {choices}; Enter takes {suggested}", "评分：{choices}；回车选 {suggested}"),
    "saved": _T("{card}: {rating}, again in {interval}", "{card}：{rating}，{interval}后再问"),
    "done": _T("{n} answered, all kept. {left} left.", "答了 {n} 张，均已保存，还剩 {left} 张。"),
    "bad": _T("That is none of the choices.", "没有这个选项。"),
    "undone": _T("Taken back: {card}", "已撤销：{card}"),
}
QUESTIONS: dict[str, Localised] = {
    "choose": _T("Your choice, by number", "输入选项编号"),
    "choose-many": _T("Your choices, by number; several may be right", "输入选项编号，可能不止一个"),
    "number": _T("Your answer{unit}", "输入答案{unit}"),
    "blank": _T("Blank {n}", "第 {n} 空"),
    "order": _T("The right order, by number", "按正确顺序输入编号"),
    "line": _T("Which line?", "哪一行有错？"),
    "numbers": _T("Numbers from 1 to {n}, please", "请输入 1 到 {n} 的编号"),
}
