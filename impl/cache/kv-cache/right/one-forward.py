"""One function: new tokens behind any past, masked bottom-right."""
import math

import torch


def forward(x, past, params, n_heads):
    B, T, D = x.shape
    w = torch.cat([params["wq"], params["wk"], params["wv"]], dim=1)
    q, k, v = (x @ w).view(B, T, 3, n_heads, D // n_heads).permute(2, 0, 3, 1, 4).unbind(0)
    k = torch.cat([past["k"], k], 2) if past else k.contiguous()
    v = torch.cat([past["v"], v], 2) if past else v.contiguous()
    S = k.shape[2]
    visible = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
    scores = (q / math.sqrt(D // n_heads)) @ k.mT
    weights = scores.masked_fill(visible.logical_not(), -math.inf).softmax(dim=-1)
    y = (weights @ v).permute(0, 2, 1, 3).flatten(2) @ params["wo"]
    fresh = {"k": k if past else k.clone(), "v": v if past else v.clone()}
    return y, fresh


def prefill(x, params, n_heads):
    return forward(x, {}, params, n_heads)


def decode_step(x_t, cache, params, n_heads):
    return forward(x_t, cache, params, n_heads)
