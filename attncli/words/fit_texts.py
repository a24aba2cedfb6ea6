"""What `attn optimize` says of a fit."""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext, quoted

JUDGED: dict[bool, Localised] = {
    True: _(
        "Fitted to {reviews} reviews. Tried on {held_back} that it had not seen, it predicts recall better than the "
        "parameters in force."
    ),
    False: _(
        "Fitted to {reviews} reviews. Tried on {held_back} that it had not seen, it does not predict recall better "
        "than the parameters in force by more than chance: those stay, and nothing was changed."
    ),
}
SCORES = _(
    "  log loss {before:.4f} → {after:.4f} (gain {gain:.4f}, standard error {error:.4f}); "
    "RMSE in bins {rmse_before:.4f} → {rmse_after:.4f}"
)
FIRST_INTERVALS = _("  a new card comes again after: {intervals} (days, steps aside)")
ONE_INTERVAL = quoted("{rating} {before:g} → {after:g}")
COMMA = pgettext("clauses", ", ")
MINUTES = _("  the cards seen so far take {before:.1f} → {after:.1f} minutes a day (mean of the next {days} days)")
RECALL = _("  recall when a card comes due: {before:.0%} → {after:.0%} (you asked for {wished:.0%})")
MEANING: dict[str, Localised] = {
    "longer": _("You remember longer than was assumed: intervals grow, and the same memory costs less time."),
    "shorter": _("You forget sooner than was assumed: intervals shrink, so that as much stays as you asked for."),
    "same": _("The work stays about the same; it moves to the cards that need it."),
}
IN_FORCE = _("All schedules follow the new parameters now; `attn undo` takes that back.")
