"""Returns float32 for 16-bit inputs.
16 位输入返回了 float32。

symptom: The next matmul fails on unequal dtypes.
症状：下一个矩阵乘报 dtype 不一致。

cards: prec-07
rung: hardened
"""
import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    wide = torch.promote_types(x.dtype, torch.float32)
    y = x.to(wide)
    mean = y.mean(-1, keepdim=True)
    var = (y - mean).square().mean(-1, keepdim=True)
    out = (y - mean) / torch.sqrt(var + eps)
    return out * gamma.to(wide) + beta.to(wide)
