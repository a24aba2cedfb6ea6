"""Run the claims of the `opt` cards about PyTorch's optimisers, autograd and ten or a thousand Adam steps."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import SGD, Adam, AdamW, Muon, Optimizer, RMSprop
from torch.utils.checkpoint import checkpoint

from .conftest import drawn, says


def trained(make: Callable[..., Optimizer], gradients: Tensor, start: Tensor, **options: Any) -> list[Tensor]:
    """Return the weights after each step."""
    parameter = nn.Parameter(start.clone())
    optimizer = make([parameter], **options)
    path = []
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimizer.step()
        path.append(parameter.detach().clone())
    return path


def ones(*shape: int) -> Tensor:
    return torch.ones(*shape, dtype=torch.float64)


def test_opt_01_a_bf16_second_moment_of_one_does_not_move() -> None:
    says("opt-01", "from v = 1 any g² from 0 to 3 leaves it at 1", "g² 在 0 到 3 之间，就近舍入后 v 都还是 1")
    for square in torch.linspace(0, 3, 13):
        v, g = torch.ones(1, dtype=torch.bfloat16), square.sqrt().bfloat16()[None]
        assert v.mul_(0.999).addcmul_(g, g, value=0.001) == 1


def test_opt_01_gradients_times_1000_end_at_the_same_weights_but_not_with_l2() -> None:
    says("opt-01", "the same weights to about 1e-9", "最终权重相差约 1e-9")
    gradients, start = drawn(0, 200, 50), ones(50)

    def difference(make: Callable[..., Optimizer], decay: float) -> float:
        ends = [trained(make, k * gradients, start, lr=1e-3, weight_decay=decay)[-1] for k in (1, 1000)]
        return float((ends[0] - ends[1]).abs().max())

    assert difference(Adam, 0.0) < 2e-9 and difference(AdamW, 0.1) < 2e-9
    assert difference(Adam, 0.1) > 1e-2


def test_opt_05_momentum_and_the_first_rmsprop_step_reach_ten_lr() -> None:
    says("opt-05", "a constant gradient adds up to 10g and the step to 10 lr", "步长就是 10 lr")
    path = trained(SGD, ones(200, 1), ones(1), lr=0.01, momentum=0.9)
    assert float(path[-2] - path[-1]) == pytest.approx(0.1)
    says("opt-05", "= 10 times lr", "= 10 倍 lr")
    assert float(1 - trained(RMSprop, ones(1, 1), ones(1), lr=0.01)[0]) == pytest.approx(0.1, rel=1e-5)


def test_opt_06_how_l2_and_adamw_decay() -> None:
    says("opt-06", "0.5605 is left with λ = 0.01 as with λ = 1", "500 步后都剩 0.5605", "0.995 and 0.606")
    left = {
        (make, decay): float(trained(make, 0 * ones(500, 1), ones(1), lr=1e-3, weight_decay=decay)[-1])
        for make in (Adam, AdamW)
        for decay in (0.01, 1.0)
    }
    assert left[Adam, 0.01] == pytest.approx(0.5605, abs=5e-5) == left[Adam, 1.0]
    assert left[AdamW, 0.01] == pytest.approx(0.995, abs=5e-4)
    assert left[AdamW, 1.0] == pytest.approx(0.606, abs=5e-4)
    says("opt-06", "about ten times as fast as lr·λ a step", "约为 lr·λ 的十倍")
    path = trained(SGD, 0 * ones(400, 1), ones(1), lr=0.01, momentum=0.9, weight_decay=0.01)
    assert float(1 - path[-1] / path[-2]) == pytest.approx(10 * 0.01 * 0.01, rel=0.02)


def test_opt_07_the_faulty_adamw_is_off_by_a_thousandth() -> None:
    says("opt-07", "off by 0.001 (RMS) after 100 steps", "100 步后错误代码差 0.001（RMS）")
    gradients = drawn(0, 100, 2000)
    for l2, decay in ((True, 0.1), (False, 0.1), (True, 0.0)):
        p = ones(2000)
        reference = trained(AdamW, gradients, p, lr=1e-3, weight_decay=decay)[-1]
        m, v = torch.zeros_like(p), torch.zeros_like(p)
        for t, gradient in enumerate(gradients, 1):
            g = gradient + decay * p if l2 else gradient
            p = p if l2 else p * (1 - 1e-3 * decay)
            m.mul_(0.9).add_(g, alpha=0.1)
            v.mul_(0.999).addcmul_(g, g, value=0.001)
            p = p - 1e-3 * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
        error = float((p - reference).square().mean().sqrt())
        assert error == pytest.approx(0.00114, abs=5e-5) if l2 and decay else error < 1e-15


def test_opt_12_newton_schulz_and_muons_parameters() -> None:
    says("opt-12", "every start in [0.005, 1] lies between 0.68 and 1.16", "都落在 0.68 到 1.16 之间")
    sigma = torch.linspace(0.005, 1, 100_001, dtype=torch.float64)
    for _ in range(5):
        sigma = 3.4445 * sigma - 4.7750 * sigma**3 + 2.0315 * sigma**5
    assert float(sigma.min()) > 0.68 and float(sigma.max()) < 1.16
    says("opt-12", "takes 2-D parameters only", "只收二维参数")
    with pytest.raises(ValueError, match="2D"):
        Muon([nn.Parameter(torch.zeros(3))])


def test_opt_24_torchs_two_muon_factors() -> None:
    says("opt-24", '`adjust_lr_fn="match_rms_adamw"`', "√max(1, out/in)")
    for shape, default in (((8, 32), 1.0), ((32, 8), 2.0)):
        options: dict[str, Any] = {"lr": 1.0, "weight_decay": 0}
        gradient, start = drawn(0, 1, *shape).float(), torch.zeros(shape)
        plain, matched = (
            trained(Muon, gradient, start, adjust_lr_fn=name, **options)[0] for name in (None, "match_rms_adamw")
        )
        torch.testing.assert_close(matched / (0.2 * 32**0.5), plain / default)


def test_opt_08_the_relative_step_of_adamw_on_noise() -> None:
    says("opt-08", "takes 0.18 % per step", "每步是 0.18 %", "= 0.0387", "for u = 1")
    weight = nn.Parameter(0.0387 * drawn(0, 20_000).float())  # where the steady state is
    optimizer, generator = AdamW([weight], lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1), torch.Generator()
    for step in range(300):
        before = weight.detach().clone()
        weight.grad = torch.randn(20_000, generator=generator.manual_seed(step))
        optimizer.step()
    change = (weight.detach() - before).norm() / before.norm()
    assert 100 * float(change) == pytest.approx(0.18, abs=0.02)


def test_opt_20_the_gradient_of_a_score_and_of_a_value() -> None:
    says("opt-20", "a_j⟨g, v_j − o⟩: they agree to about 1e-16", "相差约 1e-16")
    scores, values = drawn(0, 7).requires_grad_(), drawn(1, 7, 5).requires_grad_()
    weights = scores.softmax(0)
    mixed = weights @ values
    for_scores, for_values, g = torch.autograd.grad(mixed.sin().sum(), (scores, values, mixed))
    with torch.no_grad():
        assert float((for_scores - weights * ((values - mixed) @ g)).abs().max()) < 1e-15
        assert float((for_values - weights[:, None] * g).abs().max()) < 1e-15


def test_opt_09_how_large_uncorrected_adam_steps_are() -> None:
    says("opt-09", "3.16 times the corrected ones at step 1 and 6.5 times at step 10", "到第 9 步才超过 1 倍")
    for beta2, larger_from, factors in ((0.999, 1, (3.16, 6.5)), (0.95, 9, (0.45, 1.03))):
        gradients = drawn(0, 12, 1)
        path = trained(Adam, gradients, torch.zeros(1, dtype=torch.float64), lr=1, betas=(0.9, beta2), eps=0)
        first = second = torch.zeros(1, dtype=torch.float64)
        ratios, before = [], torch.zeros(1, dtype=torch.float64)
        for gradient, after in zip(gradients, path, strict=True):
            first, second = 0.9 * first + 0.1 * gradient, beta2 * second + (1 - beta2) * gradient**2
            ratios.append(float(-first / second.sqrt() / (after - before)))
            before = after
        assert (ratios[0], ratios[9]) == pytest.approx(factors, rel=0.01)
        assert [step for step, ratio in enumerate(ratios, 1) if ratio > 1] == list(range(larger_from, 13))


def test_opt_16_a_micro_batch_without_tokens_has_a_nan_mean_and_a_gradient_of_zero() -> None:
    says("opt-16", "although PyTorch's gradient is 0", "PyTorch 给出的梯度倒是 0")
    says("peft-15", "gives 0/0 = NaN", "会得到 0/0 = NaN")
    logits, nothing = drawn(0, 2, 5).requires_grad_(), torch.full((2,), -100)
    loss = F.cross_entropy(logits, nothing)
    assert loss.isnan() and not torch.autograd.grad(loss, logits)[0].any()
    assert F.cross_entropy(logits, nothing, reduction="sum") == 0


def test_opt_19_pytorch_refuses_a_parameter_in_two_groups_and_warns_of_a_double_in_one() -> None:
    says("opt-19", "refuses it with a ValueError", "PyTorch 会抛 ValueError", "it only warns", "只给警告")
    p = nn.Parameter(torch.zeros(2))
    with pytest.raises(ValueError, match="more than one parameter group"):
        AdamW([{"params": [p]}, {"params": [p]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        AdamW([{"params": [p, p]}])


def test_opt_22_a_saved_activation_changed_in_place_raises_but_not_through_data() -> None:
    says("opt-22", "a RuntimeError about an inplace operation", "silently wrong", "梯度会悄悄算错")
    x = ones(3).requires_grad_()
    y = x.exp()
    loss = y.sum()
    y.add_(1)
    with pytest.raises(RuntimeError, match="inplace operation"):
        loss.backward()
    y = x.exp()
    loss = y.sum()
    y.data.add_(1)
    loss.backward()
    torch.testing.assert_close(x.grad, x.detach().exp() + 1)


def test_opt_22_central_differences_need_float64() -> None:
    says("opt-22", "around 1 % of the loss, more where the loss is small", "误差约为损失的 1 %")
    weights, x, direction = drawn(0, 9, 9), drawn(1, 9), F.normalize(drawn(2, 9), dim=0)

    def loss(x: Tensor) -> Tensor:
        return (weights.to(x.dtype) @ x).tanh().square().sum()

    (gradient,) = torch.autograd.grad(loss(x.requires_grad_()), x)
    for dtype, least, most in ((torch.float64, 0, 1e-10), (torch.float32, 1e-5, 0.02)):
        point, step = x.detach().to(dtype), 1e-5 * direction.to(dtype)
        slope = (loss(point + step) - loss(point - step)).double() / 2e-5
        assert least < abs(float(slope - gradient @ direction)) / float(loss(point)) < most


def test_opt_23_checkpointing_replays_the_dropout_mask() -> None:
    says("opt-23", "dropout masks are reproduced by saving and restoring the generator state")
    says("opt-23", "dropout 掩码靠保存和恢复随机数状态来重现")
    linear = nn.Linear(16, 16)
    block = nn.Sequential(linear, nn.Dropout(0.5), nn.Tanh())
    x, gradients = torch.randn(4, 16, generator=torch.Generator().manual_seed(0)), []
    for kept in (True, False):
        torch.manual_seed(1)
        y = block(x) if kept else checkpoint(block, x, use_reentrant=False)
        torch.rand(7)
        gradients += torch.autograd.grad(y.sum(), linear.weight)
    assert torch.equal(*gradients)
