"""Run the claims of the position cards about torch and low precision."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from .conftest import drawn, says


def frequencies(width: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return 10000.0 ** (-torch.arange(0, width, 2, dtype=dtype) / width)


def interleaved(x: Tensor, angle: Tensor) -> Tensor:
    """RoPE over the pairs (2i, 2i + 1)."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1).flatten(-2)


def half_split(x: Tensor, angle: Tensor) -> Tensor:
    """RoPE over the pairs (i, i + d/2)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1)


def test_pos_02_the_one_over_t_signal_in_bf16() -> None:
    says("pos-02", "In bf16 the values at 190 and 191 are already the same number", "只剩 746 个不同的值")
    signal = (1 / torch.arange(1, 4097, dtype=torch.float64)).bfloat16()
    equal = (signal[1:] == signal[:-1]).nonzero().flatten() + 1
    assert int(equal[0]) == 190
    assert len(signal.unique()) == 746


def test_pos_06_positions_outside_a_learned_table() -> None:
    says("pos-06", "IndexError once start + T > max_len", "start + T > max_len 时 IndexError")
    says("pos-06", "raises an IndexError on the CPU", "CPU 上抛 IndexError")
    says("arch-15", "so the lookup raises an index error", "查表会报下标越界")
    table = nn.Embedding(512, 4)
    table(torch.tensor([511]))
    with pytest.raises(IndexError):
        table(torch.tensor([512]))
    says("pos-06", "clamped at 0, since the −1 at the pads is an index error", "pad 处是 −1，查表会越界")
    table, mask = nn.Embedding(512, 4), torch.tensor([[0, 0, 1, 1]])
    positions = mask.cumsum(-1) - 1
    with pytest.raises(IndexError):
        table(positions)
    assert table(positions.clamp(min=0)).shape == (1, 4, 4)


def test_pos_10_how_far_fp32_angles_are_off() -> None:
    says("pos-10", "6e-5 rad up to position 1,000 and 0.008 rad up to 131,071")
    says("pos-10", "最多差 6e-5 弧度，131,071 以内最多差 0.008")
    for last, error in ((1_000, 6e-5), (131_071, 0.008)):
        worst = 0.0
        for positions in torch.arange(last + 1).split(16_384):
            single = (positions.float()[:, None] * frequencies(128, torch.float32)).double()
            worst = max(worst, float((single - positions.double()[:, None] * frequencies(128)).abs().max()))
        assert worst == pytest.approx(error, rel=0.05) and worst < error


def test_pos_12_a_rotation_in_bf16_nearly_keeps_the_norm() -> None:
    says("pos-12", "the norm moved by 0.03 % on average and 0.15 % at most", "范数平均变 0.03 %，最多 0.15 %")
    x = drawn(0, 1000, 128).bfloat16()
    angle = torch.arange(1000).float()[:, None] * frequencies(128, torch.float32)
    cos, sin = (torch.cat((f, f), -1).bfloat16() for f in (angle.cos(), angle.sin()))
    a, b = x.chunk(2, -1)
    moved = ((x * cos + torch.cat((-b, a), -1) * sin).double().norm(dim=1) / x.double().norm(dim=1) - 1).abs()
    assert float(moved.mean()) == pytest.approx(0.0003, abs=0.00005)
    assert float(moved.max()) == pytest.approx(0.0015, abs=0.0003)


def permuted(rows: Tensor) -> Tensor:
    """Convert one head as in pos-13: (2i, 2i + 1) becomes (i, i + d/2)."""
    return rows.view(rows.shape[0] // 2, 2, -1).transpose(0, 1).reshape(rows.shape)


@pytest.mark.parametrize("gains_too", [False, True])
def test_pos_13_qk_norm_gains_are_permuted_with_the_weights(gains_too: bool) -> None:
    says("pos-13", "so must the gains of a QK-norm", "QK-norm 的增益也要")
    x, weights, biases, gains = drawn(0, 6, 16), drawn(1, 2, 8, 16), drawn(2, 2, 8), drawn(3, 2, 8).abs()
    angle = torch.arange(6, dtype=torch.float64)[:, None] * frequencies(8)

    def scores(
        rotate: Callable[[Tensor, Tensor], Tensor], convert: Callable[[Tensor], Tensor], gains: Tensor
    ) -> Tensor:
        rotated = []
        for weight, bias, gain in zip(weights, biases, gains, strict=True):
            y = x @ convert(weight).mT + convert(bias)
            rotated.append(rotate(gain * y / y.square().mean(-1, keepdim=True).sqrt(), angle))
        return rotated[0] @ rotated[1].mT

    before = scores(interleaved, lambda w: w, gains)
    after = scores(half_split, permuted, torch.stack([permuted(g) for g in gains]) if gains_too else gains)
    assert torch.allclose(before, after) is gains_too


def test_pos_13_the_permutation_undoes_itself_for_two_and_four_dimensions_only() -> None:
    says("pos-13", "not its own inverse, except for d = 2 and d = 4", "除了 d = 2 和 d = 4，这个置换做两次并不会还原")
    widths = range(2, 257, 2)
    assert [d for d in widths if permuted(permuted(torch.arange(d))).equal(torch.arange(d))] == [2, 4]


def test_pos_24_rounded_frequencies_keep_scores_relative() -> None:
    says("pos-24", "neighbours stay apart and scores stay relative", "相邻位置仍分得开，分数仍只取决于偏移")
    exact, rounded = frequencies(128), frequencies(128).bfloat16().double()
    q, k = drawn(0, 128), drawn(1, 128)
    scores = [float(interleaved(q, (m + 7) * rounded) @ interleaved(k, m * rounded)) for m in (0, 1000, 100_000)]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-8)
    assert scores[0] == pytest.approx(float(interleaved(q, 7 * exact) @ k), abs=0.1)
    assert float((rounded - exact).abs().max()) <= 2**-9
    angle = torch.arange(1024, dtype=torch.float64)[:, None] * rounded
    assert not (angle[1:].cos() == angle[:-1].cos()).all(-1).any()


def test_pos_24_16_bit_positions_merge_neighbours() -> None:
    says("pos-24", "511 equal pairs, the first at 256 and 257", "有 511 对相等，第一对是 256 和 257")
    positions = torch.arange(1024, dtype=torch.bfloat16)
    angle = positions[:, None] * frequencies(128, torch.float32)
    rows = torch.cat((angle.cos(), angle.sin()), -1)
    equal = (rows[1:] == rows[:-1]).all(-1).nonzero().flatten()
    assert (len(equal), int(equal[0])) == (511, 256)
    assert positions[[257, 259]].tolist() == [256, 260]
    assert len(positions.unique()) == 513
    assert len(torch.arange(8192, dtype=torch.bfloat16).unique()) == 897
    says("pos-24", "exact up to 2,048 and 2,049 is the first to be lost", "精确到 2,048，第一个丢失的是 2,049")
    exact = torch.arange(4096, dtype=torch.float64)
    assert int((exact.half().double() != exact).nonzero()[0]) == 2049


def test_pos_26_sinusoids_fill_few_directions() -> None:
    says("pos-26", "keep 99 % of their energy in 109 of 512 directions", "99 % 的能量集中在 512 个方向中的 109 个")
    angle = torch.arange(512, dtype=torch.float64)[:, None] * frequencies(512)
    energy = torch.linalg.svdvals(torch.cat((angle.sin(), angle.cos()), -1)).square().cumsum(0)
    assert int((energy < 0.99 * energy[-1]).sum()) + 1 == 109


class SinusoidalPE(nn.Module):
    """The module of pos-27; with `fixed`, line 8 has the card's fix."""

    def __init__(self, width: int, max_len: int, fixed: bool) -> None:
        super().__init__()
        freq = frequencies(width, torch.float32)
        angle = torch.arange(max_len).unsqueeze(1).float()
        pe = torch.zeros(max_len, width)
        pe[:, 0::2] = torch.sin(angle * freq)
        pe[:, 1::2] = torch.cos(angle * (freq[: width // 2] if fixed else freq))
        self.register_buffer("pe", pe, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.get_buffer("pe")[: x.shape[1]]


def test_pos_27_an_odd_width_fails_until_it_is_fixed_and_a_longer_text_raises() -> None:
    says("pos-27", "RuntimeError in the constructor", "构造时 RuntimeError")
    SinusoidalPE(512, 4, fixed=False)
    with pytest.raises(RuntimeError):
        SinusoidalPE(5, 4, fixed=False)
    says("pos-27", "Widths 1, 2, 5 and 512", "宽度取 1、2、5、512")
    for width in (1, 2, 5, 512):
        first = SinusoidalPE(width, 4, fixed=True).get_buffer("pe")[0]
        assert first.tolist() == ([0.0, 1.0] * width)[:width]
    says("pos-27", "as it does here with a RuntimeError", "这里会抛 RuntimeError")
    with pytest.raises(RuntimeError):
        SinusoidalPE(8, 16, fixed=True)(torch.zeros(1, 17, 8))


def test_pos_27_what_a_buffer_that_is_not_persistent_does() -> None:
    says("pos-27", "It also follows model.bfloat16()", "它也会跟着 model.bfloat16() 转换")
    module = SinusoidalPE(8, 16, fixed=True)
    exact = module.get_buffer("pe").double()
    assert not module.state_dict()
    assert not list(module.parameters())
    assert not module.get_buffer("pe").requires_grad
    assert float((module.bfloat16().get_buffer("pe").double() - exact).abs().max()) <= 2**-9
