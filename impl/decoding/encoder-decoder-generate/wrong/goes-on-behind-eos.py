"""Keeps what the model says behind eos.
eos 之后还保留模型的输出。

symptom: Translations end in babble as long as another row is not done.
症状：别的行还没结束时，已结束的行后面跟着一串胡话。

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
        token = logits[:, -1].argmax(-1)
        out[:, t] = token
        done = done | (token == eos)
        newest = token[:, None]
        if bool(done.all()):
            return out[:, : t + 1].clone()
    return out
