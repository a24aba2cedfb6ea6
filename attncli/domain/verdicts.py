"""What a grade report says, in the learner's language: words for verdicts, statuses, reasons; the judge's sentences.

The judge writes English, once, into reports that scripts read. Here its fixed sentences have a Chinese form; what is
not in the table (the learner's own exceptions, labels of edge cases) is shown as it is, behind the reason in Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from attncli.domain.growth import growth_told
from attncli.domain.printable import printable
from attncli.domain.text import Lang, Localised

_T = Localised

VERDICTS: dict[str, Localised] = {
    "accepted": _T("accepted", "通过"),
    "rejected": _T("rejected", "未通过"),
    "error": _T("the judge failed", "评测程序出错"),
}
STATUSES: dict[str, Localised] = {
    "pass": _T("pass", "通过"),
    "fail": _T("FAIL", "失败"),
    "skipped": _T("skip", "跳过"),
    "info": _T("info", "参考"),
}
REASONS: dict[str, Localised] = {
    "exception": _T("raised an exception", "抛出异常"),
    "timeout": _T("ran out of time", "超时"),
    "memory": _T("ran out of memory", "内存超限"),
    "exited": _T("ended the process", "自行退出进程"),
    "crashed": _T("crashed the interpreter", "进程崩溃"),
    "output": _T("printed too much", "打印输出过多"),
    "too-large": _T("returned too much", "返回的数据过大"),
    "refused": _T("tried what is not allowed", "尝试了不允许的操作"),
    "protocol": _T("broke the connection to the judge", "破坏了与评测程序的通信"),
    "shape": _T("wrong shape", "形状不对"),
    "dtype": _T("wrong dtype", "dtype 不对"),
    "values": _T("wrong values", "数值不对"),
    "not-finite": _T("not finite", "出现 NaN 或无穷"),
    "gradient": _T("wrong gradient", "梯度不对"),
    "nondeterministic": _T("not deterministic", "相同输入结果不同"),
    "depends-on-earlier-calls": _T("depends on earlier calls", "结果依赖之前的调用"),
    "forbidden": _T("called what is forbidden", "调用了禁止的操作"),
    "growth": _T("grows too fast", "增长过快"),
    "mutated": _T("changed an input", "改动了输入"),
    "aliased": _T("shares memory", "与他处共享内存"),
    "missing-entry-point": _T("the function is missing", "缺少要求的函数或类"),
}

_BEGINNINGS = (
    (r"the stored counterexample: ", "上次保存的反例："),
    (r"fails only after other calls: ", "仅在其他调用之后出错："),
    (r"gradient of ([^:]+): ", r"\1 的梯度："),
)
_ENDINGS = (
    (r" \(line (\d+): (.*)\)", r"（第 \1 行：\2）"),
    (r" \(the object changed in place\)", "（被原地改动的对象）"),
    (r" \(calls of the callable\)", "（对传入函数的调用）"),
    (r" \((\w+), call (\d+) of (\d+)\)", r"（\1，第 \2 次调用，共 \3 次）"),
    (r" in a call of (.+)", r"，在调用 \1 时"),
    (r" in (result\S*)", r"，在 \1"),
)
_SENTENCES = (
    (r"largest error (\S+) at (\[.*?\]); tolerance (\S+)", r"最大误差 \1，位于 \2；容差 \3"),
    (r"shape (\[.*?\]) where (\[.*?\]) was expected", r"形状为 \1，应为 \2"),
    (r"dtype (\S+) where (\S+) was expected", r"dtype 为 \1，应为 \2"),
    (r"made on device (\S+) where (\S+) was expected", r"建在 \1 上，应在 \2 上"),
    (r"(\d+) of (\d+) entries differ, the first at (\[.*?\])", r"\2 个元素中有 \1 个不同，第一个位于 \3"),
    (r"(\S+) at (\[.*?\]) where exactly (\S+) was expected", r"\2 处为 \1，应恰为 \3"),
    (r"(\S+) at (\[.*?\]) where (\S+) was expected", r"\2 处为 \1，应为 \3"),
    (r"returned (.+) where (.+) was expected", r"返回了 \1，应为 \2"),
    (r"raised (\S+) where (.+) was due", r"抛出了 \1，应抛出 \2"),
    (r"returned (.+) where (.+) was to be raised", r"返回了 \1，应抛出 \2"),
    (r"a result is missing", "缺少一个返回值"),
    (r"changed its argument (.+) in place", r"原地修改了参数 \1"),
    (r"changed a dict or list that was passed to (\S+)", r"修改了传给 \1 的字典或列表"),
    (r"the result of (\S+) shares memory with an argument", r"\1 的返回值与参数共享内存"),
    (
        r"the result of (\S+) shares memory with what an earlier call returned",
        r"\1 的返回值与之前某次调用的返回值共享内存",
    ),
    (
        r"what (\S+) keeps for later calls shares memory with an argument",
        r"\1 留给之后调用的状态与参数共享内存",
    ),
    (r"two objects made by (\S+) share memory", r"\1 创建的两个对象共享内存"),
    (r"a call of (\S+) leaves something in its module", r"调用 \1 在模块里留下了东西"),
    (
        r"answers for what its arguments held before they were changed in place",
        "参数被原地改动之后，返回的仍是按旧值算出的结果",
    ),
    (
        r"(\S+) seeds torch's global generator, which belongs to the caller",
        r"\1 给 torch 的全局随机数生成器设了种子，而它属于调用者",
    ),
    (
        r"(\S+) draws from torch's global generator, although it is given one",
        r"\1 已经拿到生成器，却仍从 torch 的全局随机数生成器取数",
    ),
    (
        r"what is kept between calls hangs on the graph of autograd: use torch\.no_grad\(\)",
        "调用之间保留的状态挂在 autograd 计算图上：请用 torch.no_grad()",
    ),
    (
        r"the result of (\S+) hangs on the graph of autograd: use torch\.no_grad\(\)",
        r"\1 的返回值挂在 autograd 计算图上：请用 torch.no_grad()",
    ),
    (r"what (\S+) returned was changed by a later call", r"\1 返回的值被之后的调用改动了"),
    (r"gave another answer for the same input", "相同输入得到了不同的结果"),
    (
        r"gives another answer in a fresh process than after other calls",
        "在新进程中与在其他调用之后得到不同的结果",
    ),
    (
        r"returned a tensor on the CPU for inputs on another device: make tensors with device=x\.device",
        "输入在其他设备上，却返回了 CPU 张量：创建张量时请写 device=x.device",
    ),
    (r"cannot be proved for this solution without a GPU", "没有 GPU，无法验证这份解答"),
    (r"still running after (\S+) s", r"运行 \1 秒后仍未结束"),
    (r"needed more than (\d+) MiB", r"需要超过 \1 MiB 内存"),
    (r"killed by (\S+) while it was loaded", r"加载时被 \1 终止"),
    (r"killed by (\S+) while it was called", r"调用时被 \1 终止"),
    (r"tried (.+): a submission may compute, and nothing else", r"尝试了 \1：提交的代码只能做计算"),
    (
        r"line (\d+): (.+) is not allowed here: it is what this challenge asks you to write",
        r"第 \1 行：这里不能使用 \2，它正是本题要你写的",
    ),
    (r"the file does not define (.+); keep the name that was asked for", r"文件没有定义 \1；请保留题目要求的名字"),
    (r"needs ([a-z-]+)", r"需先通过 \1"),
    (r"not measured", "未测量"),
    (r"(\S+) ms a call, the crossing included", r"每次调用 \1 毫秒（含进程间传输）"),
)


def told(check: Mapping[str, Any], lang: Lang) -> str:
    """What a check says, in one line; in Chinese behind the reason, in words. Empty for a check that says nothing."""
    message = " ".join(printable(str(check.get("message") or "")).split())
    if lang == "en":
        return message
    shown = check.get("counterexample") or {}
    label = str(shown.get("edge_case") or "")
    reason = REASONS.get(str(check.get("reason")))
    case = ""
    if label and message.startswith(f"{label}: "):
        case, message = f"［{printable(str(shown.get('edge_case_zh') or label))}］", message[len(label) + 2 :]
    said = _said_in_chinese(check, message)
    return case + (f"{reason.zh}：{said}" if reason and said else reason.zh if reason else said)


def _said_in_chinese(check: Mapping[str, Any], message: str) -> str:
    """What the challenge itself words, what was measured, or the judge's sentence."""
    if worded := check.get("message_zh"):
        return " ".join(printable(str(worded)).split())
    if growth := check.get("growth"):
        return "；".join(growth_told(part, "zh") for part in growth)
    return in_chinese(message)


def in_chinese(message: str) -> str:
    """A sentence of the judge in Chinese; whatever is not one of its fixed sentences stays as it is."""
    begun, message = _taken_off(_BEGINNINGS, message, at_end=False)
    ended, message = _taken_off(_ENDINGS, message, at_end=True)
    for sentence, chinese in _SENTENCES:
        if match := re.fullmatch(sentence, message):
            message = match.expand(chinese)
            break
    else:
        if bracketed := re.fullmatch(r"(gave another answer .+?|gives another answer .+?) \((.+)\)", message):
            message = f"{in_chinese(bracketed[1])}（{in_chinese(bracketed[2])}）"
    return begun + message + ended


def _taken_off(table: tuple[tuple[str, str], ...], message: str, *, at_end: bool) -> tuple[str, str]:
    """What the patterns of `table` find at one end of the message, in Chinese, and the rest of it."""
    done = ""
    for pattern, chinese in table:
        if at_end and (match := re.search(f"{pattern}$", message)):
            done, message = match.expand(chinese) + done, message[: match.start()]
        elif not at_end and (match := re.match(pattern, message)):
            done, message = done + match.expand(chinese), message[match.end() :]
    return done, message
