"""Run the measurable claims of the cards on sparse, linear and state-space models."""

from statistics import mean

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from .conftest import drawn, says


def unit(seed: int, *shape: int) -> Tensor:
    return F.normalize(drawn(seed, *shape), dim=-1)


def reach(seen: Tensor, layers: int) -> Tensor:
    """Return the distances to the tokens that the last one of 24 depends on, after layers with this mask."""
    x = drawn(0, 24, 8).requires_grad_()
    h = x
    for _ in range(layers):
        h = h + (h @ h.T).masked_fill(~seen, float("-inf")).softmax(-1) @ h
    return 23 - torch.autograd.grad(h[-1].sum(), x)[0].any(-1).nonzero().flatten()


def test_sparse_01_windows_reach_l_times_w_minus_1_positions_back_and_one_dilation_never_mixes_the_residues() -> None:
    says("sparse-01", "the first non-zero entry lies L(w − 1) positions back", "最远的非零项在 L(w − 1) 个位置之前")
    back = torch.arange(24)[:, None] - torch.arange(24)
    assert int(reach((back >= 0) & (back < 4), 3).max()) == 3 * (4 - 1)
    says("sparse-01", "congruent to i modulo d", "与 i 模 d 同余")
    assert set((reach((back >= 0) & (back < 12) & (back % 3 == 0), 4) % 3).tolist()) == {0}


def test_sparse_04_sigmoid_of_lse_minus_b_adds_a_sink_afterwards() -> None:
    says("sparse-04", "multiply its output by sigmoid(LSE − b)", "把输出乘以 sigmoid(LSE − b)", "0.351")
    q, k, v, b = drawn(0, 3, 8), drawn(1, 5, 8), drawn(2, 5, 8), 0.7
    scores = q @ k.T
    with_sink = torch.cat((scores, torch.full((3, 1), b)), -1).softmax(-1)[:, :-1] @ v
    afterwards = scores.softmax(-1) @ v * (scores.logsumexp(-1, keepdim=True) - b).sigmoid()
    torch.testing.assert_close(afterwards, with_sink)
    assert float(torch.tensor([-2.0] * 4 + [0.0]).softmax(0)[:4].sum()) == pytest.approx(0.351, abs=5e-4)


def test_sparse_06_without_relu_the_indexers_heads_are_one_dot_product() -> None:
    says("sparse-06", "is one dot product of 128 dimensions", "只是一个 128 维点积")
    q, w, k = drawn(0, 64, 128), drawn(1, 64), drawn(2, 10, 128)
    torch.testing.assert_close((w[:, None] * (q @ k.T)).sum(0), k @ (w @ q))
    assert not torch.allclose((w[:, None] * (q @ k.T).relu()).sum(0), k @ (w @ q))


def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = (q @ k.T).tril()
    return weights @ v / weights.sum(-1, keepdim=True)


def test_sparse_07_parallel_recurrent_and_chunked_forms_agree() -> None:
    says("sparse-07", "agree to about 1e−15", "应一致到 1e−15 左右")
    tokens, width, chunk = 50, 16, 8
    q, k, v = F.elu(drawn(0, tokens, width)) + 1, F.elu(drawn(1, tokens, width)) + 1, drawn(2, tokens, width)
    state, total, recurrent, chunked = torch.zeros(width, width).double(), torch.zeros(width).double(), [], []
    for t in range(tokens):
        state, total = state + k[t, :, None] * v[t], total + k[t]
        recurrent.append(q[t] @ state / (q[t] @ total))
    state, total = torch.zeros_like(state), torch.zeros_like(total)
    for qc, kc, vc in zip(q.split(chunk), k.split(chunk), v.split(chunk), strict=True):
        inside = (qc @ kc.T).tril()
        chunked.append((inside @ vc + qc @ state) / (inside.sum(-1) + qc @ total)[:, None])
        state, total = state + kc.T @ vc, total + kc.sum(0)
    parallel = linear_attention(q, k, v)
    assert float((torch.stack(recurrent) - parallel).abs().max()) < 5e-15
    assert float((torch.cat(chunked) - parallel).abs().max()) < 5e-15


def test_sparse_10_a_scalar_selective_ssm_is_a_gated_rnn() -> None:
    says("sparse-10", "h_t=(1-g)h_{t-1}+g\\\\,x_t")
    z, x, h = drawn(0, 100), drawn(1, 100), drawn(2, 100)
    keep = (-F.softplus(z)).exp()
    write = (keep - 1) / -1
    torch.testing.assert_close(keep * h + write * x, (1 - z.sigmoid()) * h + z.sigmoid() * x)


def test_sparse_11_scalar_decay_makes_the_recurrence_a_masked_product() -> None:
    says("sparse-11", "L_{ij}=a_ia_{i-1}\\\\cdots a_{j+1}")
    tokens, states, width = 12, 4, 3
    a, b, c, x = drawn(0, tokens).sigmoid(), drawn(1, tokens, states), drawn(2, tokens, states), drawn(3, tokens, width)
    h, outputs = torch.zeros(states, width).double(), []
    for t in range(tokens):
        h = a[t] * h + b[t, :, None] * x[t]
        outputs.append(c[t] @ h)
    logs = a.log().cumsum(0)
    decay = (logs[:, None] - logs).exp().tril()
    torch.testing.assert_close((decay * (c @ b.T)) @ x, torch.stack(outputs))
    assert torch.linalg.matrix_rank((decay * (c @ b.T))[6:, :6]) == states


def test_sparse_12_what_keys_return_after_a_gated_delta_step() -> None:
    says("sparse-12", "a*(1-b)*u + b*v", "(1-b)*u + b*v", "a*w")
    state, k, v, a, b = drawn(0, 5, 4), unit(1, 4), drawn(2, 5), 0.9, 0.3
    other = drawn(3, 4)
    other -= (other @ k) * k
    u, w = state @ k, state @ other
    new = a * state - b * torch.outer(a * state @ k - v, k)
    torch.testing.assert_close(new @ k, a * (1 - b) * u + b * v)
    torch.testing.assert_close(new @ other, a * w)


def test_sparse_13_the_delta_rule_uses_the_space_better_than_addition() -> None:
    says("sparse-13", "is about 0.29 on average, for plain addition about 0.48", "平均约 0.29，单纯累加约 0.48")
    pairs, width, written, added = 32, 64, [], []
    for seed in range(40):
        keys, values = unit(2 * seed, pairs, width), drawn(2 * seed + 1, pairs, width)
        state = torch.zeros(width, width).double()
        for k, v in zip(keys, values, strict=True):
            state -= torch.outer(state @ k - v, k)
        energy = values.square().sum()
        written.append(float((keys @ state.T - values).square().sum() / energy))
        added.append(float((keys @ keys.T @ values - values).square().sum() / energy))
    assert mean(written) == pytest.approx(0.29, abs=0.015)
    assert mean(added) == pytest.approx(31 / 64, abs=0.015)


def test_sparse_15_with_tanh_features_the_denominator_changes_sign() -> None:
    says("sparse-15", "An output can be hundreds or thousands of times the largest value")
    says("sparse-15", "输出可达最大 value 的几百、几千倍")
    q, k, v = drawn(0, 512, 32), drawn(1, 512, 32), drawn(2, 512, 32)
    denominators = (q.tanh() @ k.tanh().T).tril().sum(-1)
    assert 0.4 < float((denominators < 0).double().mean()) < 0.6
    tanh = [drawn(seed, 512, 32).tanh() for seed in range(40)]
    outputs = torch.cat([linear_attention(q, k, v) for q, k in zip(tanh[::2], tanh[1::2], strict=True)])
    assert float(outputs.abs().max()) > 200 * float(v.abs().max())
    kept = linear_attention(F.elu(q) + 1, F.elu(k) + 1, v)
    assert (kept.amax(0) <= v.amax(0)).all() and (kept.amin(0) >= v.amin(0)).all()


def test_sparse_17_decay_before_the_erasure_makes_beta_1_an_exact_overwrite() -> None:
    says("sparse-17", "β = 1 is no exact overwrite", "β = 1 就不再是精确改写")
    state, k, v, alpha = drawn(0, 5, 4), unit(1, 4), drawn(2, 5), drawn(3, 4).sigmoid()
    erase = torch.eye(4).double() - torch.outer(k, k)
    torch.testing.assert_close((state * alpha @ erase + torch.outer(v, k)) @ k, v)
    assert not torch.allclose(((state @ erase) * alpha + torch.outer(v, k)) @ k, v)


def test_sparse_18_the_chunk_form_is_the_recurrence() -> None:
    says("sparse-18", "float64, C = T = 64, d = 16: difference about 1e-14", "差约 1e-14")
    tokens, width = 64, 16
    keys, start = unit(0, tokens, width), drawn(3, width, width)
    values, queries, betas = drawn(1, tokens, width), drawn(2, tokens, width), drawn(4, tokens).sigmoid()
    inner = torch.tril(keys @ keys.T, -1) * betas[:, None]
    right = betas[:, None] * (values - keys @ start.T)
    u = torch.linalg.solve_triangular(torch.eye(tokens) + inner, right, upper=False, unitriangular=True)
    outputs = queries @ start.T + torch.tril(queries @ keys.T) @ u
    state = start.clone()
    for t in range(tokens):
        state -= betas[t] * torch.outer(state @ keys[t] - values[t], keys[t])
        torch.testing.assert_close(outputs[t], state @ queries[t], rtol=0, atol=1e-13)
    torch.testing.assert_close(start + u.T @ keys, state, rtol=0, atol=1e-13)


def test_sparse_18_the_state_explodes_where_beta_k_squared_exceeds_2() -> None:
    says("sparse-18", "where β|k|² > 2 the transition has an eigenvalue below −1", "β|k|² > 2 时转移有小于 −1 的特征值")
    for beta_k_squared, explodes in ((1.5, False), (2.5, True)):
        k = unit(0, 4)
        transition = torch.eye(4).double() - beta_k_squared * torch.outer(k, k)
        assert float(torch.linalg.eigvalsh(transition).min()) == pytest.approx(1 - beta_k_squared)
        assert bool(torch.linalg.matrix_power(transition, 50).abs().max() > 100) is explodes


def test_sparse_21_the_keyed_condition_is_that_the_block_has_ended() -> None:
    says("sparse-21", "{'text': {'en': 'w < ⌊(t + 1)/m⌋', 'zh': 'w < ⌊(t + 1)/m⌋'}, 'correct': True}")
    t, w = torch.arange(20)[:, None], torch.arange(8)
    for size in (1, 3, 4):
        assert torch.equal(w < (t + 1) // size, w * size + size - 1 <= t)
        assert torch.equal(w < -(-(t + 1) // size), w * size <= t)
