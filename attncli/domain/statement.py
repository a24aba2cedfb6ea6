"""The statement of a challenge in three parts: its own text, the rules of all challenges, and the second rung.

The required checks of a challenge and a few facts select the shared sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attncli.domain.challenge import (
    FORBIDDEN_EVERYWHERE,
    IMPORTS,
    KERNEL_IMPORTS,
    TORCH_MODULES,
    Challenge,
    SixteenBits,
)
from attncli.i18n import LANGS, NOTHING, Lang, Localised, _, quoted

EVERYWHERE = _("Everywhere")
HARDENED = _("Hardened")
_SIXTEEN: dict[SixteenBits, Localised] = {
    "float32": _(
        "Compute float16 and bfloat16 in float32 and cast the result back once; results have the dtype of the input."
    ),
    "native": _("Compute float16 and bfloat16 in their own precision; results have the dtype of the input."),
    "technique": NOTHING,
}
_KERNELS = _(
    "**Do the work in Triton kernels** that you write; around them torch may only create, view, copy and cast "
    "tensors. Every load and store stays within its tensor (masks!), no two programs store to one element, and none "
    "loads what another stores: they run in any order. `tl.atomic_add` is allowed. Memory from `torch.empty` is "
    "uninitialized. The kernels run in Triton's interpreter, without a GPU: no `autotune`, and cast 16-bit values to "
    "float32 before computing with them."
)


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """Facts from `inputs.py` that select shared sentences."""

    sixteen_bits: SixteenBits = "float32"
    may_return_argument: bool = False
    shows_state: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in Markdown: `first` and `everywhere` are for the first rung, `hardened` for the second."""

    first: Localised
    everywhere: Localised
    hardened: Localised

    def whole(self, lang: Lang) -> str:
        """Join all three parts."""
        parts = [self.first[lang].strip(), f"## {EVERYWHERE[lang]}\n\n{self.everywhere[lang]}"]
        if self.hardened[lang]:
            parts.append(f"## {HARDENED[lang]}\n\n{self.hardened[lang]}")
        return "\n\n".join(parts)


def statement_of(challenge: Challenge, facts: SharedFacts) -> Statement:
    """Return the statement of `challenge`."""
    required = challenge.required
    return Statement(challenge.statement, _everywhere(required, challenge.kernel), _hardened(challenge, facts))


def _everywhere(required: Sequence[str], kernel: bool) -> Localised:
    state = _(" and random state") if "random" in required else NOTHING
    sentences = [
        _(
            "Unless stated above: do not modify arguments, keep nothing between calls, and return the same result "
            "for the same input{state}.",
            state=state,
        )
    ]
    if _keeps_dtypes(required, kernel):
        sentences.append(_("float32 and float64 keep their dtype."))
    if "gradients" in required:
        sentences.append(_("Gradients must equal the reference's."))
    importable = (*IMPORTS, *(KERNEL_IMPORTS if kernel else ()))
    listed = (FORBIDDEN_EVERYWHERE, importable, [name.removeprefix("torch.") for name in TORCH_MODULES[1:]])
    calls, modules, torch = (_(", ").join(quoted(f"`{name}`") for name in names) for names in listed)
    shared = Localised(" ", "").join(sentences)
    rules = _(
        "**Not allowed** in any challenge: {calls}. Importable: {modules}. torch modules: {torch}.",
        calls=calls,
        modules=modules,
        torch=torch,
    )
    return quoted("\n\n").join([shared, *([_KERNELS] if kernel else []), rules])


def _keeps_dtypes(required: Sequence[str], kernel: bool) -> bool:
    return not kernel and ("gradients" in required or "low-precision" in required)


def _hardened(challenge: Challenge, facts: SharedFacts) -> Localised:
    """Return the shared requirements of the second rung, one line each, then those of this challenge."""
    asked = {
        "low-precision": _(
            "Compute float16 in float32 and cast the result back once; results have the dtype of the input. bfloat16 "
            "is not tested: the interpreter lacks it."
        )
        if challenge.kernel
        else _SIXTEEN[facts.sixteen_bits],
        "layout": _("Accept any memory layout: transposed, strided, expanded."),
        "device": _("Create new tensors on the device of the inputs, or on the one that an argument names."),
        "pure": _memory(facts),
    }
    lines = [text for check, text in asked.items() if check in challenge.required and text != NOTHING]
    if _keeps_dtypes(challenge.required, challenge.kernel):
        lines.insert(0, _("Compute float64 in float64."))
    return Localised(*(_below(lines, challenge.hardened, lang) for lang in LANGS))


def _memory(facts: SharedFacts) -> Localised:
    if facts.shows_state:
        return _("A result must not be a view of an argument.")
    return (
        _("Later calls must not write to a returned result.")
        if facts.may_return_argument
        else _("A result owns its memory: it is not a view of an argument, and later calls must not write to it.")
    )


def _below(lines: Sequence[Localised], own: Localised, lang: Lang) -> str:
    bullets, special = "\n".join(f"- {line[lang]}" for line in lines), own[lang].strip()
    apart = "\n" if special.startswith("- ") else "\n\n"
    return apart.join(part for part in (bullets, special) if part)
