"""Format a grade report: the names of verdicts, statuses and reasons, one line per check, the diagnosis.

The messages of the checks come with the report (see `judge/messages.py`), English first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attncli.domain.challenge import Mistake
from attncli.domain.grade_report import CheckResult, GradeReport, RepairedBugs
from attncli.domain.text import printable
from attncli.i18n import Lang, Localised, _, ngettext, pgettext

VERDICTS: dict[str, Localised] = {"accepted": _("accepted"), "rejected": _("rejected"), "error": _("the judge failed")}
REACHED: dict[str, Localised] = {
    "solved": _("solved: correct at the whiteboard"),
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
    "timeout": _("timed out"),
    "memory": pgettext("learner", "ran out of memory"),
    "exited": _("exited the process"),
    "crashed": _("crashed the interpreter"),
    "output": _("printed too much"),
    "too-large": _("returned too much"),
    "refused": _("tried something forbidden"),
    "protocol": _("broke the connection to the judge"),
    "shape": _("wrong shape"),
    "dtype": _("wrong dtype"),
    "values": _("wrong values"),
    "not-finite": _("not finite"),
    "gradient": _("wrong gradient"),
    "nondeterministic": _("not deterministic"),
    "depends-on-earlier-calls": _("depends on earlier calls"),
    "forbidden": _("called a forbidden function"),
    "growth": _("grows too fast"),
    "mutated": _("modified an input"),
    "aliased": _("shares memory"),
    "missing-entry-point": _("missing function"),
}


def told(check: CheckResult, lang: Lang) -> str:
    """Return a check's message on one line, in Chinese after its reason; empty if there is none."""
    message = _line(check.message.en)
    if lang == "en":
        return message
    shown = check.counterexample
    label, label_zh = (shown.edge_case, shown.edge_case_zh) if shown else ("", "")
    case = f"［{_line(label_zh or label)}］" if label and message.startswith(f"{label}: ") else ""
    is_translated = check.message.zh != check.message.en
    said = _line(check.message.zh) if is_translated else message.removeprefix(f"{label}: " if case else "")
    # A translated message already contains the exception.
    reason = None if is_translated and check.reason == "exception" else REASONS.get(check.reason)
    return case + (f"{reason.zh}：{said}" if reason and said else reason.zh if reason else said)


def headline(report: GradeReport, lang: Lang) -> str:
    """Return the rung that was reached, otherwise the verdict."""
    short = report.verdict == "rejected" and report.rung == "solved"
    reached = _("solved, but not hardened") if short else REACHED.get(report.rung)
    return reached[lang] if reached else VERDICTS[report.verdict][lang]


def diagnosis_lines(report: GradeReport, mistakes: Mapping[str, Mistake], lang: Lang) -> Iterator[tuple[str, str]]:
    """Yield the likely mistake, or two, each with the cards that explain it (empty if there are none)."""
    for number, found in enumerate(report.diagnosis):
        if found.beside and number == 0:
            yield _("Two mistakes together explain every answer:")[lang], ""
        if found.says_zh:
            pattern = Localised(found.says, found.says_zh)
            yield _("Pattern in all answers: {says}", says=pattern)[lang], ""
            continue
        known = mistakes.get(found.wrong)
        says = (known.says[lang] if known else "") or found.says
        cards = _(" (cards: {cards})", cards=", ".join(found.cards))[lang] if found.cards else ""
        yield _("Likely mistake: {says}", says=says)[lang], cards


def status_of(check: CheckResult) -> str:
    """Return the status of a check, `harden` for one that fails on the second rung only."""
    return "harden" if check.status == "fail" and check.rung == "hardened" else check.status


_FIRST = {"forbidden": 0, "loads": 1}


def deciding_checks(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """Return the failed required checks, the most important first: forbidden names, loading, then rung by rung."""
    failed = [check for check in checks if check.status == "fail" and check.required]
    return sorted(failed, key=lambda check: _FIRST.get(check.name, 3 if check.rung == "hardened" else 2))


def follows(check: CheckResult, checks: Sequence[CheckResult]) -> bool:
    """Return True if a forbidden call decides and this check may fail because of it."""
    deciding = next(iter(deciding_checks(checks)), None)
    return deciding is not None and deciding.name == "forbidden" and check.name != "forbidden"


def to_harden(report: GradeReport) -> list[str]:
    """Return the required checks that a solved file fails on the second rung."""
    return [check.name for check in report.checks if status_of(check) == "harden" and check.required]


def unproved(report: GradeReport) -> list[str]:
    """Return the required checks that were skipped for a hardened file."""
    if report.rung != "hardened":
        return []
    return [check.name for check in report.checks if check.status == "skipped" and check.required]


def repaired_lines(repaired: RepairedBugs, accepted: bool, lang: Lang) -> Iterator[str]:
    """Yield the number of fixed bugs, then the symptoms of those left."""
    if accepted:
        yield ngettext(
            "Bug fixed: this file counts as fixed", "All {count} bugs fixed: this file counts as fixed", repaired.of
        )[lang]
        return
    yield _("{done} of {of} bugs fixed", done=repaired.done, of=repaired.of)[lang]
    if not repaired.left:
        yield _("Every planted bug is fixed; a later edit broke something else.")[lang]
    elif any(bug.symptom[lang] for bug in repaired.left):
        yield _("Symptoms of the rest:")[lang]
    yield from (f"- {bug.symptom[lang]}" for bug in repaired.left if bug.symptom[lang])


def _line(text: str) -> str:
    return " ".join(printable(text).split())
