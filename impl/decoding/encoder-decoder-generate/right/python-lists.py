"""Keeps each row as a list of Python ints."""
import torch


def greedy_translate(src, encoder, decoder, bos, eos, pad, max_len, src_mask=None):
    rows = [[] for _ in range(len(src))]
    ended = [False] * len(rows)
    newest, cache = [bos] * len(rows), None
    memory = encoder(src=src, src_mask=src_mask)
    while any(not e for e in ended) and len(rows[0]) < max_len:
        fed = torch.tensor(newest, device=src.device).view(-1, 1)
        logits, cache = decoder(fed, memory, cache=cache, src_mask=src_mask)
        choice = logits.flatten(1).argmax(1).tolist()
        newest = [pad if e else c for e, c in zip(ended, choice)]
        ended = [e or c == eos for e, c in zip(ended, newest)]
        for row, c in zip(rows, newest):
            row.append(c)
    return torch.tensor(rows, dtype=torch.long, device=src.device).view(len(rows), -1)
