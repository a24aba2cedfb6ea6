"""Run the measurable claims of the cards on multimodal models."""

from math import exp, log1p
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..conftest import bundled_documents
from .conftest import drawn, says


def gated_layer(output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of the gate α = 0, of the output matrix and of the query matrix."""
    x, image, target = drawn(0, 5, 4), drawn(1, 3, 4), drawn(2, 5, 4)
    alpha, w_q, w_o = torch.zeros((), dtype=torch.float64), drawn(3, 4, 4), output.clone()
    for weight in (alpha, w_q, w_o):
        weight.requires_grad_()
    attended = F.scaled_dot_product_attention(x @ w_q, image, image) @ w_o
    loss = (x + alpha.tanh() * attended - target).square().sum()
    gate, out, query = torch.autograd.grad(loss, (alpha, w_o, w_q))
    return gate, out, query


def test_mm_03_a_closed_gate_trains_the_gate_alone_or_nothing() -> None:
    says("mm-03", "the weights inside XAttn get none in the first step", "XAttn 内部的权重第一步没有梯度")
    gate, out, query = gated_layer(drawn(4, 4, 4))
    assert gate != 0 and not out.any() and not query.any()
    says("mm-03", "Nothing ever trains", "永远训不动")
    assert not any(gradient.any() for gradient in gated_layer(torch.zeros(4, 4, dtype=torch.float64)))


def test_mm_04_patches_and_one_linear_layer_are_a_strided_convolution() -> None:
    says("mm-04", "590,592", "`nn.Conv2d(3, d, kernel_size=16, stride=16)`", "(B, 196, d)")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        convolution = nn.Conv2d(3, 8, kernel_size=16, stride=16).double()
    image = drawn(0, 2, 3, 224, 224)
    tokens = convolution(image).flatten(2).transpose(1, 2)
    patches = image.unflatten(3, (14, 16)).unflatten(2, (14, 16)).permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)
    linear = patches @ convolution.weight.flatten(1).T + convolution.bias
    assert tokens.shape == (2, 196, 8)
    torch.testing.assert_close(tokens, linear)
    assert sum(p.numel() for p in nn.Conv2d(3, 768, 16, 16, device="meta").parameters()) == 590_592


def test_mm_05_a_quarter_of_the_tokens_has_a_sixteenth_of_the_pairs() -> None:
    says("mm-05", "tokens fall to 1/4, attention pairs among them to 1/16", "它们之间的注意力对数变为 1/16")
    patches = drawn(0, 1, 6, 32, 32)
    merged = F.pixel_unshuffle(patches, 2)
    assert merged.shape == (1, 24, 16, 16) and merged.numel() == patches.numel()
    before, after = 32 * 32, 16 * 16
    assert (before // after, before**2 // after**2) == (4, 16)


def test_mm_06_siglips_loss_and_gradients_at_the_start() -> None:
    says("mm-06", "log(1 + exp(-bias)) + (pairs - 1) * log(1 + exp(bias))", "log(pairs)")
    for pairs, bias in ((64, -10), (256, -6)):
        similarity = torch.zeros(pairs, pairs, dtype=torch.float64)
        sign = 2 * torch.eye(pairs, dtype=torch.float64) - 1
        siglip = -F.logsigmoid(sign * (10 * similarity + bias)).sum() / pairs
        assert float(siglip) == pytest.approx(log1p(exp(-bias)) + (pairs - 1) * log1p(exp(bias)))
        clip = F.cross_entropy(similarity, torch.arange(pairs))
        torch.testing.assert_close(clip, torch.tensor(pairs).double().log())
    says("mm-06", "the negatives 16,384 in sum against 0.5", "the negatives 1.49 in sum")
    for bias, positive, negatives in ((0, 0.5, 16_383.5), (-10, 1.0, 1.49)):
        similarity = torch.zeros(32_768, dtype=torch.float64, requires_grad=True)
        sign = torch.full_like(similarity, -1).index_fill(0, torch.tensor([0]), 1)
        (slope,) = torch.autograd.grad(-F.logsigmoid(sign * (similarity + bias)).sum(), similarity)
        assert float(-slope[0]) == pytest.approx(positive, abs=1e-3)
        assert float(slope[1:].sum()) == pytest.approx(negatives, rel=2e-3)


def test_mm_09_images_see_themselves_and_text_stays_causal() -> None:
    says("mm-09", "mask = causal | same_image", "or the first would see the second", "否则前一张会看到后一张")
    image_id = torch.tensor([-1, 0, 0, 0, -1, 1, 1, -1])
    causal = torch.ones(8, 8, dtype=torch.bool).tril()
    same_image = (image_id[:, None] == image_id) & (image_id[:, None] >= 0)
    mask = causal | same_image
    assert mask[1:4, 1:4].all() and not mask[1:4, 4:].any() and mask[5:7, 5:7].all()
    assert torch.equal(mask[[0, 4, 7]], causal[[0, 4, 7]])
    one_id = torch.where(image_id >= 0, 0, image_id)
    assert ((one_id[:, None] == one_id) & (one_id[:, None] >= 0))[1, 5]


def run_guidance(code: str, scale: float) -> tuple[float, float]:
    """Return mean and standard deviation of the card's sampler on the toy, asked for the class at +2.

    The starting noise is 4,001 equally likely quantiles of the normal distribution, not random.
    """
    scope: dict[str, Any] = {"torch": torch}
    exec(code, scope)
    quantiles = (torch.arange(4001, dtype=torch.float64) + 0.5) / 4001
    noise = torch.special.ndtri(quantiles)[:, None]
    prompt = torch.ones_like(noise)
    samples: Tensor = scope["sample"](exact_noise, noise, prompt, torch.zeros_like(noise), scale)
    return float(samples.mean()), float(samples.std())


def exact_noise(x: Tensor, t: Tensor, prompt: Tensor) -> Tensor:
    """Return the exact noise for data of unit variance around +2 or −2; prompt 0 means either class."""
    centre = 2 * torch.cos(t)
    mean_now = torch.where(prompt == 0, centre * torch.tanh(centre * x), centre * prompt)
    return torch.sin(t) * (x - mean_now)


@pytest.fixture(scope="module")
def guidance() -> dict[str, str]:
    """mm-16's code as it is shown, and with each of the two repairs."""
    code: str = next(document["code"] for document in bundled_documents() if document["id"] == "mm-16")
    unpacking, stacking = "cond, uncond = noise.chunk(2)", "torch.cat([empty, text])"
    assert code.count(unpacking) == code.count(stacking) == 1
    return {
        "shown": code,
        "line 4": code.replace(unpacking, "uncond, cond = noise.chunk(2)"),
        "line 2": code.replace(stacking, "torch.cat([text, empty])"),
    }


def test_mm_16_means_of_the_toy_with_the_names_exchanged_and_repaired(guidance: dict[str, str]) -> None:
    says("mm-16", "the means are 2.00, 0 and −7.8. Right would be 0, 2.00 and 3.07", "均值是 2.00、0、−7.8")
    for scale, wrong, right in ((0, 2.00, 0), (1, 0, 2.00), (3, -7.8, 3.07)):
        assert run_guidance(guidance["shown"], scale)[0] == pytest.approx(wrong, abs=0.05 if scale == 3 else 0.005)
        for repair in ("line 4", "line 2"):
            assert run_guidance(guidance[repair], scale)[0] == pytest.approx(right, abs=0.005)


def test_mm_16_guidance_does_not_sample_the_tilted_density(guidance: dict[str, str]) -> None:
    says("mm-16", "has mean 2.10 for s = 3", "3.07 with standard deviation 0.62 instead of 0.91")
    says("mm-16", "标准差 0.62 而非 0.91")
    x = torch.linspace(-12, 12, 24_001, dtype=torch.float64)
    log_prior = torch.logaddexp(-((x - 2) ** 2) / 2, -((x + 2) ** 2) / 2)
    density = (log_prior + 3 * F.logsigmoid(4 * x)).softmax(0)
    mean = float((density * x).sum())
    assert mean == pytest.approx(2.10, abs=0.005)
    assert float((density * (x - mean) ** 2).sum()) ** 0.5 == pytest.approx(0.91, abs=0.005)
    assert run_guidance(guidance["line 4"], 3) == pytest.approx((3.07, 0.62), abs=0.005)
