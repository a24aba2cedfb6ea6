"""Run the claims of the `peft` cards about LoRA layers, their gradients and the tensors that autograd saves."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .conftest import drawn, says


class Lora(nn.Module):
    """x → scale · B A x, with the mean squared error as loss."""

    def __init__(self, a: Tensor, b: Tensor, scale: float = 1.0) -> None:
        super().__init__()
        self.A, self.B, self.scale = nn.Parameter(a.clone()), nn.Parameter(b.clone()), scale

    def update(self) -> Tensor:
        return (self.scale * self.B @ self.A).detach()

    def loss(self) -> Tensor:
        x, target = drawn(10, 20, self.A.shape[1]), drawn(11, 20, self.B.shape[0])
        return (self.scale * x @ self.A.T @ self.B.T - target).square().mean()


def after_steps(module: Lora, make: Callable[..., torch.optim.Optimizer], steps: int = 1, **options: Any) -> Lora:
    optimizer = make(module.parameters(), **options)
    for _ in range(steps):
        optimizer.zero_grad()
        module.loss().backward()
        optimizer.step()
    return module


def test_peft_02_first_steps_of_a_and_b() -> None:
    says("peft-02", "doubles the first change", "the change four times as large", "第一次变化也加倍", "变化就成了四倍")
    a, b = drawn(0, 2, 8), torch.zeros(6, 2, dtype=torch.float64)
    for make, factor in ((torch.optim.Adam, 2.0), (torch.optim.SGD, 4.0)):
        once, twice = (after_steps(Lora(a, b, scale), make, lr=1e-3).update() for scale in (1.0, 2.0))
        torch.testing.assert_close(twice, factor * once, rtol=1e-4, atol=0)
    says("peft-02", "A's is exactly zero in the first and not in the second", "A 的第一步恰好为零，第二步不为零")
    a, b = drawn(0, 2, 8), torch.zeros(6, 2, dtype=torch.float64)
    module = after_steps(Lora(a, b), torch.optim.AdamW, lr=1e-3)
    assert module.A.grad is not None and module.B.grad is not None
    assert not module.A.grad.any() and module.B.grad.all()
    assert (module.A.abs() < a.abs()).all()
    module.zero_grad()
    module.loss().backward()
    assert module.A.grad is not None and module.A.grad.all()


def test_peft_03_adam_with_decay_does_not_leave_an_all_zero_start() -> None:
    says("peft-03", "the step is zero again", "步长还是零")
    zero = Lora(torch.zeros(2, 8, dtype=torch.float64), torch.zeros(6, 2, dtype=torch.float64))
    trained = after_steps(zero, torch.optim.Adam, steps=5, lr=0.1, weight_decay=0.1)
    assert not trained.A.any() and not trained.B.any()


def test_peft_07_integer_tensors_cannot_require_a_gradient() -> None:
    says("peft-07", "Integer tensors cannot require a gradient", "整数张量不能求梯度")
    with pytest.raises(RuntimeError, match="floating point and complex"):
        torch.zeros(3, dtype=torch.uint8, requires_grad=True)


def test_peft_07_a_plain_linear_keeps_the_dequantised_weight_once_x_requires_a_gradient() -> None:
    says("peft-07", "fails this test as soon as x requires a gradient", "只要 x 需要梯度，就通不过这个检查")
    codes = torch.ones(32, 64, dtype=torch.uint8)
    for needs_grad in (False, True):
        saved: list[tuple[int, torch.dtype]] = []

        def note(tensor: Tensor, saved: list[tuple[int, torch.dtype]] = saved) -> Tensor:
            saved.append((tensor.numel(), tensor.dtype))
            return tensor

        x = torch.ones(4, 64, dtype=torch.bfloat16, requires_grad=needs_grad)
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            F.linear(x, codes.bfloat16())
        assert ((codes.numel(), torch.bfloat16) in saved) == needs_grad


def dora(detach: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return W₀, A, B, V and the gradient of V, for a cubic loss."""
    base, a, b = drawn(0, 8, 16), drawn(1, 2, 16), drawn(2, 8, 2)
    v = (base + b @ a).requires_grad_()
    norm = v.norm(dim=1, keepdim=True)
    w = base.norm(dim=1, keepdim=True) * v / (norm.detach() if detach else norm)
    (gradient,) = torch.autograd.grad((drawn(3, 5, 16) @ w.T).pow(3).sum(), v)
    return base, a, b, v.detach(), gradient


def test_peft_08_row_norms_need_no_product_and_only_the_full_gradient_stays_orthogonal_to_each_row() -> None:
    says("peft-08", "the full gradient of each row is orthogonal to that row", "完整梯度的每一行都与 V 的对应行正交")
    for detach in (False, True):
        *_, v, gradient = dora(detach)
        along = (v * gradient).sum(1).abs() / (v.norm(dim=1) * gradient.norm(dim=1))
        assert (along > 0.01).all() if detach else (along < 1e-12).all()
    says("peft-08", "‖w‖² + 2·w·Aᵀb + bᵀAAᵀb", "只需 W₀Aᵀ 和 AAᵀ")
    base, a, b, v, gradient = dora(True)
    squares = base.square().sum(1) + 2 * ((base @ a.T) * b).sum(1) + ((b @ (a @ a.T)) * b).sum(1)
    torch.testing.assert_close(squares.sqrt(), v.norm(dim=1))
    says("peft-08", "through A and B it also moves V in other directions", "还会把 V 推向别的方向")
    direction = v / v.norm(dim=1, keepdim=True)
    along = (gradient * direction).sum(1, keepdim=True) * direction
    change = along @ a.T @ a + b @ b.T @ along
    off_row = change - (change * direction).sum(1, keepdim=True) * direction
    assert off_row.norm() > 0.3 * change.norm()


def quantised(weights: Tensor) -> tuple[Tensor, Tensor]:
    blocks = weights.reshape(-1, 64)
    scale = blocks.abs().amax(1, keepdim=True) / 7
    return (blocks / scale).round(), scale


@pytest.mark.parametrize("seed", range(3))
def test_peft_10_merged_and_quantised_again_the_update_is_gone(seed: int) -> None:
    says("peft-10", "not one code changes, and about 1.5 %", "没有一个编码改变，更新只剩约 1.5 %")
    says("peft-10", "noise of a third of its size", "噪声约为更新本身的三分之一")
    codes, scale = quantised((0.02 * drawn(seed, 512, 512)).float())
    base = (codes * scale).reshape(512, 512)
    update = (drawn(seed + 10, 512, 16) @ drawn(seed + 20, 16, 512)).float()
    update *= 1e-4 / update.std()
    again, new_scale = quantised(base + update)
    assert torch.equal(again, codes)
    left = (again * new_scale).reshape(512, 512) - base
    assert float((left * update).sum() / update.square().sum()) == pytest.approx(0.015, abs=0.003)
    kept = (base + update).bfloat16().float() - base
    assert float((kept * update).sum() / update.square().sum()) == pytest.approx(1, abs=0.01)
    assert float((kept - update).std() / update.std()) == pytest.approx(1 / 3, abs=0.02)
