"""What the learner is told of an answer that was marked."""

from __future__ import annotations

from attncli.domain.text import Localised

_T = Localised

RIGHT = _T("Right.", "正确。")
IS_RIGHT = _T("“{option}” is right.", "“{option}”是对的。")
IS_WRONG = _T("“{option}”: {why}", "“{option}”：{why}")
NO_REASON = _T("it is wrong.", "这是错的。")
WANTED = _T("Wanted: {blanks}", "应为：{blanks}")
COMES_BEFORE = _T("“{first}” comes before “{second}”.", "“{first}”要排在“{second}”之前。")
LINE = _T("Line {lines}: {symptom}", "第 {lines} 行：{symptom}")
FIX = _T(" Fix: {fix}", " 改为：{fix}")
RIGHT_NUMBER = _T("Right: {expected}.", "正确：{expected}。")
WRONG_NUMBER = _T(
    "{expected} was wanted (within {tolerance}), not {given}.",
    "应为 {expected}（误差 {tolerance} 以内），而不是 {given}。",
)
THE_NUMBER = _T("The answer is {expected}.", "答案是 {expected}。")
# Between two sentences, blanks, items in order, and lines of which any one is right.
SENTENCES = _T(" ", "")
SAME_LINE = _T(" ", " ")
BLANKS = _T("; ", "；")
ITEMS = _T(" → ", " → ")
LINES = _T(" or ", "或")
