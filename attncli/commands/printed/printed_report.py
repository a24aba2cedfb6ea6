"""A grade report for people: plain lines, no colour needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import get_terminal_size

from attncli.commands.shared.stdout import echo
from attncli.domain.challenge import Challenge
from attncli.domain.device_choice import CUDA
from attncli.domain.grade_report import INTERPRETER, GradeReport
from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.words import grade_report_texts as words
from attncli.words.counterexample_lines import counterexample_lines
from attncli.words.repair_texts import repaired_lines

PRINTED_LINES = 20
INDENT = " " * 8


def print_report(report: GradeReport, challenge: Challenge, lang: Lang) -> None:
    for line in report_lines(report, challenge, lang, get_terminal_size((100, 24)).columns):
        echo(line)


def report_lines(report: GradeReport, challenge: Challenge, lang: Lang, width: int = 100) -> Iterator[str]:
    """The report line by line: verdict, checks, counterexample, diagnosis, what the code printed."""
    said, title = words.PRINTED, challenge.title[lang]
    yield said["head"][lang].format(title=title, verdict=words.headline(report, lang), **report.score)
    for key, checks in (("to-harden", words.to_harden(report)), ("unproved", words.unproved(report))):
        if checks:
            yield f"  {said[key][lang].format(checks=', '.join(checks))}"
    for check in report.checks:
        badge = "" if check.required else said["badge"][lang]
        status = words.STATUSES[words.status_of(check)][lang]
        yield f"  {status}  {check.name}{badge}  {words.told(check, lang)}".rstrip()
        if check.status == "fail" and check.counterexample and not words.follows(check, report.checks):
            shown = counterexample_lines(check.counterexample, width - len(INDENT), lang, Path(report.file).name)
            yield from (f"{INDENT}{line}".rstrip() for _, line in shown)
    if report.repaired is not None:
        yield from (f"  {line}" for line in repaired_lines(report.repaired, report.accepted, lang))
    yield from (f"  {says}{cards}" for says, cards in words.diagnosis_lines(report, challenge.mistakes, lang))
    if report.printed:
        yield f"  {said['printed'][lang]}"
        yield from (f"    {line}" for line in printable(report.printed).splitlines()[:PRINTED_LINES])
    if report.device == INTERPRETER:
        yield f"  {said['interpreter'][lang]}"
    if report.device == CUDA:
        alone = challenge.kernel and not report.device_note.en
        yield from (f"  {said[key][lang]}" for key in ("gpu", *(["compiled"] if alone else [])))
    if report.device_note.en:
        yield f"  {report.device_note[lang]}"
    layers = ", ".join(report.sandbox)
    yield f"  {said['foot'][lang].format(seconds=report.seconds, seed=report.seed, layers=layers)}"
