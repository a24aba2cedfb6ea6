"""Comparing what a submission returned with the reference, within the error a sound implementation makes.

The truth is the reference evaluated in float64 on the very same (rounded) inputs. A first tolerance is a multiple of
the dtype's epsilon, against the value and the largest value of its row. Where that is not enough, `slack` is asked:
the measured conditioning of this case (how far the truth moves under one-ulp changes of the inputs) and the error that
the reference itself makes in the submission's dtype. docs/grading.md has the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attncli.domain.text import NOTHING, Localised, quoted
from attncli.judge.messages import say
from attncli.sandbox.values import EIGHT_BIT_FLOATS, Opaque, Raised

Path = tuple[Any, ...]
Slack = Callable[[Path], Tensor | None]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first difference: `reason` is a word of the contract, `path` leads to the part of the outcome.

    `digits_only`: a float64 result is right to the digits of float32.
    """

    reason: str
    message: Localised
    path: Path
    expected: Any
    got: Any
    index: tuple[int, ...] | None = None
    digits_only: bool = False


def gravest(found: Iterable[Mismatch | None]) -> Mismatch | None:
    """The first mismatch of which more is wrong than the digits of float64; failing that, the first."""
    light: Mismatch | None = None
    for mismatch in found:
        if mismatch is not None and not mismatch.digits_only:
            return mismatch
        light = light or mismatch
    return light


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every part of nested lists, tuples and dicts that is not itself one of these, with its path."""
    if isinstance(value, (list, tuple)):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, value


@dataclass(frozen=True, slots=True)
class Rules:
    """How strict a comparison is: `whole` measures against the largest value of the whole tensor (gradients).

    `floor` is the size that values can have before they cancel; without it a gradient of exact 0 could not be met.
    `dtypes(path)` are dtypes that a part may have besides the one due.
    `exact`: every bit counts, the sign of zero too; a NaN is a NaN whatever its payload.
    `float32_inside`: 16-bit results are float32 results rounded once, so half an ulp is all they may miss by it.
    `inside` is what float32 misses the truth by, before that rounding.
    `closer` is asked where an answer misses by little: slack from many more measurements.
    `single` are the rules by which float32's digits are judged, for float64 results that miss their own.
    `kept` remembers what was found to be allowed where the truth is finite: the next answer needs one look.
    """

    slack: Slack
    absolute: Mapping[str, float]
    whole: bool = False
    floor: float = 0.0
    float32_inside: bool = False
    exact: bool = False
    dtypes: Callable[[Path], Collection[torch.dtype]] = lambda path: ()
    closer: Slack = lambda path: None
    inside: Slack = lambda path: None
    single: Rules | None = None
    kept: dict[tuple[Path, torch.dtype], tuple[Tensor, Tensor]] | None = None

    def rounded_once(self, dtype: torch.dtype) -> bool:
        return self.float32_inside and dtype in (torch.float16, torch.bfloat16)


def compare(expected: Any, native: Any, got: Any, rules: Rules, path: Path = ()) -> Mismatch | None:
    """The first mismatch of `got` against `expected` (float64) and `native` (same structure, the dtypes due)."""
    if isinstance(expected, Tensor):
        return _compare_tensor(expected, native, got, rules, path)
    if isinstance(expected, Raised):
        return _compare_raised(expected, got, path)
    if isinstance(expected, (list, tuple, dict)):
        return _compare_container(expected, native, got, rules, path)
    return _compare_plain(expected, got, path)


def _compare_container(expected: Any, native: Any, got: Any, rules: Rules, path: Path) -> Mismatch | None:
    keys = list(expected) if isinstance(expected, dict) else list(range(len(expected)))
    same_kind = isinstance(got, dict) if isinstance(expected, dict) else isinstance(got, type(expected))
    if not same_kind or len(got) != len(keys) or (isinstance(expected, dict) and set(got) != set(keys)):
        return _other_form("shape", expected, got, path)
    return gravest(compare(expected[key], native[key], got[key], rules, (*path, key)) for key in keys)


def _compare_raised(expected: Raised, got: Any, path: Path) -> Mismatch | None:
    wanted = expected.names[0]
    if isinstance(got, Raised) and wanted in got.names:
        return None
    if isinstance(got, Raised):
        message = say("other-exception", got=got.names[0], due=wanted)
    else:
        message = say("no-exception", got=describe(got), due=wanted)
    return Mismatch("exception", message, path, expected, got)


def _compare_plain(expected: Any, got: Any, path: Path) -> Mismatch | None:
    if isinstance(expected, float) and isinstance(got, (int, float)) and not isinstance(got, bool):
        mine = _as_float(got)
        near = math.isclose(expected, mine, rel_tol=PLAIN_RELATIVE, abs_tol=PLAIN_ABSOLUTE)
        if near or (math.isnan(expected) and math.isnan(mine)):
            return None
    elif type(expected) is type(got) and expected == got:
        return None
    reason = "values" if type(expected) is type(got) else "shape"
    return _other_form(reason, expected, got, path)


def _as_float(value: int | float) -> float:
    """The number as a float; NaN for whole numbers beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.nan


def _other_form(reason: str, expected: Any, got: Any, path: Path) -> Mismatch:
    message = say("other-form", got=describe(got), due=describe(expected), place=_at(path))
    return Mismatch(reason, message, path, expected, got)


def _compare_tensor(expected: Tensor, native: Any, got: Any, rules: Rules, path: Path) -> Mismatch | None:
    dtype = native.dtype if isinstance(native, Tensor) else expected.dtype
    if not isinstance(got, Tensor):
        return _other_form("shape", expected, got, path)
    if got.shape != expected.shape:
        message = say("other-shape", got=list(got.shape), due=list(expected.shape), place=_at(path))
        return Mismatch("shape", message, path, expected, got)
    if got.dtype != dtype and got.dtype in rules.dtypes(path):
        dtype, native = got.dtype, native.to(got.dtype)
    if got.dtype != dtype:
        message = say("other-dtype", got=_name(got.dtype), due=_name(dtype), place=_at(path))
        return Mismatch("dtype", message, path, expected.to(dtype), got)
    if got.device.type != expected.device.type:
        message = say("other-device", got=got.device, due=expected.device, place=_at(path))
        return Mismatch("values", message, path, expected, got)
    if got.device.type == "meta":
        return None
    if not dtype.is_floating_point and not dtype.is_complex:
        return _compare_exact(expected, got, path)
    if rules.exact or dtype in EIGHT_BIT_FLOATS:
        missed = _compare_bits(native, got, path)
        rounded = missed is not None and rules.single is not None and _rounded_to_float32(native, got)
        return _without_digits(missed) if missed is not None and rounded else missed
    missed = _compare_floating(expected, native, got, rules, path, dtype)
    if missed is None or rules.single is None or dtype is not torch.float64:
        return missed
    missed_by_more = _compare_floating(expected, native, got, rules.single, path, torch.float32)
    return missed if missed_by_more is not None else _without_digits(missed)


def _without_digits(missed: Mismatch) -> Mismatch:
    return replace(missed, message=say("digits-lost", fault=missed.message), digits_only=True)


def _compare_exact(expected: Tensor, got: Tensor, path: Path) -> Mismatch | None:
    different = got != expected.to(got.dtype)
    if not bool(different.any()):
        return None
    index = _first(different)
    count = int(different.sum())
    message = say("other-entries", count=count, all=got.numel(), at=list(index), place=_at(path))
    return Mismatch("values", message, path, expected, got, index)


def _compare_bits(native: Tensor, got: Tensor, path: Path) -> Mismatch | None:
    native, got = _parts_of(native.detach()), _parts_of(got.detach())
    same = (got == native) & (torch.signbit(got) == torch.signbit(native)) | (got.isnan() & native.isnan())
    if bool(same.all()):
        return None
    index = _first(~same)
    mine, due = repr(float(got[index])), repr(float(native[index]))
    message = say("other-bits", got=mine, at=list(index), due=due, place=_at(path))
    if got.numel() > 1:
        message += say("so-many-differ", count=int((~same).sum()), all=got.numel())
    finite = bool(got[index].isfinite()) or not bool(native[index].isfinite())
    return Mismatch("values" if finite else "not-finite", message, path, native, got, index)


def _rounded_to_float32(native: Tensor, got: Tensor) -> bool:
    """Tell whether a float64 result differs by no more than float32 rounds a number by."""
    if got.dtype is not torch.float64:
        return False
    near = (got - native).abs() <= torch.finfo(torch.float32).eps * native.abs()
    return bool((near & (torch.signbit(got) == torch.signbit(native))).all())


def _parts_of(tensor: Tensor) -> Tensor:
    """Complex numbers as pairs of real ones: only these have signs. Floats of 8 bits can hardly be computed with."""
    if tensor.dtype in EIGHT_BIT_FLOATS:
        return tensor.to(torch.float32)
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _compare_floating(
    expected: Tensor, native: Any, got: Tensor, rules: Rules, path: Path, digits: torch.dtype
) -> Mismatch | None:
    """The first mismatch of a tensor that must have the digits of a dtype, which is its own or narrower."""
    if _within_what_is_kept(got, rules, path):
        return None
    truth = expected.detach().to(torch.float64) if not expected.is_complex() else expected.detach()
    value = got.detach().to(truth.dtype)
    odd = ~torch.isfinite(truth)
    if isinstance(native, Tensor) and native.shape == truth.shape:
        odd = odd | ~torch.isfinite(native.detach())
    wrong = _odd_mismatch(truth, native, value, odd)
    if bool(wrong.any()):
        index = _first(wrong)
        mine, due = repr(value[index].item()), f"{truth[index].item():.6g}"
        message = say("other-value", got=mine, at=list(index), due=due, place=_at(path))
        finite = bool(torch.isfinite(value[index]))
        return Mismatch("values" if finite else "not-finite", message, path, expected, got, index)
    error = torch.where(odd, 0.0, (value - truth).abs())
    allowed = _quick(truth, odd, digits, rules)
    if rules.kept is not None and not bool(odd.any()):
        rules.kept[path, got.dtype] = truth, allowed
    if not bool((error > allowed).any()):
        return None
    once = rules.rounded_once(digits)
    for measured in (rules.inside,) if once else (rules.slack, partial(_closer, truth, odd, rules)):
        slack = _fitting(measured(path), truth)
        if slack is not None:
            allowed = torch.maximum(allowed, _quick(truth, odd, digits, rules) + slack.to(allowed.dtype))
        if not bool((error > allowed).any()):
            if rules.kept is not None and not bool(odd.any()):
                rules.kept[path, got.dtype] = truth, allowed
            return None
        if bool((error > CLOSE * allowed).any()):
            break
    return _value_mismatch(error, allowed, error > allowed, expected, got, path)


def agreeing(expected: Tensor, got: Tensor, rules: Rules, path: Path = ()) -> Tensor:
    """Which entries of `got`, a floating tensor of the same shape, are within what is allowed."""
    truth, value = expected.detach().to(torch.float64), got.detach().to(torch.float64)
    odd = ~torch.isfinite(truth)
    allowed = _quick(truth, odd, got.dtype, rules)
    same = (value == truth) | (value.isnan() & truth.isnan())
    near = torch.where(odd, same, (value - truth).abs() <= allowed)
    if rules.rounded_once(got.dtype) or bool(near.all()):
        return near
    slack = _fitting(rules.slack(path), truth)
    return near if slack is None else near | (~odd & ((value - truth).abs() <= allowed + slack.to(allowed.dtype)))


def _fitting(slack: Tensor | None, truth: Tensor) -> Tensor | None:
    """Slack that was measured for values of this shape, or for all at once."""
    return slack if slack is not None and slack.shape in (truth.shape, ()) else None


def _closer(truth: Tensor, odd: Tensor, rules: Rules, path: Path) -> Tensor | None:
    """Slack from more measurements, and CLOSE times as much where that is still far below a mistake of 1e-3."""
    slack = _fitting(rules.closer(path), truth)
    if slack is None:
        return None
    return torch.maximum(
        slack, torch.minimum(CLOSE * slack, HARMLESS * _reach(torch.where(odd, 0.0, truth.abs()), rules))
    )


def _reach(size: Tensor, rules: Rules) -> Tensor:
    """The largest value of the row, or of all where the rules say so."""
    return size.max() if rules.whole or size.dim() == 0 else size.amax(-1, keepdim=True)


def _within_what_is_kept(got: Tensor, rules: Rules, path: Path) -> bool:
    """Whether the answer is as near as is known to be allowed; what is not finite never is."""
    known = rules.kept.get((path, got.dtype)) if rules.kept is not None else None
    if known is None:
        return False
    truth, allowed = known
    return bool(((got.detach().to(truth.dtype) - truth).abs() <= allowed).all())


def _odd_mismatch(truth: Tensor, native: Any, value: Tensor, odd: Tensor) -> Tensor:
    """Where the truth (or what the dtype can hold of it) is not finite, the same must be returned; elsewhere finite."""
    same = (value == truth) | (torch.isnan(value) & torch.isnan(truth))
    if isinstance(native, Tensor) and native.shape == truth.shape:
        held = native.detach().to(truth.dtype)
        same = same | (value == held) | (torch.isnan(value) & torch.isnan(held))
    return torch.where(odd, ~same, ~torch.isfinite(value))


def _quick(truth: Tensor, odd: Tensor, dtype: torch.dtype, rules: Rules) -> Tensor:
    size = torch.where(odd, 0.0, truth.abs())
    if size.numel() == 0:
        return size
    reach = _reach(size, rules)
    info = torch.finfo(dtype)
    extra = float(rules.absolute.get(_name(dtype), 0.0))
    if rules.rounded_once(dtype):
        inside = EPSILONS[torch.float32] * torch.finfo(torch.float32).eps
        return _half_a_step(size, info) + inside * (size + reach) + extra
    scale = EPSILONS.get(dtype, USUAL_EPSILONS) * info.eps
    return scale * (size + reach + rules.floor) + SMALLEST_STEPS * info.tiny * info.eps + extra


def _half_a_step(size: Tensor, info: torch.finfo) -> Tensor:
    """Half the distance between neighbours of the dtype at `size`: what one rounding may move a value."""
    exponent = torch.floor(torch.log2(size.clamp_min(info.tiny)))
    return torch.exp2(exponent) * (info.eps / 2)


def _value_mismatch(error: Tensor, allowed: Tensor, bad: Tensor, expected: Tensor, got: Tensor, path: Path) -> Mismatch:
    ratio = torch.where(bad, error / allowed.clamp_min(1e-300), 0.0)
    worst = tuple(int(i) for i in torch.unravel_index(ratio.argmax(), ratio.shape)) if ratio.dim() else ()
    limit = float(allowed.expand_as(error)[worst])
    measured = {"error": f"{float(error[worst]):.3g}", "at": list(worst), "tolerance": f"{limit:.1e}"}
    message = say("largest-error", **measured, place=_at(path))
    return Mismatch("values", message, path, expected, got, _first(bad))


def _first(mask: Tensor) -> tuple[int, ...]:
    if mask.dim() == 0:
        return ()
    return tuple(int(i) for i in torch.unravel_index(mask.to(torch.uint8).argmax(), mask.shape))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _at(path: Path) -> Localised:
    return say("in-result", path="".join(f"[{_shortly(key)}]" for key in path)) if path else NOTHING


def describe(value: Any) -> Localised:
    """A value in a few words."""
    if isinstance(value, Tensor):
        return say("a-tensor", dtype=_name(value.dtype), shape=list(value.shape))
    if isinstance(value, Raised):
        return quoted(f"{value.names[0]}: {value.text}")
    if isinstance(value, Opaque):
        return say("an-object", name=value.name)
    if isinstance(value, (list, tuple)):
        return say("a-sequence", kind=type(value).__name__, count=len(value))
    if isinstance(value, dict):
        return say("a-dict", keys=", ".join(_shortly(k) for k in list(value)[:8]) or "(none)")
    return quoted(_shortly(value))


def _shortly(value: Any) -> str:
    text = repr(value[:60] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= 60 else text[:57] + "..."


# How far an answer may be off: every factor that the judge measures, compares and names mistakes with.
#
# What is allowed is what rounding explains (a multiple of epsilon) and, where an answer misses by more, the slack of
# its case: how far the reference itself moves when its inputs move by one ulp, or when it runs in the dtype of the
# inputs.

# Multiples of epsilon that need no further question; low precision has few digits to give away, 8 bits have none.
EPSILONS: dict[torch.dtype, float] = {
    torch.float64: 64.0,
    torch.float32: 64.0,
    torch.float16: 8.0,
    torch.bfloat16: 4.0,
    torch.float8_e4m3fn: 0.25,
    torch.float8_e5m2: 0.25,
}
USUAL_EPSILONS = 64.0
# Beside these, so many of the smallest numbers that a dtype can hold.
SMALLEST_STEPS = 8

# Plain numbers have no dtype; they are compared as Python's floats.
PLAIN_RELATIVE = 1e-9
PLAIN_ABSOLUTE = 1e-12

# Slack: so many runs on inputs that are moved by one ulp, and so many times what these move the answer.
PERTURBATIONS = 4
CONDITIONING_FACTORS = {torch.float64: 32.0, torch.float32: 32.0, torch.float16: 4.0, torch.bfloat16: 4.0}
USUAL_CONDITIONING = 32.0
# The same for a run in the dtypes of the inputs.
NATIVE_FACTOR = 4.0
# No wider truth shows how float64 itself rounds: a float32 run, scaled down, does.
ROUNDING_FACTOR = 16.0 * 2.0**-29

# An answer that misses by less than this factor may show that the conditioning was measured too small.
CLOSE = 4.0
CLOSER_PERTURBATIONS = 16
# So much of the largest value no mistake is as small as.
HARMLESS = 2e-4

# Gradients take a second run each time, and mean something only as a whole.
GRADIENT_PERTURBATIONS = 3
GRADIENT_CONDITIONING = 32.0
# An input counts as so large at least where the size of its gradient is estimated by it.
SMALLEST_INPUT = 1e-3
# Two gradients of native runs are the same gradient where they differ by what so many times their size would round to.
SAME_GRADIENT = 64

# A tensor whose entries differ by less than this part of the largest tells nothing of their order.
VARIES = 1e-3
# Two measurements of one constant in float32 are nearer to each other than this.
NEAR = 3e-5

# A wrong answer is like a known mistake's if it is so many times nearer to it than to what is right.
NEARER = 4.0
# A mistake that leaves some wrong entries unexplained is named from the second share on; with less than the first, over
# the first probes, it is put to no others.
SOME_EXPLAINED = 0.3
MOST_EXPLAINED = 0.5
# So many entries for each one explained may be right by chance where the mistake is wrong.
CONTRADICTED = 0.05
# The likeliest mistake explains so much more than the next one.
CLEARLY = 0.1
