"""What is said about files with planted bugs: in the file itself, in a report, in the app."""

from __future__ import annotations

from collections.abc import Iterator

from attncli.domain.challenge import Challenge
from attncli.domain.grade_report import RepairedBugs
from attncli.domain.text import Lang, Localised
from attncli.domain.text import Localised as _T

REPAIR: dict[str, Localised] = {
    "task-1": _T(
        "{title}: there is 1 bug in this file. Find it and mend it.", "{title}：这个文件里有 1 处错误，请找出来改正。"
    ),
    "task": _T(
        "{title}: there are {count} bugs in this file. Find them and mend them.",
        "{title}：这个文件里有 {count} 处错误，请全部找出来改正。",
    ),
    "how": _T(
        "`attn grade {id} {file}` tells how many are repaired, and what one observes of those that are left.",
        "`attn grade {id} {file}` 会告诉你改对了几处，剩下的会有什么症状。",
    ),
    "score": _T("{done} of {of} repaired", "{of} 处错误改对 {done} 处"),
    "all": _T("all {of} repaired: the file counts as fixed", "{of} 处错误全部改对，计入已修复"),
    "one": _T("repaired: the file counts as fixed", "错误已改对，计入已修复"),
    "left": _T("what is left shows like this:", "剩下的错误有这样的症状："),
    "only-rest": _T(
        "every planted bug is repaired; what is still rejected has come in since",
        "埋下的错误都已改对；仍未通过的地方是后来改出来的",
    ),
    "fixed": _T("fixed: {count}", "已修复：{count}"),
}


def heading(challenge: Challenge, count: int, file: str) -> Localised:
    """What stands at the top of a file that is handed out with so many bugs."""
    task = REPAIR["task-1" if count == 1 else "task"].format(title=challenge.title, count=count)
    return task + _T("\n\n", "\n\n") + REPAIR["how"].format(id=challenge.id, file=file)


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
