"""What the app says around a mock interview: where it is chosen, its keys, its report. A part of `app_texts`."""

from __future__ import annotations

from attncli.i18n import Localised, _

TEXTS: dict[str, Localised] = {
    "key.mock": _("Mock"),
    "key.new-mock": _("New interview"),
    "key.skip": _("Skip"),
    "key.next-part": _("Next part"),
    "key.credit": _("How it went"),
    "key.settle": _("Go on"),
    "key.end-mock": _("End"),
    "key.stop-clock": _("Stop the clock"),
    "key.leave-code": _("Leave it"),
    "palette.mock": _("Mock interview"),
    "mock.title": _("Mock interview"),
    "mock.start": _("Start an interview: {parts}"),
    "mock.resume": _("Go on: {part}, begun {at:%Y-%m-%d %H:%M}"),
    "mock.minutes": _("Minutes"),
    "mock.level": _("Interview level"),
    "mock.interviewer": _("Somebody interviews me"),
    "mock.past": _("{at:%Y-%m-%d %H:%M} · {minutes} min · {level} · {share:.0%}"),
    "mock.note": _(
        "Timed, drawn at random; each step is kept, and leaving stops the clock. You tick the points yourself, or "
        "somebody beside you does, who then sees them at once. Cards keep their schedule; what was missed counts as "
        "weak; code that is graded is an attempt."
    ),
    "mock.credit": _("2 wholly · 1 partly · 0 not"),
    "mock.go-on": _("Enter goes on with the interview; the clock stands still."),
    "mock.by-hand": _("It cannot be graded here: {why} Whoever looks at it says: 1 right, 0 not right."),
    "mock.end": _("End the interview here? What was answered is kept."),
    "mock.yes-end": _("y · end it"),
    "mock.no-end": _("n · go on"),
}
