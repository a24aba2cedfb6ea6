"""What is said about files with planted bugs: in the file itself, in a report, in the app."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import RepairedBugs
from attncli.i18n import Lang, Localised, _, quoted

REPAIR: dict[str, Localised] = {
    "task-1": _("{title}: there is 1 bug in this file. Find it and mend it."),
    "task": _("{title}: there are {count} bugs in this file. Find them and mend them."),
    "how": _("`attn grade {id} {file}` tells how many are repaired, and what one observes of those that are left."),
    "score": _("{done} of {of} repaired"),
    "all": _("all {of} repaired: the file counts as fixed"),
    "one": _("repaired: the file counts as fixed"),
    "left": _("what is left shows like this:"),
    "only-rest": _("every planted bug is repaired; what is still rejected has come in since"),
    "fixed": _("fixed: {count}"),
}


def heading(challenge: Challenge, count: int, file: str) -> Localised:
    """What stands at the top of a file that is handed out with so many bugs."""
    task = REPAIR["task-1" if count == 1 else "task"].format(title=challenge.title, count=count)
    return task + quoted("\n\n") + REPAIR["how"].format(id=challenge.id, file=file)


def repaired_lines(repaired: RepairedBugs, accepted: bool, lang: Lang) -> Iterator[str]:
    """How many bugs are repaired, then what one observes of each that is left."""
    if accepted:
        yield REPAIR["one" if repaired.of == 1 else "all"][lang].format(of=repaired.of)
        return
    yield REPAIR["score"][lang].format(done=repaired.done, of=repaired.of)
    if not repaired.left:
        yield REPAIR["only-rest"][lang]
    elif any(bug.symptom[lang] for bug in repaired.left):
        yield REPAIR["left"][lang]
    yield from (f"- {bug.symptom[lang]}" for bug in repaired.left if bug.symptom[lang])
