"""What a challenge asks for, in three parts: its own, what all challenges ask, and what the second rung asks besides.

What they share is written here once, in both languages; the checks that a challenge requires and a few facts say which
sentences it gets.
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
from attncli.i18n import LANGS, NOTHING, Lang, Localised, _, pgettext, quoted

EVERYWHERE = _("Everywhere")
HARDENED = _("Hardened")


_SIXTEEN: dict[SixteenBits, Localised] = {
    "float32": _(
        "float16 and bfloat16 are computed in float32 and the result is cast back once; results have the dtype of the "
        "input."
    ),
    "native": _("float16 and bfloat16 are computed in their own precision; results have the dtype of the input."),
    "technique": NOTHING,
}


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """The facts of a challenge's `inputs.py` on which the shared sentences hang."""

    sixteen_bits: SixteenBits = "float32"
    may_return_argument: bool = False
    shows_state: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """Markdown: whoever meets `first` and `everywhere` has solved it, whoever meets `hardened` too has hardened it."""

    first: Localised
    everywhere: Localised
    hardened: Localised

    def whole(self, lang: Lang) -> str:
        """All three parts below each other; `hardened` stands last, as what comes after."""
        parts = [self.first[lang].strip(), f"## {EVERYWHERE[lang]}\n\n{self.everywhere[lang]}"]
        if self.hardened[lang]:
            parts.append(f"## {HARDENED[lang]}\n\n{self.hardened[lang]}")
        return "\n\n".join(parts)


def statement_of(challenge: Challenge, facts: SharedFacts) -> Statement:
    """The three parts of what `challenge` asks for."""
    required = challenge.required
    return Statement(challenge.statement, _everywhere(required, challenge.kernel), _hardened(challenge, facts))


def _everywhere(required: Sequence[str], kernel: bool) -> Localised:
    state = _(" with the same random state") if "random" in required else NOTHING
    sentences = [
        _(
            "Unless said above: arguments stay as they were, nothing is kept between calls, and the same "
            "input{state} gives "
            "the same answer.",
            state=state,
        )
    ]
    if _keeps_dtypes(required, kernel):
        sentences.append(_("float32 and float64 stay what they are."))
    if "gradients" in required:
        sentences.append(_("Gradients are compared with the reference's, in value."))
    importable = (*IMPORTS, *(KERNEL_IMPORTS if kernel else ()))
    listed = (FORBIDDEN_EVERYWHERE, importable, [name.removeprefix("torch.") for name in TORCH_MODULES[1:]])
    calls, modules, torch = (_(", ").join(quoted(f"`{name}`") for name in names) for names in listed)
    shared = pgettext("sentences", " ").join(sentences)
    told = [
        shared,
        *(
            [
                _(
                    "**The work is done in Triton kernels** that you write; around them torch may only make, view, "
                    "copy and cast "
                    "tensors. Every load and store stays within its tensor (masks!), no two programs store to one "
                    "element, and none "
                    "loads what another stores: they run in no order. `tl.atomic_add` is allowed. Memory from "
                    "`torch.empty` holds "
                    "anything. The kernels run in Triton's interpreter, without a GPU: no `autotune`, and a 16-bit "
                    "value is cast to "
                    "float32 before it is computed with."
                )
            ]
            if kernel
            else []
        ),
        _(
            "**Not allowed**, besides what is named above: {calls}. Importable: {modules}. Of torch's modules: "
            "{torch}.",
            calls=calls,
            modules=modules,
            torch=torch,
        ),
    ]
    return quoted("\n\n").join(told)


def _keeps_dtypes(required: Sequence[str], kernel: bool) -> bool:
    return not kernel and ("gradients" in required or "low-precision" in required)


def _hardened(challenge: Challenge, facts: SharedFacts) -> Localised:
    """What the second rung asks of many challenges, one line each, and then what it asks of this one alone."""
    asked = {
        "low-precision": _(
            "float16 is computed in float32 and the result is cast back once; results have the dtype of the input. "
            "bfloat16, "
            "which the interpreter has not, is not asked for."
        )
        if challenge.kernel
        else _SIXTEEN[facts.sixteen_bits],
        "layout": _("Any memory layout is accepted: transposed, strided, expanded."),
        "device": _("New tensors are made on the inputs' device, or on the one that an argument names."),
        "pure": _memory(facts),
    }
    lines = [text for check, text in asked.items() if check in challenge.required and text != NOTHING]
    if _keeps_dtypes(challenge.required, challenge.kernel):
        lines.insert(0, _("float64 is computed in float64."))
    return Localised(*(_below(lines, challenge.hardened, lang) for lang in LANGS))


def _memory(facts: SharedFacts) -> Localised:
    if facts.shows_state:
        return _("A result is never a view of an argument.")
    return (
        _("No later call writes to a result.")
        if facts.may_return_argument
        else _("A result is memory of its own, never a view of an argument, and no later call writes to it.")
    )


def _below(lines: Sequence[Localised], own: Localised, lang: Lang) -> str:
    bullets, special = "\n".join(f"- {line[lang]}" for line in lines), own[lang].strip()
    apart = "\n" if special.startswith("- ") else "\n\n"
    return apart.join(part for part in (bullets, special) if part)
