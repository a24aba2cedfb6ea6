"""The report on a learner's tests: the wrong solutions they catch, and the right ones they fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, Final

from attncli.domain.grade_report import ALWAYS, Verdict, document
from attncli.domain.text import left
from attncli.domain.vocabulary import CaseRung, Rung
from attncli.i18n import NOTHING, Lang, Localised, _, ngettext

REFERENCE: Final = "reference"
KINDS: Final[dict[str, Localised]] = {
    "values": _("values"),
    "gradients": _("gradients"),
    "edges": _("edge cases"),
    "dtype": _("dtype"),
    "layout": _("layout"),
    "device": _("device"),
    "purity": _("purity"),
    "complexity": _("complexity (extra)"),
}
"""What a wrong solution gets wrong, by the check of the judge that rejects it."""
KIND_OF_CHECK: Final[dict[str, str]] = {
    **dict.fromkeys(("matches-reference", "random", "loads"), "values"),
    "gradients": "gradients",
    **dict.fromkeys(("edge-cases", "stable"), "edges"),
    "low-precision": "dtype",
    "layout": "layout",
    "device": "device",
    "pure": "purity",
    **dict.fromkeys(("work", "memory", "forbidden"), "complexity"),
}
EXTRA: Final = "complexity"
"""The kind that counts as extra: tests cannot be expected to count work or memory."""
SOLVED_SHARE, HARDENED_SHARE = 0.8, 0.95
_MOST_ALARMS = 3


@dataclass(frozen=True, slots=True)
class Caught:
    """The number of wrong solutions that the tests catch, of all."""

    caught: int = field(default=0, metadata=ALWAYS)
    total: int = field(default=0, metadata=ALWAYS)

    def reaches(self, share: float) -> bool:
        return self.caught >= share * self.total


@dataclass(frozen=True, slots=True)
class FalseAlarm:
    """A test that fails a right solution: the line of the test that failed, and the solution's last result as text."""

    solution: str
    test: str
    line: int = 0
    code: str = ""
    message: Localised = NOTHING
    returned: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A wrong solution that no test catches, without its name."""

    number: int
    kind: str
    rung: CaseRung


@dataclass(frozen=True, slots=True)
class TimedTest:
    """A test, its time on the reference, and the number of wrong solutions that it is the first to catch."""

    name: str
    seconds: float = field(default=0.0, metadata=ALWAYS)
    caught: int = field(default=0, metadata=ALWAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnTestsReport:
    """The result of a file of tests.

    `reason` and `fault` say why the file itself is unusable. `survived` has the names behind `survivors`, in their
    order; they are kept in the history for hints and never printed. `first` counts the catchable wrong solutions of the
    first rung, `all` every catchable one.
    """

    challenge: str
    file: str
    verdict: Verdict
    rung: Rung = field(default="none", metadata=ALWAYS)
    reason: str = ""
    fault: Localised = NOTHING
    first: Caught = Caught()
    all: Caught = Caught()
    caught: Mapping[str, Caught] = field(default_factory=dict)
    right: int = field(default=0, metadata=ALWAYS)
    false_alarms: tuple[FalseAlarm, ...] = field(default=(), metadata=ALWAYS)
    survivors: tuple[Survivor, ...] = field(default=(), metadata=ALWAYS)
    survived: tuple[str, ...] = ()
    tests: tuple[TimedTest, ...] = ()
    seconds: float = field(default=0.0, metadata=ALWAYS)
    sandbox: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        return self.verdict == "accepted"


def tests_subject(challenge: str) -> str:
    """Return the subject of the history's rows about the tests of a challenge."""
    return f"{challenge}:tests"


def rung_of(first: Caught, all_: Caught, has_false_alarm: bool) -> Rung:
    """Return the rung that tests reach: 80 % of the first rung's catchable solutions, then 95 % of all."""
    if has_false_alarm or not first.reaches(SOLVED_SHARE):
        return "none"
    return "hardened" if all_.reaches(HARDENED_SHARE) else "solved"


def tests_document(report: OwnTestsReport) -> dict[str, Any]:
    """Return the JSON of `attn grade --tests --json`, without the names of survivors."""
    found: dict[str, Any] = document(replace(report, survived=()))
    return found


def tests_lines(report: OwnTestsReport, title: Localised, lang: Lang, of_draft: bool = False) -> Iterator[str]:
    """Yield the report as lines: verdict, fault, false alarms, caught by kind, survivors, the slowest test.

    Of tests of a draft only the number of exposed bugs, the fault and the false alarms.
    """
    yield _("{heading}: {text}", heading=title, text=_headline(report, of_draft))[lang]
    if report.fault.en:
        yield "  " + report.fault[lang]
        return
    yield from (f"  {line}" for alarm in report.false_alarms[:_MOST_ALARMS] for line in _alarm_lines(alarm, lang))
    if (more := len(report.false_alarms) - _MOST_ALARMS) > 0:
        yield "  " + ngettext("… and {count} more false alarm", "… and {count} more false alarms", more)[lang]
    if of_draft:
        return
    for kind, caught in report.caught.items():
        yield f"  {left(KINDS[kind][lang], 20)} {caught.caught:>3} / {caught.total}"
    if report.survivors:
        kinds = dict.fromkeys(each.kind for each in report.survivors)
        numbers = {kind: [str(each.number) for each in report.survivors if each.kind == kind] for kind in kinds}
        survivors = "; ".join(f"{KINDS[kind][lang]} {', '.join(found)}" for kind, found in numbers.items())
        yield "  " + _("Not caught: {survivors}", survivors=survivors)[lang]
    if report.tests:
        slowest = max(report.tests, key=lambda test: test.seconds)
        yield "  " + _("Slowest test: {name}, {seconds:.2f} s", name=slowest.name, seconds=slowest.seconds)[lang]


def _headline(report: OwnTestsReport, of_draft: bool) -> Localised:
    if report.fault.en:
        return _("these tests cannot be used")
    if report.false_alarms:
        return ngettext(
            "{count} false alarm: a test fails a right solution",
            "{count} false alarms: tests fail right solutions",
            len(report.false_alarms),
        )
    caught, total = report.all.caught, report.all.total
    if of_draft:
        return _("{caught} of {total} bugs exposed", caught=caught, total=total)
    if report.rung == "hardened":
        return _("hardened: {caught} of {total} wrong solutions caught", caught=caught, total=total)
    if report.rung == "solved":
        need = ceil(HARDENED_SHARE * total)
        return _("solved: {caught} of {total} caught; hardened needs {need}", caught=caught, total=total, need=need)
    first = report.first
    return _(
        "{caught} of {total} caught; solved needs {need} of the {of} basic ones, so far {first}",
        caught=caught,
        total=total,
        need=ceil(SOLVED_SHARE * first.total),
        of=first.total,
        first=first.caught,
    )


def _alarm_lines(alarm: FalseAlarm, lang: Lang) -> Iterator[str]:
    place = f"{alarm.test}:{alarm.line}" if alarm.line else alarm.test
    yield _("False alarm: {test} fails {solution}", test=place, solution=alarm.solution)[lang]
    yield from (f"    {text}" for text in (alarm.code, alarm.message[lang], alarm.example) if text)
    if alarm.returned:
        yield "    " + _("returned: {value}", value=alarm.returned)[lang]
