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
from attncli.domain.text import LANGS, NOTHING, Lang, Localised, quoted
from attncli.domain.text import Localised as _T

EVERYWHERE = _T("Everywhere", "通用要求")
HARDENED = _T("Hardened", "加固")

_UNTOUCHED = _T(
    "Unless said above: arguments stay as they were, nothing is kept between calls, and the same input{state} gives "
    "the same answer.",
    "除非上面另有说明：不改动任何参数，两次调用之间不保留任何东西，同样的输入{state}给出同样的结果。",
)
_STATE = _T(" with the same random state", "、同样的随机状态")
_WIDE = _T("float32 and float64 stay what they are.", "float32、float64 保持原样。")
_GRADIENTS = _T("Gradients are compared with the reference's, in value.", "梯度要与参考解数值一致。")
_FORBIDDEN = _T(
    "**Not allowed**, besides what is named above: {calls}. Importable: {modules}. Of torch's modules: {torch}.",
    "除上面点名的以外，还**禁用** {calls}。只能导入 {modules}。torch 的模块里只能用 {torch}。",
)
_LISTED = _T(", ", "、")
_KERNEL = _T(
    "**The work is done in Triton kernels** that you write; around them torch may only make, view, copy and cast "
    "tensors. Every load and store stays within its tensor (masks!), no two programs store to one element, and none "
    "loads what another stores: they run in no order. `tl.atomic_add` is allowed. Memory from `torch.empty` holds "
    "anything. The kernels run in Triton's interpreter, without a GPU: no `autotune`, and a 16-bit value is cast to "
    "float32 before it is computed with.",
    "**计算都在你写的 Triton kernel 里完成**；kernel 之外，torch 只能用来新建、变形、复制张量和转换 dtype。"
    "每次读写都不能越界（别忘了 mask）；两个 program 不能写同一个元素，也不能读别的 program 写的东西："
    "它们没有先后之分。可以用 `tl.atomic_add`。`torch.empty` 给的内存里什么都可能有。"
    "kernel 在 Triton 的解释器里运行，不需要 GPU：不能用 `autotune`，16 位的值先转成 float32 再算。",
)

_SIXTEEN: dict[SixteenBits, Localised] = {
    "float32": _T(
        "float16 and bfloat16 are computed in float32 and the result is cast back once; results have the dtype of the "
        "input.",
        "float16、bfloat16 先转成 float32 计算，最后一次性转回；结果的 dtype 与输入相同。",
    ),
    "native": _T(
        "float16 and bfloat16 are computed in their own precision; results have the dtype of the input.",
        "float16、bfloat16 按自身的精度计算；结果的 dtype 与输入相同。",
    ),
    "technique": NOTHING,
}
_SIXTEEN_IN_KERNELS = _T(
    "float16 is computed in float32 and the result is cast back once; results have the dtype of the input. bfloat16, "
    "which the interpreter has not, is not asked for.",
    "float16 转成 float32 计算，最后一次性转回；结果的 dtype 与输入相同。解释器没有原生的 bfloat16，所以不考。",
)
_DIGITS = _T("float64 is computed in float64.", "float64 按 float64 计算。")
_LAYOUT = _T(
    "Any memory layout is accepted: transposed, strided, expanded.",
    "任意内存布局都要支持：转置的、跨步的、expand 出来的。",
)
_DEVICE = _T(
    "New tensors are made on the inputs' device, or on the one that an argument names.",
    "新建的张量放在输入所在的设备上；参数指定了设备的，以参数为准。",
)
_OWN_MEMORY = _T(
    "A result is memory of its own, never a view of an argument, and no later call writes to it.",
    "结果有自己的内存，不是任何参数的视图，之后的调用也不会再写它。",
)
_NO_ARGUMENT = _T("A result is never a view of an argument.", "结果不是任何参数的视图。")
_NOT_WRITTEN = _T("No later call writes to a result.", "之后的调用不会再写已返回的结果。")


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
    state = _STATE if "random" in required else NOTHING
    sentences = [_UNTOUCHED.format(state=state)]
    if _keeps_dtypes(required, kernel):
        sentences.append(_WIDE)
    if "gradients" in required:
        sentences.append(_GRADIENTS)
    importable = (*IMPORTS, *(KERNEL_IMPORTS if kernel else ()))
    listed = (FORBIDDEN_EVERYWHERE, importable, [name.removeprefix("torch.") for name in TORCH_MODULES[1:]])
    calls, modules, torch = (_LISTED.join(quoted(f"`{name}`") for name in names) for names in listed)
    shared = _T(" ", "").join(sentences)
    told = [shared, *([_KERNEL] if kernel else []), _FORBIDDEN.format(calls=calls, modules=modules, torch=torch)]
    return quoted("\n\n").join(told)


def _keeps_dtypes(required: Sequence[str], kernel: bool) -> bool:
    return not kernel and ("gradients" in required or "low-precision" in required)


def _hardened(challenge: Challenge, facts: SharedFacts) -> Localised:
    """What the second rung asks of many challenges, one line each, and then what it asks of this one alone."""
    asked = {
        "low-precision": _SIXTEEN_IN_KERNELS if challenge.kernel else _SIXTEEN[facts.sixteen_bits],
        "layout": _LAYOUT,
        "device": _DEVICE,
        "pure": _memory(facts),
    }
    lines = [text for check, text in asked.items() if check in challenge.required and text != NOTHING]
    if _keeps_dtypes(challenge.required, challenge.kernel):
        lines.insert(0, _DIGITS)
    return _T(*(_below(lines, challenge.hardened, lang) for lang in LANGS))


def _memory(facts: SharedFacts) -> Localised:
    if facts.shows_state:
        return _NO_ARGUMENT
    return _NOT_WRITTEN if facts.may_return_argument else _OWN_MEMORY


def _below(lines: Sequence[Localised], own: Localised, lang: Lang) -> str:
    bullets, special = "\n".join(f"- {line[lang]}" for line in lines), own[lang].strip()
    apart = "\n" if special.startswith("- ") else "\n\n"
    return apart.join(part for part in (bullets, special) if part)
