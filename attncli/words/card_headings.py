"""The headings of a card, wherever all of it is shown as Markdown."""

from __future__ import annotations

from attncli.domain.text import Localised

_T = Localised

HEADINGS: dict[str, Localised] = {
    "answer": _T("Answer", "答案"),
    "explain": _T("Explanation", "讲解"),
    "points": _T("Points", "要点"),
    "pitfalls": _T("Pitfalls", "常见错误"),
    "sources": _T("Sources", "出处"),
    "see": _T("See also", "相关"),
    "next": _T("Follow-ups", "追问"),
    "slips": _T("Usual slips", "常见失误"),
    "as-of": _T("As of", "截至"),
    "why": _T("why not", "为什么不对"),
    "unverifiable": _T("Nobody has published this.", "没有公开资料可以证实。"),
    "parameters": _T("Parameters", "参数"),
    "line": _T("line", "行"),
    "fix": _T("Fix", "改为"),
    "challenge": _T("Challenge", "编程题"),
    "experiment": _T("Experiment", "实验"),
}
