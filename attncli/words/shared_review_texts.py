"""What ratings are called, and what a review says of a card: in the app, `attn review --plain` and `attn show`."""

from __future__ import annotations

from attncli.domain.log_row import Rating
from attncli.domain.text import Localised as _T

HEADINGS: dict[str, _T] = {
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
RATINGS: dict[Rating, _T] = {
    Rating.AGAIN: _T("Again", "重来"),
    Rating.HARD: _T("Hard", "困难"),
    Rating.GOOD: _T("Good", "良好"),
    Rating.EASY: _T("Easy", "简单"),
}
OUTDATED = _T("Nothing stored: the intervals have changed. Rate it again.", "未保存：间隔已更新，请重新评分。")
GONE = _T("{card} is no longer in its bank; it is left out.", "{card} 已不在题库中，不再出题。")
