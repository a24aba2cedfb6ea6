"""The report on a class as one self-contained HTML page: no script, nothing fetched, and it prints.

Names, messages and diagnoses are other people's: all of it is escaped, and the page's own policy forbids the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from attncli.domain.printable import printable
from attncli.domain.text import Lang
from attncli.export.render import policy
from attncli.export.summary_phrases import environment
from attncli.words.cohort_texts import REPORT, RUNG, graded_by, left_out_text
from attncli.words.grade_report_texts import REASONS


def to_page(report: Mapping[str, Any], lang: Lang) -> str:
    """The page; `report` is the document that `attn cohort --json` prints."""
    jinja = environment(autoescape=True)
    jinja.filters["said"] = lambda found, name: found.get(f"{name}_zh", found[name]) if lang == "zh" else found[name]
    jinja.filters["why"] = lambda left: left_out_text(left["reason"], left["detail"])[lang]
    jinja.filters["reason"] = lambda word: REASONS[word][lang] if word in REASONS else ""
    style = jinja.get_template("cohort.css").render()
    page = jinja.get_template("cohort.html.j2").render(
        report=report,
        lang=lang,
        l={name: text[lang] for name, text in REPORT.items()},
        rung={name: text[lang] for name, text in RUNG.items()},
        reached={learner["learner"]: _reached(learner) for learner in report["learners"]},
        open=list(_open(report)),
        by=graded_by(report, lang),
        files=sum(learner["graded"] for learner in report["learners"]),
        style=Markup(style),
        policy=policy(style),
    )
    return printable(page)


def _reached(learner: Mapping[str, Any]) -> dict[str, str]:
    """The rung of each file of a learner, by challenge."""
    return {result["challenge"]: result["rung"] for result in learner["results"]}


def _open(report: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every result that something stopped, with the learner's name."""
    for learner in report["learners"]:
        yield from ((learner["learner"], result) for result in learner["results"] if result["stopped_by"])
