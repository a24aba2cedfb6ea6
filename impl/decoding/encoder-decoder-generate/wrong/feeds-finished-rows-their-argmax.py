"""Feeds finished rows the model's tokens, not pad.
给已结束的行喂模型自己的输出，而不是 pad。

symptom: The decoder still writes text for sentences that are over.
症状：句子早就结束了，解码器还在为它续写。

cards: dec-06
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
        raw = logits[:, -1].argmax(-1)
        token = raw.masked_fill(done, pad)
        out[:, t] = token
        done = done | (token == eos)
        newest = raw[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
