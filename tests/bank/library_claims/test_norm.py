"""Run the claims of the normalisation cards about torch and low precision."""

import math
from collections.abc import Callable
from statistics import mean

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import layer_norm, rms_norm

from .conftest import drawn, says

Norm = Callable[[Tensor], Tensor]


def gradient(norm: Norm, x: Tensor) -> Tensor:
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(norm(leaf), leaf, drawn(9, *x.shape))[0]


def test_norm_01_the_two_identities_of_the_gradient() -> None:
    says("norm-01", "RMSNorm has only the second", "RMSNorm 不减均值，只满足后一个")
    x, gain = drawn(0, 3, 8), drawn(1, 8)
    norms: list[tuple[Norm, bool, bool]] = [
        (lambda x: layer_norm(x, (8,), gain, eps=0.1), True, False),
        (lambda x: layer_norm(x, (8,), gain, eps=0.0), True, True),
        (lambda x: rms_norm(x, (8,), gain, eps=0.0), False, True),
    ]
    for norm, sums_to_zero, orthogonal in norms:
        g = gradient(norm, x)
        assert bool((g.sum(-1).abs() < 1e-12).all()) is sums_to_zero
        assert bool(((g * x).sum(-1).abs() < 1e-12).all()) is orthogonal


def test_norm_02_batchnorm_is_not_additive_over_micro_batches_and_leaks_the_future_in_training() -> None:
    says("norm-02", "Four micro-batches of 8 with BatchNorm are not a batch of 32", "不等于一个 32 的 batch")
    for module, same in ((nn.BatchNorm1d(6), False), (nn.LayerNorm(6), True)):
        module, found = module.double(), []
        for size in (32, 8):
            module.zero_grad()
            for x, weight in zip(drawn(0, 32, 6).split(size), drawn(1, 32, 6).split(size), strict=True):
                (module(x) * weight).sum().backward()
            found.append(module.get_parameter("weight").grad)
        assert found[0] is not None and found[1] is not None
        assert torch.allclose(found[0], found[1]) is same
    says("norm-02", "In evaluation mode BatchNorm passes the test as well", "评估模式下 BatchNorm 也能通过")
    for training, leaks in ((True, True), (False, False)):
        module = nn.BatchNorm1d(6).double().train(training)
        x = drawn(0, 2, 6, 5)
        other = x.clone()
        other[..., -1] += 1
        assert bool((module(x)[..., :-1] != module(other)[..., :-1]).any()) is leaks


def written(x: Tensor, unbiased: bool, inside: bool, eps: float = 1e-5) -> Tensor:
    var = x.var(-1, keepdim=True, unbiased=unbiased)
    return (x - x.mean(-1, keepdim=True)) / (torch.sqrt(var + eps) if inside else torch.sqrt(var) + eps)


def test_norm_03_the_probe_of_an_unknown_layer_norm() -> None:
    says("norm-03", "(0.41 with the unbiased variance)", "（无偏方差时 0.41 倍）")
    x = torch.tensor([1.0, -1.0], dtype=torch.float64)
    for unbiased, inside, output, ratio in (
        (False, True, 1.0, 0.30),
        (True, True, 0.707, 0.41),
        (False, False, 1.0, 0.99),
        (True, False, 0.707, 0.99),
    ):
        at_one = float(written(x, unbiased, inside)[0])
        assert at_one == pytest.approx(output, abs=5e-4)
        assert float(written(x / 1000, unbiased, inside)[0]) / at_one == pytest.approx(ratio, abs=0.005)


def test_norm_03_rows_without_a_variance() -> None:
    says("norm-03", "autograd returns NaN (infinity times zero)", "autograd 算出无穷乘 0，得到 NaN")
    x = torch.ones(4)
    assert bool((written(x, unbiased=False, inside=False) == 0).all())
    assert bool(gradient(lambda x: written(x, unbiased=False, inside=False), x).isnan().all())
    says("norm-03", "where the output is β and the unbiased form gives NaN", "输出就是 β，而无偏的写法得到 NaN")
    x = torch.tensor([[3.0]])
    assert float(layer_norm(x, (1,), bias=torch.tensor([0.5]))) == 0.5
    with pytest.warns(UserWarning, match="degrees of freedom"):
        assert bool(x.std(-1).isnan().all())


def tutorial(x: Tensor) -> Tensor:
    """LayerNorm as in norm-04, with γ = 1 and β = 0."""
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)


def test_norm_04_the_gain_in_porting_and_the_gradient_of_a_row_of_zeros() -> None:
    says("norm-04", "Multiply γ by √((D − 1)/D)", "把 γ 乘以 √((D − 1)/D)")
    x, factor = layer_norm(drawn(0, 1000, 512), (512,), eps=0.0), math.sqrt(511 / 512)
    difference = float((tutorial(x) - layer_norm(x, (512,)) * factor).abs().max())
    assert difference == pytest.approx(2e-5, rel=0.3)
    assert float((tutorial(x) - layer_norm(x, (512,)) / factor).abs().max()) > 100 * difference
    says("norm-04", "1/eps = 100,000 (γ = 1); nn.LayerNorm divides by √eps and gives 316", "只有 316 倍")
    for norm, factor in ((tutorial, 1e5), (lambda x: layer_norm(x, (512,)), 316.2)):
        upstream = drawn(9, 512)
        found = gradient(norm, torch.zeros(512, dtype=torch.float64))
        assert float(found.norm() / (upstream - upstream.mean()).norm()) == pytest.approx(factor, rel=1e-3)


def test_norm_05_the_default_eps_of_rms_norm_is_that_of_the_type_it_computes_in() -> None:
    says("norm-05", "not 1e-5: 1.2e-7 for fp16, bf16 and fp32 inputs, 2.2e-16 for fp64")
    says("norm-05", "输入为 fp16、bf16、fp32 时都是 1.2e-7，fp64 才是 2.2e-16")
    narrow = ((torch.float16, 1e-3, 1.2e-7), (torch.bfloat16, 1e-4, 1.2e-7), (torch.float32, 1e-4, 1.2e-7))
    for dtype, value, eps in (*narrow, (torch.float64, 1e-8, 2.2e-16)):
        x = torch.full((4,), value, dtype=dtype)
        output = nn.RMSNorm(4, elementwise_affine=False)(x)[0].double()
        square = x[0].double().square()
        assert float(square / output.square() - square) == pytest.approx(eps, rel=0.02)


def test_norm_05_bf16_hides_the_unbiased_variance() -> None:
    says("norm-05", "about 82 % of the entries round to the very same number", "约 82 % 的元素舍入后完全相同")
    y = layer_norm(drawn(0, 200, 512), (512,), eps=0.0)
    same = y.bfloat16() == (y * math.sqrt(511 / 512)).bfloat16()
    assert float(same.double().mean()) == pytest.approx(0.82, abs=0.005)


def test_norm_06_a_layer_norm_over_positions_and_features() -> None:
    says("norm-06", "has T × D gains, so any other length raises an error", "增益有 T × D 个，换个长度就报错")
    module = nn.LayerNorm((4, 3))
    assert module.weight.shape == (4, 3)
    with pytest.raises(RuntimeError):
        module(torch.zeros(2, 5, 3))
    x = drawn(0, 1, 4, 3).float()
    other = x.clone()
    other[:, -1, 0] += 1
    assert bool((module(x)[:, :-1] != module(other)[:, :-1]).any())


def test_norm_07_rms_norm_of_the_centred_row_is_layer_norm() -> None:
    says("norm-07", "The identity on the right is exact (checked to 1e-15)", "验证到 1e-15")
    x, gain, bias = drawn(0, 20, 64), drawn(1, 64), drawn(2, 64)
    centred = x - x.mean(-1, keepdim=True)
    difference = rms_norm(centred, (64,), gain, eps=1e-5) + bias - layer_norm(x, (64,), gain, bias, eps=1e-5)
    assert float(difference.abs().max()) < 5e-15


def faulty(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scale and the output of norm-08's code, with a weight of 1."""
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return scale, x * scale


def test_norm_08_large_and_small_squares_in_fp16() -> None:
    says("norm-08", "256 or more squares to inf, rsqrt(inf) = 0", "256 以上的激活平方后为 inf，rsqrt(inf) = 0")
    assert bool((faulty(torch.tensor([256.0, 1.0, 2.0, 3.0]).half())[1] == 0).all())
    assert bool((faulty(torch.tensor([255.0, 1.0, 2.0, 3.0]).half())[1][0] > 0).all())
    assert 0 < float(torch.tensor(1e-6).half()) < torch.finfo(torch.float16).tiny
    says("norm-08", "it moves the scale by at most 1.5 %", "缩放因子最多差 1.5 %")
    assert float(torch.tensor(1e-4).half().square()) == 0
    lost = [x for x in torch.logspace(-6, -3, 400).half() if float(x.square()) == 0]
    off = [1 - 1 / math.sqrt(1 + float(x) ** 2 / 1e-6) for x in lost]
    assert 0.014 < max(off) <= 0.015


def test_norm_08_how_far_the_scale_is_off_in_bf16() -> None:
    """Rows of two values come near the bound; Gaussian rows do not."""
    says("norm-08", "may be off by 0.78 %, and an entry by 1.2 %", "最多偏 0.78 %，单个元素最多 1.2 %")
    says("norm-08", "a fourth rounding, 1.6 % at most", "还多一次舍入，最多 1.6 %")
    generator, scales, entries, weighted = torch.Generator().manual_seed(0), [], [], []
    for _ in range(40):
        values = torch.rand(200, 2, generator=generator) * 3 + 0.5
        x = values.gather(1, torch.randint(0, 2, (200, 64), generator=generator)).bfloat16()
        exact = (x.double().square().mean(-1, keepdim=True) + 1e-6).rsqrt()
        scale, output = faulty(x)
        scales.append(float((scale.double() / exact - 1).abs().max()))
        entries.append(float((output.double() / (x.double() * exact) - 1).abs().max()))
        weight = (torch.rand(64, generator=generator) * 2 + 0.3).bfloat16()
        weighted.append(float(((output * weight).double() / (x.double() * exact * weight.double()) - 1).abs().max()))
    assert 0.0059 < max(scales) < 0.0079
    assert max(entries) < 0.012
    assert max(entries) < max(weighted) < 0.0157


def branch(x: Tensor, matrices: list[Tensor], deviation: Callable[[int, int], float], scale: float) -> Tensor:
    """A pre-norm causal block of width 768 with 12 heads and a ReLU FFN; `scale` multiplies the two output matrices."""

    def times(x: Tensor, matrix: Tensor) -> Tensor:
        return x @ matrix.T * deviation(*matrix.shape)

    tokens, width = x.shape
    y = layer_norm(x, (width,))
    q, k, v = (times(y, matrix).view(tokens, 12, -1).transpose(0, 1) for matrix in matrices[:3])
    mixed = nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    x = x + scale * times(mixed.transpose(0, 1).reshape(tokens, width), matrices[3])
    return x + scale * times(times(layer_norm(x, (width,)), matrices[4]).relu(), matrices[5])


@pytest.mark.slow
def test_norm_09_how_large_the_stream_grows() -> None:
    says("norm-09", "at about 25 with Xavier, 6 with std 0.02, 3 with", "用 Xavier 约 25，std 0.02 约 6")
    kinds: list[tuple[Callable[[int, int], float], float, float]] = [
        (lambda rows, columns: (2 / (rows + columns)) ** 0.5, 1.0, 25),  # Xavier
        (lambda rows, columns: 0.02, 1.0, 6),
        (lambda rows, columns: (3 * columns) ** -0.5, 1.0, 3),  # nn.Linear's default
        (lambda rows, columns: 0.02, 48**-0.5, 1.1),
    ]
    generator = torch.Generator().manual_seed(0)
    streams = [torch.randn(32, 768, generator=generator)] * 4
    shapes = [(768, 768)] * 4 + [(4 * 768, 768), (768, 4 * 768)]
    with torch.no_grad():
        for _ in range(24):
            matrices = [torch.randn(*shape, generator=generator) for shape in shapes]
            for n, (deviation, scale, _) in enumerate(kinds):
                streams[n] = branch(streams[n], matrices, deviation, scale)
    assert [float(x.var()) for x in streams] == pytest.approx([ends_at for *_, ends_at in kinds], rel=0.2)


def first_over_last(seed: int, blocks: int) -> float:
    """Return the gradient ratio of W_V, first over last post-norm causal block of width 128 (two heads, Xavier)."""
    generator, width = torch.Generator().manual_seed(seed), 128
    x, values = torch.randn(32, width, generator=generator), []
    for _ in range(blocks):
        wq, wk, wv, wo = (torch.randn(width, width, generator=generator) / width**0.5 for _ in range(4))
        w1, w2 = (torch.randn(*shape, generator=generator) / 320**0.5 for shape in ((width, 512), (512, width)))
        values.append(wv.requires_grad_())
        q, k, v = ((x @ w).view(32, 2, -1).transpose(0, 1)[None] for w in (wq, wk, wv))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1)
        x = layer_norm(x + mixed.reshape(32, width) @ wo, (width,))
        x = layer_norm(x + (x @ w1).relu() @ w2, (width,))
    first, last = torch.autograd.grad(x, (values[0], values[-1]), torch.randn(32, width, generator=generator))
    return float(first.norm() / last.norm())


def test_norm_09_lower_gradients_of_post_norm_depend_on_the_draw() -> None:
    says("norm-09", "0.7 to 1.2 times", "by the draw", "0.7 到 1.2 倍", "全看抽样")
    assert mean(first_over_last(seed, 6) for seed in range(5)) == pytest.approx(0.95, abs=0.25)
    deep = [first_over_last(seed, 24) for seed in range(5)]
    assert min(deep) < 0.8 and max(deep) > 1.2


def test_norm_11_one_head_may_hold_the_norm_of_the_whole_width() -> None:
    says("norm-11", "with H heads only H·√d bounds its logit", "H 个头时 logit 的上界只有 H·√d")
    heads, width = 4, 8
    x = torch.zeros(heads * width, dtype=torch.float64)
    x[0] = 1
    head = rms_norm(x, (heads * width,), eps=0.0)[:width]
    assert float(head @ head) / width**0.5 == pytest.approx(heads * width**0.5)


def test_norm_14_adam_restores_the_size_of_a_small_gradient() -> None:
    says("norm-14", "a constant gradient of 1e-6 still makes 0.99 of the full step", "仍走 0.99 个整步")
    for size, step in ((1e-6, 0.99), (1e-8, 0.5)):
        weight = nn.Parameter(torch.zeros(1, dtype=torch.float64))
        adam = torch.optim.Adam([weight], lr=1.0)
        for steps in range(1, 4):
            weight.grad = torch.full_like(weight, size)
            adam.step()
            assert weight.item() == pytest.approx(-steps * step, abs=0.001 * steps)


def gradients_of_a_scaled_stack(layers: int) -> list[float]:
    """Return gradient norms: of the stream's input, and the means of the first and of the second matrices."""
    torch.manual_seed(0)
    width = 64
    start = torch.randn(32, width, requires_grad=True)
    first = [(torch.randn(width, width) / 8).requires_grad_() for _ in range(2 * layers)]
    second = [(torch.randn(width, width) / 8 / math.sqrt(2 * layers)).requires_grad_() for _ in range(2 * layers)]
    stream: Tensor = start
    for before, writes in zip(first, second, strict=True):
        stream = stream + torch.tanh(rms_norm(stream, (width,)) @ before) @ writes
    norms = [float(g.norm()) for g in torch.autograd.grad(stream, (start, *first, *second), torch.randn(32, width))]
    return [norms[0], mean(norms[1 : 1 + 2 * layers]), mean(norms[1 + 2 * layers :])]


def test_norm_15_which_gradients_do_not_depend_on_the_depth() -> None:
    says("norm-15", "the matrices before these in a branch get one scaled by 1/√(2L)", "梯度会乘上 1/√(2L)")
    shallow, deep = gradients_of_a_scaled_stack(4), gradients_of_a_scaled_stack(64)
    assert [b / a for a, b in zip(shallow, deep, strict=True)] == pytest.approx([1, 1 / 4, 1], rel=0.15)


def test_norm_17_the_entropy_of_gaussian_logits() -> None:
    says("norm-17", "the entropy is about 3 nats instead of 6.88", "只有约 3 nats，而不是 6.88")
    says("norm-17", "it gives −35 nats, the true mean is 0.75", "公式给出 −35 nats，实际平均值是 0.75")
    for deviation, entropy in ((0.307, 6.884), (3.28, 3.05), (9.2, 0.75)):
        log_p = torch.cat([drawn(seed, 500, 1024) for seed in range(4)]).mul(deviation).log_softmax(-1)
        assert float(-(log_p.exp() * log_p).sum(-1).mean()) == pytest.approx(entropy, abs=0.04)
