"""What the app says of a case of one's own. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.own-case": _T("Your case", "自测用例"),
    "key.try": _T("Try", "试一试"),
    "own-case.title": _T("A case of your own", "自测用例"),
    "own-case.prompt": _T(
        "Arguments: torch.randn(1, 2, 4), 3, scale=0.5 — or calls, joined by ;",
        "参数，如 torch.randn(1, 2, 4), 3, scale=0.5；多次调用用 ; 隔开",
    ),
    "own-case.how": _T(
        "Type what {calls} is called with, and see what your file and the reference answer. Write any Python; "
        "tensors are torch.tensor([[1, 2]]), randn(2, 3), arange(4), zeros(2, 3).bool() and "
        "the like. The same text draws the same numbers. Nothing is recorded.",
        "输入调用 {calls} 的参数，看看你的文件和参考解各自给出什么。可以写任意 Python 表达式；"
        "张量可写 torch.tensor([[1, 2]])、randn(2, 3)、arange(4)、zeros(2, 3).bool() 等。"
        "同样的文字得到同样的随机数。不会留下记录。",
    ),
    "own-case.waiting": _T("Asking both…", "正在运行……"),
    "own-case.refused": _T("Not tried: {why}", "未运行：{why}"),
    "own-case.same": _T("✓ Both answers are the same", "✓ 两个答案一致"),
    "own-case.differ": _T("✗ The answers differ: {how}", "✗ 答案不同：{how}"),
    "own-case.no-answer": _T("! No comparison: {how}", "! 无从比较：{how}"),
    "own-case.forbidden": _T(
        "The challenge never asks for this, so no difference counts: {what}",
        "本题不会这样考，答案不同也不算错：{what}",
    ),
    "own-case.between": _T("; ", "；"),
    "own-case.case": _T("The case", "用例"),
}
