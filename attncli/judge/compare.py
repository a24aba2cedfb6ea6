"""Compare an answer with the reference, allowing the error of a sound implementation.

The expected value is the reference evaluated in float64 on the same (rounded) inputs. The first tolerance is a multiple
of the dtype's epsilon, relative to the value and the largest value of its row. If an answer misses by more, `slack` is
added: the reference's change under one-ulp changes of the inputs, and its own error in the dtype of the inputs.
docs/grading.md has the evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from attncli.i18n import NOTHING, Localised, quoted
from attncli.judge.messages import say
from attncli.sandbox.values import EIGHT_BIT_FLOATS, Opaque, Raised

# Tolerances: all factors with which the judge measures, compares and diagnoses.

# Multiples of epsilon that are always allowed. 16 bits have few digits to spare, 8 bits none.
EPSILONS: dict[torch.dtype, float] = {
    torch.float64: 64.0,
    torch.float32: 64.0,
    torch.float16: 8.0,
    torch.bfloat16: 4.0,
    torch.float8_e4m3fn: 0.25,
    torch.float8_e5m2: 0.25,
}
USUAL_EPSILONS = 64.0
# Multiples of the smallest number of a dtype that are allowed in addition.
SMALLEST_STEPS = 8

# Plain numbers have no dtype; they are compared as Python floats.
PLAIN_RELATIVE = 1e-9
PLAIN_ABSOLUTE = 1e-12

# Slack: the number of runs on inputs moved by one ulp, and the factor on the distance that the answer moves.
PERTURBATIONS = 4
CONDITIONING_FACTORS = {torch.float64: 32.0, torch.float32: 32.0, torch.float16: 4.0, torch.bfloat16: 4.0}
USUAL_CONDITIONING = 32.0
# The factor on the error of a run in the dtypes of the inputs.
NATIVE_FACTOR = 4.0
# No wider dtype shows the rounding of float64 itself; a float32 run, scaled down, does.
ROUNDING_FACTOR = 16.0 * 2.0**-29

# If an answer misses by less than this factor, the conditioning may have been underestimated.
CLOSE = 4.0
CLOSER_PERTURBATIONS = 16
# Every mistake is larger than this share of the largest value.
HARMLESS = 2e-4

# Each run for gradients takes a backward pass, and their slack is measured over the whole tensor.
GRADIENT_PERTURBATIONS = 3
GRADIENT_CONDITIONING = 32.0
# The lower bound on an input's size when its gradient's size is estimated from it.
SMALLEST_INPUT = 1e-3
# Two gradients of native runs are equal if they differ by less than the rounding of this many times their size.
SAME_GRADIENT = 64

# A tensor whose entries differ by less than this share of the largest does not show their order.
VARIES = 1e-3
# Two float32 measurements of one constant differ by less than this.
NEAR = 3e-5

# A wrong answer resembles a known mistake if it is this many times nearer to it than to the right answer.
NEARER = 4.0
# A mistake that explains only part of the wrong entries is named if that is the second share or more. With less than
# the first share, over the first probes, it is tried on no others.
SOME_EXPLAINED = 0.3
MOST_EXPLAINED = 0.5
# Per explained entry, this many entries may be right by chance where the mistake is wrong.
CONTRADICTED = 0.05
# The likeliest mistake must explain this much more than the next one.
CLEARLY = 0.1

T = TypeVar("T")
Path = tuple[Any, ...]
Slack = Callable[[Path], Tensor | None]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first difference: `reason` is a word of the contract, `path` leads to the part of the outcome.

    `digits_only`: a float64 result is right, but only to the digits of float32.
    """

    reason: str
    message: Localised
    path: Path
    expected: Any
    actual: Any
    index: tuple[int, ...] | None = None
    digits_only: bool = False


@dataclass(frozen=True, slots=True)
class Rules:
    """The strictness of a comparison.

    `slack(path)`, `absolute` (by dtype) add to the error that rounding explains; `closer(path)` is slack from many more
    measurements, for answers that miss by little.
    `whole` measures against the largest value of the whole tensor (gradients), not of the row.
    `floor` is the size of values before they cancel; without it no gradient could match an exact 0.
    `float32_inside`: 16-bit results are float32 results rounded once, so they may miss by half an ulp, plus
    `inside(path)`: the error of float32 before that rounding.
    `exact`: every bit counts, the sign of zero too; a NaN is a NaN whatever its payload.
    `dtypes(path)` are dtypes that a part may have besides the expected one.
    `single` are the rules for the digits of float32, applied to float64 results that miss their own.
    `kept` caches (expected, allowed error) by path and dtype where all values are finite.
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


def compare(expected: Any, native: Any, actual: Any, rules: Rules, path: Path = ()) -> Mismatch | None:
    """Return the first mismatch, or None.

    `expected` is in float64; `native` has the same structure and the dtypes that the answer must have.
    """
    if isinstance(expected, Tensor):
        return _compare_tensor(expected, native, actual, rules, path)
    if isinstance(expected, Raised):
        return _compare_raised(expected, actual, path)
    if isinstance(expected, (list, tuple, dict)):
        return _compare_container(expected, native, actual, rules, path)
    return _compare_plain(expected, actual, path)


def agreeing(expected: Tensor, actual: Tensor, rules: Rules, path: Path = ()) -> Tensor:
    """Return a boolean tensor: the entries of `actual`, floating and of the same shape, within the allowed error."""
    exact, value = expected.detach().to(torch.float64), actual.detach().to(torch.float64)
    nonfinite = ~torch.isfinite(exact)
    allowed = _rounding(exact, nonfinite, actual.dtype, rules)
    same = (value == exact) | (value.isnan() & exact.isnan())
    near = torch.where(nonfinite, same, (value - exact).abs() <= allowed)
    if rules.rounded_once(actual.dtype) or bool(near.all()):
        return near
    slack = _fitting(rules.slack(path), exact)
    if slack is None:
        return near
    return near | (~nonfinite & ((value - exact).abs() <= allowed + slack.to(allowed.dtype)))


def gravest(found: Iterable[T | None], is_light: Callable[[T], bool]) -> T | None:
    """Return the first item that is not light, else the first. Light items count on the second rung only."""
    light: T | None = None
    for each in found:
        if each is not None and not is_light(each):
            return each
        light = each if light is None else light
    return light


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every part of nested lists, tuples and dicts that is not itself one of these, with its path."""
    if isinstance(value, (list, tuple)):
        for k, item in enumerate(value):
            yield from leaves(item, (*path, k))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    else:
        yield path, value


# Everything but floating tensors


def _compare_container(expected: Any, native: Any, actual: Any, rules: Rules, path: Path) -> Mismatch | None:
    keys = list(expected) if isinstance(expected, dict) else list(range(len(expected)))
    same_kind = isinstance(actual, dict) if isinstance(expected, dict) else isinstance(actual, type(expected))
    if not same_kind or len(actual) != len(keys) or (isinstance(expected, dict) and set(actual) != set(keys)):
        return _other_form("shape", expected, actual, path)
    parts = (compare(expected[key], native[key], actual[key], rules, (*path, key)) for key in keys)
    return gravest(parts, lambda mismatch: mismatch.digits_only)


def _compare_raised(expected: Raised, actual: Any, path: Path) -> Mismatch | None:
    name = expected.names[0]
    if isinstance(actual, Raised) and name in actual.names:
        return None
    if isinstance(actual, Raised):
        message = say("other-exception", got=actual.names[0], due=name)
    else:
        message = say("no-exception", got=_describe(actual), due=name)
    return Mismatch("exception", message, path, expected, actual)


def _compare_plain(expected: Any, actual: Any, path: Path) -> Mismatch | None:
    if isinstance(expected, float) and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        number = float(actual) if isinstance(actual, float) or actual.bit_length() < 1024 else math.nan
        near = math.isclose(expected, number, rel_tol=PLAIN_RELATIVE, abs_tol=PLAIN_ABSOLUTE)
        if near or (math.isnan(expected) and math.isnan(number)):
            return None
    elif type(expected) is type(actual) and expected == actual:
        return None
    reason = "values" if type(expected) is type(actual) else "shape"
    return _other_form(reason, expected, actual, path)


def _other_form(reason: str, expected: Any, actual: Any, path: Path) -> Mismatch:
    message = say("other-form", got=_describe(actual), due=_describe(expected), place=_place(path))
    return Mismatch(reason, message, path, expected, actual)


def _compare_tensor(expected: Tensor, native: Any, actual: Any, rules: Rules, path: Path) -> Mismatch | None:
    dtype = native.dtype if isinstance(native, Tensor) else expected.dtype
    if not isinstance(actual, Tensor):
        return _other_form("shape", expected, actual, path)
    if actual.shape != expected.shape:
        message = say("other-shape", got=list(actual.shape), due=list(expected.shape), place=_place(path))
        return Mismatch("shape", message, path, expected, actual)
    if actual.dtype != dtype and actual.dtype in rules.dtypes(path):
        dtype, native = actual.dtype, native.to(actual.dtype)
    if actual.dtype != dtype:
        message = say("other-dtype", got=_name(actual.dtype), due=_name(dtype), place=_place(path))
        return Mismatch("dtype", message, path, expected.to(dtype), actual)
    if actual.device.type != expected.device.type:
        message = say("other-device", got=actual.device, due=expected.device, place=_place(path))
        return Mismatch("values", message, path, expected, actual)
    if actual.device.type == "meta":
        return None
    if not dtype.is_floating_point and not dtype.is_complex:
        return _compare_integers(expected, actual, path)
    if rules.exact or dtype in EIGHT_BIT_FLOATS:
        mismatch = _compare_bits(native, actual, path)
        right_in_float32 = mismatch is not None and rules.single is not None and _rounded_to_float32(native, actual)
    else:
        mismatch = _compare_floating(expected, native, actual, rules, path, dtype)
        right_in_float32 = (
            mismatch is not None
            and rules.single is not None
            and dtype is torch.float64
            and _compare_floating(expected, native, actual, rules.single, path, torch.float32) is None
        )
    if mismatch is None or not right_in_float32:
        return mismatch
    return replace(mismatch, message=say("digits-lost", fault=mismatch.message), digits_only=True)


def _compare_integers(expected: Tensor, actual: Tensor, path: Path) -> Mismatch | None:
    different = actual != expected.to(actual.dtype)
    if not bool(different.any()):
        return None
    index = _first(different)
    count = int(different.sum())
    message = say("other-entries", count=count, all=actual.numel(), at=list(index), place=_place(path))
    return Mismatch("values", message, path, expected, actual, index)


def _compare_bits(native: Tensor, actual: Tensor, path: Path) -> Mismatch | None:
    native, actual = _real_parts(native.detach()), _real_parts(actual.detach())
    same = (actual == native) & (torch.signbit(actual) == torch.signbit(native)) | (actual.isnan() & native.isnan())
    if bool(same.all()):
        return None
    index = _first(~same)
    message = say(
        "other-bits", got=repr(float(actual[index])), at=list(index), due=repr(float(native[index])), place=_place(path)
    )
    if actual.numel() > 1:
        message += say("so-many-differ", count=int((~same).sum()), all=actual.numel())
    finite = bool(actual[index].isfinite()) or not bool(native[index].isfinite())
    return Mismatch("values" if finite else "not-finite", message, path, native, actual, index)


def _rounded_to_float32(native: Tensor, actual: Tensor) -> bool:
    """Return True if a float64 result differs by at most one rounding to float32."""
    if actual.dtype is not torch.float64:
        return False
    near = (actual - native).abs() <= torch.finfo(torch.float32).eps * native.abs()
    return bool((near & (torch.signbit(actual) == torch.signbit(native))).all())


def _real_parts(tensor: Tensor) -> Tensor:
    """Split complex numbers into real ones, which have signs; widen 8-bit floats, which lack most operations."""
    if tensor.dtype in EIGHT_BIT_FLOATS:
        return tensor.to(torch.float32)
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


# Floating tensors


def _compare_floating(
    expected: Tensor, native: Any, actual: Tensor, rules: Rules, path: Path, digits: torch.dtype
) -> Mismatch | None:
    """Return the first mismatch of a floating tensor, to the precision of `digits`: its own dtype or a narrower one."""
    known = rules.kept.get((path, actual.dtype)) if rules.kept is not None else None
    # NaN and infinity are never within the cached allowed error.
    if known is not None and bool(((actual.detach().to(known[0].dtype) - known[0]).abs() <= known[1]).all()):
        return None
    exact = expected.detach().to(torch.float64) if not expected.is_complex() else expected.detach()
    value = actual.detach().to(exact.dtype)
    nonfinite = ~torch.isfinite(exact)
    if isinstance(native, Tensor) and native.shape == exact.shape:
        nonfinite = nonfinite | ~torch.isfinite(native.detach())
    wrong = _wrong_finiteness(exact, native, value, nonfinite)
    if bool(wrong.any()):
        index = _first(wrong)
        shown, due = repr(value[index].item()), f"{exact[index].item():.6g}"
        message = say("other-value", got=shown, at=list(index), due=due, place=_place(path))
        finite = bool(torch.isfinite(value[index]))
        return Mismatch("values" if finite else "not-finite", message, path, expected, actual, index)
    error = torch.where(nonfinite, 0.0, (value - exact).abs())
    rounding = allowed = _rounding(exact, nonfinite, digits, rules)
    if rules.kept is not None and not bool(nonfinite.any()):
        rules.kept[path, actual.dtype] = exact, allowed
    if not bool((error > allowed).any()):
        return None
    once = rules.rounded_once(digits)
    for measure in (rules.inside,) if once else (rules.slack, partial(_closer, exact, nonfinite, rules)):
        slack = _fitting(measure(path), exact)
        if slack is not None:
            allowed = torch.maximum(allowed, rounding + slack.to(allowed.dtype))
        if not bool((error > allowed).any()):
            if rules.kept is not None and not bool(nonfinite.any()):
                rules.kept[path, actual.dtype] = exact, allowed
            return None
        if bool((error > CLOSE * allowed).any()):
            break
    return _largest_error(error, allowed, expected, actual, path)


def _wrong_finiteness(exact: Tensor, native: Any, value: Tensor, nonfinite: Tensor) -> Tensor:
    """Return a mask of the entries that are wrongly finite or wrongly not finite.

    If the reference is not finite, in float64 or in the dtype of the inputs, the answer must equal one of the two.
    Elsewhere it must be finite.
    """
    same = (value == exact) | (torch.isnan(value) & torch.isnan(exact))
    if isinstance(native, Tensor) and native.shape == exact.shape:
        held = native.detach().to(exact.dtype)
        same = same | (value == held) | (torch.isnan(value) & torch.isnan(held))
    return torch.where(nonfinite, ~same, ~torch.isfinite(value))


def _rounding(exact: Tensor, nonfinite: Tensor, dtype: torch.dtype, rules: Rules) -> Tensor:
    """Return the error explained by rounding to `dtype`, plus the challenge's tolerance; this needs no measurement."""
    size = torch.where(nonfinite, 0.0, exact.abs())
    if size.numel() == 0:
        return size
    row = _row_maximum(size, rules)
    info = torch.finfo(dtype)
    granted = float(rules.absolute.get(_name(dtype), 0.0))
    if rules.rounded_once(dtype):
        half_a_step = torch.exp2(torch.floor(torch.log2(size.clamp_min(info.tiny)))) * (info.eps / 2)
        inside = EPSILONS[torch.float32] * torch.finfo(torch.float32).eps
        return half_a_step + inside * (size + row) + granted
    scale = EPSILONS.get(dtype, USUAL_EPSILONS) * info.eps
    return scale * (size + row + rules.floor) + SMALLEST_STEPS * info.tiny * info.eps + granted


def _row_maximum(size: Tensor, rules: Rules) -> Tensor:
    return size.max() if rules.whole or size.dim() == 0 else size.amax(-1, keepdim=True)


def _fitting(slack: Tensor | None, exact: Tensor) -> Tensor | None:
    """Return the slack if its shape is that of the values, or scalar; else None."""
    return slack if slack is not None and slack.shape in (exact.shape, ()) else None


def _closer(exact: Tensor, nonfinite: Tensor, rules: Rules, path: Path) -> Tensor | None:
    """Return slack from more measurements, or up to CLOSE times that while far below a mistake of 1e-3."""
    slack = _fitting(rules.closer(path), exact)
    if slack is None:
        return None
    harmless = HARMLESS * _row_maximum(torch.where(nonfinite, 0.0, exact.abs()), rules)
    return torch.maximum(slack, torch.minimum(CLOSE * slack, harmless))


def _largest_error(error: Tensor, allowed: Tensor, expected: Tensor, actual: Tensor, path: Path) -> Mismatch:
    """Return the mismatch at the first wrong entry, with a message about the largest error."""
    wrong = error > allowed
    ratio = torch.where(wrong, error / allowed.clamp_min(1e-300), 0.0)
    worst = tuple(int(i) for i in torch.unravel_index(ratio.argmax(), ratio.shape)) if ratio.dim() else ()
    limit = float(allowed.expand_as(error)[worst])
    figures = {"error": f"{float(error[worst]):.3g}", "at": list(worst), "place": _place(path)}
    exact = limit < torch.finfo(torch.float32).tiny
    message = say("exact" if exact else "largest-error", tolerance=f"{limit:.1e}", **figures)
    return Mismatch("values", message, path, expected, actual, _first(wrong))


# Words for messages


def _first(mask: Tensor) -> tuple[int, ...]:
    """Return the index of the first True."""
    if mask.dim() == 0:
        return ()
    return tuple(int(i) for i in torch.unravel_index(mask.to(torch.uint8).argmax(), mask.shape))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _place(path: Path) -> Localised:
    return say("in-result", path="".join(f"[{_shortened(key)}]" for key in path)) if path else NOTHING


def _describe(value: Any) -> Localised:
    if isinstance(value, Tensor):
        return say("a-tensor", dtype=_name(value.dtype), shape=list(value.shape))
    if isinstance(value, Raised):
        return quoted(f"{value.names[0]}: {value.text}")
    if isinstance(value, Opaque):
        return say("an-object", name=value.name)
    if isinstance(value, (list, tuple)):
        return say("a-sequence", kind=type(value).__name__, count=len(value))
    if isinstance(value, dict):
        return say("a-dict", keys=", ".join(_shortened(k) for k in list(value)[:8]) or "(none)")
    return quoted(_shortened(value))


def _shortened(value: Any) -> str:
    text = repr(value[:60] if isinstance(value, (str, bytes)) else value)
    return text if len(text) <= 60 else text[:57] + "..."
