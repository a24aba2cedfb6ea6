"""Run the claims of the cards on sampling, decoding and serving about PyTorch and their own procedures."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from .conftest import drawn, says


def of(*probabilities: float) -> Tensor:
    return torch.tensor(probabilities, dtype=torch.float64)


def penalised(logits: Tensor, seen: Tensor, theta: float) -> Tensor:
    return torch.where(seen, torch.where(logits > 0, logits / theta, logits * theta), logits)


def top_k(logits: Tensor, k: int) -> Tensor:
    return logits.masked_fill(logits < logits.topk(k).values[-1], float("-inf"))


def top_p(logits: Tensor, p: float) -> Tensor:
    probs, order = logits.softmax(-1).sort(descending=True)
    dropped = order[probs.cumsum(-1) - probs >= p]
    return logits.index_fill(0, dropped, float("-inf"))


def test_dec_01_what_top_p_and_min_p_keep_at_temperature_1_and_2() -> None:
    says("dec-01", "(0.343, 0.243, 0.168, 0.137, 0.109)", "top-p = 0.8 now keeps four", "top-p = 0.8 变成四个")
    probs = of(0.50, 0.25, 0.12, 0.08, 0.05)
    flat = (probs.log() / 2).softmax(0)
    torch.testing.assert_close(flat, of(0.343, 0.243, 0.168, 0.137, 0.109), rtol=0, atol=5e-4)
    assert [int(top_p(z.log(), 0.8).isfinite().sum()) for z in (probs, flat)] == [3, 4]
    assert [int((z >= 0.2 * z.max()).sum()) for z in (probs, flat)] == [3, 5]


def test_dec_02_which_steps_may_swap() -> None:
    says("dec-02", "Temperature may swap with the penalty", "temperature 可以与重复惩罚互换")
    says("dec-02", "Temperature and top-p may not")
    logits, seen, heat = drawn(0, 50), drawn(1, 50) > 0, 2.0
    torch.testing.assert_close(penalised(logits, seen, 1.3) / heat, penalised(logits / heat, seen, 1.3))
    assert torch.equal(top_k(logits, 5) / heat, top_k(logits / heat, 5))
    assert not torch.equal(top_p(logits, 0.8) / heat, top_p(logits / heat, 0.8))
    assert not torch.equal(penalised(top_k(logits, 5), seen, 1.3), top_k(penalised(logits, seen, 1.3), 5))


def buggy_top_p(probs: Tensor, p: float) -> Tensor:
    kept = probs.masked_fill(probs.cumsum(-1) > p, 0.0)
    return torch.multinomial(kept / kept.sum(-1, keepdim=True), 1)


def test_dec_03_the_dropped_crossing_token_leaves_nan_for_multinomial() -> None:
    says("dec-03", "the division gives NaN and multinomial raises", "除法得到 NaN，multinomial 报错")
    assert buggy_top_p(of(0.6, 0.3, 0.1), 0.8) == 0
    with pytest.raises(RuntimeError, match="nan"):
        buggy_top_p(of(0.9, 0.1), 0.8)
    assert top_p(of(0.6, 0.3, 0.1).log(), 0.8).isfinite().tolist() == [True, True, False]
    assert top_p(of(0.9, 0.1).log(), 0.8).isfinite().tolist() == [True, False]


def test_dec_06_the_first_byte_of_a_character_decodes_to_a_replacement_sign() -> None:
    says("dec-06", "中 is three bytes in UTF-8", "“中”在 UTF-8 里占三个字节")
    assert len("中".encode()) == 3
    assert "中".encode()[:1].decode(errors="replace") == "\ufffd"


def test_dec_09_acceptance_and_residual_add_up_to_the_target() -> None:
    says("dec-09", "min(p, q) + (p − min(p, q)) = p")
    for seed in range(3):
        p, q = drawn(seed, 20).softmax(0), drawn(seed + 10, 20).softmax(0)
        accepted, residual = torch.minimum(p, q), (p - q).clamp(min=0)
        rejected = 1 - accepted.sum()
        torch.testing.assert_close(accepted + rejected * residual / residual.sum(), p)
        torch.testing.assert_close(rejected, (p - q).abs().sum() / 2)
        assert not torch.allclose(accepted + rejected * p, p)


def test_dec_15_dividing_a_negative_logit_makes_the_token_likelier() -> None:
    says("dec-15", "−3 becomes −2.5, and the repeated token gains probability", "−3 变成 −2.5")
    says("dec-15", "the split by sign is not in the paper", "分正负处理不是论文里的")
    seen = torch.tensor([True, False])
    for logits, after in ((of(4, 3), 3.33), (of(1, 0), 0.83), (of(-3, -4), -3.6)):
        assert float(penalised(logits, seen, 1.2)[0]) == pytest.approx(after, abs=5e-3)
    assert (of(-3, -4) / of(1.2, 1)).softmax(0)[0] > of(-3, -4).softmax(0)[0]


def test_dec_17_fp32_addition_is_not_associative() -> None:
    says("dec-17", "(0.1 + 1e8) − 1e8 = 0 but 0.1 + (1e8 − 1e8) = 0.1")
    says("dec-17", "(0.1 + 1e8) − 1e8 = 0，而 0.1 + (1e8 − 1e8) = 0.1")
    small, large = torch.tensor(0.1), torch.tensor(1e8)
    assert (small + large) - large == 0
    assert small + (large - large) == small


def test_dec_25_each_node_of_a_tree_sees_what_its_path_alone_would() -> None:
    says("dec-25", "positions n, n, n + 1, n + 1", "In this order A alone is right", "按这个次序只有 A 是对的")
    context, nodes, width = 6, 4, 8
    q, k, v = (drawn(seed, context + nodes, width) for seed in range(3))
    tree = torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]], dtype=torch.bool)
    seen = torch.ones(context + nodes, context + nodes, dtype=torch.bool).tril()
    right = [bool(torch.equal(seen[context + node, context:], tree[node])) for node in range(nodes)]
    assert right == [True, False, False, False]
    seen[context:, context:] = tree
    outputs = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    for node, path in enumerate(([0], [1], [0, 2], [0, 3])):
        rows = [*range(context), *(context + step for step in path)]
        alone = F.scaled_dot_product_attention(q[rows], k[rows], v[rows], is_causal=True)
        torch.testing.assert_close(outputs[context + node], alone[-1])


def test_dec_25_independent_children_tried_in_turn_leave_the_target() -> None:
    says("dec-25", "replacing p by the normalised max(0, p − q) after each rejection")
    says("dec-25", "每拒一次就把 p 换成归一化的 max(0, p − q)")
    p, q = drawn(0, 12).softmax(0), drawn(1, 12).softmax(0)
    leaves, reached, target = torch.zeros(12, dtype=torch.float64), torch.ones((), dtype=torch.float64), p
    for _ in range(3):
        accepted = torch.minimum(target, q)
        leaves += reached * accepted
        reached = reached * (1 - accepted.sum())
        residual = (target - q).clamp(min=0)
        target = residual / residual.sum()
    torch.testing.assert_close(leaves + reached * target, p)


def test_dec_30_one_stall_hides_from_the_mean_and_from_the_99th_percentile() -> None:
    says("dec-30", "so does the 99th percentile of its gaps", "间隔的 99 分位也一样")
    says("dec-05", "even the 99th percentile of its 499 gaps misses a single one")
    says("dec-05", "499 个间隔的 99 分位连这一次停顿也看不到")
    gaps = torch.full((499,), 0.0048, dtype=torch.float64)
    gaps[250] += 2
    assert float(gaps.quantile(0.99)) == pytest.approx(0.0048)
    assert float(gaps.mean()) == pytest.approx(0.0088, abs=1e-4)
    assert gaps.max() > 2
