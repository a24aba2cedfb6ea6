"""What the report on a class says, on the terminal and on its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncli.i18n import Lang, Localised, _, pgettext, quoted

LEFT_OUT: dict[str, Localised] = {
    "no-learner": _("lies in no learner's folder; put it into DIR/LEARNER/"),
    "name-not-utf-8": _("its name is not UTF-8; rename it"),
    "link": _("a link that leads elsewhere; put the file itself there"),
    "folder": _("a folder inside a learner's; files belong directly below"),
    "empty": _("nothing was handed in"),
    "unknown-challenge": _("there is no such challenge"),
    "needs-triton": _("needs Triton: pip install 'attncli[kernels]' (Linux)"),
    "no-file": _("no ordinary file"),
    "unreadable": _("cannot be read"),
    "too-large": _("larger than 128 KiB"),
}
_DETAILS: dict[str, Localised] = {
    "unknown-challenge": _("; did you mean {detail}?"),
    "unreadable": _(" ({detail})"),
}

REPORT: dict[str, Localised] = {
    "title": _("Report on a class"),
    "graded": _("{files} files of {learners} people, {challenges} challenges"),
    "by": _("seed {seed}, {timeout:g} s and {memory} MiB for one run, sandbox: {layers}"),
    "layers_of": _("{layers} ({files} files)"),
    "no_layers": _("none"),
    "people": _("People"),
    "learner": _("Name"),
    "challenges": _("Challenges"),
    "challenge": _("Challenge"),
    "handed_in": _("Files"),
    "solved": _("Solved"),
    "hardened": pgettext("status", "Hardened"),
    "costliest_checks": _("What stopped most people"),
    "costliest_diagnoses": _("The mistakes that most people made"),
    "check": _("Check"),
    "mistake": _("Mistake"),
    "how_many": _("How many"),
    "cards": _("Cards"),
    "similar": _("Nearly the same"),
    "similar_note": _("A reason to look, no proof. By {method}, without the starter's: {percent} % or more."),
    "share": _("Shared"),
    "left_out": _("Not graded"),
    "path": _("Path"),
    "why": _("Reason"),
    "judge_failed": _("The judge failed"),
    "each": _("Each file that is not hardened"),
    "rung": _("Reached"),
    "stopped": _("What stopped it"),
    "versions": _("Versions"),
    "nobody": _("Nobody."),
    "nothing_stopped": _("Nothing did."),
    "times": _("Time"),
    "seconds": _("{seconds:.1f} s of grading"),
}
RUNG: dict[str, Localised] = {
    "none": quoted("–"),
    "solved": _("solved"),
    "hardened": _("hardened"),
}


def left_out_text(reason: str, detail: str) -> Localised:
    """Why something was not graded; `detail` is a name or what the system said."""
    text = LEFT_OUT[reason]
    return text + _DETAILS[reason].format(detail=detail) if detail and reason in _DETAILS else text


def graded_by(report: Mapping[str, Any], lang: Lang) -> str:
    """By what everybody was graded, and which layers of the sandbox held."""
    several = len(report["sandbox"]) > 1
    told = []
    for found in report["sandbox"]:
        layers = ", ".join(found["layers"]) or REPORT["no_layers"][lang]
        told.append(REPORT["layers_of"][lang].format(layers=layers, files=found["files"]) if several else layers)
    return REPORT["by"][lang].format(
        seed=report["seed"],
        timeout=report["timeout_seconds"],
        memory=report["memory_mib"],
        layers="; ".join(told) or REPORT["no_layers"][lang],
    )
