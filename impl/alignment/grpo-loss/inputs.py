"""Groups with equal rewards and unequal ones, answers of every length, ratios on both sides of the clip."""

from __future__ import annotations

import math

import torch

AXES = {
    "logp": "B G T",
    "old_logp": "B G T",
    "ref_logp": "B G T",
    "mask": "B G T",
    "rewards": "B G",
}
SIZES = {"B": (1, 3, 30), "G": (1, 4, 30), "T": (1, 5, 60)}
HARDENED = {"edge_what_masked_tokens_hold"}
WITHOUT_MOTIFS = {"same"}  # gradients of the old and the reference policy are nobody's business
_DTYPES = (torch.bool, torch.int64, torch.float32)


def policies(make, *shape, moved=0.3):
    """Log-probabilities of the policy, of the sampling policy and of the reference; only the first has a gradient."""
    logp = make.normal(*shape, scale=0.8, mean=-2.0, grad=False)
    old, ref = (make.keep(logp + make.normal(*shape, scale=moved, grad=False)) for _ in range(2))
    return make.keep(logp, grad=True), old, ref


def lengths_mask(make, B, G, T, fewest=0):
    """A mask of answers with random ends and sometimes holes (output of a tool)."""
    ends = make.integers(fewest, T + 1, B, G, 1)
    return (torch.arange(T) < ends) & (torch.rand((B, G, T), generator=make.random) < make.pick([1.0, 0.7]))


def scored(make, B, G):
    kind = make.pick(["right or wrong", "real", "equal"])
    if kind == "right or wrong":
        return make.keep(make.integers(0, 2, B, G).double())
    return make.normal(B, G, mean=0.5, grad=False) if kind == "real" else make.keep(torch.full((B, G), 0.75))


def case(make):
    B, G, T = make.sizes("B", "G", "T")
    mask = make.keep(lengths_mask(make, B, G, T).to(make.pick(_DTYPES)), dtype="fixed")
    settings = make.pick([0.2, 0.1, 0.4]), make.pick([0.04, 0.0, 1.0])
    rewards = scored(make, B, G)
    make.call("grpo", *policies(make, B, G, T), rewards, mask, *settings, adv_eps=make.pick([1e-4, 1e-4, 0.5]))


def ratios(make, ratio, ref, rewards, *settings, grad=True):
    """One group of answers of one length, with these ratios to the old policy and distances to the reference."""
    ratio = torch.tensor(ratio, dtype=torch.float64)[None]
    logp = torch.full_like(ratio, -3.0)
    old, ref = logp - ratio.log(), logp + torch.tensor(ref, dtype=torch.float64)
    parts = make.keep(logp, grad=grad), make.keep(old), make.keep(ref)
    make.call("grpo", *parts, make.keep(torch.tensor([rewards])), torch.ones(ratio.shape, dtype=torch.bool), *settings)


def edge_either_side_of_the_clip(make):
    """ratios below, inside and above the clip, with advantages of both signs: a gain is capped, a loss is not

    比值在裁剪区间之下、之内、之上，优势有正有负：收益封顶，损失不封顶
    """
    row = [0.5, 0.75, 0.95, 1.05, 1.25, 3.0]
    ratios(make, [row, row], [0.0], [1.0, 0.0], 0.2, 0.0)
    ratios(make, [row, row[::-1]], [0.0], [-1.0, 2.0], 0.1, 0.5)


def edge_first_step(make):
    """logp = old_logp = ref_logp: the value is that of the advantages, the gradient is not 0

    logp = old_logp = ref_logp：值只由优势决定，梯度不为 0
    """
    for rewards in ([1.0, 0.0, 0.0], [0.5, 0.25, 3.0]):
        ratios(make, [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [0.0], rewards, 0.2, 0.1)


def edge_equal_rewards_and_single_answers(make):
    """all rewards of a group equal, or one answer a group: no advantage, no NaN; the KL alone is left

    组内奖励全相等，或者一组只有一个回答：优势为 0，不出 NaN，只剩 KL
    """
    for B, G in ((2, 3), (3, 1)):
        rewards = torch.tensor([[1.0], [0.1], [-2.0]])[:B].expand(B, G).contiguous()
        mask = make.keep(lengths_mask(make, B, G, 4, 1))
        make.call("grpo", *policies(make, B, G, 4), make.keep(rewards), mask, 0.2, 0.1)


def edge_answers_of_unequal_length(make):
    """answers of 9 tokens, of 1 and of none: each counts as one of B·G

    回答有 9 个 token 的、1 个的、一个都没有的：各算 B·G 里的一份
    """
    mask = torch.arange(9) < torch.tensor([9, 1, 0, 4])[:, None]
    for kl_coef in (0.0, 0.5):
        make.call("grpo", *policies(make, 2, 4, 9), scored(make, 2, 4), mask.expand(2, 4, 9).contiguous(), 0.2, kl_coef)
    make.call("grpo", *policies(make, 1, 2, 3), scored(make, 1, 2), torch.zeros(1, 2, 3), 0.2, 0.5)


def edge_far_from_both(make):
    """ratios of 10⁶ and 10⁻⁶, e⁶ from the reference: finite, and unbounded where the advantage is negative

    比值 10⁶ 和 10⁻⁶，离参考 e⁶：结果有限；优势为负时没有上界
    """
    ratios(make, [[1e6, 1e-6], [1e6, 1e-6]], [6.0, -6.0], [1.0, 0.0], 0.2, 0.04)


def edge_what_masked_tokens_hold(make):
    """masked tokens are ±10⁴ or infinite: no influence and no NaN, in value or gradient

    被屏蔽的 token 里是 ±10⁴ 或无穷：数值和梯度都不受影响，也没有 NaN
    """
    mask = torch.tensor([[[True, True, False, False]] * 2])
    for garbage in (1e4, math.inf):
        parts = [part.detach().clone() for part in policies(make, 1, 2, 4)]
        for part, signs in zip(parts, ((-1.0, 1.0), (1.0, -1.0), (1.0, -1.0)), strict=True):
            part[..., 2:] = garbage * torch.tensor(signs)
        kept = [make.keep(part, grad=k == 0) for k, part in enumerate(parts)]
        make.call("grpo", *kept, make.keep(torch.tensor([[1.0, 0.0]])), mask, 0.2, 0.1)
