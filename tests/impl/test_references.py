"""Check the references beyond their own tests.py: in float64 they keep its digits, and they agree with each other."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from .conftest import IMPL, load


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, dtype=torch.float64)


def call(place: str, *arguments: object) -> Tensor:
    """Call the reference's function at a place such as `norms/rms-norm:rms_norm`; return its first result."""
    challenge, name = place.split(":")
    result = vars(load(IMPL / challenge / "reference.py"))[name](*arguments)
    first: Tensor = result[0] if isinstance(result, tuple) else result
    return first


def test_float64_keeps_its_digits() -> None:
    (x, y), w, b, target = normal(2, 3, 70), normal(70), normal(70), torch.tensor([1, 69, 0])
    q, k, v = normal(2, 6, 5, 4), normal(2, 2, 7, 4), normal(2, 2, 7, 4)
    keys, values = (part.repeat_interleave(3, 1) for part in (k, v))
    attended = F.scaled_dot_product_attention(q, keys, values)
    angle = torch.arange(5)[:, None] * torch.tensor([1, 0.01], dtype=torch.float64)
    turned = torch.complex(*q.chunk(2, -1)) * torch.polar(torch.ones_like(angle), angle)
    halves = torch.cat((turned.real, turned.imag), -1)
    (codes, zeros), scales = torch.randint(16, (2, 5, 6)).byte(), normal(5, 6).sigmoid()
    int4 = codes[:, ::2] | codes[:, 1::2] << 4, scales[:, ::2], zeros[:, ::2], 2
    weight = (codes.double() - zeros[:, ::2].repeat_interleave(2, 1)) * scales[:, ::2].repeat_interleave(2, 1)
    gelu = F.gelu(F.linear(x, y, b[:3]), approximate="tanh")
    for place, arguments, due in (
        ("kernels/softmax-kernel:softmax", (30 * x,), (30 * x).softmax(-1)),
        ("kernels/layer-norm-kernel:layer_norm", (x, w, b), F.layer_norm(x, (70,), w, b)),
        ("kernels/rms-norm-residual-kernel:rms_norm_residual", (x, y, w), F.rms_norm(x + y, (70,), w, 1e-6)),
        ("kernels/rope-kernel:rope", (q, angle.cos(), angle.sin()), halves),
        ("positions/rope:apply_rope", (q, torch.arange(5), 1e4, "half"), halves),
        ("kernels/swiglu-kernel:swiglu_gate", (x, y), F.silu(x) * y),
        ("kernels/matmul-epilogue-kernel:linear_gelu", (x, y.T, b[:3]), gelu),
        ("kernels/cross-entropy-kernel:cross_entropy", (x, target), F.cross_entropy(x, target, reduction="none")),
        ("kernels/flash-decode-kernel:flash_decode", (q[:, :, 0], k, v, 3), attended[:, :, 0]),
        ("kernels/flash-forward-kernel:flash_forward", (q, keys, values), attended),
        ("kernels/int4-matmul-kernel:int4_matmul", (x[:, :6], *int4), x[:, :6] @ weight.T),
        ("kernels/topk-router-kernel:topk_router", (x, 4), x.topk(4).values.softmax(-1)),
    ):
        mine = call(place, *arguments)
        assert mine.dtype == torch.float64 and mine.shape == due.shape, place
        assert torch.allclose(mine, due, rtol=1e-11, atol=1e-12), place


def test_the_int4_product_reads_what_int4_group_quant_packs_once_the_sign_is_a_zero_point_of_eight() -> None:
    w, x = normal(6, 16), torch.eye(16, dtype=torch.float64)
    packed, scales = load(IMPL / "quantisation/int4-group-quant/reference.py").quantize_int4(w, 8)
    zeros = torch.full((6, 2), 8, dtype=torch.uint8)
    got = call("kernels/int4-matmul-kernel:int4_matmul", x, packed ^ 0x88, scales, zeros, 8).T
    assert bool(((got - w).abs() <= 0.501 * scales.repeat_interleave(8, 1)).all())


def test_the_statement_of_the_heat_map_shows_what_the_reference_draws() -> None:
    draw = load(IMPL / "attention/attention-visualise/reference.py").attention_to_text
    text = draw(torch.tensor([[0.95, 0.05, 0.05], [0.45, 0.45, 0.05]]), ["a", "bb"], ["x", "y", "z"], 3)
    statement = (IMPL / "attention/attention-visualise/challenge.yaml").read_text(encoding="utf-8")
    assert statement.count("\n".join("    " + line for line in text.split("\n"))) == 2  # English and Chinese


def test_gqa_refuses_a_single_key_too_few_and_uneven_groups_by_name() -> None:
    for (heads, queries), (groups, keys), message in (
        ((2, 3), (2, 2), "3 causal queries cannot be the last positions of 2 keys"),
        ((5, 2), (2, 2), "5 query heads cannot share 2 key heads"),
    ):
        with pytest.raises(ValueError, match=message):
            call("cache/gqa:gqa", normal(1, heads, queries, 4), *normal(2, 1, groups, keys, 4), True)
