"""What is said in a mock interview, in the app and line by line, and of what it came to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from attncli.domain.log_row import ANSWER_SECONDS
from attncli.domain.mock_interview import MissedItem, MockReport, PartName
from attncli.domain.text import Lang, Localised
from attncli.domain.text import Localised as _T
from attncli.domain.vocabulary import LEVELS, Level
from attncli.words.app_review_texts import TEXTS
from attncli.words.command_texts import counted

LEVEL_NAMES: dict[Level, Localised] = {level: TEXTS[f"review.level-{level}"] for level in LEVELS}
PART_NAMES: dict[PartName, Localised] = {
    "warm-up": _T("Warm-up", "暖场"),
    "deep-dive": _T("Deep dive", "深入追问"),
    "whiteboard": _T("Whiteboard", "白板编程"),
    "repair": _T("Repair", "排错"),
}
PART = _T("{name} · {minutes} min · {count} to ask", "{name} · {minutes} 分钟 · 共 {count} 问")
TIME_LEFT = _T("{time} left", "还剩 {time}")
TIME_UP = _T("Time is up", "时间到")
FINISH = _T(
    "Time for this part is up: finish what is in hand, then it goes on.",
    "这一部分时间到：答完手上这一问，就进入下一部分。",
)
LEFT_OVER = _T("{name}: time is up, {count} not asked.", "{name}：时间到，{count} 问未问。")
FOLLOW_UP = _T("follow-up", "追问")
SAY_IT = _T("Say it aloud, in about 30 seconds.", "请出声回答，约 30 秒。")
WRITE_IT = _T("Write it as at the whiteboard:", "像在白板上那样写出来：")
REPAIR_IT = _T("{bugs} to find and mend in this file:", "这个文件里有 {bugs}，找出来并改正：")
GRADED = {
    "right": _T("Right: what the whiteboard asks for is met.", "正确：达到了白板的要求。"),
    "wrong": _T("Not right yet: {said}", "还不对：{said}"),
}
ASK_BY_HAND = _T(
    "It cannot be graded here ({why}). Whoever looks at it says: 1 right, 0 not right.",
    "这里无法评测（{why}）。请看代码的人来判断：1 正确，0 不正确。",
)

MOCK: dict[str, Localised] = {
    "keys": _T(
        "Where no text is typed: q stops the clock and leaves, s skips, n next part, u takes back the last step.",
        "不在输入文字时：q 停表并离开，s 跳过，n 下一部分，u 撤销上一步。",
    ),
    "reveal": _T("Enter when you have said it", "答完后按回车"),
    "ticks": _T("Which points were made? Numbers, or all, or none", "说到了哪些要点？输入编号，all 全部，none 没有"),
    "credit": _T("Was it answered? 2 wholly, 1 partly, 0 not", "答得如何？2 完整，1 部分，0 没答出"),
    "code": _T(
        "Enter grades the file, e opens the editor, s leaves it as it is", "回车评测这个文件，e 打开编辑器，s 就此放下"
    ),
    "resume": _T(
        "An interview of {at:%Y-%m-%d %H:%M} is unfinished ({part}). Enter goes on with it, n begins anew.",
        "{at:%Y-%m-%d %H:%M} 的面试还没结束（{part}）。回车继续，n 重新开始。",
    ),
    "paused": _T(
        "The clock is stopped and everything is kept; `attn mock` goes on from here.",
        "已停表，全部保存；用 `attn mock` 从这里继续。",
    ),
    "undone": _T("The last step is taken back.", "已撤销上一步。"),
    "bad": _T("That is none of the choices.", "没有这个选项。"),
    "over": _T("That was the interview.", "面试到此结束。"),
}

LISTED = _T(", ", "、")
REPORT: dict[str, Localised] = {
    "title": _T("{share:.0%} · {minutes} min · {level}", "{share:.0%} · {minutes} 分钟 · {level}"),
    "open": _T("not finished: what came of it so far", "尚未结束：目前的结果"),
    "early": _T("ended early", "提前结束"),
    "part": _T(
        "{name}: {credit:g} of {asked}, {spent} of {minutes} min",
        "{name}：{asked} 问得 {credit:g}，用时 {spent}（限 {minutes} 分钟）",
    ),
    "not-reached": _T("{name}: not reached", "{name}：未进行"),
    "not-asked": _T(", {count} were not asked", "，{count} 问未问"),
    "over-time": _T(", over time", "，超时"),
    "times": _T(
        "Answers: median {median} s, {within} of {answers} within {limit} s",
        "作答时间：中位 {median} 秒，{answers} 答中 {within} 答在 {limit} 秒内",
    ),
    "longest": _T("Longest: {cards}", "最慢：{cards}"),
    "missed": _T("What was missed", "没答出的"),
    "none-missed": _T("Nothing was missed.", "没有遗漏。"),
    "none-asked": _T("Nothing was asked.", "一题也没有问到。"),
    "code-missed": _T("not solved: {title} (`attn start {id}`)", "未解出：{title}（`attn start {id}`）"),
    "gone": _T("no longer in its bank", "已不在题库中"),
    "read": _T("To read: {cards}", "建议阅读：{cards}"),
    "weak": _T(
        "`attn drill --weak` asks what was missed; no card's schedule has changed.",
        "`attn drill --weak` 会问没答出的卡片；卡片的复习安排不变。",
    ),
    "again": _T("{command} draws this interview again", "{command} 可再抽到同一场面试"),
}

LineKind = Literal["head", "line", "missed", "point", "note"]


def clock_text(seconds: int) -> str:
    """`4:05`; below zero as the time that is over."""
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'+' if seconds < 0 else ''}{minutes}:{rest:02}"


def code_task(bugs: int) -> Localised:
    """What is asked for in a round of code: to mend so many bugs, or to write where there are none."""
    if not bugs:
        return WRITE_IT
    named = counted(bugs, "bug")
    return Localised(REPAIR_IT.en.format(bugs=named.en), REPAIR_IT.zh.format(bugs=named.zh))


def read_line(report: MockReport, lang: Lang) -> str:
    """What to read, of a report that names something."""
    return REPORT["read"][lang].format(cards=LISTED[lang].join(report.read))


def report_lines(report: MockReport, lang: Lang, command: str = "") -> Iterator[tuple[LineKind, str]]:
    """What an interview came to, line by line; `command` is what draws it again."""
    yield from score_lines(report, lang)
    for missed in report.missed:
        yield from missed_lines(missed, lang)
    if report.read:
        yield "line", read_line(report, lang)
        yield "note", REPORT["weak"][lang]
    if command:
        yield "note", REPORT["again"][lang].format(command=command)


def score_lines(report: MockReport, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """The score by part and the times, down to the heading of what was missed."""
    level = LEVEL_NAMES[report.level][lang]
    title = REPORT["title"][lang].format(share=report.share, minutes=report.minutes, level=level)
    ended = "open" if report.is_open else "" if report.is_finished else "early"
    yield "head", f"{title} · {REPORT[ended][lang]}" if ended else title
    yield from (("line", line) for line in _part_lines(report, lang))
    yield from (("note", line) for line in _time_lines(report, lang))
    settled = "none-missed" if any(part.asked for part in report.parts) else "none-asked"
    yield "head", REPORT["missed" if report.missed else settled][lang]


def _part_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    for part in report.parts:
        name = PART_NAMES[part.name][lang]
        if not part.asked:
            yield REPORT["not-reached"][lang].format(name=name)
            continue
        spent = clock_text(part.spent_seconds)
        told = {"name": name, "credit": round(part.credit, 2), "asked": part.asked, "spent": spent}
        line = REPORT["part"][lang].format(**told, minutes=part.minutes)
        line += REPORT["not-asked"][lang].format(count=part.not_asked) if part.not_asked else ""
        yield line + (REPORT["over-time"][lang] if part.is_over_time else "")


def _time_lines(report: MockReport, lang: Lang) -> Iterator[str]:
    if (times := report.times) is None:
        return
    told = {"median": times.median_seconds, "within": times.within, "answers": times.answers, "limit": ANSWER_SECONDS}
    yield REPORT["times"][lang].format(**told)
    if times.longest:
        cards = ", ".join(f"{card} {seconds} s" for card, seconds in times.longest)
        yield REPORT["longest"][lang].format(cards=cards)


def missed_lines(missed: MissedItem, lang: Lang) -> Iterator[tuple[LineKind, str]]:
    """One thing that was missed, then what would have been right."""
    if missed.is_code:
        title = missed.question[lang] or REPORT["gone"][lang]
        yield "missed", REPORT["code-missed"][lang].format(title=title, id=missed.card)
        return
    question = " ".join(missed.question[lang].split()) or REPORT["gone"][lang]
    yield "missed", f"{missed.card}  {question}"
    if missed.answer[lang]:
        yield "point", " ".join(missed.answer[lang].split())
    yield from (("point", point[lang]) for point in missed.points)
