"""Gathers the chosen experts' weights for every token: much memory, the work of k."""
import torch


def moe_forward(x, wg, w1, w2, k, shared=None):
    gates, idx = torch.topk(torch.softmax(x @ wg, dim=-1), k, dim=-1)
    hidden = torch.relu(torch.einsum("nd,nkdf->nkf", x, w1[idx]))
    out = torch.einsum("nkf,nkfd,nk->nd", hidden, w2[idx], gates)
    if shared is not None:
        out = out + torch.relu(x @ shared[0]) @ shared[1]
    return out
