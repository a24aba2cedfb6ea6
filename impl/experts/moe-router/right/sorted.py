"""Sorts all experts and cuts; log-softmax, and a mask for the chosen."""
import torch
import torch.nn.functional as F


def route(x, wg, k, mode, bias=None):
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    logits = torch.einsum("nd,de->ne", x.to(wide), wg.to(wide))
    if mode not in ("softmax_topk", "topk_softmax", "sigmoid_bias"):
        raise ValueError("mode has to be softmax_topk, topk_softmax or sigmoid_bias")
    if mode == "sigmoid_bias":
        probs = 1 / (1 + torch.exp(-logits))
        score = probs.detach() + (0 if bias is None else bias.detach().to(wide))
    else:
        probs = F.log_softmax(logits, dim=1).exp()
        score = logits.detach()
    idx = torch.argsort(score, dim=1, descending=True)[:, :k]
    weights = torch.take_along_dim(probs, idx, dim=1)
    if mode != "softmax_topk":
        weights = weights / weights.sum(dim=1, keepdim=True)
    return weights.to(x.dtype), idx, probs.to(x.dtype)
