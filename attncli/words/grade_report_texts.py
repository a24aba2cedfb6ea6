"""What a grade report says, in the learner's language: words for verdicts, statuses and reasons, and one line a check.

The sentences themselves come with the report (see judge/messages.py), English first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attncli.domain.text import Lang, printable
from attncli.domain.text import Localised as _T
from attncli.domain.vocabulary import Standing

if TYPE_CHECKING:
    from attncli.domain.challenge import Mistake
    from attncli.domain.grade_report import CheckResult, GradeReport

STANDINGS: dict[Standing, _T] = {
    "new": _T("new", "未做"),
    "tried": _T("tried", "做过"),
    "solved": _T("solved", "已解出"),
    "hardened": _T("hardened", "已加固"),
}
VERDICTS: dict[str, _T] = {
    "accepted": _T("accepted", "通过"),
    "rejected": _T("rejected", "未通过"),
    "error": _T("the judge failed", "评测程序出错"),
}
REACHED: dict[str, _T] = {
    "solved": _T("solved: right at the whiteboard", "已解出：白板面试这样写就对了"),
    "hardened": _T("hardened: ready for production", "已加固：可以上生产环境"),
}
NOT_HARDENED = _T("solved, but not hardened", "已解出，但未加固")
STATUSES: dict[str, _T] = {
    "pass": _T("pass", "通过"),
    "fail": _T("FAIL", "失败"),
    "harden": _T("next", "待加固"),
    "skipped": _T("skip", "跳过"),
    "info": _T("info", "参考"),
}
REASONS: dict[str, _T] = {
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

PRINTED: dict[str, _T] = {
    "head": _T(
        "{title}: {verdict} ({passed} of {total} checks)", "{title}：{verdict}（{total} 项检查通过 {passed} 项）"
    ),
    "unproved": _T("not proved: {checks}", "未能验证的检查：{checks}"),
    "to-harden": _T("to harden it: {checks}", "要加固的：{checks}"),
    "badge": _T(" (badge)", "（加分项）"),
    "printed": _T("printed by your code:", "你的代码打印的内容："),
    "interpreter": _T(
        "run in Triton's interpreter on the CPU: not compiled, not timed, bfloat16 not checked",
        "在 CPU 上用 Triton 的解释器运行：没有编译，没有计时，没有检查 bfloat16",
    ),
    "gpu": _T(
        "run on the GPU: its driver is open to your code and host memory is only watched, so the sandbox covers less",
        "在 GPU 上运行：代码能直接访问显卡驱动，主机内存只监视、不设上限，沙箱的防护较弱",
    ),
    "compiled": _T(
        "compiled for the GPU: no load or store was looked at by itself; --device cpu does that",
        "已为 GPU 编译：没有逐个检查读写；用 --device cpu 可以检查",
    ),
    "foot": _T("{seconds} s, seed {seed}, sandbox: {layers}", "用时 {seconds} 秒，种子 {seed}，沙箱：{layers}"),
    "same": _T("the same answers as: {says}", "与这种错误的结果完全一致：{says}"),
    "two": _T("two mistakes at once explain every answer:", "两种错误同时出现，能解释所有结果："),
    "common": _T("what all the answers have in common: {says}", "所有结果的共同点：{says}"),
    "cards": _T(" (cards: {cards})", "（相关卡片：{cards}）"),
}


def told(check: CheckResult, lang: Lang) -> str:
    """What a check says, in one line; in Chinese behind the reason, in words. Empty for a check that says nothing."""
    message = _line(check.message.en)
    if lang == "en":
        return message
    shown = check.counterexample
    label, label_zh = (shown.edge_case, shown.edge_case_zh) if shown else ("", "")
    case = f"［{_line(label_zh or label)}］" if label and message.startswith(f"{label}: ") else ""
    is_translated = check.message.zh != check.message.en
    said = _line(check.message.zh) if is_translated else message.removeprefix(f"{label}: " if case else "")
    # A sentence of the judge's own says itself what was raised, or that nothing was.
    reason = None if is_translated and check.reason == "exception" else REASONS.get(check.reason)
    return case + (f"{reason.zh}：{said}" if reason and said else reason.zh if reason else said)


def headline(report: GradeReport, lang: Lang) -> str:
    """What was reached; where nothing was, the verdict; where more was asked for, that it was not."""
    short = report.verdict == "rejected" and report.rung == "solved"
    reached = NOT_HARDENED if short else REACHED.get(report.rung)
    return reached[lang] if reached else VERDICTS[report.verdict][lang]


def diagnosis_lines(report: GradeReport, mistakes: Mapping[str, Mistake], lang: Lang) -> Iterator[tuple[str, str]]:
    """The mistake that it looks like, or two; behind each line the cards that explain it, or nothing."""
    for number, found in enumerate(report.diagnosis):
        if found.beside and number == 0:
            yield PRINTED["two"][lang], ""
        if found.says_zh:
            yield PRINTED["common"][lang].format(says=_T(found.says, found.says_zh)[lang]), ""
            continue
        known = mistakes.get(found.wrong)
        says = (known.says[lang] if known else "") or found.says
        cards = PRINTED["cards"][lang].format(cards=", ".join(found.cards)) if found.cards else ""
        yield PRINTED["same"][lang].format(says=says), cards


def status_of(check: CheckResult) -> str:
    """The word for how a check stands: what fails on the second rung alone is the next step."""
    return "harden" if check.status == "fail" and check.rung == "hardened" else check.status


_FIRST = {"forbidden": 0, "loads": 1}


def deciding_checks(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """The required checks that failed, what says most first: a forbidden name, the file, then rung by rung."""
    failed = [check for check in checks if check.status == "fail" and check.required]
    return sorted(failed, key=lambda check: _FIRST.get(check.name, 3 if check.rung == "hardened" else 2))


def follows(check: CheckResult, checks: Sequence[CheckResult]) -> bool:
    """Whether a forbidden call decides, so that what else fails may follow from it and is told in one line."""
    deciding = next(iter(deciding_checks(checks)), None)
    return deciding is not None and deciding.name == "forbidden" and check.name != "forbidden"


def to_harden(report: GradeReport) -> list[str]:
    """The required checks that stand between a solved file and a hardened one."""
    return [check.name for check in report.checks if status_of(check) == "harden" and check.required]


def unproved(report: GradeReport) -> list[str]:
    """The required checks that a hardened file was not put to, because nothing could be shown here."""
    if report.rung != "hardened":
        return []
    return [check.name for check in report.checks if check.status == "skipped" and check.required]


def _line(text: str) -> str:
    return " ".join(printable(text).split())
