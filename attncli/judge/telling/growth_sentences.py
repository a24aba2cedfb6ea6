"""What a measured growth says, in the learner's language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attncli.domain.text import Localised
from attncli.domain.text import Localised as _T

MEASURES: dict[str, Localised] = {
    "flops": _T("operations", "运算次数"),
    "calls": _T("calls of torch", "torch 调用次数"),
    "largest": _T("elements in the largest tensor", "最大张量的元素数"),
    "handed": _T("elements in the largest tensor that a call returned", "单次调用返回的最大张量的元素数"),
    "repeated": _T("elements that repeat others of the same tensor", "同一张量里重复出现的元素数"),
    "peak": _T("bytes at the peak", "峰值字节数"),
    "moved": _T("bytes that kernels load and store", "kernel 读写的字节数"),
    "returned": _T("bytes kept alive by the result", "结果占住的字节数"),
}
_FIGURES = _T(
    "{got} {measure} at sizes {sizes}; a sound one takes {due}",
    "规模 {sizes} 时，{measure}为 {got}；合理的实现为 {due}",
)
_BESIDE = _T(
    "{got} {measure} at sizes {sizes}; your own code takes {due} for the whole",
    "规模 {sizes} 时，{measure}为 {got}；你自己的代码算全部时为 {due}",
)
_IN = _T("in {dtype}, {figures}", "{dtype} 下，{figures}")
_REAL = _T("; at {size} that is {amount}", "；{size}时为 {amount}")
_BROKEN = _T("{says}: {figures}", "{says}：{figures}")


def growth_told(promises: Sequence[Mapping[str, Any]]) -> Localised:
    """The figures of each promise, behind what is wrong where it is broken."""
    return _T("; ", "；").join(map(_told, promises))


def _told(growth: Mapping[str, Any]) -> Localised:
    figures = (_BESIDE if growth.get("beside") else _FIGURES).format(
        got=_numbers(growth["got"]),
        due=_numbers(growth["due"]),
        sizes=" → ".join(str(size) for size in growth["sizes"]),
        measure=MEASURES[growth["measure"]],
    )
    if growth.get("dtype", "float32") != "float32":
        figures = _IN.format(dtype=growth["dtype"], figures=figures)
    if real := growth.get("real"):
        figures += _REAL.format(size=Localised.of(real), amount=_amount(real["bytes"]))
    return figures if growth["holds"] else _BROKEN.format(says=Localised.of(growth["says"]), figures=figures)


def _numbers(values: Sequence[float]) -> str:
    return " → ".join(f"{value:,.0f}" for value in values)


def _amount(count: float) -> str:
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"
