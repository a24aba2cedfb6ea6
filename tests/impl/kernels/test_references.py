"""Compare the references of the kernel track with torch's own operations, loops in Python, and exact values."""

import math
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from ..conftest import IMPL, load

SHAPES = ((1,), (7,), (3, 1), (2, 3, 65), (2, 3000))


def of(challenge: str) -> ModuleType:
    return load(IMPL / "kernels" / challenge / "reference.py")


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def close(mine: Tensor, due: Tensor, rtol: float = 1e-12, atol: float = 0.0) -> bool:
    return mine.dtype == due.dtype and torch.allclose(mine, due, rtol=rtol, atol=atol)


softmax = of("softmax-kernel").softmax


def test_softmax_is_torchs() -> None:
    for shape in SHAPES:
        for scale in (1.0, 1e4):
            x = scale * normal(*shape)
            assert close(softmax(x), torch.softmax(x, -1)), (shape, scale)


def test_softmax_of_minus_infinity_is_zeros_and_float16_is_summed_in_float32() -> None:
    x = torch.tensor([[float("-inf")] * 3, [0.0, float("-inf"), 0.0]])
    assert softmax(x).tolist() == [[0.0] * 3, [0.5, 0.0, 0.5]]
    got = softmax(torch.zeros(1, 3000).half())
    assert got.dtype == torch.float16 and got[0, 0] == torch.tensor(1 / 3000).half()


layer_norm = of("layer-norm-kernel").layer_norm


def test_layer_norm_is_torchs_and_a_mean_of_3000_leaves_the_spread_its_digits() -> None:
    for shape in SHAPES:
        for eps in (1e-8, 1e-5, 1.0):
            x, (weight, bias) = 2.0 + normal(*shape), normal(2, shape[-1])
            due = F.layer_norm(x, shape[-1:], weight, bias, eps)
            assert close(layer_norm(x, weight, bias, eps), due, 1e-10, 1e-10), (shape, eps)
    x, weight, bias = 3000.0 + torch.randn(4, 300), torch.ones(300), torch.zeros(300)
    exact = layer_norm(x.double(), weight.double(), bias.double())
    assert close(layer_norm(x, weight, bias).double(), exact, rtol=0, atol=2e-3)


rms_norm_residual = of("rms-norm-residual-kernel").rms_norm_residual


def test_rms_norm_is_torchs_norm_of_the_sum() -> None:
    for shape in SHAPES:
        for eps in (1e-8, 1e-6, 1.0):
            (x, residual), weight = normal(2, *shape), normal(shape[-1])
            y, h = rms_norm_residual(x, residual, weight, eps)
            assert torch.equal(h, x + residual)
            assert close(y, F.rms_norm(x + residual, shape[-1:], weight, eps)), (shape, eps)


def test_float16_is_normalised_as_it_was_rounded_and_its_squares_do_not_overflow() -> None:
    x, residual = torch.full((1, 4), 2e4).half(), torch.full((1, 4), 1.0).half()
    y, h = rms_norm_residual(x, residual, torch.ones(4).half())
    assert h.tolist() == [[20000.0] * 4] and y.tolist() == [[1.0] * 4]


rope = of("rope-kernel").rope


@pytest.mark.parametrize(("B", "H", "T", "pairs"), [(1, 1, 1, 1), (2, 3, 5, 7), (1, 2, 70, 48)])
def test_a_pair_is_a_complex_number_times_a_unit_and_the_negative_angle_turns_back(
    B: int, H: int, T: int, pairs: int
) -> None:
    x, angle = normal(B, H, T, 2 * pairs), 3 * normal(T, pairs)
    turned = torch.complex(x[..., :pairs], x[..., pairs:]) * torch.polar(torch.ones_like(angle), angle)
    got = rope(x, angle.cos(), angle.sin())
    assert close(got, torch.cat((turned.real, turned.imag), -1), atol=1e-12)
    assert torch.allclose(got.norm(dim=-1), x.norm(dim=-1))
    assert close(rope(got, angle.cos(), -angle.sin()), x, atol=1e-12)


swiglu_gate = of("swiglu-kernel").swiglu_gate


def test_swiglu_is_torchs_silu_times_up_on_halves() -> None:
    for shape in ((2,), (3, 10), (2, 3, 130), (2, 1, 3, 2)):
        gate, up = normal(*shape).chunk(2, -1)
        got = swiglu_gate(gate, up)
        assert close(got, F.silu(gate) * up, atol=1e-15) and got.is_contiguous(), shape


def test_swiglus_tails_are_the_identity_and_zero_and_float16_is_rounded_once() -> None:
    gate = torch.tensor([200.0, -200.0, 0.0])
    assert swiglu_gate(gate, torch.full((3,), 2.0)).tolist() == [400.0, 0.0, 0.0]
    gate, up = torch.randn(2, 1000).half()
    assert torch.equal(swiglu_gate(gate, up), (F.silu(gate.double()) * up.double()).float().half())


linear_gelu = of("matmul-epilogue-kernel").linear_gelu


def test_linear_gelu_is_torchs_linear_and_gelu() -> None:
    for M, N, K in ((1, 1, 1), (3, 5, 7), (65, 2, 33), (2, 70, 300)):
        x, w, b = normal(M, K), normal(K, N), normal(N)
        due = F.gelu(F.linear(x, w.T, b), approximate="tanh")
        assert close(linear_gelu(x, w, b), due, atol=1e-14), (M, N, K)


def test_gelus_tails_are_the_identity_and_zero_and_float16_is_added_up_in_float32() -> None:
    z = torch.tensor([[100.0], [-100.0]])
    assert linear_gelu(z, torch.ones(1, 1), torch.zeros(1)).tolist() == [[100.0], [0.0]]
    got = linear_gelu(torch.ones(1, 3001).half(), torch.ones(3001, 1).half(), torch.zeros(1).half())
    assert got.item() == torch.tensor(3001.0).half().item()


cross_entropy = of("cross-entropy-kernel").cross_entropy


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("ignored", [-100, 0, 3])
@pytest.mark.parametrize(("N", "V"), [(1, 1), (5, 4), (3, 2000)])
def test_losses_and_gradient_are_those_of_torch(N: int, V: int, ignored: int, scale: float) -> None:
    logits, targets = (normal(N, V) * scale).requires_grad_(), torch.randint(0, V, (N,))
    targets[0] = ignored
    due = F.cross_entropy(logits, targets, ignore_index=ignored, reduction="none")
    losses, gradient = cross_entropy(logits.detach(), targets, ignored)
    assert close(losses, due, atol=1e-10)
    assert close(gradient, torch.autograd.grad(due.sum(), logits)[0], rtol=1e-10, atol=1e-12)


def test_masked_classes_have_no_gradient_and_sixteen_bits_wide_losses() -> None:
    losses, gradient = cross_entropy(torch.tensor([[0.0, -torch.inf, 0.0]]).half(), torch.tensor([2]))
    assert losses.dtype == torch.float32 and gradient.tolist() == [[0.5, 0.0, -0.5]]


flash_decode = of("flash-decode-kernel").flash_decode


def test_any_number_of_splits_is_attention_over_all_keys() -> None:
    for splits in (1, 2, 4, 7, 12):
        for groups in (1, 2, 6):
            for scale in (1.0, 30.0):
                q, k, v = normal(2, 6, 4) * scale, normal(2, groups, 7, 4), normal(2, groups, 7, 4)
                keys, values = (part.repeat_interleave(6 // groups, 1) for part in (k, v))
                due = F.scaled_dot_product_attention(q[:, :, None], keys, values)[:, :, 0]
                assert close(flash_decode(q, k, v, splits), due, 1e-10, 1e-10), (splits, groups, scale)
    q, k, v = (torch.randn(1, 1, *shape, dtype=torch.float16) for shape in ((3,), (1, 3), (1, 3)))
    assert torch.equal(flash_decode(q, k, v, 5), v[:, :, 0]), "one key is its value in 16 bits too"


flash_forward = of("flash-forward-kernel").flash_forward


@pytest.mark.parametrize("scale", [1.0, 30.0])
@pytest.mark.parametrize(("T", "S", "causal"), [(5, 5, True), (3, 9, True), (1, 4, True), (6, 2, False), (7, 3, True)])
def test_flash_forward_is_attention_and_its_log_sum_of_exponentials(T: int, S: int, causal: bool, scale: float) -> None:
    q, k, v = (normal(2, 3, n, 4) * scale for n in (T, S, S))
    visible = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else torch.ones(T, S, dtype=torch.bool)
    out, lse = flash_forward(q, k, v, causal)
    due = F.scaled_dot_product_attention(q, k, v, attn_mask=visible).nan_to_num(0.0)
    assert close(out, due, 1e-9, 1e-9)
    for row in range(T):
        scores = [float(q[1, 2, row] @ k[1, 2, j]) / math.sqrt(4) for j in range(S) if visible[row, j]]
        top = max(scores, default=0.0)
        sum_of_exp = sum(math.exp(score - top) for score in scores)
        assert float(lse[1, 2, row]) == pytest.approx(top + math.log(sum_of_exp) if scores else -math.inf)
    half = q.half()
    assert [part.dtype for part in flash_forward(half, half, half)] == [torch.float16, torch.float32]


int4_matmul = of("int4-matmul-kernel").int4_matmul
quantize_int4 = load(IMPL / "quantisation/int4-group-quant/reference.py").quantize_int4


@pytest.mark.parametrize(("M", "N", "K", "group"), [(1, 1, 2, 2), (3, 4, 12, 6), (2, 5, 8, 2), (4, 3, 10, 10)])
def test_each_weight_is_its_code_less_the_zero_point_times_the_scale(M: int, N: int, K: int, group: int) -> None:
    x, packed = normal(M, K), torch.randint(0, 256, (N, K // 2)).to(torch.uint8)
    scales, zeros = normal(N, K // group).sigmoid(), torch.randint(0, 16, (N, K // group)).to(torch.uint8)
    due = torch.zeros(M, N, dtype=torch.float64)
    for n in range(N):
        for k in range(K):
            code = int(packed[n, k // 2]) // (16 if k % 2 else 1) % 16
            due[:, n] += x[:, k] * (code - int(zeros[n, k // group])) * float(scales[n, k // group])
    assert close(int4_matmul(x, packed, scales, zeros, group), due, atol=1e-12)


def test_it_reads_what_int4_group_quant_packs_once_the_sign_is_a_zero_point_of_eight() -> None:
    w, x = normal(6, 16), torch.eye(16, dtype=torch.float64)
    packed, scales = quantize_int4(w, 8)
    got = int4_matmul(x, packed ^ 0x88, scales, torch.full((6, 2), 8, dtype=torch.uint8), 8).T
    assert bool(((got - w).abs() <= 0.501 * scales.repeat_interleave(8, 1)).all())


topk_router = of("topk-router-kernel").topk_router


@pytest.mark.parametrize("levels", [3, 1000])
@pytest.mark.parametrize(("T", "E", "k"), [(1, 1, 1), (4, 5, 2), (3, 70, 8), (2, 7, 7)])
def test_experts_come_by_logit_then_by_number_with_a_softmax_of_the_chosen(T: int, E: int, k: int, levels: int) -> None:
    logits = torch.randint(-levels, levels, (T, E)).double() / 7
    weights, indices = topk_router(logits, k)
    for token, row in enumerate(logits.tolist()):
        due = sorted(range(E), key=lambda e: (-row[e], e))[:k]
        assert indices[token].tolist() == due
        powers = [math.exp(row[e] - row[due[0]]) for e in due]
        assert weights[token].tolist() == pytest.approx([power / sum(powers) for power in powers])


def test_switched_off_experts_come_last_with_weight_zero() -> None:
    weights, indices = topk_router(torch.tensor([[-torch.inf, 2.0, -torch.inf]]).half(), 3)
    assert weights.dtype == torch.float32 and indices.dtype == torch.int64
    assert weights.tolist() == [[1.0, 0.0, 0.0]] and indices.tolist() == [[1, 0, 2]]
