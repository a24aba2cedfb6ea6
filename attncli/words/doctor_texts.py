"""Lines of `attn doctor` that arise elsewhere, in English, as errors do."""

from __future__ import annotations

from attncli.i18n import Localised, _

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
