"""The textbook form: one filter after the other, each on the logits in the order of the ids."""
import torch


def filter_logits(logits, top_k=None, top_p=None, min_p=None, temperature=1.0):
    dtype = logits.dtype
    logits = logits.float() / temperature if dtype != torch.float64 else logits / temperature
    V = logits.size(-1)
    if top_k is not None and 0 < top_k < V:
        chosen = torch.sort(logits, dim=-1, descending=True, stable=True).indices[:, :top_k]
        keep = torch.zeros_like(logits, dtype=torch.bool).scatter(1, chosen, True)
        logits = torch.where(keep, logits, -torch.inf)
    if top_p is not None and 0 < top_p < 1:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True, stable=True)
        cumulative = torch.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
        remove = cumulative > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(1, sorted_indices, remove), float("-inf"))
    if min_p:
        probs = torch.softmax(logits, dim=-1)
        logits = logits.masked_fill(probs < min_p * probs.max(dim=-1, keepdim=True).values, float("-inf"))
    return logits.to(dtype)
