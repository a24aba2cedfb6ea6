"""Run the claims and measurements of the `moe` cards."""

from statistics import mean

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import silu
from torch.utils.flop_counter import FlopCounterMode

from .conftest import drawn_float32 as drawn
from .conftest import says


def busiest(scores: Tensor, k: int) -> float:
    """Return the load of the busiest expert divided by the mean load."""
    load = torch.bincount(scores.topk(k).indices.flatten(), minlength=scores.shape[1]).double()
    return float(load.max() / load.mean())


def test_moe_03_balance_of_a_random_router() -> None:
    says("moe-03", "1.1 times the mean load with isotropic inputs, but about 2.7 times (1.7 to 3.8 in 95 %")
    isotropic, common = [], []
    for seed in range(600):
        router, x, shift = drawn(seed, 64, 8), drawn(10_000 + seed, 1024, 64), drawn(20_000 + seed, 64)
        isotropic.append(busiest(x @ router, 2))
        common.append(busiest((x + shift / shift.norm() * 8) @ router, 2))
    assert mean(isotropic) == pytest.approx(1.1, abs=0.05) and mean(common) == pytest.approx(2.7, abs=0.1)
    middle = torch.tensor(common).quantile(torch.tensor([0.025, 0.975]))
    assert middle.tolist() == pytest.approx([1.7, 3.8], abs=0.1)


def test_moe_03_bf16_flips_near_ties() -> None:
    says("moe-03", "about 4 % of the tokens at 256 choose 8, and for 0.4 % at 8 choose 2")
    for experts, k, changed in ((256, 8, 0.044), (8, 2, 0.004)):
        x, router = drawn(0, 4096, 1024), drawn(1, 1024, experts) / 32
        exact = (x @ router).topk(k).indices.sort(-1).values
        rounded = (x.bfloat16() @ router.bfloat16()).float().topk(k).indices.sort(-1).values
        assert float((exact != rounded).any(-1).float().mean()) == pytest.approx(changed, abs=0.4 * changed)


def test_moe_04_which_logits_receive_gradient() -> None:
    says("moe-04", "raw gates of a softmax over all give N nonzero entries that sum to zero")
    outputs, chosen = drawn(1, 8, 16) @ drawn(2, 16), drawn(0, 8).topk(2).indices

    def gradient(kind: str) -> Tensor:
        z = drawn(0, 8).requires_grad_()
        if kind == "over S":
            gates = z[chosen].softmax(0)
        elif kind == "renormalised":
            gates = z.softmax(0)[chosen] / z.softmax(0)[chosen].sum()
        else:
            gates = (z.softmax(0) if kind == "over all" else z.sigmoid())[chosen]
        return torch.autograd.grad((gates * outputs[chosen]).sum(), z)[0]

    torch.testing.assert_close(gradient("renormalised"), gradient("over S"), atol=1e-6, rtol=0)
    for kind, nonzero, zero_sum in (("over all", 8, True), ("over S", 2, True), ("sigmoid", 2, False)):
        found = gradient(kind)
        assert int((found != 0).sum()) == nonzero and (abs(float(found.sum())) < 1e-6) == zero_sum


def test_moe_04_a_chosen_logit_is_measured_against_the_gate_weighted_sum() -> None:
    says("moe-04", "g_i\\\\left(a_i-\\\\sum_{j\\\\in S} g_j a_j\\\\right)$, renormalised or raw softmax alike")
    z, a, chosen = drawn(0, 8).requires_grad_(), drawn(1, 3), torch.tensor([1, 4, 6])
    raw = z.softmax(0)[chosen]
    for gates in (raw, raw / raw.sum()):
        (found,) = torch.autograd.grad((gates * a).sum(), z, retain_graph=True)
        expected = (gates * (a - (gates * a).sum())).detach()
        torch.testing.assert_close(found[chosen], expected, atol=1e-6, rtol=1e-5)


def test_moe_08_the_flop_counter_shows_the_ratio() -> None:
    says("moe-08", "full-size experts with top-2 give 2.0 times the dense count")
    expert = nn.Sequential(nn.Linear(16, 64, bias=False), nn.ReLU(), nn.Linear(64, 16, bias=False))
    x = drawn(0, 32, 16)
    with FlopCounterMode(display=False) as dense:
        expert(x)
    with FlopCounterMode(display=False) as sparse:
        for rows in (x, x):
            expert(rows)
    assert sparse.get_total_flops() == 2 * dense.get_total_flops() > 0


@pytest.mark.parametrize(("last_stride", "least", "most"), [(0.001, 1.15, 1.3), (0.1, 1.9, 2.8)])
def test_moe_13_the_stride_of_the_bias(last_stride: float, least: float, most: float) -> None:
    """Starting with a coarse stride, both come near balance; 0.001 alone gets there too, in many more steps."""
    says("moe-13", "it falls to 1.2, which is sampling noise, with γ = 0.1 only to between 2 and 2.8")
    generator = torch.Generator().manual_seed(0)
    router, shift, bias = drawn(1, 64, 16) / 8, drawn(2, 64), torch.zeros(16)
    shift = shift / shift.norm() * 8
    loads = []
    for stride in [0.02] * 40 + [0.005] * 40 + [last_stride] * 60:
        scores = ((torch.randn(512, 64, generator=generator) + shift) @ router).sigmoid()
        load = torch.bincount((scores + bias).topk(2).indices.flatten(), minlength=16).float()
        bias += stride * torch.sign(load.mean() - load)
        loads.append(float(load.max() / load.mean()))
    assert 3 <= loads[0] <= 7 and least <= mean(loads[-30:]) <= most


def test_moe_23_adam_moves_zero_gradients_and_skips_missing_ones() -> None:
    says("moe-23", "has grad None, and the optimiser skips it altogether")
    weight = nn.Parameter(torch.ones(3))
    adam = torch.optim.AdamW([weight], lr=0.1)
    weight.grad = torch.ones(3)
    adam.step()
    before = weight.detach().clone()
    adam.zero_grad()
    adam.step()
    assert torch.equal(weight, before)
    weight.grad = torch.zeros(3)
    adam.step()
    assert bool((weight < before).all())


def test_moe_24_indexed_addition_keeps_one_copy() -> None:
    says("moe-24", "PyTorch's indexed += keeps only one of the copies")
    rows, out = torch.tensor([0, 0, 1]), torch.tensor([1.0, 2.0, 4.0])
    y = torch.zeros(2)
    y[rows] += out
    assert float(y[0]) in (1.0, 2.0) and float(y[1]) == 4.0
    assert torch.zeros(2).index_add_(0, rows, out).tolist() == [3.0, 4.0]


def test_moe_24_only_the_relu_expert_is_homogeneous() -> None:
    says("moe-24", "A ReLU expert without biases allows it", "SwiGLU does not")
    gate, up, down, x = drawn(0, 8, 16), drawn(1, 8, 16), drawn(2, 16, 8), drawn(3, 5, 8)
    experts = (lambda t: (t @ up).relu() @ down), (lambda t: (silu(t @ gate) * (t @ up)) @ down)
    assert [torch.allclose(e(0.5 * x), 0.5 * e(x), atol=1e-4) for e in experts] == [True, False]


def test_moe_25_the_quantile_bias_settles_in_a_few_rounds() -> None:
    says("moe-25", "a few rounds settle")
    scores, bias, k = ((drawn(0, 2048, 32) + drawn(1, 32)) @ drawn(2, 32, 32) / 6).sigmoid(), torch.zeros(32), 4
    loads = []
    for _ in range(6):
        loads.append(busiest(scores + bias, k))
        margins = scores - (scores + bias).topk(k + 1).values[:, k:]
        bias = -margins.quantile(1 - k / 32, dim=0)
        bias = bias - bias.mean()
    assert loads[0] > 2 and loads[-1] < 1.1
