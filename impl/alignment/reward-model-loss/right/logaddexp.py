"""log(e⁰ + e^(r + m − c))."""

import torch


def rm_loss(chosen, rejected, margin=None):
    wide = torch.promote_types(chosen.dtype, torch.float32)
    behind = rejected.to(wide) - chosen.to(wide)
    behind = behind if margin is None else behind + margin.to(wide)
    losses = torch.logaddexp(behind, behind.new_zeros(()))
    return (losses.sum() / losses.numel()).to(chosen.dtype)
