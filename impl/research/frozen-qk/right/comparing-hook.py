"""Hooks: the gradient of fused rows is cut, and they are written back only where an optimiser has moved them."""

from typing import Literal
from torch import Tensor, nn
import torch


_ROWS = "frozen_qk_rows"


@torch.no_grad()
def _restore(layer: nn.Module) -> None:
    kept = getattr(layer, _ROWS, None)
    if kept is None:
        return
    rows = layer.weight.data[: kept.shape[0]]
    # what nothing has moved is not written to, so that graphs stay valid
    if not torch.equal(rows, kept):
        rows.copy_(kept)


def _before_layer(layer: nn.Module, args: tuple) -> None:
    _restore(layer)


def _before_model(model: nn.Module, args: tuple) -> None:
    for layer in model.modules():
        _restore(layer)


def _freeze_rows(layer: nn.Linear, rows: int, hooked: set[int]) -> None:
    weight = layer.weight
    if hasattr(layer, _ROWS):
        return
    layer.register_buffer(_ROWS, weight.detach()[:rows].clone(), persistent=False)
    layer.register_forward_pre_hook(_before_layer)
    if id(weight) in hooked:
        return
    hooked.add(id(weight))
    if weight.grad is not None:
        weight.grad[:rows] = 0
    if weight.requires_grad:

        def no_rows(grad: Tensor) -> Tensor:
            return torch.cat([torch.zeros_like(grad[:rows]), grad[rows:]], dim=0)

        weight.register_hook(no_rows)


def freeze_components(model: nn.Module, which: Literal["qk", "mlp"]) -> list[str]:
    frozen: list[str] = []
    first_name = {p: name for name, p in model.named_parameters()}
    hooked: set[int] = set()
    for path, module in list(model.named_modules(remove_duplicate=False)):
        _, _, own = path.rpartition(".")
        in_mlp = ".mlp." in f".{path}."
        if not isinstance(module, nn.Linear):
            continue
        if which == "qk" and own == "c_attn":
            _freeze_rows(module, module.weight.shape[0] // 3 * 2, hooked)
        elif (which == "qk" and own in ("q_proj", "k_proj")) or (which == "mlp" and in_mlp):
            module.weight.requires_grad = False
            module.weight.grad = None
        else:
            continue
        name = first_name[module.weight]
        if name not in frozen:
            frozen.append(name)
    if hooked:
        model.register_forward_pre_hook(_before_model)
    return frozen
