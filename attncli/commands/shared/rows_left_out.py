"""The log rows that an import, an export or a sync had to leave out, told on stderr."""

from __future__ import annotations

from collections.abc import Iterable

from attncli.commands.session import session
from attncli.commands.shared.stdout import echo
from attncli.domain.printable import printable
from attncli.words.command_texts import LEFT_OUT, MORE_LEFT_OUT

FAULTS_SHOWN = 20


def say_left_out(faults: Iterable[str]) -> None:
    """One line for each fault, as far as they can be read at a glance."""
    lang = session().lang
    faults = [*faults]
    for fault in faults[:FAULTS_SHOWN]:
        echo(LEFT_OUT[lang].format(fault=" ".join(printable(fault).split())), err=True)
    if len(faults) > FAULTS_SHOWN:
        echo(MORE_LEFT_OUT[lang].format(count=len(faults) - FAULTS_SHOWN), err=True)
