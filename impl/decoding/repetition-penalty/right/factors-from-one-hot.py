"""A factor for each entry: 1, the penalty, or its inverse, from one-hot counts."""
import torch
import torch.nn.functional as F


def repetition_penalty(logits, ids, penalty):
    present = F.one_hot(ids, logits.shape[1]).sum(1).clamp(max=1)
    wide = logits.to(torch.promote_types(logits.dtype, torch.float32))
    exponent = present * -wide.sign()
    return (wide * torch.tensor(float(penalty), dtype=wide.dtype, device=wide.device) ** exponent).to(logits.dtype)
