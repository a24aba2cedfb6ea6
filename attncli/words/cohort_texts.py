"""What the report on a class says, on the terminal and on its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncli.domain.text import Lang, Localised
from attncli.domain.text import Localised as _T

LEFT_OUT: dict[str, Localised] = {
    "no-learner": _T(
        "lies in no learner's folder; put it into DIR/LEARNER/", "不在任何学员的文件夹里；请放到 DIR/LEARNER/ 下"
    ),
    "name-not-utf-8": _T("its name is not UTF-8; rename it", "名称不是 UTF-8 编码；请改名"),
    "link": _T("a link that leads elsewhere; put the file itself there", "指向别处的链接；请放上文件本身"),
    "folder": _T(
        "a folder inside a learner's; files belong directly below", "学员文件夹内的子文件夹；文件应直接放在外层"
    ),
    "empty": _T("nothing was handed in", "没有提交任何文件"),
    "unknown-challenge": _T("there is no such challenge", "没有这道编程题"),
    "needs-triton": _T(
        "needs Triton: pip install 'attncli[kernels]' (Linux)", "需要 Triton：pip install 'attncli[kernels]'（Linux）"
    ),
    "no-file": _T("no ordinary file", "不是普通文件"),
    "unreadable": _T("cannot be read", "无法读取"),
    "too-large": _T("larger than 128 KiB", "超过 128 KiB"),
}
_DETAILS: dict[str, Localised] = {
    "unknown-challenge": _T("; did you mean {detail}?", "；是不是 {detail}？"),
    "unreadable": _T(" ({detail})", "（{detail}）"),
}
ENDED_THE_JUDGE = _T(
    "grading this file ended the judge twice; read it before you run it",
    "评测该文件时，评测进程两次中止；运行前请先读一遍代码",
)

REPORT: dict[str, Localised] = {
    "title": _T("Report on a class", "班级评测报告"),
    "graded": _T(
        "{files} files of {learners} people, {challenges} challenges",
        "{learners} 人，{files} 个文件，{challenges} 道编程题",
    ),
    "by": _T(
        "seed {seed}, {timeout:g} s and {memory} MiB for one run, sandbox: {layers}",
        "种子 {seed}，单次运行限时 {timeout:g} 秒、内存 {memory} MiB，沙箱：{layers}",
    ),
    "layers_of": _T("{layers} ({files} files)", "{layers}（{files} 个文件）"),
    "no_layers": _T("none", "无"),
    "people": _T("People", "学员"),
    "learner": _T("Name", "姓名"),
    "challenges": _T("Challenges", "编程题"),
    "challenge": _T("Challenge", "编程题"),
    "handed_in": _T("Files", "文件数"),
    "solved": _T("Solved", "已解出"),
    "hardened": _T("Hardened", "已加固"),
    "costliest_checks": _T("What stopped most people", "卡住最多人的检查"),
    "costliest_diagnoses": _T("The mistakes that most people made", "最多人犯的错误"),
    "check": _T("Check", "检查"),
    "mistake": _T("Mistake", "错误"),
    "how_many": _T("How many", "人数"),
    "cards": _T("Cards", "卡片"),
    "similar": _T("Nearly the same", "高度相似"),
    "similar_note": _T(
        "A reason to look, no proof. By {method}, without the starter's: {percent} % or more.",
        "只是值得一看的线索，不是证据。方法：{method}，去掉起始文件的内容后不少于 {percent}%。",
    ),
    "share": _T("Shared", "共有"),
    "left_out": _T("Not graded", "未评测"),
    "path": _T("Path", "路径"),
    "why": _T("Reason", "原因"),
    "judge_failed": _T("The judge failed", "评测程序出错"),
    "each": _T("Each file that is not hardened", "尚未加固的文件"),
    "rung": _T("Reached", "达到"),
    "stopped": _T("What stopped it", "卡在哪里"),
    "versions": _T("Versions", "版本"),
    "nobody": _T("Nobody.", "没有。"),
    "nothing_stopped": _T("Nothing did.", "没有。"),
    "times": _T("Time", "用时"),
    "seconds": _T("{seconds:.1f} s of grading", "评测共用时 {seconds:.1f} 秒"),
}
RUNG: dict[str, Localised] = {
    "none": _T("–", "–"),
    "solved": _T("solved", "已解出"),
    "hardened": _T("hardened", "已加固"),
}
WRITTEN = _T("the report is in {file}", "报告已写入 {file}")
PROGRESS = _T("{done} of {total}, about {wait} left", "{total} 个中已评 {done} 个，大约还要 {wait}")
SOME_MINUTES = _T("{count} min", "{count} 分钟")
SOME_SECONDS = _T("{count} s", "{count} 秒")
KEPT = _T("{count} of {total} were graded before", "{total} 个中有 {count} 个此前已评测")


def left_out_text(reason: str, detail: str) -> Localised:
    """Why something was not graded; `detail` is a name or what the system said."""
    text = LEFT_OUT[reason]
    return text + _DETAILS[reason].format(detail=detail) if detail and reason in _DETAILS else text


def graded_by(report: Mapping[str, Any], lang: Lang) -> str:
    """By what everybody was graded, and which layers of the sandbox held."""
    several = len(report["sandbox"]) > 1
    told = []
    for found in report["sandbox"]:
        layers = ", ".join(found["layers"]) or REPORT["no_layers"][lang]
        told.append(REPORT["layers_of"][lang].format(layers=layers, files=found["files"]) if several else layers)
    return REPORT["by"][lang].format(
        seed=report["seed"],
        timeout=report["timeout_seconds"],
        memory=report["memory_mib"],
        layers="; ".join(told) or REPORT["no_layers"][lang],
    )
