"""What the judge makes of a reading: the rules that a file is read by, and sentences of what was found.

The reading itself is done in a worker that has run nothing of the file (see sandbox/source_reading.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from attncli.domain.allowed_imports import (
    AROUND_KERNELS,
    FORBIDDEN_EVERYWHERE,
    IMPORTS,
    KERNEL_IMPORTS,
    KERNEL_NAMES,
    TORCH_MODULES,
    TRACED_MODULES,
)
from attncli.domain.text import Localised
from attncli.judge.challenge import Folder
from attncli.judge.messages import say
from attncli.judge.protocol import UnreadableReply
from attncli.sandbox.source_reading import Forbidden, Rules, parse, shown_name, signatures
from attncli.sandbox.tracing import LAUNCH

# A trace lists them like calls.
_SIXTEEN_BITS = ("torch.float16", "torch.bfloat16")
_EVERYWHERE = tuple(name for names in FORBIDDEN_EVERYWHERE.values() for name in names)
# The sentences that a reading may ask for, and how much of what the file says may stand in one.
PROBLEMS = {
    "syntax": ("at-line", "not-parsed", "nests-too-deeply"),
    "entry": ("too-few-parameters", "other-parameter-name", "more-required-parameters", "other-keywords"),
    "forbidden": ("import-not-allowed", "out-of-bounds", "forbidden-call"),
}
MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What a source says: `syntax` is the parser's complaint, `entry` why calls would not fit its entry points,
    `forbidden` the first thing that it names and may not; None where there is none."""

    syntax: Localised | None = None
    entry: Localised | None = None
    forbidden: Localised | None = None


def rules_for(folder: Folder) -> Rules:
    """What the file of a challenge is held to."""
    return Rules(
        imports=(*IMPORTS, "__future__", *(KERNEL_IMPORTS if folder.kernel else ())),
        modules=TORCH_MODULES,
        forbidden=(*_EVERYWHERE, *folder.spec.get("forbidden", ())),
        kernel_names=sorted(KERNEL_NAMES),
        entry=signatures(parse(folder.reference_source.encode()), folder.entry),
    )


def forbidden_in_traces(forbidden: Sequence[str]) -> Forbidden:
    """The calls that a trace must not show."""
    modules = [name for module in TRACED_MODULES for name in (module, f"{module}.*")]
    return Forbidden((*_EVERYWHERE, *modules, *forbidden))


def reading_of(header: Mapping[str, Any]) -> SourceReading:
    """The reading in a worker's reply. Raises UnreadableReply for anything that is not one."""
    try:
        return SourceReading(**{part: _sentence(header[part], keys) for part, keys in PROBLEMS.items()})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableReply(f"no reading ({type(error).__name__})") from error


def _sentence(problem: Any, keys: Sequence[str]) -> Localised | None:
    if problem is None:
        return None
    key, facts = problem
    if key not in keys:
        raise UnreadableReply("a sentence that there is not")
    return say(key, **{name: str(value)[:MOST_CHARACTERS] for name, value in facts.items()})


def forbidden_message(line: int, dotted: str) -> Localised:
    """Says that what a line calls is the learner's to write."""
    return say("forbidden-call", line=line, name=shown_name(dotted))


def outside_kernels(seen: Sequence[tuple[str, int]]) -> Localised | None:
    """What of the calls seen belongs into a kernel, or that no kernel was launched; None where all is well."""
    for called, line in seen:
        if line and called.rsplit(".", 1)[-1] not in AROUND_KERNELS and called not in _SIXTEEN_BITS:
            return say("belongs-in-a-kernel", line=line, name=called)
    return None if any(called == LAUNCH for called, _ in seen) else say("no-kernel-launched")
