"""What a grade report says, in the learner's language: words for verdicts, statuses and reasons, and one line a check.

The sentences themselves come with the report (see judge/messages.py), English first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attncli.domain.text import printable
from attncli.domain.vocabulary import Standing
from attncli.i18n import Lang, Localised, _, pgettext

if TYPE_CHECKING:
    from attncli.domain.challenge import Mistake
    from attncli.domain.grade_report import CheckResult, GradeReport

STANDINGS: dict[Standing, Localised] = {
    "new": pgettext("challenge", "new"),
    "tried": _("tried"),
    "solved": _("solved"),
    "hardened": _("hardened"),
}
VERDICTS: dict[str, Localised] = {
    "accepted": _("accepted"),
    "rejected": _("rejected"),
    "error": _("the judge failed"),
}
REACHED: dict[str, Localised] = {
    "solved": _("solved: right at the whiteboard"),
    "hardened": _("hardened: ready for production"),
}
STATUSES: dict[str, Localised] = {
    "pass": _("pass"),
    "fail": _("FAIL"),
    "harden": _("next"),
    "skipped": _("skip"),
    "info": _("info"),
}
REASONS: dict[str, Localised] = {
    "exception": _("raised an exception"),
    "timeout": _("ran out of time"),
    "memory": pgettext("learner", "ran out of memory"),
    "exited": _("ended the process"),
    "crashed": _("crashed the interpreter"),
    "output": _("printed too much"),
    "too-large": _("returned too much"),
    "refused": _("tried what is not allowed"),
    "protocol": _("broke the connection to the judge"),
    "shape": _("wrong shape"),
    "dtype": _("wrong dtype"),
    "values": _("wrong values"),
    "not-finite": _("not finite"),
    "gradient": _("wrong gradient"),
    "nondeterministic": _("not deterministic"),
    "depends-on-earlier-calls": _("depends on earlier calls"),
    "forbidden": _("called what is forbidden"),
    "growth": _("grows too fast"),
    "mutated": _("changed an input"),
    "aliased": _("shares memory"),
    "missing-entry-point": _("the function is missing"),
}

PRINTED: dict[str, Localised] = {
    "head": _("{title}: {verdict} ({passed} of {total} checks)"),
    "unproved": _("not proved: {checks}"),
    "to-harden": _("to harden it: {checks}"),
    "badge": _(" (badge)"),
    "printed": _("printed by your code:"),
    "interpreter": _("run in Triton's interpreter on the CPU: not compiled, not timed, bfloat16 not checked"),
    "gpu": _(
        "run on the GPU: its driver is open to your code and host memory is only watched, so the sandbox covers less"
    ),
    "compiled": _("compiled for the GPU: no load or store was looked at by itself; --device cpu does that"),
    "foot": _("{seconds} s, seed {seed}, sandbox: {layers}"),
    "same": _("the same answers as: {says}"),
    "two": _("two mistakes at once explain every answer:"),
    "common": _("what all the answers have in common: {says}"),
    "cards": _(" (cards: {cards})"),
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
    reached = _("solved, but not hardened") if short else REACHED.get(report.rung)
    return reached[lang] if reached else VERDICTS[report.verdict][lang]


def diagnosis_lines(report: GradeReport, mistakes: Mapping[str, Mistake], lang: Lang) -> Iterator[tuple[str, str]]:
    """The mistake that it looks like, or two; behind each line the cards that explain it, or nothing."""
    for number, found in enumerate(report.diagnosis):
        if found.beside and number == 0:
            yield PRINTED["two"][lang], ""
        if found.says_zh:
            yield PRINTED["common"][lang].format(says=Localised(found.says, found.says_zh)[lang]), ""
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
