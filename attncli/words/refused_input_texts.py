"""What was typed in the app, or asked of it, and cannot be: the reasons of `attncli.errors.InvalidInput`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "unfit.tag": _T(
        "That is no tag: use letters, digits and hyphens, at most 40.", "标签只能用文字、数字和连字符，最多 40 个字符。"
    ),
    "unfit.note": _T("The note is too long to keep; shorten it.", "笔记太长，无法保存，请写短一些。"),
    "unfit.topic": _T(
        "That is no topic: use lower-case letters, digits and single hyphens, such as mine.",
        "主题只能用小写字母、数字和单个连字符，例如 mine。",
    ),
    "unfit.search-length": _T(
        "The search has {count} characters; {most} is the most.", "搜索词有 {count} 个字符，最多 {most} 个。"
    ),
    "unfit.search-time": _T("The search takes too long; use fewer words.", "搜索太慢，请减少几个词。"),
    "unfit.number": _T(
        "“{text}” is no number; write one such as 1.5, 1.5e3, 3/4 or {example}.",
        "“{text}”不是数字；请写成 1.5、1.5e3、3/4 或 {example} 这样。",
    ),
    "unfit.number-unread": _T(
        "“{text}” cannot be read; write a number such as 1.5, 1.5e3 or 3/4, commas in groups of three digits alone.",
        "看不懂“{text}”；请写成 1.5、1.5e3、3/4 这样，逗号只能用来隔开三位数字。",
    ),
    "unfit.unit": _T(
        "“{given}” does not fit here; the answer is asked for in {unit}.",
        "单位“{given}”在这里不合适；答案要用 {unit}。",
    ),
    "unfit.unit-none": _T(
        "“{given}” does not fit here; the answer is asked for as a plain number.",
        "单位“{given}”在这里不合适；答案只要一个数。",
    ),
    "unfit.no-hints": _T("This challenge has no hints; o shows the reference.", "这道题没有提示；按 o 看参考解。"),
    "unfit.no-bug": _T("This challenge has no wrong solution to debug.", "这道题没有可供找错的解答。"),
    "unfit.file-large": _T(
        "{file} is too large for a solution: a short Python file is.", "{file} 太大了：答案应是一个不长的 Python 文件。"
    ),
    "unfit.file-no-text": _T(
        "{file} is no text in UTF-8; open it in another editor.", "{file} 不是 UTF-8 文本，请换个编辑器打开。"
    ),
    "unfit.file-unread": _T("{file} cannot be read; check its permissions.", "无法读取 {file}，请检查读取权限。"),
    "unfit.undo": _T("There is nothing of this machine to take back.", "本机没有可以撤销的操作。"),
    "unfit.interview-none": _T(
        "No interview date is set. Press , for the settings and give the day there.",
        "还没有设定面试日期。按 , 打开设置，在那里填写日期。",
    ),
    "unfit.interview-past": _T(
        "The interview date that is set is past. Press , for the settings and give the next one there.",
        "设定的面试日期已经过去。按 , 打开设置，填写下一次的日期。",
    ),
    "unfit.interview-far": _T(
        "The interview is more than two years away, too far to plan for. Press , for the settings.",
        "面试在两年以后，太远了，无法制定计划。按 , 打开设置修改日期。",
    ),
}
