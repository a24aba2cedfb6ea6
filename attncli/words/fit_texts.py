"""What `attn optimize` says of a fit."""

from __future__ import annotations

from attncli.i18n import Localised, _

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
MEANING: dict[str, Localised] = {
    "longer": _("You remember longer than was assumed: intervals grow, and the same memory costs less time."),
    "shorter": _("You forget sooner than was assumed: intervals shrink, so that as much stays as you asked for."),
    "same": _("The work stays about the same; it moves to the cards that need it."),
}
