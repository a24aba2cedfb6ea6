"""What `attn doctor` says to a person: the names of what it looked at, and what it found.

In English nearly all names are those of its JSON document.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

NAMES: dict[str, Localised] = {
    "platform": _("platform"),
    "home": _("home"),
    "config": _("config"),
    "database": _("history"),
    "history": _("history"),
    "cache": _("cache"),
    "solutions": _("solutions"),
    "quizbank": _("quizbank"),
    "impl": _("impl"),
    "copies": _("copies"),
    "banks": _("banks"),
    "clock": _("clock"),
    "device": _("device"),
    "sandbox": _("sandbox"),
    "gpu": _("on the GPU"),
}
"""What is not here, such as a library, is called the same in both languages."""

INTEGRITY: dict[str, Localised] = {
    "ok": _("ok"),
    "damaged": _("damaged"),
    "unusable": _("unusable"),
}


FINDINGS: tuple[Localised, ...] = (
    _("the {kind} of {subject} is stamped {at}Z, more than a day ahead of this clock"),
    _("more of them: {count}"),
    _("it counts when its time has come"),
    _("if this clock is wrong, set it"),
    _("mounts: the challenges' folders are not covered ({reason})"),
    _("landlock: {reason}; files that this user can read can be read"),
    _("process: running as root; the number of threads is limited by a watch alone"),
    _("{name}: was set up, but the self-test got past it"),
    _("not in force"),
    _("covers less: the GPU's driver is open to a file, host memory is watched and not limited (SECURITY.md)"),
)
"""Lines that arise elsewhere, in English, as errors do."""
