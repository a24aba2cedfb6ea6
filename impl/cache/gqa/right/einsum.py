"""Group and head within it, named in einsum."""
import torch


def gqa(q, k, v, causal=False):
    (B, H, T, d), (_, G, S, _) = q.shape, k.shape
    if H % G or (causal and T > S):
        raise ValueError("the shapes do not fit")
    up = torch.promote_types(q.dtype, torch.float32)
    x = q.to(up).unflatten(1, (G, H // G))
    logits = torch.einsum("bgrtd,bgsd->bgrts", x, k.to(up)).div(d**0.5)
    if causal:
        visible = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)
        logits = logits.masked_fill(~visible, torch.finfo(up).min)
    p = torch.exp(logits - logits.amax(-1, keepdim=True))
    p = p / p.sum(-1, keepdim=True)
    return torch.einsum("bgrts,bgsd->bgrtd", p, v.to(up)).reshape(B, H, T, d).to(q.dtype)
