"""Run the claims of the `eval` cards about nn.MultiheadAttention, fixed mixing, rank-one edits and cosine logits."""

import math
import random
from collections import Counter
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from .conftest import drawn, says


def test_eval_06_nn_multiheadattention_averages_heads_and_returns_weights_after_dropout() -> None:
    says("eval-06", "returned after dropout, so the rows no longer sum to 1")
    says("eval-06", "返回的是 dropout 之后的权重，行和不再是 1")
    says("eval-06", "With dropout > 0 (the default is 0.0), in training mode", "若设了 dropout（默认 0.0），训练模式下")
    torch.manual_seed(0)
    layer, x = nn.MultiheadAttention(16, 4, dropout=0.5, batch_first=True), torch.randn(2, 8, 16)
    assert layer(x, x, x)[1].shape == (2, 8, 8)
    weights = layer(x, x, x, average_attn_weights=False)[1]
    assert weights.shape == (2, 4, 8, 8) and (weights == 0).any()
    assert (weights.sum(-1) - 1).abs().max() > 0.1
    torch.testing.assert_close(layer.eval()(x, x, x)[1].sum(-1), torch.ones(2, 8))
    default = nn.MultiheadAttention(16, 4, batch_first=True)
    assert default.training
    torch.testing.assert_close(default(x, x, x)[1].sum(-1), torch.ones(2, 8))


def test_eval_06_weights_orthogonal_to_the_values_change_no_output() -> None:
    says("eval-06", "at least T − d_v − 1 such directions", "这样的方向至少有 T − d_v − 1 个")
    values = drawn(0, 12, 4)
    conditions = torch.cat([values, torch.ones(12, 1, dtype=torch.float64)], 1).T
    assert 12 - int(torch.linalg.matrix_rank(conditions)) == 12 - 4 - 1


def test_eval_09_fixed_mixing_is_additive_and_its_rows_sum_to_one() -> None:
    says("eval-09", "each row of $M_h$ sums to 1", "softmax(QKᵀ) it fails at once", "softmax(QKᵀ) 立刻不成立")
    noise = drawn(0, 9, 9).tril()
    mixing = (torch.eye(9) + noise - noise.sum(1, keepdim=True) / torch.arange(1, 10)[:, None]).tril()
    torch.testing.assert_close(mixing.sum(1), torch.ones(9, dtype=torch.float64))
    x, y = drawn(1, 9, 6), drawn(2, 9, 6)

    def gap(layer: Callable[[Tensor], Tensor]) -> float:
        return float((layer(x + y) - layer(x) - layer(y)).abs().max())

    assert gap(lambda t: mixing @ t) < 1e-13
    assert gap(lambda t: (t @ t.T).softmax(1) @ t) > 1


def test_eval_09_exclusion_alone_reaches_0_424_with_eight_pairs() -> None:
    says("eval-09", "already gives 0.424", "就能到 0.424")
    draw, hits = random.Random(0), 0
    for _ in range(4000):
        values = [draw.randrange(16) for _ in range(8)]
        left = Counter(values)
        for value in draw.sample(values, 8):
            hits += left.most_common(1)[0][0] == value
            left[value] -= 1
    assert hits / 32_000 == pytest.approx(0.424, abs=0.008)


def test_eval_12_the_inverse_covariance_spares_the_old_keys() -> None:
    kept = "With C = I the edit succeeds just as exactly but disturbs the old memory more."
    says("eval-12", kept, "对旧记忆的扰动更大。")
    scales, ratios = torch.logspace(0, -1.5, 64, dtype=torch.float64), []
    for seed in range(40):
        keys, key, residual = scales * drawn(seed, 1000, 64), scales * drawn(seed + 100, 64), drawn(seed + 200, 64)
        directions = key, torch.linalg.solve(keys.T @ keys, key)
        plain, spared = (torch.outer(residual, way / (way @ key)) @ keys.T for way in directions)
        ratios.append(float(plain.square().sum() / spared.square().sum()))
    assert min(ratios) > 1


def test_eval_12_later_rank_one_edits_overwrite_the_first() -> None:
    says("eval-12", "off by 0.83 of its norm on average", "第一条的误差平均达到其范数的 0.83")
    errors = []
    for seed in range(100):
        keys, values, weights = drawn(seed, 40, 64), drawn(seed + 100, 40, 64), torch.zeros(64, 64, dtype=torch.float64)
        for key, value in zip(keys, values, strict=True):
            weights = weights + torch.outer(value - weights @ key, key) / (key @ key)
        off = (keys @ weights.T - values).norm(dim=1) / values.norm(dim=1)
        errors.append(float(off[0]))
        assert off[-1] < 1e-12
        joint = torch.linalg.lstsq(keys, values).solution
        torch.testing.assert_close(keys @ joint, values)
    assert sum(errors) / 100 == pytest.approx(0.83, abs=0.03)


def test_eval_17_five_frequencies_lead_by_2_41() -> None:
    says("eval-17", "the smallest lead over all 112 wrong answers is 2.41", "最小领先是 2.41")
    leads = [sum(1 - math.cos(2 * math.pi * k * c / 113) for k in (14, 35, 41, 42, 52)) for c in range(1, 113)]
    assert min(leads) == pytest.approx(2.41, abs=0.005)
