"""Compare the references with torch's own operations where they exist, and check the laws that they must obey."""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import hypothesis
import pytest
import torch
import torch.nn.functional as F
from hypothesis import strategies as st
from torch import Tensor, nn

from .conftest import IMPL, load

SIZES = st.integers(1, 6)


def of(challenge: str) -> ModuleType:
    return load(IMPL / challenge / "reference.py")


def given(*strategies: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator for pinned examples without a deadline: a slow machine fails no test."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        pinned = hypothesis.settings(deadline=None, max_examples=40, derandomize=True, database=None)
        return pinned(hypothesis.given(*strategies)(test))

    return decorate


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64) * scale


def close(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=tolerance, atol=tolerance)


# softmax-stable

softmax = of("attention/softmax-stable").softmax


@given(st.lists(SIZES, min_size=1, max_size=4), st.integers(-4, 3), st.integers(0, 99))
def test_softmax_is_torchs_along_every_dimension(shape: list[int], dim: int, seed: int) -> None:
    dim = dim % len(shape)
    x = normal(*shape, seed=seed, scale=3000.0)
    assert close(softmax(x, dim), F.softmax(x, dim))


def test_softmax_of_nothing_but_minus_infinity_is_zero_with_zero_gradient() -> None:
    x = torch.tensor([[-math.inf, -math.inf], [0.0, -math.inf]], requires_grad=True)
    y = softmax(x)
    assert torch.equal(y, torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
    (gradient,) = torch.autograd.grad((y * torch.tensor([[1.0, 2.0], [3.0, 4.0]])).sum(), x)
    assert torch.equal(gradient, torch.zeros(2, 2))


# sdpa

sdpa = of("attention/sdpa").sdpa


@given(SIZES, SIZES, SIZES, SIZES, st.booleans(), st.integers(0, 99))
def test_sdpa_is_torchs(T: int, S: int, d: int, dv: int, masked: bool, seed: int) -> None:
    q, k, v = normal(2, T, d, seed=seed), normal(2, S, d, seed=seed + 1), normal(2, S, dv, seed=seed + 2)
    mask = None
    if masked:
        mask = torch.rand(T, S, generator=torch.Generator().manual_seed(seed)) < 0.6
        mask[:, 0] = True  # torch releases differ in what a fully masked row gives
    assert close(sdpa(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
    assert close(sdpa(q, k, v, mask, 0.3), F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3))


def test_sdpa_of_a_query_without_keys_is_zero_with_zero_gradients() -> None:
    q, k, v = (normal(2, 3, seed=n).requires_grad_() for n in range(3))
    mask = torch.tensor([[False, False], [True, True]])
    y = sdpa(q, k, v, mask)
    assert torch.equal(y[0], torch.zeros(3, dtype=torch.float64))
    gradients = torch.autograd.grad(y.sum(), (q, k, v))
    assert all(bool(g.isfinite().all()) for g in gradients)
    assert torch.equal(gradients[0][0], torch.zeros(3, dtype=torch.float64))


# causal-mask

causal_mask = of("attention/causal-mask").causal_mask


@given(SIZES, st.integers(0, 9))
def test_causal_mask_is_the_lower_right_triangle(T: int, past: int) -> None:
    S = T + past
    assert torch.equal(causal_mask(T, S), torch.ones(T, S, dtype=torch.bool).tril(past))
    assert torch.equal(causal_mask(T, S), causal_mask(S)[past:])


def test_causal_mask_refuses_fewer_keys_than_queries() -> None:
    with pytest.raises(ValueError, match="3 queries cannot be the last positions of 2 keys"):
        causal_mask(3, 2)


# mha

multi_head_attention = of("attention/mha").multi_head_attention


def mha_weights(D: int, seed: int = 0) -> list[Tensor]:
    return [normal(D, D, seed=100 + seed + n, scale=D**-0.5) for n in range(4)]


@given(SIZES, SIZES, st.sampled_from([1, 2, 3, 6]), st.booleans())
def test_mha_is_torchs(T: int, S: int, H: int, masked: bool) -> None:
    D = 6
    x_q, x_kv, weights = normal(2, T, D), normal(2, S, D, seed=1), mha_weights(D)
    module = nn.MultiheadAttention(D, H, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.cat([w.T for w in weights[:3]]))
        module.out_proj.weight.copy_(weights[3].T)
    mask = torch.ones(T, S, dtype=torch.bool).tril() if masked else None
    hidden = None if mask is None else ~mask
    due, maps = module(x_q, x_kv, x_kv, attn_mask=hidden, average_attn_weights=False)
    out, mine = multi_head_attention(x_q, x_kv, *weights, H, mask, True)
    assert close(out, due) and close(mine, maps)


# rope

rope = of("positions/rope").apply_rope
LAYOUTS = st.sampled_from(["interleaved", "half"])
POSITIONS = st.lists(st.integers(0, 1000), min_size=3, max_size=3).map(torch.tensor)


@given(POSITIONS, POSITIONS, LAYOUTS)
def test_two_turns_are_one_by_the_sum(a: Tensor, b: Tensor, layout: str) -> None:
    x = normal(2, 2, 3, 6)
    assert close(rope(rope(x, a, layout=layout), b, layout=layout), rope(x, a + b, layout=layout), 1e-9)


@given(POSITIONS, LAYOUTS)
def test_a_turn_keeps_the_length_of_every_pair(positions: Tensor, layout: str) -> None:
    x = normal(1, 2, 3, 6)
    y = rope(x, positions, layout=layout)
    shape = (3, 2) if layout == "interleaved" else (2, 3)
    dim = -1 if layout == "interleaved" else -2
    assert close(y.unflatten(-1, shape).norm(dim=dim), x.unflatten(-1, shape).norm(dim=dim), 1e-9)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 10_000), LAYOUTS)
def test_scores_depend_on_the_distance_alone(m: int, n: int, shift: int, layout: str) -> None:
    q, k = (normal(1, 1, 1, 64, seed=s).float() for s in range(2))

    def score(a: int, b: int) -> float:
        return float((rope(q, torch.tensor([a]), layout=layout) * rope(k, torch.tensor([b]), layout=layout)).sum())

    assert score(m, n) == pytest.approx(score(m + shift, n + shift), abs=5e-3)


def test_position_zero_changes_nothing() -> None:
    x = normal(2, 3, 4, 8)
    assert torch.equal(rope(x, torch.zeros(4, dtype=torch.long)), x)


def test_the_layouts_are_one_rotation_in_two_orders() -> None:
    x, positions = normal(1, 2, 3, 6), torch.tensor([2, 5, 11])
    order = torch.arange(6).view(3, 2).t().reshape(-1)  # interleaved pairs, gathered into halves
    assert close(rope(x, positions)[..., order], rope(x[..., order], positions, layout="half"))


# layer-norm

layer_norm = of("norms/layer-norm").layer_norm


@given(st.lists(SIZES, min_size=1, max_size=3), st.sampled_from([1e-5, 1e-2, 1.0]), st.integers(0, 99))
def test_layer_norm_is_torchs(shape: list[int], eps: float, seed: int) -> None:
    D = shape[-1]
    x, gamma, beta = normal(*shape, seed=seed), normal(D, seed=seed + 1), normal(D, seed=seed + 2)
    assert close(layer_norm(x, gamma, beta, eps), F.layer_norm(x, (D,), gamma, beta, eps), 1e-10)


def test_layer_norm_survives_a_large_mean_in_float32() -> None:
    x = normal(4, 64).float()
    one, zero = torch.ones(64), torch.zeros(64)
    assert torch.allclose(layer_norm(x + 1e4, one, zero), layer_norm(x, one, zero), rtol=0, atol=5e-3)


# kv-cache

kv = of("cache/kv-cache")


@given(st.integers(0, 6), st.integers(1, 4), st.sampled_from([1, 2, 3]))
def test_any_split_between_prefill_and_decode_gives_the_full_causal_pass(prompt: int, rest: int, H: int) -> None:
    params = dict(zip(("wq", "wk", "wv", "wo"), mha_weights(6), strict=True))
    x = normal(2, prompt + rest, 6)
    mask = causal_mask(prompt + rest)
    due = multi_head_attention(x, x, *params.values(), H, mask)
    cache: dict[str, Tensor] = {}
    ys = []
    if prompt:
        y, cache = kv.prefill(x[:, :prompt], params, H)
        ys.append(y)
    for t in range(prompt, prompt + rest):
        y, cache = kv.decode_step(x[:, t : t + 1], cache, params, H)
        ys.append(y)
    assert close(torch.cat(ys, 1), due)
    assert set(cache) == {"k", "v"} and cache["k"].shape == (2, H, prompt + rest, 6 // H)


def test_a_step_leaves_the_cache_it_was_given() -> None:
    params = dict(zip(("wq", "wk", "wv", "wo"), mha_weights(4), strict=True))
    _, cache = kv.prefill(normal(1, 3, 4), params, 2)
    before = {name: tensor.clone() for name, tensor in cache.items()}
    _, longer = kv.decode_step(normal(1, 1, 4, seed=1), cache, params, 2)
    assert longer is not cache and all(torch.equal(cache[name], before[name]) for name in before)


# adamw

adamw_step = of("optimisers/adamw").adamw_step


@given(
    st.sampled_from([1e-3, 0.1]),
    st.sampled_from([(0.9, 0.999), (0.5, 0.8)]),
    st.sampled_from([1e-8, 1e-2]),
    st.sampled_from([0.0, 0.01, 0.4]),
)
def test_adamw_is_torchs_over_a_hundred_steps(lr: float, betas: tuple[float, float], eps: float, decay: float) -> None:
    p, state = normal(3, 2), {}
    theirs = nn.Parameter(p.clone())
    optimiser = torch.optim.AdamW([theirs], lr=lr, betas=betas, eps=eps, weight_decay=decay)
    for step in range(100):
        g = normal(3, 2, seed=step)
        p = adamw_step(p, g, state, lr, betas, eps, decay)
        theirs.grad = g
        optimiser.step()
    assert close(p, theirs.detach(), 1e-9)
    assert state["t"] == 100
