"""Run the claims of the cards on RLHF and reasoning RL about losses, gradients and number formats."""

from collections.abc import Callable
from statistics import median

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from .conftest import says

Estimator = Callable[[Tensor], Tensor]


def doubles(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def test_align_02_the_log_of_a_sigmoid_is_lost_from_a_margin_of_minus_89() -> None:
    says("align-02", "log 0 from a margin of −89 on", "差到 −89 时 e^89 已上溢")
    margins = torch.tensor([-88.0, -89.0, -100.0])
    assert margins.sigmoid().log().isinf().tolist() == [False, True, True]
    assert F.logsigmoid(margins).tolist() == pytest.approx([-88.0, -89.0, -100.0])


def clipped(ratio: float, advantage: float) -> tuple[float, float]:
    """Return PPO's objective and its derivative with respect to log π, at this ratio."""
    logp = torch.tensor(ratio).log().requires_grad_()
    rho = logp.exp()
    objective = torch.minimum(rho * advantage, rho.clamp(0.8, 1.2) * advantage)
    return objective.item(), torch.autograd.grad(objective, logp)[0].item()


def test_align_03_where_the_clipped_objective_keeps_a_gradient() -> None:
    says("align-03", "With A = 1 and ρ = 1.5 the objective is 1.2, flat", "| A < 0 | 0 | kept | kept |")
    kept = {a: [clipped(rho, a)[1] != 0 for rho in (0.5, 1.1, 1.5)] for a in (1.0, -1.0)}
    assert kept == {1.0: [True, True, False], -1.0: [False, True, True]}
    assert clipped(1.5, 1.0) == (pytest.approx(1.2), 0.0)
    assert clipped(1.5, -1.0) == (pytest.approx(-1.5), pytest.approx(-1.5))


def test_align_04_what_the_three_estimators_differentiate_to() -> None:
    says("align-04", "As losses: 0, reverse KL, forward KL", "作为损失：0、反向 KL、前向 KL")
    logits, reference = doubles(5).requires_grad_(), doubles(5).softmax(0)
    policy = logits.softmax(0)

    def gradient(estimator: Estimator) -> Tensor:
        terms = estimator(reference / policy)
        return torch.autograd.grad((policy.detach() * terms).sum(), logits, retain_graph=True)[0]

    reverse, forward = (policy * (policy / reference).log()).sum(), (reference * (reference / policy).log()).sum()
    expected = [torch.zeros(5, dtype=torch.float64)]
    expected += [torch.autograd.grad(kl, logits, retain_graph=True)[0] for kl in (reverse, forward)]
    estimators: list[Estimator] = [lambda r: -r.log(), lambda r: r.log() ** 2 / 2, lambda r: r - 1 - r.log()]
    for estimator, right in zip(estimators, expected, strict=True):
        assert torch.allclose(gradient(estimator), right)
    values = [(policy * estimator(reference / policy)).sum() for estimator in estimators]
    assert torch.allclose(values[0], reverse) and torch.allclose(values[2], reverse)
    assert not torch.allclose(values[1], reverse)


def test_align_06_each_of_the_three_lines_fails_a_check_of_its_own() -> None:
    says("align-06", "it trains towards the rejected answers", "朝被拒的回答训练", "'lines': [6, 9, 10]")
    chosen, rejected, beta = doubles(4) - 3, doubles(9) - 3, 0.1

    def loss(policy: tuple[Tensor, Tensor], anchored: bool, sign: int) -> Tensor:
        margin = policy[0].sum() - policy[1].sum()
        if anchored:
            margin = margin - (chosen.sum() - rejected.sum())
        return -F.logsigmoid(sign * beta * margin)

    assert loss((chosen, rejected), True, 1).item() == pytest.approx(0.693, abs=1e-3)
    assert loss((chosen, rejected), False, 1).item() != pytest.approx(0.693, abs=1e-2)
    better = (chosen + 0.1, rejected)
    for sign, falls in ((1, True), (-1, False)):
        assert (loss(better, True, sign) < loss((chosen, rejected), True, sign)).item() is falls
    longer = torch.cat([chosen, torch.tensor([-0.05])])
    assert longer.sum() < chosen.sum() and longer.mean() > chosen.mean()


def test_align_08_torch_std_divides_by_one_less() -> None:
    says("align-08", "divide by 3; the default of `torch.std`", "除以 3，`torch.std` 的默认")
    rewards = torch.tensor([1.0, 0.0, 0.0, 1.0])
    centred = rewards - rewards.mean()
    assert (centred / rewards.std()).tolist() == pytest.approx([0.866, -0.866, -0.866, 0.866], abs=1e-3)
    assert (centred / rewards.std(correction=0)).tolist() == [1.0, -1.0, -1.0, 1.0]


def test_align_12_the_spacing_of_bf16_and_fp16_logits() -> None:
    says("align-12", "between 16 and 32 are 0.125 apart", "FP16 has 8 times finer spacing", "间隔细 8 倍")
    for dtype, spacing in ((torch.bfloat16, 0.125), (torch.float16, 0.125 / 8)):
        assert (torch.linspace(16, 31.9, 4001).to(dtype).unique().diff().min()).item() == spacing


def test_align_13_the_expected_maximum_of_n_gaussians() -> None:
    says("align-13", "1.77 standard deviations", "约 1.77 个标准差")
    x = torch.linspace(-9, 9, 20_001, dtype=torch.float64)
    standard = torch.distributions.Normal(torch.zeros((), dtype=torch.float64), 1.0)
    for n, maximum in ((4, 1.03), (16, 1.77), (64, 2.34)):
        says("align-13", f"| {n} | ", f"| {maximum} |")
        density = n * standard.cdf(x) ** (n - 1) * standard.log_prob(x).exp()
        assert float(torch.trapezoid(x * density, x)) == pytest.approx(maximum, abs=0.006)


def test_align_15_t_squared_keeps_the_gradient_once_t_is_large_against_the_logits() -> None:
    english = "0.19 at T = 1 (0.1 to 0.4 in nine draws of ten), 0.042 at 4, 0.034 at 8"
    says("align-15", english, "0.042、0.034、0.032")

    def norm(seed: int, heat: int) -> float:
        torch.manual_seed(seed)
        teacher = 3 * doubles(1000)
        student = (teacher + doubles(1000)).requires_grad_()
        wanted, given = (teacher / heat).softmax(0), (student / heat).log_softmax(0)
        loss = heat**2 * F.kl_div(given, wanted, reduction="sum")
        return float(torch.autograd.grad(loss, student)[0].norm())

    for heat, about in ((1, 0.19), (4, 0.042), (8, 0.034), (16, 0.032)):
        assert median(norm(seed, heat) for seed in range(40)) == pytest.approx(about, rel=0.2 if heat == 1 else 0.04)


def test_align_21_the_change_of_entropy_is_a_covariance() -> None:
    says("align-21", "Entropy falls when probable actions have the positive advantages", "罕见动作的优势为正，熵上升")
    for _ in range(5):
        logits, advantage, step = doubles(6), doubles(6), 1e-5
        policy = logits.softmax(0)
        advantage = advantage - (policy * advantage).sum()

        def entropy(z: Tensor) -> Tensor:
            return -(z.softmax(0) * z.log_softmax(0)).sum()

        gained = policy * advantage
        covariance = (policy * policy.log() * gained).sum() - (policy * policy.log()).sum() * (policy * gained).sum()
        change = (entropy(logits + step * gained) - entropy(logits)).item()
        assert change == pytest.approx(-step * covariance.item(), rel=1e-3)


def test_align_22_cispo_keeps_the_gradient_that_ppo_clips() -> None:
    says("align-22", "CISPO gives it 1.2 · A · ∇log π", "CISPO 下梯度是 1.2 · A · ∇log π")
    says("align-22", "understates tokens that have become more likely", "会低估变得更可能的 token")
    logp = torch.tensor(1.5).log().requires_grad_()
    cispo = logp.exp().clamp(max=1.2).detach() * 2.0 * logp
    assert torch.autograd.grad(cispo, logp)[0].item() == pytest.approx(1.2 * 2.0)
    assert clipped(1.5, 2.0)[1] == 0.0 and clipped(1.0, 2.0)[1] == pytest.approx(2.0)


def test_align_26_the_own_sample_scales_the_expected_gradient() -> None:
    says("align-26", "scales the expected gradient by (G−1)/G", "期望梯度缩小为 (G−1)/G")
    logits, rewards, group = doubles(3), doubles(3), 4
    policy = logits.softmax(0)
    scores = torch.eye(3, dtype=torch.float64) - policy
    answers = torch.cartesian_prod(*[torch.arange(3)] * group)
    chance = policy[answers].prod(-1)
    reward = rewards[answers]
    own = (reward - reward.mean(-1, keepdim=True)).unsqueeze(-1) * scores[answers]
    others = (reward.sum(-1, keepdim=True) - reward) / (group - 1)
    left_out = (reward - others).unsqueeze(-1) * scores[answers]
    exact = (policy * rewards) @ scores
    assert torch.allclose((chance[:, None] * left_out.mean(1)).sum(0), exact)
    assert torch.allclose((chance[:, None] * own.mean(1)).sum(0), exact * (group - 1) / group)


def test_align_28_the_wrong_view_compares_different_prompts() -> None:
    says("align-28", "answers get +1 each, the second's two wrong ones −1", "各得 +1", "各得 −1")

    def advantages(rewards: Tensor, rows: int, columns: int) -> Tensor:
        grouped = rewards.view(rows, columns)
        spread = grouped.std(1, correction=0, keepdim=True) + 1e-6
        return ((grouped - grouped.mean(1, keepdim=True)) / spread).flatten()

    rewards = torch.tensor([1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0])
    assert advantages(rewards, 2, -1)[:4].tolist() == pytest.approx([1, 1, -1, -1], abs=1e-3)
    right = advantages(rewards, -1, 2)
    assert torch.allclose(right.view(-1, 2).sum(1), torch.zeros(4)) and right.nonzero().flatten().tolist() == [4, 5]
    assert torch.arange(2).repeat(3).tolist() == [0, 1] * 3  # answers of one prompt stand B apart
    assert torch.arange(2).repeat_interleave(3).tolist() == [0, 0, 0, 1, 1, 1]
