"""The report as one table, a line a file, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.words.cohort_texts import left_out_text

COLUMNS = (
    *("learner", "challenge", "rung", "solved", "hardened", "check", "reason", "message"),
    *("diagnosis", "cards", "alike", "problem", "seed"),
)
MOST_NAMES = 10
# What a spreadsheet takes for a formula at the beginning of a cell, also where a semicolon parts the cells. Names and
# messages are other people's.
_FORMULA = re.compile(r"""(^|;)([ "']*)(?=[=+\-@＝＋－＠﹦﹢﹣﹫])""")


def to_csv(report: Mapping[str, Any], lang: Lang) -> str:
    """The table; what was left out and what the judge failed on has a line with its `problem`."""
    out = io.StringIO()
    table = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    seed = {"seed": report["seed"]}
    table.writerows({key: _harmless(value) for key, value in row.items()} | seed for row in _rows(report, lang))
    return out.getvalue()


def _rows(report: Mapping[str, Any], lang: Lang) -> Iterator[dict[str, Any]]:
    alike = _alike(report)
    for learner in report["learners"]:
        for result in learner["results"]:
            stopped = result["stopped_by"] or {}
            yield {
                "learner": learner["learner"],
                "challenge": result["challenge"],
                "rung": result["rung"],
                "solved": int(result["rung"] != "none"),
                "hardened": int(result["rung"] == "hardened"),
                "check": stopped.get("name", ""),
                "reason": stopped.get("reason", ""),
                "message": _in(stopped, "message", lang),
                "diagnosis": "; ".join(_in(found, "says", lang) for found in result["diagnosis"]),
                "cards": " ".join(card for found in result["diagnosis"] for card in found["cards"]),
                "alike": _few(alike.get((learner["learner"], result["challenge"]), ())),
            }
    for failed in report["judge_failed"]:
        yield {"learner": failed["learner"], "challenge": failed["challenge"], "problem": failed["error"]}
    for left in report["left_out"]:
        yield {"learner": left["path"], "problem": left_out_text(left["reason"], left["detail"])[lang]}


def _alike(report: Mapping[str, Any]) -> dict[tuple[str, str], list[str]]:
    """Who wrote nearly the same as somebody, for a challenge."""
    return {
        (name, group["challenge"]): [other for other in group["learners"] if other != name]
        for group in report["similar"]
        for name in group["learners"]
    }


def _few(names: Sequence[str]) -> str:
    """The first names of a group, and how many more there are."""
    more = f", +{len(names) - MOST_NAMES}" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _in(document: Mapping[str, Any], name: str, lang: Lang) -> str:
    said = document.get(name, "")
    return str(document.get(f"{name}_zh", said) if lang == "zh" else said)


def _harmless(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1\2'", " ".join(printable(value).split()))
