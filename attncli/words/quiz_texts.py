"""What is said of a quiz and its score, in the app and line by line."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

SCORE = _T("{right} of {answered} right", "{answered} 题答对 {right} 题")
NOT_ASKED = _T("{left} not asked", "{left} 题未答")
OF_TOPIC = _T("{topic} {right}/{answered}", "{topic} {right}/{answered}")
MISSED = _T("Missed", "答错的题")
NONE_MISSED = _T("Every answer was right.", "全部答对。")
NONE_ANSWERED = _T("No question was answered.", "一题未答。")
AGAIN = _T("{command} draws it again", "{command} 可再抽到这份测验")
KEYS = _T(
    "Enter alone gives up a question; q (not in a blank) ends the quiz. Nothing is recorded.",
    "直接回车放弃本题；输入 q（填空题除外）结束测验。测验不留记录。",
)
QUESTION = _T("{n}/{total}. {card}, {topic}", "第 {n}/{total} 题：{card}，{topic}")
