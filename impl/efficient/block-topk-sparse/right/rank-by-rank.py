"""The own block by itself, then the best past block, the second best …, joined by a running softmax."""

import torch


def topk_block_attention(q, k, v, block, k_blocks):
    (B, H, T, d), kind = q.shape, torch.float64 if q.dtype == torch.float64 else torch.float32
    n = -(-T // block)
    a = q.to(kind) * d**-0.5
    room = torch.zeros(B, H, n * block - T, d, dtype=kind, device=q.device)
    kb, vb = (torch.cat([x.to(kind), room], 2).view(B, H, n, block, d) for x in (k, v))
    t = torch.arange(T, device=q.device)
    rank = torch.einsum("bhtd,bhnd->bhtn", a.detach(), kb.detach().mean(3))
    past = torch.arange(n, device=q.device) < (t // block)[:, None]
    order = torch.where(past, rank, -torch.inf).sort(-1, descending=True).indices
    b, h = torch.arange(B, device=q.device)[:, None, None], torch.arange(H, device=q.device)[:, None]

    lse, out = None, None
    for j in range(min(k_blocks, n)):
        here = (t // block).expand(B, H, T) if j == 0 else order[..., j - 1]
        s = torch.einsum("bhtd,bhtjd->bhtj", a, kb[b, h, here])
        if j == 0:
            s = s.masked_fill(torch.arange(block, device=q.device) > (t % block)[:, None], float("-inf"))
        part = torch.logsumexp(s, -1, keepdim=True)
        mixed = torch.einsum("bhtj,bhtjd->bhtd", torch.exp(s - part), vb[b, h, here])
        if j == 0:
            lse, out = part, mixed
            continue
        part = part.masked_fill((t // block < j)[:, None], float("-inf"))
        total = torch.logaddexp(lse, part)
        out = out * torch.exp(lse - total) + mixed * torch.exp(part - total)
        lse = total
    return out.to(q.dtype)
