"""What is said of an answer that was marked, in the app and line by line."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

HEADS: dict[str, _T] = {
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
BETWEEN_LINES = _T(" or ", " 或 ")
