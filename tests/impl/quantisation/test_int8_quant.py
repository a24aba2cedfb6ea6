"""Compare int8 codes with a loop over plain numbers, in float64, and check the error bound of half a step."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

reference = load(IMPL / "quantisation/int8-quant/reference.py")


def range_of(numbers: list[float], symmetric: bool) -> tuple[float, int]:
    if symmetric:
        return max(map(abs, numbers)) / 127 or 1.0, 0
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    scale = (high - low) / 255 or 1.0
    return scale, round(-128 - low / scale)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("shape, axis", [((5, 7), 0), ((5, 7), 1), ((2, 3, 4), 1), ((6,), None), ((2, 3, 4), None)])
@pytest.mark.parametrize("mean", [0.0, 3.0, -3.0])
def test_codes_are_those_of_a_loop_over_numbers(
    shape: tuple[int, ...], axis: int | None, symmetric: bool, mean: float
) -> None:
    w = torch.randn(shape, dtype=torch.float64) + mean
    q, scale, zero = reference.quantize_int8(w, axis, symmetric)
    slices = [w] if axis is None else list(w.unbind(axis))
    due = [range_of(part.flatten().tolist(), symmetric) for part in slices]
    assert scale.flatten().tolist() == pytest.approx([s for s, _ in due]) and zero.flatten().tolist() == [
        z for _, z in due
    ]
    for part, codes, (step, offset) in zip(slices, [q] if axis is None else q.unbind(axis), due, strict=True):
        assert codes.flatten().tolist() == [round(x / step) + offset for x in part.flatten().tolist()]
    assert torch.equal(reference.dequantize(q, scale, zero), (q.double() - zero) * scale)


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [3.7, 3.7], [-129.5, 125.5, 0.0], [0.1] * 63 + [-50.0], [-1e-30, 0.0]])
@pytest.mark.parametrize("symmetric", [True, False])
def test_nothing_is_off_by_more_than_half_a_step_and_zero_is_exact(numbers: list[float], symmetric: bool) -> None:
    w = torch.tensor(numbers)
    q, scale, zero = reference.quantize_int8(w, None, symmetric)
    back = reference.dequantize(q, scale, zero)
    assert bool(((back - w).abs() <= 0.5001 * scale).all()) and bool((back[w == 0] == 0).all())
