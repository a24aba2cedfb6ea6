"""Run the computable claims of the retrieval cards."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from .conftest import says

PAIRS = 1024


def best_loss(scale: float) -> float:
    """Return the loss if the positive has cosine 1 and the other 1,023 candidates −1."""
    scores = torch.full((1, PAIRS), -1.0, dtype=torch.float64)
    scores[0, 0] = 1
    return float(F.cross_entropy(scores * scale, torch.zeros(1, dtype=torch.long)))


def test_rag_08_what_a_temperature_allows_and_weighs() -> None:
    says("rag-08", "has loss 6.83 against 6.93 at the start", "损失也有 6.83，而初值是 6.93", "= 4.94")
    assert best_loss(0.0) == pytest.approx(6.93, abs=0.005)
    assert best_loss(0.05) == pytest.approx(6.83, abs=0.005)
    assert best_loss(1.0) == pytest.approx(4.94, abs=0.005)
    assert best_loss(1 / 0.05) < 1e-12
    says("rag-08", "a small τ concentrates on the hardest ones", "τ 越小越集中在最难的负例上")
    for scale, ratio in ((0.05, 1.025), (20.0, 22026.0)):
        scores: Tensor = torch.tensor([[0.8, 0.7, 0.2]], dtype=torch.float64, requires_grad=True)
        ((_, hard, easy),) = torch.autograd.grad(F.cross_entropy(scores * scale, torch.tensor([0])), scores)[0]
        assert float(hard / easy) == pytest.approx(ratio, rel=1e-3)


def test_rag_10_a_large_constant_rewards_agreement() -> None:
    says("rag-10", "two tenth places (1/70 + 1/70 = 0.0286) beat one first place alone", "胜过孤零零的一个第一")
    says("rag-10", "near-optimal in a pilot, and the choice not critical", "接近最优，而取多少并不关键")
    first, tenth = (lambda k: 1 / (k + 1)), (lambda k: 2 / (k + 10))
    assert tenth(60) > first(60) and tenth(0) < first(0)


def test_rag_13_the_three_terms_add_up_to_the_loss() -> None:
    says("rag-13", "(1-o)+g(o-h)+(1-g)(o-m)", "0.08 generator + 0.09 context + 0.18 retrieval")
    g, o, h, m = torch.rand(4, 100, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close((1 - o) + g * (o - h) + (1 - g) * (o - m), 1 - (g * h + (1 - g) * m))


def test_rag_15_a_prefix_of_evenly_spread_vectors_keeps_a_cosine_up_to_noise() -> None:
    says("rag-15", "a cosine of 0.5 gets noise of about 0.04 at 256 of 768, but 0.09 at 64")
    says("rag-15", "约 0.04 的噪声，取 64 时是 0.09")
    first, other = torch.randn(2, 8000, 768, generator=torch.Generator().manual_seed(0))
    first = F.normalize(first, dim=1)
    other = F.normalize(other - (other * first).sum(1, keepdim=True) * first, dim=1)
    second = 0.5 * first + 0.75**0.5 * other
    torch.testing.assert_close((first * second).sum(1), torch.full((8000,), 0.5))
    for length, noise in ((256, 0.04), (64, 0.09)):
        prefix = F.cosine_similarity(first[:, :length], second[:, :length])
        approximation = 0.75 / length**0.5 * (1 - length / 768) ** 0.5
        assert float(prefix.mean()) == pytest.approx(0.5, abs=0.005)
        assert float(prefix.std()) == pytest.approx(noise, abs=0.005)
        assert float(prefix.std()) == pytest.approx(approximation, rel=0.03)
