"""What the app says of challenges and gradings, in English and Chinese; a part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext
from attncli.words.after_solving_texts import ASKED_NEXT
from attncli.words.grade_report_texts import PRINTED, STANDINGS

TEXTS: dict[str, Localised] = {
    "challenges.title": _("Challenges"),
    "challenges.column": _("Challenge"),
    "challenges.none": _("There are no challenges."),
    "challenges.narrow": _("words of a title or a track, is:{states}"),
    "challenges.nothing": _("No challenge has all these words."),
    "challenges.all-tracks": _("All tracks"),
    "challenges.solved": _("{solved} of {total} solved"),
    "challenges.level": _("Level"),
    **{f"standing.{standing}": text for standing, text in STANDINGS.items()},
    "challenges.due": pgettext("challenge", "due"),
    "challenge.level": _("level {level} of 5"),
    "challenge.not-started": _("Press e: a starter file is written and your editor opens it; w opens it here."),
    "challenge.file": _("File: {file} · t tries a case of your own"),
    "challenge.started": _("Starter written: {file}"),
    "challenge.starting": _("Starting the judge"),
    "challenge.grading": _("Grading: {check}"),
    "challenge.cancelled": _("Grading cancelled."),
    "challenge.hint": _("Hint {n} of {total}"),
    "challenge.no-card": _("No card explains this challenge yet."),
    "challenge.no-more-hints": _("There are no more hints."),
    "challenge.solution": _("Reference"),
    "challenge.see-solution": _("Show the reference? It is recorded, and solving it today counts as Again."),
    "challenge.yes": _("y  Show it"),
    "challenge.no": _("n  Not yet"),
    "challenge.unfold": _("▸ {title}: what production asks for besides (x shows it)"),
    "challenge.fold": _("▾ {title}: what production asks for besides (x hides it)"),
    "challenge.needs": _("Checks of both rungs: {checks}"),
    "challenge.forbidden": _("Not to be called: {calls}"),
    "verdict.summary": _("{passed} of {total} checks, {seconds} s"),
    "verdict.unproved": PRINTED["unproved"],
    "verdict.fresh": _("f: a fresh exam, on other inputs"),
    "verdict.exam": _("fresh exam {seed}"),
    "verdict.next-due": _("comes back in {interval}"),
    "verdict.diagnosis": _("What it looks like"),
    "verdict.checks": _("All checks"),
    "verdict.first-failure": _("What failed first: {check}"),
    "verdict.to-harden": _("To harden it next: {check}"),
    "verdict.printed": _("Your file printed"),
    "after.asked-next": Localised(
        f"{ASKED_NEXT.en} (a opens the next answer)", f"{ASKED_NEXT.zh}（按 a 展开下一条答案）"
    ),
    "after.next": _("n: next, {title}"),
    "after.none": _("Every challenge is solved."),
    "status.pass": _("✓ pass"),
    "status.fail": _("✗ fail"),
    "status.harden": _("△ next"),
    "status.skipped": _("– skipped"),
    "status.info": _("i info"),
    "status.running": _("› running"),
    "status.badge": _(" (badge)"),
    "counterexample.title": _("Smallest counterexample"),
    "challenge.symptom": _("Find the bug"),
    "challenge.bug-written": _("A wrong solution is in {file}. Press e, find the mistake, mend it, then g."),
    "challenge.offers-repair": _("Or r: a repair round, 1 to 4 bugs in the reference to find and mend."),
    "challenge.no-repair": _("{title} has no repair round; b hands out one wrong solution to debug."),
    "challenge.repair": _("Find {bugs}"),
    "challenge.repair-task": _(
        "Mistakes are planted in the reference, which is in {file}. Press e, mend them, then g: it tells how many are "
        "repaired, and what one observes of those that are left."
    ),
    "challenge.repair-written": _("{file} has {bugs}. Press e, mend them, then g."),
    "challenge.how-many": _("How many bugs?"),
    "challenge.how-many-kept": _("How many bugs? Your file for this challenge is kept as a numbered copy."),
    "challenge.repair-leave": _("Esc  Not now"),
    "verdict.repaired": _("Repair round"),
    "challenge.bug-kept": _("Your file is kept as {file}."),
    "challenge.keep-file": _(
        "You have a file for this challenge. Keep it as a numbered copy, with a wrong solution to debug in its place?"
    ),
    "challenge.yes-bug": _("y  Find the bug"),
    "challenge.no-suspend": _(
        "This terminal cannot be lent to an editor. Edit {file} in another window, then press g."
    ),
    "check.loads": _("the file loads and defines the entry point"),
    "check.matches-reference": _("outputs equal the reference's"),
    "check.gradients": _("gradients equal the reference's"),
    "check.edge-cases": _("the sizes people forget"),
    "check.stable": _("finite and right on large inputs"),
    "check.low-precision": _("right in bfloat16 and float16"),
    "check.layout": _("right on strided and expanded inputs"),
    "check.device": _("tensors are made on the inputs' device"),
    "check.pure": _("inputs untouched, nothing shared or kept"),
    "check.random": _("the statistics of a random technique"),
    "check.forbidden": _("writes what was to be written"),
    "check.work": _("the work grows as promised"),
    "check.memory": _("the memory stays as promised"),
    "check.speed": _("time against the reference"),
}
