"""Check the references of grouped attention, GPT's module, dropout, learned positions and images."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .conftest import IMPL, load


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(a: Tensor, b: Tensor, tolerance: float = 1e-12) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and torch.allclose(a, b, rtol=tolerance, atol=tolerance)


gqa = load(IMPL / "cache/gqa/reference.py").gqa


def test_gqa_is_attention_over_repeated_keys_and_refuses_uneven_groups_and_short_pasts() -> None:
    for H, G in ((6, 1), (6, 2), (6, 3), (6, 6), (9, 3)):
        for causal in (False, True):
            q, k, v = normal(2, H, 3, 4), normal(2, G, 5, 4, seed=1), normal(2, G, 5, 4, seed=2)
            repeated = [t.repeat_interleave(H // G, dim=1) for t in (k, v)]
            mask = torch.ones(3, 5, dtype=torch.bool).tril(2) if causal else None
            assert close(gqa(q, k, v, causal), F.scaled_dot_product_attention(q, *repeated, attn_mask=mask))
    with pytest.raises(ValueError, match="5 query heads cannot share 2 key heads"):
        gqa(normal(1, 5, 2, 4), normal(1, 2, 2, 4), normal(1, 2, 2, 4))
    with pytest.raises(ValueError, match="3 causal queries cannot be the last positions of 2 keys"):
        gqa(normal(1, 2, 3, 4), normal(1, 2, 2, 4), normal(1, 2, 2, 4), causal=True)


CausalSelfAttention = load(IMPL / "attention/gpt-causal-self-attention/reference.py").CausalSelfAttention


@pytest.mark.parametrize("bias", [True, False])
def test_gpts_attention_is_torchs_with_the_same_weights(bias: bool) -> None:
    mine = CausalSelfAttention(6, 3, 9, bias=bias).double()
    theirs = nn.MultiheadAttention(6, 3, bias=bias, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(mine.c_attn.weight)
        theirs.out_proj.weight.copy_(mine.c_proj.weight)
        if bias:
            theirs.in_proj_bias.copy_(mine.c_attn.bias)
            theirs.out_proj.bias.copy_(mine.c_proj.bias)
    x = normal(2, 5, 6)
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert close(mine(x), theirs(x, x, x, attn_mask=future, need_weights=False)[0])


def test_no_token_depends_on_a_later_one_and_a_checkpoint_holds_the_projections_alone() -> None:
    module, x = CausalSelfAttention(4, 2, 6).double(), normal(1, 5, 4)
    jacobian = torch.autograd.functional.jacobian(module, x)[0, :, :, 0].abs().sum((1, 3))  # (T, T)
    assert torch.equal(jacobian > 0, torch.ones(5, 5, dtype=torch.bool).tril())
    module = CausalSelfAttention(4, 2, 6)
    assert set(module.state_dict()) == {"c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias"}
    assert [name for name, _ in module.named_buffers()] == ["future"]
    with pytest.raises(ValueError, match="7 tokens do not fit into a context of 6"):
        module(torch.zeros(1, 7, 4))


attention_dropout = load(IMPL / "attention/attention-dropout/reference.py").attention_dropout


def test_dropout_keeps_the_expectation_and_masks_the_gradient_alike() -> None:
    weights = (normal(64, 64).abs() + 0.1).requires_grad_()
    y = attention_dropout(weights, 0.3, True, torch.Generator().manual_seed(1))
    kept = y != 0
    sigma = math.sqrt(0.3 * 0.7 / kept.numel())
    assert abs(float(kept.double().mean()) - 0.7) < 5 * sigma
    assert close(y[kept], (weights / 0.7)[kept])
    (gradient,) = torch.autograd.grad(y.sum(), weights)
    assert close(gradient, kept.double() / 0.7)


def test_dropout_moves_its_generator_on_and_of_everything_or_nothing_is_exact() -> None:
    weights, generator = torch.ones(20, 20), torch.Generator().manual_seed(1)
    before = torch.get_rng_state()
    first, second = (attention_dropout(weights, 0.5, True, generator) for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(first, attention_dropout(weights, 0.5, True, torch.Generator().manual_seed(1)))
    weights = torch.rand(3, 3)
    assert torch.equal(attention_dropout(weights, 1.0, True), torch.zeros(3, 3))
    assert attention_dropout(weights, 0.0, True) is weights
    assert attention_dropout(weights, 0.9, False) is weights


LearnedPositional = load(IMPL / "positions/learned-pe/reference.py").LearnedPositional


def test_only_the_rows_that_were_read_learn_and_positions_outside_are_refused() -> None:
    module = LearnedPositional(6, 3)
    module(torch.zeros(2, 2, 3), start=3).sum().backward()
    assert torch.equal(module.table.grad, torch.tensor([0.0, 0.0, 0.0, 2.0, 2.0, 0.0])[:, None].expand(6, 3))
    for T, start in ((1, -1), (7, 0), (2, 5)):
        with pytest.raises(ValueError, match="do not fit into a table of 6"):
            LearnedPositional(6, 3)(torch.zeros(1, T, 3), start)


pictures = load(IMPL / "attention/attention-visualise/reference.py")


def test_the_heat_map_of_the_statement_and_lines_of_equal_width() -> None:
    weights = torch.tensor([[0.95, 0.05, 0.05], [0.45, 0.45, 0.05]])
    text = pictures.attention_to_text(weights, ["a", "bb"], ["x", "y", "z"], 3)
    assert text.split("\n") == ["   x  y  z  ", "a  @@@      ", "bb ======   "]
    statement = (IMPL / "attention/attention-visualise/challenge.yaml").read_text(encoding="utf-8")
    assert statement.count("\n".join("    " + line for line in text.split("\n"))) == 2  # English and Chinese
    weights = torch.full((3, 3), 0.55)
    text = pictures.attention_to_text(weights, ["注意力", "is", "ｗide"], ["力", "需要", "x力y"], 3)
    assert len({pictures.display_width(line) for line in text.split("\n")}) == 1


def test_rollout_rows_sum_to_one_and_follow_the_layers_in_order() -> None:
    layers = [normal(2, 3, 4, 4, seed=n).abs() + 0.1 for n in range(3)]
    rollout = pictures.attention_rollout(layers, 0.3)
    assert close(rollout.sum(-1), torch.ones(2, 4, dtype=torch.float64))
    single = [pictures.attention_rollout([layer], 0.3) for layer in layers]
    assert close(rollout, single[2] @ single[1] @ single[0])
