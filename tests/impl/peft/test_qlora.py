"""Compare QLoRA's reference with loops over single numbers: nearest levels, rounded block maxima, bits."""

from __future__ import annotations

import pytest
import torch

from ..conftest import IMPL, load

reference = load(IMPL / "peft/qlora/reference.py")


def by_hand(weight: torch.Tensor, block: int, double_quant: bool) -> torch.Tensor:
    flat = weight.double().flatten().tolist()
    blocks = [flat[k : k + block] for k in range(0, len(flat), block)]
    absmax = [max(map(abs, numbers)) for numbers in blocks]
    codes = [
        [min(reference.LEVELS, key=lambda level: abs(number - level * top)) if top else 0.0 for number in numbers]
        for numbers, top in zip(blocks, absmax, strict=True)
    ]
    if double_quant:
        mean = sum(absmax) / len(absmax)
        for first in range(0, len(absmax), 256):
            group = absmax[first : first + 256]
            s = max(abs(top - mean) for top in group) / 127
            absmax[first : first + 256] = [mean + s * round((top - mean) / s) if s else mean for top in group]
    rows = [[level * top for level in levels] for levels, top in zip(codes, absmax, strict=True)]
    return torch.tensor(rows).view(weight.shape)


@pytest.mark.parametrize("double_quant", [False, True])
@pytest.mark.parametrize(("out", "width", "block"), [(3, 4, 6), (5, 8, 4), (24, 50, 2), (8, 64, 64)])
def test_the_rebuilt_weight_is_the_one_computed_by_hand(out: int, width: int, block: int, double_quant: bool) -> None:
    weight, x = torch.randn(out, width), torch.randn(2, 3, width, requires_grad=True)
    weight.view(-1)[:block] = 0.0
    layer = reference.QLoRALinear(weight, 2, 4.0, block, double_quant)
    torch.nn.init.normal_(layer.lora_B)
    base = by_hand(weight, block, double_quant)
    whole = base + 2.0 * (layer.lora_B @ layer.lora_A).detach()
    y = layer(x)
    assert torch.allclose(y, x @ whole.T, atol=1e-4)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.allclose(gradient, whole.sum(0).expand_as(x), atol=1e-4)


@pytest.mark.parametrize(("double_quant", "bits"), [(False, 4.5), (True, 4.13)])
def test_what_is_kept_fits_into_the_bits_that_are_allowed(double_quant: bool, bits: float) -> None:
    layer = reference.QLoRALinear(torch.randn(128, 256), 1, 1.0, double_quant=double_quant)
    assert 8 * sum(part.nbytes for part in layer.buffers()) <= bits * 128 * 256
