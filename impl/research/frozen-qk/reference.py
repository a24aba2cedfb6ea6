"""Frozen-QK and frozen-MLP: some weights of a model stay at their initial values, all else trains as before.

A separate weight is frozen by requires_grad = False: it gets no gradient, so no optimiser touches it, weight decay
included. Of a fused c_attn only the first two thirds, the rows of Q and K, may stay: one parameter cannot be frozen in
part, and a gradient of 0 does not stop decay. So the weight is assembled from a frozen buffer and a parameter with the rows
of V alone.
Decisions:
- modules are found by their own name, or, inside an mlp, by a parent's name: c_proj occurs in both;
- biases and norms still train, those of frozen projections too;
- the returned names are those from before the call.

Dong et al. 2025, arXiv 2506.01115.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


def freeze_components(model: nn.Module, which: Literal["qk", "mlp"]) -> list[str]:
    frozen = []
    for name, module in list(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        *path, own = name.split(".")
        if which == "qk" and own == "c_attn":
            rows = module.out_features // 3 * 2  # those of Q and K
            parametrize.register_parametrization(module, "weight", FirstRowsFrozen(module.weight.detach()[:rows]))
        elif (which == "qk" and own in ("q_proj", "k_proj")) or (which == "mlp" and "mlp" in path):
            module.weight.requires_grad_(False)
        else:
            continue
        frozen.append(f"{name}.weight")
    return frozen


class FirstRowsFrozen(nn.Module):
    """Assemble a weight from frozen rows and trainable rows."""

    rows: Tensor

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows.clone())  # (2D, D)

    def forward(self, trained: Tensor) -> Tensor:
        return torch.cat([self.rows, trained])  # (3D, D)

    def right_inverse(self, weight: Tensor) -> Tensor:
        return weight[len(self.rows) :].clone()  # (D, D)
