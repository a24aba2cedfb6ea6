"""What was typed in the app, or asked of it, and cannot be: the reasons of `attncli.errors.Unfit`."""

from __future__ import annotations

from attncli.domain.text import Localised

_T = Localised

TEXTS: dict[str, Localised] = {
    "unfit.tag": _T(
        "That is no tag: use letters, digits and hyphens, at most 40.", "标签只能用文字、数字和连字符，最多 40 个字符。"
    ),
    "unfit.note": _T("The note is too long to keep; shorten it.", "笔记太长，无法保存，请写短一些。"),
    "unfit.topic": _T(
        "That is no topic: use lower-case letters, digits and single hyphens, such as mine.",
        "主题只能用小写字母、数字和单个连字符，例如 mine。",
    ),
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
