"""What is said of the plan for an interview: `attn plan`, the Plan screen, the countdown on Home and in statistics."""

from __future__ import annotations

from attncli.i18n import Localised, _

BESIDE_REVIEW = _(
    "This list is chosen for recall on the day of the interview; Review on Home asks what is due today. Their cards "
    "may differ, and answers to either count."
)


def countdown_line(days_left: int, ready: float) -> Localised:
    """How far away the interview is, and the share of what is asked that is ready for it as things stand."""
    said = (
        _("Interview today · {ready:.0%} of what is asked is ready")
        if days_left == 0
        else _("Interview tomorrow · {ready:.0%} of what is asked is ready")
        if days_left == 1
        else _("{days} days to the interview · {ready:.0%} of what is asked is ready")
    )
    return said.format(days=days_left, ready=ready)
