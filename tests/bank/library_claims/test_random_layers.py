"""Draw the random data that cards give numbers about, and compare."""

from statistics import mean

import pytest
import torch
from torch import Tensor

from .conftest import drawn, says

TOKENS, WIDTH, HEADS, SEEDS = 32, 64, 4, range(5)


def test_att_02_the_trace_of_the_jacobian() -> None:
    says("att-02", "about 0.07 unscaled and 0.96 scaled", "不缩放约为 0.07，缩放后约为 0.96")
    for scale, trace in ((1.0, 0.07), (1024**-0.5, 0.96)):
        weights = [(drawn(2 * n, 64, 1024) @ drawn(2 * n + 1, 1024) * scale).softmax(0) for n in range(200)]
        assert mean(float((p * (1 - p)).sum()) for p in weights) == pytest.approx(trace, abs=0.015)


def test_att_02_without_the_scale_rows_saturate_and_near_ties_dominate() -> None:
    says("att-02", "about 25 times larger", "均方根却约是 25 倍")

    def gradients(d_k: int, scale: float) -> Tensor:
        q, k, v, upstream = (drawn(seed, 40, 64, d_k) for seed in range(4))
        p = (q @ k.mT * scale).softmax(-1)
        dp = upstream @ v.mT
        dq: Tensor = (p * (dp - (p * dp).sum(-1, keepdim=True))) @ k * scale
        return dq.square().sum(-1).sqrt()

    wide, wide_scaled = gradients(1024, 1.0), gradients(1024, 1024**-0.5)
    assert float(wide.median() / wide_scaled.median()) < 0.06
    assert float(wide.square().mean().sqrt() / wide_scaled.square().mean().sqrt()) == pytest.approx(25, abs=4)
    says("att-02", "at d_k = 64 over 64 keys the unscaled one is about 5 times larger", "不缩放的约是 5 倍")
    assert float(gradients(64, 1.0).median() / gradients(64, 0.125).median()) == pytest.approx(5, abs=0.5)


class Layers:
    """Random layers; each branch reads RMS-normalised tokens, and `residual` adds its output to the stream."""

    def __init__(self, seed: int, ffn: bool, residual: bool, branch: float = 1.0, sharpness: float = 1.0) -> None:
        self.generator = torch.Generator().manual_seed(seed)
        self.ffn, self.residual, self.branch, self.sharpness = ffn, residual, branch, sharpness

    def weight(self, rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=self.generator, dtype=torch.float64) / rows**0.5

    def distances(self, layers: int) -> list[float]:
        """Return the relative distance to the matrix with equal tokens, at the input and after each layer."""
        x = torch.randn(TOKENS, WIDTH, generator=self.generator, dtype=torch.float64)
        found = [distance(x)]
        for _ in range(layers):
            x = self.joined(x, self.attention(normalised(x)))
            if self.ffn:
                inner = (normalised(x) @ self.weight(WIDTH, 4 * WIDTH)).relu()
                x = self.joined(x, inner @ self.weight(4 * WIDTH, WIDTH))
            found.append(distance(x))
        return found

    def attention(self, x: Tensor) -> Tensor:
        q, k, v = ((x @ self.weight(WIDTH, WIDTH)).view(TOKENS, HEADS, -1).transpose(0, 1) for _ in range(3))
        weights = (self.sharpness * (q @ k.transpose(1, 2)) / (WIDTH // HEADS) ** 0.5).softmax(-1)
        return (weights @ v).transpose(0, 1).reshape(TOKENS, WIDTH) @ self.weight(WIDTH, WIDTH)

    def joined(self, x: Tensor, branch: Tensor) -> Tensor:
        return x + self.branch * branch if self.residual else branch


def normalised(x: Tensor) -> Tensor:
    return x / x.square().mean(-1, keepdim=True).sqrt()


def distance(x: Tensor) -> float:
    return float((x - x.mean(0)).norm() / x.norm())


def test_att_18_and_norm_13_attention_alone_collapses() -> None:
    falls = "about 0.8, 0.2, 0.004 and below 1e-6", "依次约为 0.8、0.2、0.004、不到 1e-6"
    says("att-18", *falls)
    says("norm-13", "0.98 → 0.8 → 0.2 → 0.004 → below 1e-6", "0.98 → 0.8 → 0.2 → 0.004")
    runs = [Layers(seed, ffn=False, residual=False).distances(4) for seed in SEEDS]
    for layer, (stated, slack) in enumerate([(0.98, 0.01), (0.8, 0.1), (0.2, 0.08), (0.004, 0.003)]):
        assert all(run[layer] == pytest.approx(stated, abs=slack) for run in runs)
    assert all(run[4] < 1e-6 for run in runs)


def test_att_18_and_norm_13_what_prevents_it() -> None:
    for ffn, residual, branch, layers, least, most in (
        (False, True, 1.0, 8, 0.575, 0.735),
        (True, True, 1.0, 8, 0.555, 0.675),
        (True, False, 1.0, 3, 0.0, 0.0015),
        (False, True, 1.0, 64, 0.145, 0.175),
        (False, True, 1 / 8, 64, 0.94, 1.0),
    ):
        for seed in SEEDS:
            assert least <= Layers(seed, ffn, residual, branch).distances(layers)[-1] <= most


def test_att_18_sharper_attention_collapses_later_and_an_ffn_hastens_it() -> None:
    says("att-18", "twice as large 0.3 to 0.7 are left after four layers", "四层后还剩 0.3 到 0.7")
    runs = [Layers(seed, ffn=False, residual=False, sharpness=4.0).distances(4) for seed in SEEDS]
    assert all(0.3 < run[4] < 0.75 for run in runs)
    says("att-18", "lower than attention alone", "比只有注意力时还低")
    for seed in SEEDS:
        with_ffn, alone = (Layers(seed, ffn=ffn, residual=False).distances(3)[-1] for ffn in (True, False))
        assert with_ffn < alone
