"""Run the claims of the `scale` cards about MinHash bands and a distribution fitted to its own samples."""

import pytest
import torch

from .conftest import drawn, says


def steep_part(bands: int, rows: int) -> float:
    return float((1 / bands) ** (1 / rows))


def test_scale_09_bands_and_hashes() -> None:
    says("scale-09", "More rows move it to the right", "more bands to the left", "行数多，曲线右移（误报少）")
    assert steep_part(20, 4) < steep_part(20, 5) < steep_part(20, 6)
    assert steep_part(25, 5) < steep_part(20, 5) < steep_part(15, 5)
    says("scale-09", "|A ∩ B| of |A ∪ B| shingles", "|A ∩ B| / |A ∪ B|")
    hashes = drawn(0, 20_000, 60)
    agree = hashes[:, :40].argmin(1) == hashes[:, 20:].argmin(1) + 20
    assert float(agree.double().mean()) == pytest.approx(20 / 60, abs=0.015)


def test_scale_12_a_fitted_variance_shrinks_in_the_mean_and_in_the_median() -> None:
    says("scale-12", "down to 37 % after 100 generations", "100 代之后均值只剩 37 %")
    shrink = drawn(0, 20_000, 100).var(1, correction=0).mean()
    assert float(shrink) == pytest.approx(1 - 1 / 100, abs=0.003)
    assert pytest.approx(0.37, abs=0.005) == (1 - 1 / 100) ** 100
    says("scale-12", "the median of 20,000 simulated chains to 13 %", "中位数只剩 13 %")
    steps = torch.distributions.Chi2(torch.tensor(99.0, dtype=torch.float64))
    torch.manual_seed(0)
    chains = (steps.sample((100, 20_000)) / 100).prod(0)
    assert float(chains.median()) == pytest.approx(0.13, abs=0.005)
    assert float(chains.mean()) == pytest.approx(0.37, abs=0.02)
