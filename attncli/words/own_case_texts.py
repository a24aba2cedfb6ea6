"""What the app says of a case of one's own. A part of the table in `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.own-case": _("Your case"),
    "key.try": _("Try"),
    "own-case.title": _("A case of your own"),
    "own-case.prompt": _("Arguments: torch.randn(1, 2, 4), 3, scale=0.5 — or calls, joined by ;"),
    "own-case.how": _(
        "Type what {calls} is called with, and see what your file and the reference answer. Write any Python; "
        "tensors are torch.tensor([[1, 2]]), randn(2, 3), arange(4), zeros(2, 3).bool() and "
        "the like. The same text draws the same numbers. Nothing is recorded."
    ),
    "own-case.waiting": _("Asking both…"),
    "own-case.refused": _("Not tried: {why}"),
    "own-case.same": _("✓ Both answers are the same"),
    "own-case.differ": _("✗ The answers differ: {how}"),
    "own-case.no-answer": _("! No comparison: {how}"),
    "own-case.forbidden": _("The challenge never asks for this, so no difference counts: {what}"),
    "own-case.between": _("; "),
    "own-case.case": _("The case"),
}
