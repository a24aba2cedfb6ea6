"""Upcasts half precision and does not cast back.
半精度升上去之后没有转回来。

symptom: A float32 tensor comes out of a bfloat16 model.
症状：bfloat16 模型里冒出 float32 张量。

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
