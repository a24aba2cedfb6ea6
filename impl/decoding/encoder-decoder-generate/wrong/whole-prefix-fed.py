"""Feeds the whole prefix at every step.
每一步都喂整个前缀。

symptom: The cache holds every token many times.
症状：cache 里每个 token 出现很多遍。

cards: kv-01, arch-08
rung: solved
"""

import torch


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    B = src.shape[0]
    out = torch.full((B, max_len), pad, dtype=torch.long, device=src.device)
    if max_len == 0:
        return out
    memory, cache = encoder(src, src_mask), None
    newest = torch.full((B, 1), bos, dtype=torch.long, device=src.device)
    done = torch.zeros(B, dtype=torch.bool, device=src.device)
    for t in range(max_len):
        logits, cache = decoder(newest, memory, src_mask, cache)
        token = logits[:, -1].argmax(-1).masked_fill(done, pad)
        out[:, t] = token
        done = done | (token == eos)
        newest = torch.cat([newest, token[:, None]], 1)
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
