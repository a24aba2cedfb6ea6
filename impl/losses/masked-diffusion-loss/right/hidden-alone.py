"""Picks the hidden places out and never touches the others."""

import torch


def mdlm_loss(logits, ids, mask, t):
    B, T, _ = logits.shape
    rows, places = torch.where(mask)
    chosen = logits[rows, places]
    wide = chosen.double()
    right = wide[torch.arange(len(rows), device=wide.device), ids[rows, places]]
    nll = torch.logsumexp(wide, dim=-1) - right
    return ((nll / t.double()[rows]).sum() / (B * T)).to(logits.dtype)
