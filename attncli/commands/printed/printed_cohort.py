"""The report on a class as a person reads it on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncli.domain.cells import cells, left, right
from attncli.domain.text import Lang
from attncli.words.cohort_texts import REPORT, graded_by, left_out_text
from attncli.words.grade_report_texts import REASONS

Rows = Sequence[Sequence[str]]


def lines(report: Mapping[str, Any], lang: Lang) -> Iterator[str]:
    """People, challenges, what stopped most of them, who wrote alike, what was not graded."""
    yield from _section("people", _people(report, lang), lang)
    yield from _section("challenges", _challenges(report, lang), lang)
    yield from _section("costliest_checks", _checks(report, lang), lang)
    yield from _section("costliest_diagnoses", _mistakes(report, lang), lang)
    yield from _section("similar", _similar(report), lang)
    yield from _section("left_out", _left_out(report, lang), lang)
    yield from _section("judge_failed", _judge_failed(report), lang)
    files = sum(learner["graded"] for learner in report["learners"])
    yield REPORT["graded"][lang].format(
        files=files, learners=len(report["learners"]), challenges=len(report["challenges"])
    )
    yield graded_by(report, lang)


def _people(report: Mapping[str, Any], lang: Lang) -> Rows:
    head = [REPORT[name][lang] for name in ("learner", "handed_in", "solved", "hardened")]
    return [head, *([row["learner"], *_reached(row)] for row in report["learners"])]


def _challenges(report: Mapping[str, Any], lang: Lang) -> Rows:
    head = [REPORT[name][lang] for name in ("challenge", "handed_in", "solved", "hardened")]
    return [head, *([row["challenge"], *_reached(row)] for row in report["challenges"])]


def _reached(row: Mapping[str, Any]) -> list[str]:
    return [str(row[name]) for name in ("graded", "solved", "hardened")]


def _checks(report: Mapping[str, Any], lang: Lang) -> Rows:
    found = report["costliest"]["checks"]
    return [[f"{row['learners']} × {row['name']}{_reason(row['reason'], lang)}"] for row in found]


def _reason(reason: str, lang: Lang) -> str:
    if reason not in REASONS:
        return ""
    return f"：{REASONS[reason].zh}" if lang == "zh" else f": {REASONS[reason].en}"


def _mistakes(report: Mapping[str, Any], lang: Lang) -> Rows:
    return [
        [f"{row['learners']} × {row['challenge']}", row.get("says_zh", row["says"]) if lang == "zh" else row["says"]]
        for row in report["costliest"]["diagnoses"]
    ]


def _similar(report: Mapping[str, Any]) -> Rows:
    return [[f"{row['share']:.0%}", row["challenge"], ", ".join(row["learners"])] for row in report["similar"]]


def _left_out(report: Mapping[str, Any], lang: Lang) -> Rows:
    return [[row["path"], left_out_text(row["reason"], row["detail"])[lang]] for row in report["left_out"]]


def _judge_failed(report: Mapping[str, Any]) -> Rows:
    return [[f"{row['learner']}/{row['challenge']}.py", row["error"]] for row in report["judge_failed"]]


def _section(name: str, rows: Rows, lang: Lang) -> Iterator[str]:
    """A heading and its rows in columns; the middle columns of four are numbers."""
    if not rows:
        return
    yield REPORT[name][lang]
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    sides = [left, right, right, right] if len(widths) == 4 else [left] * len(widths)
    for row in rows:
        yield "  " + "  ".join(side(text, width) for side, text, width in zip(sides, row, widths, strict=True)).rstrip()
    yield ""
