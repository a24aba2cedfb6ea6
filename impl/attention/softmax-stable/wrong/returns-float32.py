"""Does not cast 16 bits back.
16 位没有转回来。

symptom: A bfloat16 model gets float32.
症状：bfloat16 模型里冒出 float32。

cards: prec-07
rung: hardened
"""
import torch


def softmax(x, dim=-1):
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    peak = wide.amax(dim, keepdim=True)
    peak = peak.masked_fill(peak == float("-inf"), 0.0)
    weights = (wide - peak).exp()
    total = weights.sum(dim, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)
