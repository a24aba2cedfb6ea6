"""One query after another, slices joined."""

import math

import torch


def topk_block_attention(q, k, v, block, k_blocks):
    up = torch.promote_types(q.dtype, torch.float32)
    Q, K, V = q.to(up), k.to(up), v.to(up)
    B, H, T, d = q.shape
    full = T // block
    means = K[:, :, : full * block].reshape(B, H, full, block, d).mean(3).detach()
    rows = []
    for t in range(T):
        own = t // block
        keys, values = [K[:, :, own * block : t + 1]], [V[:, :, own * block : t + 1]]
        extra = min(k_blocks - 1, own)
        if extra > 0:
            rank = torch.einsum("bhd,bhnd->bhn", Q[:, :, t].detach(), means[:, :, :own])
            best = rank.argsort(-1, descending=True)[..., :extra]
            at = (best[..., None] * block + torch.arange(block, device=q.device)).flatten(2)
            index = at[..., None].expand(-1, -1, -1, d)
            keys.append(K.gather(2, index))
            values.append(V.gather(2, index))
        s = torch.einsum("bhd,bhjd->bhj", Q[:, :, t], torch.cat(keys, 2)) / math.sqrt(d)
        rows.append(torch.einsum("bhj,bhjd->bhd", torch.softmax(s, -1), torch.cat(values, 2)))
    return torch.stack(rows, 2).to(q.dtype)
