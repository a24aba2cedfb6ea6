"""What the app says around a mock interview: where it is chosen, its keys, its report. A part of `app_texts`."""

from __future__ import annotations

from attncli.domain.text import Localised as _T

TEXTS: dict[str, _T] = {
    "key.mock": _T("Mock", "模拟面试"),
    "key.new-mock": _T("New interview", "再来一场"),
    "key.skip": _T("Skip", "跳过"),
    "key.next-part": _T("Next part", "下一部分"),
    "key.credit": _T("How it went", "答得如何"),
    "key.settle": _T("Go on", "继续"),
    "key.end-mock": _T("End", "结束"),
    "key.stop-clock": _T("Stop the clock", "停表离开"),
    "key.leave-code": _T("Leave it", "就此放下"),
    "palette.mock": _T("Mock interview", "模拟面试"),
    "mock.title": _T("Mock interview", "模拟面试"),
    "mock.start": _T("Start an interview: {parts}", "开始面试：{parts}"),
    "mock.resume": _T("Go on: {part}, begun {at:%Y-%m-%d %H:%M}", "继续：{part}，{at:%Y-%m-%d %H:%M} 开始"),
    "mock.minutes": _T("Minutes", "分钟"),
    "mock.level": _T("Interview level", "面试级别"),
    "mock.interviewer": _T("Somebody interviews me", "有人在旁面试"),
    "mock.past": _T(
        "{at:%Y-%m-%d %H:%M} · {minutes} min · {level} · {share:.0%}",
        "{at:%Y-%m-%d %H:%M} · {minutes} 分钟 · {level} · {share:.0%}",
    ),
    "mock.note": _T(
        "Timed, drawn at random; each step is kept, and leaving stops the clock. You tick the points yourself, or "
        "somebody beside you does, who then sees them at once. Cards keep their schedule; what was missed counts as "
        "weak; code that is graded is an attempt.",
        "限时，随机出题；每一步都会保存，离开就停表。要点由你自己勾选，或由旁边的人勾选，这时要点一开始就显示。"
        "卡片的复习安排不变，没答出的算作薄弱；评测过的代码算一次作答。",
    ),
    "mock.credit": _T("2 wholly · 1 partly · 0 not", "2 完整 · 1 部分 · 0 没答出"),
    "mock.go-on": _T("Enter goes on with the interview; the clock stands still.", "按回车继续面试；现在停表。"),
    "mock.by-hand": _T(
        "It cannot be graded here: {why} Whoever looks at it says: 1 right, 0 not right.",
        "这里无法评测：{why} 请看代码的人来判断：1 正确，0 不正确。",
    ),
    "mock.end": _T("End the interview here? What was answered is kept.", "现在结束面试？已答的都会保留。"),
    "mock.yes-end": _T("y · end it", "y · 结束"),
    "mock.no-end": _T("n · go on", "n · 继续"),
}
