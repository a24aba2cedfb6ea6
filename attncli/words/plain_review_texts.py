"""What `attn review --plain` says and asks, line by line."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

SITTING: dict[str, _T] = {
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
    "noted": _T("{card}: {rating}", "{card}：{rating}"),
    "done-cram": _T("{n} answered, nothing recorded. {left} left.", "答了 {n} 张，均未记录，还剩 {left} 张。"),
    "bad": _T("That is none of the choices.", "没有这个选项。"),
    "undone": _T("Taken back: {card}", "已撤销：{card}"),
}
QUESTIONS: dict[str, _T] = {
    "choose": _T("Your choice, by number", "输入选项编号"),
    "choose-many": _T("Your choices, by number; several may be right", "输入选项编号，可能不止一个"),
    "number": _T("Your answer{unit}", "输入答案{unit}"),
    "blank": _T("Blank {n}", "第 {n} 空"),
    "order": _T("The right order, by number", "按正确顺序输入编号"),
    "line": _T("Which line?", "哪一行有错？"),
    "numbers": _T("Numbers from 1 to {n}, please", "请输入 1 到 {n} 的编号"),
}
