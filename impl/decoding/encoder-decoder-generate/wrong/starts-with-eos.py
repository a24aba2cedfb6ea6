"""Starts the decoder with eos instead of bos.
用 eos 而不是 bos 启动解码器。

symptom: Right for the few models whose bos is eos.
症状：只有 bos 就是 eos 的少数模型才对。

cards: arch-09
rung: solved
"""

import torch


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    B = src.shape[0]
    out = torch.full((B, max_len), pad, dtype=torch.long, device=src.device)
    if max_len == 0:
        return out
    memory, cache = encoder(src, src_mask), None
    newest = torch.full((B, 1), eos, dtype=torch.long, device=src.device)
    done = torch.zeros(B, dtype=torch.bool, device=src.device)
    for t in range(max_len):
        logits, cache = decoder(newest, memory, src_mask, cache)
        token = logits[:, -1].argmax(-1).masked_fill(done, pad)
        out[:, t] = token
        done = done | (token == eos)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
