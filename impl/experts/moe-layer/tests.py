"""The oracle walks over tokens and their experts in float64; an expert that nobody chose must not show, nor learn."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close


def expected(x, wg, w1, w2, k, shared=None):
    x, wg, w1, w2 = (tensor.double() for tensor in (x, wg, w1, w2))
    gates = (x @ wg).softmax(-1)
    rows = []
    for token, row in zip(x, gates, strict=True):
        best = (token @ wg).topk(k).indices.tolist()
        out = sum(row[e] * ((token @ w1[e]).relu() @ w2[e]) for e in best)
        if shared is not None:
            out = out + (token @ shared[0].double()).relu() @ shared[1].double()
        rows.append(out)
    return torch.stack(rows)


def assert_right(actual, x, *others, tolerance=2e-5):
    exact = expected(x, *others)
    assert actual.dtype == x.dtype and actual.shape == x.shape
    tolerance = 1e-12 if x.dtype == torch.float64 else tolerance
    assert_close(actual.double(), exact, rtol=tolerance, atol=tolerance * max(1.0, exact.abs().max().item()))


def drawn(N=7, D=4, E=5, F=3, dtype=torch.float32):
    """Return x, wg, w1, w2."""
    return tuple(torch.randn(shape).to(dtype) for shape in ((N, D), (D, E), (E, D, F), (E, F, D)))


def shared_expert(D=4, F=6, dtype=torch.float32):
    return torch.randn(D, F).to(dtype), torch.randn(F, D).to(dtype)


@given(st.integers(1, 20), st.integers(1, 5), st.integers(1, 9), st.integers(1, 5), st.data(), st.booleans())
def test_any_shape_with_and_without_a_shared_expert(moe_forward, N, D, E, F, data, has_shared):
    tensors, k = drawn(N, D, E, F), data.draw(st.integers(1, E))
    shared = shared_expert(D) if has_shared else None
    assert_right(moe_forward(*tensors, k, shared), *tensors, k, shared)


def test_no_shared_expert_by_default(moe_forward):
    assert_right(moe_forward(*(tensors := drawn()), 2), *tensors, 2)


def test_gates_are_not_renormalised(moe_forward):
    # Equal experts: the result is their output times the sum of the chosen gates, less than 1.
    x, wg, w1, w2 = drawn()
    w1, w2 = w1[:1].expand(5, 4, 3), w2[:1].expand(5, 3, 4)
    for k in (1, 2, 5):
        share = (x @ wg).softmax(-1).topk(k).values.sum(-1, keepdim=True)
        assert_close(moe_forward(x, wg, w1, w2, k), share * ((x @ w1[0]).relu() @ w2[0]))


def test_the_shared_expert_is_added_without_a_gate(moe_forward):
    tensors, shared = drawn(), shared_expert()
    difference = moe_forward(*tensors, 2, shared) - moe_forward(*tensors, 2)
    assert_close(difference, (tensors[0] @ shared[0]).relu() @ shared[1], rtol=1e-4, atol=1e-4)


def test_no_token_is_dropped_where_all_choose_the_same_expert(moe_forward):
    x, wg, w1, w2 = drawn(N=50)
    x, wg[:, 3] = x.abs(), 10.0
    assert_right(moe_forward(x, wg, w1, w2, 1), x, wg, w1, w2, 1)


def test_an_expert_without_tokens_neither_shows_nor_learns(moe_forward):
    x, wg, w1, w2 = drawn()
    x, wg[:, 2] = x.abs(), -50.0
    before = moe_forward(x, wg, w1, w2, 2)
    w1[2], w2[2] = 1e6, 1e6
    w1.requires_grad_(), w2.requires_grad_()
    out = moe_forward(x, wg, w1, w2, 2)
    assert_close(out, before)
    for slope in torch.autograd.grad(out.sum(), (w1, w2)):
        assert not slope[2].any()


def test_logits_of_200_do_not_overflow(moe_forward):
    x, wg, w1, w2 = drawn()
    for sign in (1.0, -1.0):
        wg = sign * 200.0 * torch.rand(4, 5)
        assert_right(moe_forward(x.abs(), wg, w1, w2, 1), x.abs(), wg, w1, w2, 1, tolerance=1e-3)


def test_gradients_of_all_weights(moe_forward):
    for dtype, tolerance in ((torch.float64, 1e-10), (torch.float32, 1e-3)):
        for k in (1, 2, 5):
            tensors, shared = drawn(dtype=dtype), shared_expert(dtype=dtype)
            learning, up = [x.requires_grad_() for x in (*tensors, *shared)], torch.randn(7, 4, dtype=dtype)
            actual = torch.autograd.grad(moe_forward(*tensors, k, shared), learning, up)
            exact = torch.autograd.grad(expected(*tensors, k, shared), learning, up.double())
            assert_close(actual, exact, rtol=tolerance, atol=tolerance)


def test_16_bits_keep_their_dtype(moe_forward):
    # Whole logits that differ by 1: no rounding can change the choice.
    x, wg = torch.stack([torch.randperm(4) for _ in range(6)]).float(), torch.eye(4)
    for dtype in (torch.float16, torch.bfloat16):
        _, _, w1, w2 = drawn(E=4, dtype=dtype)
        for shared in (None, shared_expert(dtype=dtype)):
            arguments = (x.to(dtype), wg.to(dtype), w1, w2, 2, shared)
            assert_right(moe_forward(*arguments), *arguments, tolerance=8 * torch.finfo(dtype).eps)


def test_float64_and_any_memory_layout(moe_forward):
    assert_right(moe_forward(*(tensors := drawn(dtype=torch.float64)), 2), *tensors, 2)
    x, wg = torch.randn(4, 7).T, torch.randn(4, 10)[:, ::2]
    w1, w2 = torch.randn(5, 3, 4).mT, torch.randn(3, 4).expand(5, 3, 4)
    shared = torch.randn(6, 4).T, torch.randn(4, 6).T
    assert_right(moe_forward(x, wg, w1, w2, 2, shared), x, wg, w1, w2, 2, shared)


def test_arguments_stay_as_they_are(moe_forward):
    tensors, shared = drawn(), shared_expert()
    before = [x.clone() for x in (*tensors, *shared)]
    first = moe_forward(*tensors, 2, shared)
    assert all(map(torch.equal, (*tensors, *shared), before))
    assert torch.equal(moe_forward(*tensors, 2, shared), first)
