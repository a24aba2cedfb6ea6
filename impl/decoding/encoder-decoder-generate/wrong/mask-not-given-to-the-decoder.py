"""Hands src_mask to the encoder only.
只把 src_mask 交给编码器。

symptom: Cross-attention reads the padding of short sources.
症状：短句的 padding 被交叉注意力读了进去。

cards: arch-07, mask-06
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
        logits, cache = decoder(newest, memory, None, cache)
        token = logits[:, -1].argmax(-1).masked_fill(done, pad)
        out[:, t] = token
        done = done | (token == eos)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
