"""What `attn experiment` prints around what the experiments say themselves."""

from __future__ import annotations

from attncli.i18n import _

SEED = _("seed")
YES = _("yes")
NO = _("no")
SEVERAL = _("several in one place")
LIST_HEAD = _("experiment  title  quick  full  cards")
CLAIMED = _("Claimed")
CAVEAT = _("But")
HOLDS = _("holds")
FAILS = _("FAILS")
CHECK = _("{says}: {got} (due: {due})")
SHOWN = _("As claimed")
NOT_SHOWN = _("Not as claimed")
IN_SEEDS = _(" in {some} of {seeds} seeds")
VERDICT = _("{shown}{seeds}: {seen}")
SECONDS = _("{count:g} s")
WRITTEN = _("the plot is in {file}")
