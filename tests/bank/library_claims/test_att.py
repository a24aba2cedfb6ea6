"""Run the claims and measurements of the att cards about PyTorch; each test also checks the card's words."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from .conftest import drawn, says


def attention_module(width: int, heads: int, **options: int) -> torch.nn.MultiheadAttention:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return torch.nn.MultiheadAttention(width, heads, batch_first=True, dtype=torch.float64, **options)


def test_att_01_dot_t_reverses_all_four_axes() -> None:
    says("att-01", "with a deprecation warning at most, and gives wrong numbers", "至多一条弃用警告，结果却是错的")
    q, k = drawn(0, 4, 4, 5, 4), drawn(1, 4, 4, 4, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reversed_axes = drawn(2, 2, 3, 5, 7).T
        product = q @ k.T
        with pytest.raises(RuntimeError):
            drawn(3, 2, 3, 5, 8) @ drawn(4, 2, 3, 5, 8).T
    assert reversed_axes.shape == (7, 5, 3, 2)
    assert product.shape == (q @ k.mT).shape and not torch.allclose(product, q @ k.mT)


def test_att_02_sdpa_divides_once_more_unless_told_not_to() -> None:
    says("att-02", "It divides once more by default", "它默认会再除一次")
    q, k, v = (drawn(seed, 1, 2, 6, 16) for seed in range(3))
    wanted = F.scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(F.scaled_dot_product_attention(q / 4, k, v, scale=1.0), wanted)
    assert not torch.allclose(F.scaled_dot_product_attention(q / 4, k, v), wanted)


def test_att_11_and_att_12_how_strong_the_self_match_is() -> None:
    says("att-11", "the mean self-weight 0.89", "平均自权重 0.89")
    says("att-12", "it falls from 0.97 to 0.03", "从 0.97 降到 0.03")
    for seed in range(3):
        keys, tokens = drawn(seed, 20, 128, 64), drawn(seed + 10, 60, 32, 64)
        w_q, w_k = (drawn(seed + n, 64, 64) / 8 for n in (20, 30))
        assert self_weight(keys, keys) == pytest.approx(0.89, abs=0.008)
        assert self_weight(tokens, tokens) == pytest.approx(0.97, abs=0.008)
        assert self_weight(tokens @ w_q, tokens @ w_k) == pytest.approx(1 / 32, abs=0.015)


def self_weight(q: Tensor, k: Tensor) -> float:
    return float((q @ k.mT / 8).softmax(-1).diagonal(dim1=1, dim2=2).mean())


def test_att_13_copied_weights_give_the_modules_output() -> None:
    says("att-13", "three blocks of d rows, in the order Q, K, V", "三块各 d 行，顺序是 Q、K、V")
    module, x = attention_module(64, 4).eval(), drawn(0, 2, 7, 64)
    weights, biases = module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3)
    q, k, v = ((x @ w.T + b).view(2, 7, 4, 16).transpose(1, 2) for w, b in zip(weights, biases, strict=True))
    heads = ((q @ k.mT / 4).softmax(-1) @ v).transpose(1, 2).reshape(2, 7, 64)
    torch.testing.assert_close(module.out_proj(heads), module(x, x, x)[0], atol=1e-14, rtol=0)


def test_att_13_one_object_three_times_is_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    says("att-13", "PyTorch multiplies once by the stacked", "PyTorch 只用堆叠好的")
    calls: list[tuple[int, ...]] = []
    linear = F.linear

    def counted(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        calls.append(tuple(weight.shape))
        return linear(x, weight, bias)

    module, tensors = attention_module(16, 2), [drawn(seed, 1, 3, 16) for seed in range(3)]
    monkeypatch.setattr(F, "linear", counted)
    for sources, products in (((0, 0, 0), 1), ((0, 1, 1), 2), ((0, 1, 2), 3)):
        calls.clear()
        module(*(tensors[source] for source in sources))
        assert len(calls) == products + 1
        assert (48, 16) in calls or products > 1


def test_att_13_the_memory_may_have_another_width_and_without_batch_first_the_samples_read_each_other() -> None:
    says("att-13", "the memory may have another width", "时 memory 可以是别的宽度")
    module = attention_module(16, 2, kdim=6, vdim=4)
    assert module(drawn(0, 1, 3, 16), drawn(1, 1, 5, 6), drawn(2, 1, 5, 4))[0].shape == (1, 3, 16)
    says("att-13", "attention runs across the samples of the batch", "注意力就在 batch 的样本之间做")
    module = attention_module(16, 2).eval()
    module.batch_first = False
    x = drawn(0, 3, 5, 16)
    changed = torch.cat((drawn(1, 1, 5, 16), x[1:]))
    assert not torch.allclose(module(x, x, x)[0][1], module(changed, changed, changed)[0][1])


def test_att_14_the_three_projections_differ_from_the_start() -> None:
    says("att-14", "gives three different matrices", "给出三个不同的矩阵")
    q, k, v = (drawn(0, 4, 16) @ attention_module(16, 2).in_proj_weight.T).chunk(3, -1)
    assert not torch.allclose(q, k) and not torch.allclose(k, v) and not torch.allclose(q, v)


def test_att_15_underflow_and_keys_of_one_length() -> None:
    says("att-15", "a gap beyond about 104 underflows to 0", "差距超过约 104 才会下溢为 0")
    says("flash-02", "below about −104")
    says("opt-21", "a score 104 below the maximum", "分数比最大值低 104")
    assert torch.tensor([0.0, -103.0]).softmax(-1)[1] > 0
    far = torch.tensor([0.0, -104.0])
    assert far.softmax(-1)[1] == 0 and far.double().softmax(-1)[1] > 0
    says("att-15", "in float64 they agree to about 1e-15", "float64 下只差 1e-15 左右")
    q, k = drawn(0, 5, 16), F.normalize(drawn(1, 9, 16), dim=-1) * 3
    gaussian = (-torch.cdist(q, k).square() / 8).exp()
    torch.testing.assert_close((q @ k.T / 4).softmax(-1), gaussian / gaussian.sum(-1, keepdim=True), atol=5e-15, rtol=0)


def test_att_17_no_one_matrix_fits_the_stack_unless_the_pattern_is_frozen() -> None:
    says("att-17", "the residual falls to rounding", "残差就降到舍入误差")
    says("att-17", "between 3 and 45 % of the variance", "有 3 % 到 45 % 的方差解释不了")
    x, entries = drawn(0, 1200, 4, 6), [drawn(seed, 6, 6) for seed in (1, 2, 3)]

    def unexplained(frozen: Tensor | None, scale: float = 6**-0.5) -> float:
        y, weights = x, [entry * scale for entry in entries]
        for _ in range(2):
            pattern = (y @ weights[0] @ (y @ weights[1]).mT / 6**0.5).softmax(-1) if frozen is None else frozen
            y = y + pattern @ (y @ weights[2])
        flat, out = x.flatten(1), y.flatten(1)
        return float((out - flat @ torch.linalg.lstsq(flat, out).solution).square().sum() / out.square().sum())

    assert 0.1 < unexplained(None) < 0.4
    assert unexplained(None, 0.02) < 1e-4
    assert unexplained(drawn(4, 4, 4).softmax(-1)) < 1e-20


def test_att_17_one_norm_computes_the_xor_of_a_lone_token() -> None:
    says("att-17", "the second entry 1 for equal bits and √2 for different ones", "不同时是 √2")
    bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    pairs = torch.stack([bits.sum(-1) - 1, torch.ones(4)], -1)
    assert F.rms_norm(pairs, (2,))[:, 1].tolist() == pytest.approx([1, 2**0.5, 2**0.5, 1])


def test_att_19_the_flop_counter_on_a_prompt_and_on_a_decode_step() -> None:
    says("att-19", "8,388,608 = 4 · 128² · 128", "8,388,608 = 4 · 128² · 128")
    q, k, v = (torch.randn(4, 128, 32) for _ in range(3))
    with FlopCounterMode(display=False) as counter:
        (q @ k.mT).softmax(-1) @ v
    assert counter.get_total_flops() == 8_388_608 == 4 * 128**2 * 128
    says("att-19", "at two bytes each that is one FLOP per byte", "每读一个字节只做 1 FLOP")
    k, v = (torch.zeros(4, 128, 32, dtype=torch.bfloat16) for _ in range(2))
    with FlopCounterMode(display=False) as counter:
        (torch.zeros(4, 1, 32, dtype=torch.bfloat16) @ k.mT).softmax(-1) @ v
    assert counter.get_total_flops() == k.nbytes + v.nbytes


def test_att_24_what_exp_and_log_lose_and_that_a_shift_of_integers_loses_nothing() -> None:
    says("att-24", "fp32 overflows beyond 88.7 and fp16 beyond 11.1", "fp32 超过 88.7、fp16 超过 11.1 就溢出")
    says("flash-02", "more than 88.7 above it")
    for dtype, inside, beyond in ((torch.float32, 88.7, 88.8), (torch.float16, 11.0, 11.2), (torch.bfloat16, 88.5, 89)):
        assert torch.tensor(inside, dtype=dtype).exp().isfinite()
        assert torch.tensor(beyond, dtype=dtype).exp().isinf()
    says("att-24", "log_softmax gives −200 and the gradient (1, −1)", "log_softmax 得 −200，梯度是 (1, −1)")
    logits = torch.tensor([0.0, 200.0], requires_grad=True)
    first = logits.log_softmax(-1)[0]
    assert torch.autograd.grad(logits.softmax(-1).log()[0], logits)[0].isnan().all()
    assert first.item() == -200 and torch.autograd.grad(first, logits)[0].tolist() == [1, -1]
    says("att-24", "the results are bit-identical", "结果逐位一致")
    whole = torch.arange(-30.0, 30.0).reshape(6, 10)
    assert torch.equal(whole.softmax(-1), (whole + 1000).softmax(-1))
    real = drawn(0, 64, 64).float()
    assert 1e-6 < (real.softmax(-1) - (real + 1000).softmax(-1)).abs().max() < 2e-5


def test_att_26_what_qk_norm_leaves_of_the_freedom() -> None:
    says("att-26", "Unequal learned gains leave little more than sign flips", "几乎只剩变号")
    q, k, gains = F.normalize(drawn(0, 5, 4), dim=-1), F.normalize(drawn(1, 7, 4), dim=-1), torch.arange(1.0, 5.0)
    rotation, signs = torch.linalg.qr(drawn(2, 4, 4))[0], torch.diag(torch.tensor([1.0, -1, -1, 1]).double())
    torch.testing.assert_close((q @ rotation) @ (k @ rotation).T, q @ k.T)
    assert not torch.allclose((q @ rotation * gains) @ (k @ rotation).T, (q * gains) @ k.T)
    torch.testing.assert_close((q @ signs * gains) @ (k @ signs).T, (q * gains) @ k.T)


def test_att_32_the_gradient_of_the_sinks_logit() -> None:
    says("att-32", "∂o/∂b = −p_b·o: raising b", "∂o/∂b = −p_b·o：b 升高")
    scores, values, b = drawn(0, 5), drawn(1, 5), torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    total = b.exp() + scores.exp().sum()
    output = (scores.exp() * values).sum() / total
    torch.testing.assert_close(torch.autograd.grad(output, b)[0], (-b.exp() / total * output).detach())
