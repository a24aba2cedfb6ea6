"""No sort: the rank of a token and the mass before it are sums over the tokens that beat it."""
import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    z = logits.to(torch.promote_types(logits.dtype, torch.float32)) / temperature
    i = torch.arange(z.shape[1], device=z.device)
    beats = (z[:, None] > z[:, :, None]) | ((z[:, None] == z[:, :, None]) & (i < i[:, None]))
    keep = ~z.isneginf()
    if top_k:
        keep &= beats.sum(-1) < top_k
    if top_p and top_p < 1:
        p = z.where(keep, -torch.inf).softmax(-1)
        keep &= (beats * p[:, None]).sum(-1) < top_p
    if min_p:
        keep &= (z - z.amax(-1, keepdim=True)).exp() >= min_p
    return torch.where(keep, z, -torch.inf).to(logits.dtype)
