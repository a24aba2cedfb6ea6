"""Drawing for a case: sizes, choices, and tensors in the profile's dtype and layout.

`Drawing` is the base of the `make` that `inputs.py` gets (see make.py), so `inputs.py` calls its methods by name. After
it come queries and keys with extreme scores, and the shapes of masks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from attncli.domain.arithmetic import names_in
from attncli.domain.challenge import Facts
from attncli.errors import JudgeFailed
from attncli.i18n import _
from attncli.judge.case import ANOTHER_DEVICE, LEADS, Case, Profile, Turn
from attncli.sandbox import devices

Draw = Callable[[str, int, int], int]


@dataclass(frozen=True, slots=True)
class Declared:
    """The facts of a challenge, and the namespace of its reference."""

    facts: Facts = field(default_factory=Facts)
    reference: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Used:
    """The features that a `case` uses; they decide which motifs apply to it."""

    sizes: set[str] = field(default_factory=set)
    lead: bool = False
    masks: int = 0
    scores: bool = False
    named: bool = False
    alike: bool = False


class Drawing:
    """The part of `make` that draws. A `turn` fixes the choices of a motif."""

    def __init__(
        self, draw: Draw, profile: Profile, stream: int = 0, label: str = "", declared: Declared | None = None
    ) -> None:
        self.case = Case(profile, label=label)
        self.declared = declared or Declared()
        self.facts = self.declared.facts
        self.turn: Turn | None = None
        self.used = Used()
        self._ask = draw
        self._stream = stream
        self._random: torch.Generator | None = None
        self._fixed: dict[int, Tensor] = {}
        self._composed: dict[int, Tensor] = {}
        self._ordinal = 0
        self._drawn: dict[str, int] = {}
        self._lead: tuple[int, ...] | None = None

    @property
    def profile(self) -> str:
        return self.case.profile.name

    @property
    def dtype(self) -> torch.dtype:
        return self.case.profile.dtype

    @property
    def device(self) -> torch.device:
        """The device that an argument may name: the CPU, except in the profile that tries another one."""
        other = self.case.profile.name == ANOTHER_DEVICE
        return torch.device(devices.torch_name(self.case.profile.device) if other else devices.CPU)

    def begin(self, turn: Turn) -> None:
        """Start another recording of the same `case` into this program."""
        self.turn = turn
        self._ordinal = 0
        self._drawn = {}
        self._lead = None

    # Sizes and choices

    def _draw(self, kind: str, low: int, high: int) -> int:
        if self.turn is None:
            value = self._ask(kind, low, high)
        else:
            value = self.turn.choose(kind, low, high, self._next())
        self.case.draws.append(value)
        return value

    def _next(self) -> int:
        self._ordinal += 1
        return self._ordinal - 1

    def size(self, low: int | str, high: int = 0) -> int:
        """Return a size from low … high, or that of an axis of SIZES or DERIVED, the same throughout a recording."""
        if isinstance(low, str):
            return self._axis(low)
        value = self._draw("size", low, high)
        self.case.sizes.append(value)
        return value

    def hold(self, **sizes: int) -> None:
        """Set the sizes of these axes for the rest of the recording."""
        self._drawn.update(sizes)

    def sizes(self, *axes: str) -> list[int]:
        return [self._axis(axis) for axis in axes]

    def _axis(self, axis: str) -> int:
        if axis in self._drawn:
            return self._drawn[axis]
        if axis in self.facts.sizes:
            value = self._named_size(axis)
        else:
            for name in names_in(self.facts.derived.get(axis, axis)) - {axis}:
                self._axis(name)
            value = self.facts.size_of(axis, self._drawn)
        self._drawn[axis] = value
        return value

    def _named_size(self, axis: str) -> int:
        low, high = self.facts.sizes[axis][:2]
        self.used.sizes.add(axis)
        if self.turn is None:
            return self.size(low, high)
        value = self.turn.size(axis, low, high, self._next())
        self.case.sizes.append(value)
        return value

    def lead(self) -> tuple[int, ...]:
        """Return the sizes of the leading dimensions that `...` means, the same throughout a recording."""
        self.used.lead = True
        if self._lead is None:
            held = self.turn.lead if self.turn is not None else None
            if held is None:
                fewest, most = self.facts.lead
                held = int(self.pick(sorted(range(fewest, most + 1), key=lambda rank: abs(rank - 1))))
            self._lead = held if isinstance(held, tuple) else LEADS[held]
        return self._lead

    def shape(self, argument: str) -> tuple[int, ...]:
        """Return the shape of an argument by its axes in AXES."""
        found: list[int] = []
        if argument not in self.facts.axes:
            raise JudgeFailed(_('AXES has no entry for "{name}"; add it to inputs.py', name=argument))
        for axis in self.facts.axes[argument].split():
            found += self.lead() if axis == "..." else [self._axis(axis)]
        return tuple(found)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self._draw("pick", 0, len(choices) - 1)]

    def flag(self) -> bool:
        return bool(self._draw("flag", 0, 1))

    @property
    def random(self) -> torch.Generator:
        """The random stream of the case: a small drawn seed on top of the stream number of the judge."""
        if self._random is None:
            self.case.seed = self._stream * 1_000_003 + self._draw("seed", 0, 7)
            self._random = torch.Generator().manual_seed(self.case.seed)
        return self._random

    def real(self, low: float, high: float) -> float:
        return low + (high - low) * float(torch.rand((), generator=self.random, dtype=torch.float64))

    # Tensors

    def argument(self, name: str, scale: float = 1.0, mean: float = 0.0, grad: bool = True) -> Tensor:
        """Draw normal values in the shape that AXES gives the argument."""
        return self.normal(*self.shape(name), scale=scale, mean=mean, grad=grad)

    def arguments(self, *names: str) -> list[Tensor]:
        return [self.argument(name) for name in names]

    def queries_and_keys(self, query: str = "q", key: str = "k") -> list[Tensor]:
        """Draw two arguments whose products are scores: (..., T, d) and (..., S, d).

        Motifs make the scores extreme; otherwise the values are normal.
        """
        self.used.scores = True
        pattern = self.turn.scores if self.turn is not None else ""
        if not pattern:
            return self.arguments(query, key)
        shapes = [self.shape(name) for name in (query, key)]
        drawn = [torch.randn(shape, generator=self.random, dtype=torch.float64) for shape in shapes]
        grad = pattern not in WITHOUT_GRADIENTS
        return [self.keep(tensor, grad=grad) for tensor in SCORES[pattern](*drawn)]

    def normal(self, *shape: int, scale: float = 1.0, mean: float = 0.0, grad: bool = True) -> Tensor:
        base = torch.randn(shape, generator=self.random, dtype=torch.float64) * scale + mean
        return self._floating(base, grad)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, grad: bool = True) -> Tensor:
        base = torch.rand(shape, generator=self.random, dtype=torch.float64) * (high - low) + low
        return self._floating(base, grad)

    def spread(self, *shape: int, grad: bool = True) -> Tensor:
        """Draw distinct values, each pair at least 0.1 apart, in random places."""
        count = int(torch.Size(shape).numel())
        order = torch.randperm(count, generator=self.random).to(torch.float64)
        return self._floating((order * 0.2 - 0.1 * count + 0.05).reshape(shape), grad)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        return torch.randint(low, high, shape, generator=self.random)

    def mask(self, *shape: int, keep: float = 0.7) -> Tensor:
        """Draw a mask that is True with probability `keep`; now and then one of its rows is empty."""
        mask = torch.rand(shape, generator=self.random) < keep
        emptied = len(shape) >= 2 and float(torch.rand((), generator=self.random)) < 0.25
        if self.turn is not None and self.turn.empty_rows and shape:
            if self.turn.number % 2:
                return torch.zeros_like(mask)
            flat = mask.view(-1, mask.shape[-1])
            flat[0] = flat[-1] = False
            return mask
        if emptied:
            flat = mask.view(-1, shape[-1])
            flat[int(torch.randint(0, flat.shape[0], (), generator=self.random))] = False
        return mask

    def mask_over(self, *shape: int, ranks: Sequence[int] | None = None, keep: float = 0.6) -> Tensor:
        """Draw a mask of any shape that broadcasts to `shape`; `ranks` are the allowed numbers of dimensions."""
        shapes = masks_over(shape, ranks)
        self.used.masks = max(self.used.masks, len(shapes))
        held = self._held_mask
        return self.mask(*(self.pick(shapes) if held is None else shapes[held % len(shapes)]), keep=keep)

    def optional_mask(self, *shape: int, ranks: Sequence[int] | None = None, keep: float = 0.6) -> Tensor | None:
        """Draw a mask as `mask_over` does, or none."""
        if self._held_mask is None and not self.flag():
            return None
        return self.mask_over(*shape, ranks=ranks, keep=keep)

    @property
    def _held_mask(self) -> int | None:
        return self.turn.mask if self.turn is not None else None

    def keep(self, tensor: Tensor, grad: bool = False, dtype: str = "follow") -> Tensor:
        """Take a tensor that the caller computed; "follow" casts it to the profile's dtype, "fixed" keeps its own."""
        if dtype not in ("follow", "fixed"):
            raise JudgeFailed(
                _('make.keep accepts the dtypes "follow" and "fixed", not "{dtype}"; fix inputs.py', dtype=dtype)
            )
        follows = dtype == "follow" and tensor.is_floating_point()
        kept = tensor.detach().to(self.dtype if follows else tensor.dtype, copy=True)
        self._composed[id(kept)] = kept
        if not follows:
            self._fixed[id(kept)] = kept
        return kept.requires_grad_(grad) if tensor.is_floating_point() else kept

    def _floating(self, base: Tensor, grad: bool) -> Tensor:
        profile = self.case.profile
        value = (base * profile.gain + profile.offset).to(profile.dtype)
        if profile.layout == "strided" and value.dim() >= 3 and value.shape[0] > 1 and self.real(0, 1) < 0.3:
            value = value[:1].expand(value.shape)
        return value.requires_grad_(grad)


def fixed_draw(kind: str, low: int, high: int) -> int:
    """Draw for edge cases, which write their sizes out: the largest size, the first choice, the first seed."""
    return low if kind in ("seed", "pick", "flag") else high


# Queries and keys whose scores are extreme

_Pair = tuple[Tensor, Tensor]
_FAR, _LOW, _BEYOND_BFLOAT16 = 200.0, 3e4, 1024.0


def _along_one_axis(q: Tensor, k: Tensor, levels: Tensor) -> _Pair:
    """Make the scores, divided by √d, near `levels` (S,) for every query; the other components of d stay."""
    width = q.shape[-1]
    q, k = q.clone(), k.clone()
    size = math.sqrt(float(levels.abs().max()) * math.sqrt(width))
    q[..., 0] = size
    k[..., 0] = levels / float(levels.abs().max()) * size
    return q, k


def _far_apart(q: Tensor, k: Tensor) -> _Pair:
    """Spread the scores over ±200, the two largest half a unit apart: their exp overflows."""
    count = k.shape[-2]
    levels = torch.linspace(_FAR, -_FAR, count, dtype=torch.float64) if count > 1 else torch.tensor([_FAR]).double()
    if count > 2:
        levels[1] = _FAR - 0.5
    q, k = _along_one_axis(q, k, levels.roll(count // 2))
    q[..., 1::2, 0] *= -1.0
    return q, k


def _later_keys_lead(q: Tensor, k: Tensor) -> _Pair:
    """Give each pair of keys far higher scores than the pair before, so that a hidden key would win if it counted."""
    count = k.shape[-2]
    place = torch.arange(count, dtype=torch.float64)
    levels = 2 * _FAR * (place.div(2, rounding_mode="floor") / max(1.0, (count - 1) // 2)) - _FAR + 0.5 * (place % 2)
    return _along_one_axis(q, k, levels)


def _very_low(q: Tensor, k: Tensor) -> _Pair:
    """Put the scores near −3·10⁴, that of the last key near 3·10⁴: no finite number replaces −∞."""
    levels = torch.full((k.shape[-2],), -_LOW, dtype=torch.float64)
    levels[1::2] += 16.0
    if len(levels) > 1:
        levels[-1] = _LOW
    return _along_one_axis(q, k, levels)


def _beyond_float16(q: Tensor, k: Tensor) -> _Pair:
    """Put the products near 90 000, beyond float16, and far enough apart for rounding in float32 not to show."""
    q, k = torch.zeros_like(q), torch.zeros_like(k)
    q[..., 0] = 300.0
    k[..., 0] = 300.0 - 0.25 * torch.arange(k.shape[-2], dtype=torch.float64).flip(0)
    return q, k


def _tied_in_bfloat16(q: Tensor, k: Tensor) -> _Pair:
    """Put the scores near 1024, where bfloat16 numbers are 8 apart; float32 holds every product exactly."""
    q, k = ((2.0 * tensor).round().clamp(-4.0, 4.0) / 2.0 for tensor in (q, k))
    return _along_one_axis(q, k, torch.full((k.shape[-2],), _BEYOND_BFLOAT16, dtype=torch.float64))


SCORES: dict[str, Callable[[Tensor, Tensor], _Pair]] = {
    "far-apart": _far_apart,
    "later-keys-lead": _later_keys_lead,
    "very-low": _very_low,
    "beyond-float16": _beyond_float16,
    "tied-in-bfloat16": _tied_in_bfloat16,
}
# Here the rounding of a score, times the gradient, is larger than any tolerance.
WITHOUT_GRADIENTS = frozenset({"very-low", "beyond-float16"})


def masks_over(shape: Sequence[int], ranks: Sequence[int] | None = None) -> list[tuple[int, ...]]:
    """Return the distinct shapes that broadcast to `shape`: of each allowed rank whole, and with each dimension 1.

    The two last dimensions come first, then the shape of a padding mask.
    """
    full, found = tuple(shape), []
    for rank in ranks or [2, len(full), *range(1, len(full))]:
        if rank > len(full):
            continue
        whole = full[len(full) - rank :]
        found.append(whole)
        if rank > 2:
            found.append((whole[0], *[1] * (rank - 2), whole[-1]))
        found += [tuple(1 if i == one else n for i, n in enumerate(whole)) for one in range(rank)]
        found.append((*[1] * (rank - 1), whole[-1]))
    return list(dict.fromkeys(found))
