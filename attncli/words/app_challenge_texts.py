"""What the app says of challenges and gradings, in English and Chinese; a part of the table in `app_texts`."""

from __future__ import annotations

from attncli.domain.vocabulary import STANDING_NAMES
from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    **{f"standing.{standing}": text for standing, text in STANDING_NAMES.items()},
    "challenge.not-started": _("Press e: a starter file is written and your editor opens it; w opens it here."),
    "verdict.unproved": _("not proved: {checks}"),
    "after.asked-next": _("What interviewers ask next (a opens the next answer)"),
    "status.pass": _("✓ pass"),
    "status.fail": _("✗ fail"),
    "status.harden": _("△ next"),
    "status.skipped": _("– skipped"),
    "status.info": _("i info"),
    "status.running": _("› running"),
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
